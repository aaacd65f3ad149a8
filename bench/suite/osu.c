/* SPDX-License-Identifier: BSD-3-Clause */
/* osu.c - what the options of the OSU micro-benchmarks mean here. */
#include "bench/suite/osu.h"

#include "bench/suite/pair_list.h"
#include "bench/suite/session.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Up to which sizes OSU measures, of round trips and of others. */
enum { MAX_LATENCY_BYTES = 1 << 22, MAX_BYTES = 1 << 20 };
/* A limit below this is raised to it. */
enum { LEAST_MEM_LIMIT_BYTES = 1 << 20 };

#define FIELD(field) offsetof(osu_command_t, field)

/* The value of -c without one. */
static const char plain_validation[] = "plain";

typedef enum buffers { BUFFERS_SINGLE, BUFFERS_MULTIPLE } buffers_t;
static const char *const buffer_kinds[] = {[BUFFERS_SINGLE] = "single", [BUFFERS_MULTIPLE] = "multiple", NULL};

#define REFUSED(letter, name, argument, why)                     \
    {                                                            \
        (letter), (name), (argument), OPTION_REFUSED, .doc = why \
    }

const option_spec_t osu_options[] = {
    {'T', "type", "TYPE", OPTION_TEXTS, FIELD(type_names), .doc = ""},
    {'c', "validation", "LOG", OPTION_TEXT, FIELD(validation), .missing_text = plain_validation},
    {'z', "tail-lat", "LIST", OPTION_NUMBERS, FIELD(tail), .min = 0.0001, .max = 100, .missing_text = "50,90,99"},
    {0, "tail", "LIST", OPTION_NUMBERS, FIELD(tail), .min = 0.0001, .max = 100},
    {'k', "root-rank", "ROOT", OPTION_TEXT, FIELD(root), .doc = ""},
    {'D', "ddt", "LAYOUT", OPTION_TEXT, FIELD(bench.layout), .doc = ""},
    {'N', "nhbr", "NEIGHBORHOOD", OPTION_TEXT, FIELD(bench.neighborhood), .doc = ""},
    {'R', "print-rate", "N", OPTION_INTEGER, FIELD(print_rate), .max = 1},
    {'b', "buffer-num", "KIND", OPTION_CHOICE, FIELD(buffers), .names = NAMES(buffer_kinds)},
    {0, "window-size", "N", OPTION_INTEGER, FIELD(bench.messages), .min = 1, .max = MAX_MESSAGES},
    {'t', "num-test-calls", "N", OPTION_TEXT, FIELD(calls), .doc = ""},
    REFUSED('V', "vary-window", NULL, "give -W, and start once for each size of the window"),
    {'I', "session", NULL, OPTION_SWITCH, FIELD(session), .doc = ""},
    REFUSED('G', "graph", "FORMATS", "give --raw FILE, which has the times of each call on each rank"),
    REFUSED('P', "papi", "EVENTS", "counters of the processor are not read: start mpix_osu by perf stat"),
    REFUSED('a', "array-size", "SIZE", "nothing is computed on a device: leave it out"),
    REFUSED('d', "accelerator", "TYPE", "buffers are in the memory of the host: measure those of devices by OSU"),
    REFUSED('r', "cuda-target", "TARGET", "computation is on the processors of the host: leave it out"),
};
const int osu_option_count = sizeof osu_options / sizeof osu_options[0];

osu_command_t osu_begin(bool is_osu)
{
    return (osu_command_t){
        .bench.sizes.max_bytes = is_osu ? MAX_LATENCY_BYTES : MAX_BYTES, .print_rate = ABSENT, .buffers = ABSENT};
}

/* Who speaks in messages, and of what. */
typedef struct context {
    osu_command_t *command;
    const char *speaker;
    const operation_t *operation;
} context_t;

/* Says in one line what is wrong. Is false. */
#define refuse(context, ...) (options_refuse((context)->speaker, __VA_ARGS__) == OPTIONS_RUN)

static bool take_validation(const context_t *context)
{
    osu_command_t *command = context->command;
    if (command->validation && command->validation != plain_validation)
        return refuse(context,
                      "option -c, --validation: \"%.60s\" is not allowed, give -c: the column Wrong counts what a log "
                      "would list",
                      command->validation);
    command->bench.validation = command->validation != NULL;
    return true;
}

static bool take_root(const context_t *context)
{
    static const char fixed[] = "fixed:";
    const char *text = context->command->root;
    if (!text)
        return true;
    if (strcasecmp(text, "rotate") == 0) {
        context->command->bench.root = ROOT_ROTATES;
        return true;
    }
    char *end = NULL;
    const char *digits = text + sizeof fixed - 1;
    bool is_fixed = strncasecmp(text, fixed, sizeof fixed - 1) == 0 && isdigit((unsigned char)digits[0]);
    errno = 0;
    long rank = is_fixed ? strtol(digits, &end, 10) : -1;
    if (!is_fixed || *end != '\0' || errno != 0 || rank > INT_MAX)
        return refuse(context, "option -k, --root-rank: \"%.60s\" is not allowed, give fixed:RANK or rotate", text);
    context->command->bench.root = rank;
    return true;
}

static bool check_buffers(const context_t *context)
{
    const operation_t *operation = context->operation;
    const shape_t *shape = operation->shape;
    if (context->command->buffers == ABSENT)
        return true;
    if (shape->exposes != EXPOSES_NOTHING || (shape->directions == 0 && shape->turns == 0))
        return refuse(context, "option -b, --buffer-num is not allowed: %s has one message at once", operation->name);
    return shape->directions == 0 || context->command->buffers == BUFFERS_MULTIPLE ||
           refuse(context,
                  "option -b, --buffer-num: \"single\" is not allowed, give multiple, to osu_%s too: MPI forbids to "
                  "receive into one buffer twice at once",
                  operation->name);
}

static bool take_rate(const context_t *context)
{
    osu_command_t *command = context->command;
    const shape_t *shape = context->operation->shape;
    bool has_rate = shape->has_rate;
    if (command->print_rate != ABSENT && !has_rate)
        return refuse(context, "option -R, --print-rate is not allowed: %s has no rate", context->operation->name);
    command->shows_rate = has_rate && command->print_rate != 0;
    return true;
}

static void add_type(osu_command_t *command, int64_t type)
{
    for (int i = 0; i < command->type_count; i++)
        if (command->types[i] == type)
            return;
    if (command->type_count < MAX_TYPES)
        command->types[command->type_count++] = type;
}

/* OSU sums and compares MPI_CHAR, too, which MPI does not define. */
static void add_all_types(const context_t *context)
{
    bool reduces = context->operation->shape->reduces, compares = context->operation->shape->compares;
    const char *const all[] = {reduces || compares ? "mpi_signed_char" : "mpi_char", "mpi_int", "mpi_float"};
    for (size_t i = 0; i < (compares ? 2 : 3); i++)
        add_type(context->command, names_find(NAMES(datatypes), all[i]));
    if (reduces)
        snprintf(context->command->note, NOTE_BYTES,
                 "MPI defines no reduction of MPI_CHAR, which OSU sums: mpi_signed_char instead");
    if (compares)
        snprintf(context->command->note, NOTE_BYTES,
                 "MPI compares neither MPI_CHAR nor MPI_FLOAT, as OSU does: mpi_signed_char and mpi_int instead");
}

/* OSU takes names in any case. */
static bool take_types(const context_t *context)
{
    osu_command_t *command = context->command;
    for (int64_t i = 0; i < command->type_names.count; i++) {
        const char *text = command->type_names.texts[i];
        int type = 0;
        while (datatypes[type].name && strcasecmp(datatypes[type].name, text) != 0)
            type++;
        if (strcasecmp(text, "all") == 0)
            add_all_types(context);
        else if (datatypes[type].name)
            add_type(command, type);
        else
            return refuse(context,
                          "option -T, --type: \"%.60s\" is not allowed, give all, mpi_char, mpi_int, mpi_float, or "
                          "another one of --help",
                          text);
    }
    if (command->type_count > 1 && !operation_has_size(context->operation))
        command->type_count = 1;
    if (command->type_count > 0)
        command->bench.datatype = command->types[0];
    return true;
}

/* -t RECEIVERS or -t SENDERS:RECEIVERS, of threads or processes. */
static bool take_threads(const context_t *context, const char *text)
{
    bench_settings_t *bench = &context->command->bench;
    const char *at = text;
    int64_t senders = USUAL_SENDERS, receivers = number_read(&at, MAX_THREADS);
    if (*at == ':') {
        at++;
        senders = receivers;
        receivers = number_read(&at, MAX_THREADS);
    }
    if (senders < 1 || receivers < 1 || *at != '\0')
        return refuse(context,
                      "option -t, --num-test-calls: \"%.60s\" is not allowed, give RECEIVERS or SENDERS:RECEIVERS, "
                      "%s from 1 to %d",
                      text, context->operation->shape->forks ? "processes" : "threads", MAX_THREADS);
    bench->senders = senders;
    bench->receivers = receivers;
    return true;
}

static bool take_calls(const context_t *context)
{
    const char *text = context->command->calls, *at = text;
    if (!text)
        return true;
    if (context->operation->shape->has_threads || context->operation->shape->forks)
        return take_threads(context, text);
    int64_t calls = number_read(&at, MAX_TEST_CALLS);
    if (calls < 0 || *at != '\0')
        return refuse(context,
                      "option -t, --num-test-calls: \"%.60s\" is not allowed, give a whole number from 0 to %d", text,
                      MAX_TEST_CALLS);
    context->command->bench.test_calls = calls;
    return true;
}

/* OSU measures the overlap of non-blocking operations. */
static bool take_overlap(const context_t *context)
{
    bench_settings_t *bench = &context->command->bench;
    if (bench->test_calls != ABSENT && !operation_has_halves(context->operation))
        return refuse(context, "option -t, --num-test-calls is not allowed: %s is neither non-blocking nor persistent",
                      context->operation->name);
    if (context->operation->form == FORM_NONBLOCKING && !bench->arrival)
        bench->overlap = 1;
    return true;
}

/* OSU measures latencies from no bytes on, and up to longer messages. */
static void choose_sizes(const context_t *context)
{
    size_list_t *sizes = &context->command->bench.sizes;
    bool tells_latency = context->operation->shape->turns > 0;
    if (tells_latency && !sizes->has_min && context->operation->form == FORM_POINT_TO_POINT) {
        sizes->has_min = 1;
        sizes->min_bytes = 0;
    }
    if (!tells_latency && !sizes->has_max)
        sizes->max_bytes = sizes->min_bytes > MAX_BYTES ? sizes->min_bytes : MAX_BYTES;
}

static void raise_limit(const context_t *context)
{
    int64_t *bytes = &context->command->bench.mem_limit_bytes;
    if (*bytes == ABSENT || *bytes >= LEAST_MEM_LIMIT_BYTES)
        return;
    fprintf(stderr, "%s: the memory limit is 1M: OSU has no smaller one\n", context->speaker);
    *bytes = LEAST_MEM_LIMIT_BYTES;
}

static void write_note(const context_t *context)
{
    const operation_t *operation = context->operation;
    char *note = context->command->note;
    if (operation->shape->reduces && context->command->type_names.count == 0 &&
        context->command->bench.reduction == ABSENT)
        snprintf(
            note, NOTE_BYTES,
            strcmp(operation->name, "get_acc_latency") == 0
                ? "MPI defines no sum of MPI_CHAR, the only one of osu_%s: mpi_float instead. The two do not compare"
                : "MPI defines no sum of MPI_CHAR, OSU's usual one: mpi_float instead. Compare with osu_%s -T "
                  "mpi_float",
            operation->name);
    if (operation->shape->compares && context->command->type_names.count == 0)
        snprintf(note, NOTE_BYTES,
                 "MPI compares no MPI_CHAR, OSU's usual type: mpi_int instead. Compare with osu_%s -T mpi_int",
                 operation->name);
    if (operation->form == FORM_POINT_TO_POINT && operation->shape->directions > 0)
        snprintf(note, NOTE_BYTES, "Each message at once has a buffer of its own. Compare with osu_%s -b multiple",
                 operation->name);
}

/* Whether MPI begins so is decided before the command line is read. */
static bool check_session(const context_t *context)
{
    return !context->command->session || suite_session ||
           refuse(context, "option -I, --session is not allowed: this MPI library has no sessions (those of MPI-4), "
                           "leave it out");
}

bool osu_take(osu_command_t *command, const char *speaker, const operation_t *operation)
{
    const context_t context = {command, speaker, operation};
    if (command->tail.count > 0) {
        command->bench.tail = command->tail;
        command->shows_tail = true;
    }
    choose_sizes(&context);
    raise_limit(&context);
    write_note(&context);
    return take_validation(&context) && take_root(&context) && check_buffers(&context) && take_rate(&context) &&
           take_types(&context) && take_calls(&context) && take_overlap(&context) && check_session(&context);
}

const char *osu_advice(const char *argument)
{
    static const char *const places[] = {"H", "D", "M", "MH", "MD", NULL};
    if (isdigit((unsigned char)argument[0]) || strncmp(argument, "log:", 4) == 0)
        return "a value of -z or -c follows at once, as in -z50,99";
    return names_find(NAMES(places), argument) < 0 ? NULL : "buffers are in the memory of the host, leave it out";
}
