/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * chrome.c - the events of Chrome's trace format ("Trace Event Format": an array of objects, or an object that has one
 * as traceEvents). Events are taken one by one, so that a file may be larger than memory. What is not rewritten is
 * copied as it is.
 */
#include "bench/convert/conversion.h"

#include "pure/text.h"
#include "pure/units.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_EVENT_BYTES = 1 << 12, MAX_EVENT_BYTES = 1 << 26, MAX_LABELED = 4096 };
/* Process ids of Linux are below; those of the file at an index get a multiple of it. */
#define PROCESSES_PER_FILE 10000000
/*
 * Likewise of ids of flows and asynchronous events. Those in hexadecimal are addresses for the most part, which end
 * below the bits that tell the files apart.
 */
#define FILES_PER_ID 1000
enum { ADDRESS_BITS = 48 };

typedef struct reader {
    conversion_t *conversion;
    FILE *from;
    chrome_output_t *output;
    char *event; /* the one being read; ended by a null character */
    size_t length, capacity;
    int64_t labeled[MAX_LABELED]; /* processes that were told to be of the host */
    int labeled_count;
} reader_t;

/* Part of an event. */
typedef struct span {
    const char *at; /* NULL: it is not there */
    size_t length;
} span_t;

static int next_visible(FILE *from)
{
    int got;
    do
        got = getc_unlocked(from);
    while (got == ' ' || got == '\n' || got == '\r' || got == '\t');
    return got;
}

static bool keep(reader_t *reader, int got)
{
    if (reader->length + 2 > reader->capacity) {
        const size_t capacity = 2 * reader->capacity;
        char *grown = capacity <= MAX_EVENT_BYTES ? realloc(reader->event, capacity) : NULL;
        if (!grown)
            return convert_fail(reader->conversion, "has an event larger than %d MiB", MAX_EVENT_BYTES >> 20);
        reader->event = grown;
        reader->capacity = capacity;
    }
    reader->event[reader->length++] = (char)got;
    reader->event[reader->length] = '\0';
    return true;
}

/* Reads a value that begins with a character that was read. */
static bool read_value(reader_t *reader, int got)
{
    int depth = 0;
    bool in_text = false, escaped = false;
    reader->event[0] = '\0';
    for (reader->length = 0;; got = getc_unlocked(reader->from)) {
        if (got == EOF)
            return convert_fail(reader->conversion, "ends within an event");
        const bool ends_bare = depth == 0 && !in_text && (got == ',' || got == '}' || got == ']');
        if (ends_bare) {
            ungetc(got, reader->from);
            return true;
        }
        if (!keep(reader, got))
            return false;
        if (in_text) {
            in_text = escaped || got != '"';
            escaped = !escaped && got == '\\';
        } else if (got == '"') {
            in_text = true;
        } else if (got == '{' || got == '[') {
            depth++;
        } else if (got == '}' || got == ']') {
            depth--;
        }
        if (depth == 0 && !in_text && (got == '"' || got == '}' || got == ']'))
            return true;
    }
}

/* Whether what could not be read is the end of a file whose writer was ended; it is then left out. */
static bool ends_torn(const reader_t *reader)
{
    if (!feof(reader->from))
        return false;
    reader->conversion->torn = "an event";
    return true;
}

/* ---- The keys of an event */

static const char *behind_text(const char *at)
{
    for (at++; *at != '\0' && *at != '"'; at++)
        at += at[0] == '\\' && at[1] != '\0';
    return *at == '"' ? at + 1 : at;
}

static const char *behind_value(const char *at)
{
    int depth = 0;
    for (; *at != '\0'; at++) {
        if (*at == '"') {
            at = behind_text(at) - 1;
        } else if (*at == '{' || *at == '[') {
            depth++;
        } else if (*at == '}' || *at == ']' || *at == ',') {
            if (depth == 0)
                break;
            depth -= *at != ',';
        }
    }
    return at;
}

enum { PH, TS, DUR, PID, ID, BIND_ID, ARGS, KEYS };
static const char *const keys[KEYS] = {"\"ph\"", "\"ts\"", "\"dur\"", "\"pid\"", "\"id\"", "\"bind_id\"", "\"args\""};

static void find_keys(const char *event, span_t found[KEYS])
{
    memset(found, 0, KEYS * sizeof *found);
    for (const char *at = event + 1; *at != '\0' && *at != '}';) {
        at += strspn(at, " \t\r\n,");
        if (*at != '"')
            return;
        const char *name = at, *value = behind_text(at);
        const size_t name_length = (size_t)(value - name);
        value += strspn(value, " \t\r\n:");
        at = behind_value(value);
        size_t length = (size_t)(at - value);
        while (length > 0 && strchr(" \t\r\n", value[length - 1]))
            length--;
        for (int key = 0; key < KEYS; key++)
            if (strlen(keys[key]) == name_length && strncmp(keys[key], name, name_length) == 0)
                found[key] = (span_t){value, length};
    }
}

/* ---- What is written instead */

static const char *host_name(const reader_t *reader)
{
    return mpix_clock_host_name(reader->conversion->records, reader->conversion->host);
}

/* A whole number that can be told apart by the file; -1: the value is another one. */
static int64_t number_of(span_t value, int64_t most)
{
    int64_t number;
    char text[24];
    if (value.length == 0 || value.length >= sizeof text)
        return -1;
    memcpy(text, value.at, value.length);
    text[value.length] = '\0';
    return mh_parse_whole(text, &number) == 0 && number < most ? number : -1;
}

static void print_named(const reader_t *reader, span_t value)
{
    const bool is_text = value.at[0] == '"';
    fprintf(reader->output->to, "\"%.*s@%s\"", (int)(value.length - (is_text ? 2 : 0)), value.at + is_text,
            host_name(reader));
}

static void print_process(const reader_t *reader, span_t value)
{
    const int64_t number = number_of(value, PROCESSES_PER_FILE);
    if (number >= 0)
        fprintf(reader->output->to, "%" PRId64, reader->output->files * PROCESSES_PER_FILE + number);
    else
        print_named(reader, value);
}

/* As Chrome writes ids: "0x7f00". Readers take nothing but numbers for ids of flows. */
static bool hexadecimal_of(span_t value, uint64_t *number)
{
    enum { BEGIN_BYTES = sizeof "\"0x" - 1, MAX_DIGITS = 16 };
    if (value.length <= BEGIN_BYTES + 1 || value.length > BEGIN_BYTES + MAX_DIGITS + 1 ||
        strncmp(value.at, "\"0x", BEGIN_BYTES) != 0)
        return false;
    char *end;
    *number = strtoull(value.at + BEGIN_BYTES, &end, 16);
    return isxdigit((unsigned char)value.at[BEGIN_BYTES]) && end == value.at + value.length - 1;
}

/*
 * An id that is the host's own. What is told to be global or local to a process, as id2, stays: a global one is to be
 * the same everywhere, and a local one belongs to the process, whose number is the host's own.
 */
static void print_id(const reader_t *reader, span_t value)
{
    const int64_t number = number_of(value, INT64_C(1) << 43);
    uint64_t address;
    if (reader->output->shares_flows)
        fwrite(value.at, 1, value.length, reader->output->to);
    else if (number >= 0)
        fprintf(reader->output->to, "%" PRId64, number * FILES_PER_ID + reader->output->files % FILES_PER_ID);
    else if (hexadecimal_of(value, &address))
        fprintf(reader->output->to, "\"0x%" PRIx64 "\"", address ^ (uint64_t)reader->output->files << ADDRESS_BITS);
    else
        print_named(reader, value);
}

static void begin_event(chrome_output_t *output)
{
    fputs(output->events++ > 0 ? ",\n" : "\n", output->to);
}

/* Says of a process, at its first event, on which host it is. */
static void label_process(reader_t *reader, span_t process)
{
    const int64_t number = process.at ? number_of(process, PROCESSES_PER_FILE) : -1;
    if (number < 0 || reader->labeled_count == MAX_LABELED)
        return;
    for (int i = reader->labeled_count; i-- > 0;)
        if (reader->labeled[i] == number)
            return;
    reader->labeled[reader->labeled_count++] = number;
    begin_event(reader->output);
    fputs("{\"ph\":\"M\",\"name\":\"process_labels\",\"pid\":", reader->output->to);
    print_process(reader, process);
    fprintf(reader->output->to, ",\"args\":{\"labels\":\"%s\"}}", host_name(reader));
}

/* The event again, with other values of some keys. */
static bool rewrite(reader_t *reader)
{
    span_t found[KEYS];
    converted_t begin = {0}, end = {0};
    char time[TIME_TEXT_BYTES], text[64], added[100];
    conversion_t *conversion = reader->conversion;
    const conversion_t before = *conversion;
    FILE *to = reader->output->to;
    find_keys(reader->event, found);
    /* What describes a process or a thread has no time, or one that means nothing. */
    const char *phase = found[PH].at ? found[PH].at : "\"X\"";
    const bool has_time = found[TS].at && phase[1] != 'M';
    /* Each argument of a counter is a line in its chart. */
    const bool has_bound = has_time && phase[1] != 'C';
    int64_t ts_ns, dur_ns = 0, end_ns;
    if (has_time) {
        const char *value = found[TS].at + (found[TS].at[0] == '"');
        snprintf(text, sizeof text, "%.*s", (int)found[TS].length, value);
        if (!decimal_parse(text, conversion->unit_ns, NULL, &ts_ns))
            return convert_fail(conversion, "event %" PRId64 ": \"%.30s\" is not a time", conversion->times + 1, text);
        snprintf(text, sizeof text, "%.*s", (int)found[DUR].length, found[DUR].at ? found[DUR].at : "");
        if (found[DUR].at && !decimal_parse(text, conversion->unit_ns, NULL, &dur_ns))
            return convert_fail(conversion, "event %" PRId64 ": \"%.30s\" is not a duration", conversion->times + 1,
                                text);
        if (__builtin_add_overflow(ts_ns, dur_ns, &end_ns))
            return convert_fail(conversion, "event %" PRId64 ": a time is too large", conversion->times + 1);
        if (!convert_time(conversion, ts_ns, &begin) || (found[DUR].at && !convert_time(conversion, end_ns, &end)))
            return false;
        const int how = begin.how | end.how;
        conversion->times = before.times + 1;
        conversion->extrapolated = before.extrapolated + ((how & MPIX_CLOCK_EXTRAPOLATED) != 0);
        conversion->ambiguous = before.ambiguous + ((how & MPIX_CLOCK_AMBIGUOUS) != 0);
        snprintf(added, sizeof added, "\"bound_ns\":%" PRId64 "%s%s%s",
                 begin.bound_ns > end.bound_ns ? begin.bound_ns : end.bound_ns, how ? ",\"how\":\"" : "", how_text(how),
                 how ? "\"" : "");
    }
    label_process(reader, found[PID]);
    begin_event(reader->output);
    const char *copied = reader->event;
    /* In the order in which they stand there. */
    for (;;) {
        int next = KEYS;
        for (int key = 0; key < KEYS; key++)
            if (key != PH && found[key].at >= copied && found[key].at &&
                (next == KEYS || found[key].at < found[next].at))
                next = key;
        if (next == KEYS)
            break;
        fwrite(copied, 1, (size_t)(found[next].at - copied), to);
        copied = found[next].at + found[next].length;
        if (next == TS && has_time) {
            decimal_print(begin.ns, MH_NS_PER_US, time);
            fputs(time, to);
        } else if (next == DUR && has_time) {
            decimal_print(end.ns > begin.ns ? end.ns - begin.ns : 0, MH_NS_PER_US, time);
            fputs(time, to);
        } else if (next == PID) {
            print_process(reader, found[PID]);
        } else if (next == ID || next == BIND_ID) {
            print_id(reader, found[next]);
        } else if (next == ARGS && has_bound && found[ARGS].at[0] == '{') {
            const char *rest = found[ARGS].at + 1;
            rest += strspn(rest, " \t\r\n");
            fprintf(to, "{%s%s%.*s", added, *rest == '}' ? "" : ",", (int)(copied - rest), rest);
        } else {
            fwrite(found[next].at, 1, found[next].length, to);
        }
    }
    const char *last = reader->event + reader->length - 1; /* the closing brace */
    fwrite(copied, 1, (size_t)(last - copied), to);
    if (has_bound && !found[ARGS].at)
        fprintf(to, ",\"args\":{%s}", added);
    fputc('}', to);
    return true;
}

/* ---- Files */

static bool read_events(reader_t *reader)
{
    int got = next_visible(reader->from);
    /* Writers that were ended leave out the closing bracket, and a comma may follow the last event. */
    for (; got != ']' && got != EOF; got = next_visible(reader->from)) {
        if (got == ',')
            continue;
        if (got == '}')
            return convert_fail(reader->conversion, "is not JSON of Chrome's trace format");
        if (!read_value(reader, got))
            return ends_torn(reader);
        if (reader->event[0] == '{' && !rewrite(reader))
            return false;
    }
    return true;
}

/*
 * Keeps a key and its value, which was read, for the end of the output. Those of several files would collide, and some
 * have times that are not converted.
 */
static bool keep_key(reader_t *reader, const char *name)
{
    static const char *const timed[] = {"\"samples\"", "\"systemTraceEvents\"", "\"powerTraceAsString\""};
    chrome_output_t *output = reader->output;
    bool is_kept = output->inputs == 1;
    for (size_t i = 0; i < sizeof timed / sizeof timed[0]; i++)
        is_kept = is_kept && strcmp(name, timed[i]) != 0;
    if (!is_kept)
        return true;
    const size_t bytes = strlen(name) + reader->length + sizeof ",\n: ";
    char *grown = realloc(output->keys, output->keys_bytes + bytes);
    if (!grown)
        return convert_fail(reader->conversion, "out of memory");
    output->keys = grown;
    output->keys_bytes += (size_t)sprintf(grown + output->keys_bytes, ",\n%s: %s", name, reader->event);
    return true;
}

/* A key of the object around the events, and its value. One of these says what times are relative to. */
static bool read_key(reader_t *reader, const char *name, bool *has_events)
{
    if (next_visible(reader->from) != ':')
        return convert_fail(reader->conversion, "is not JSON of Chrome's trace format");
    const int got = next_visible(reader->from);
    if (strcmp(name, "\"traceEvents\"") == 0 && got == '[') {
        *has_events = true;
        return read_events(reader);
    }
    if (!read_value(reader, got))
        return false;
    if (strcmp(name, "\"baseTimeNanoseconds\"") != 0)
        return keep_key(reader, name);
    if (reader->conversion->start_ns != 0)
        return true;
    if (*has_events)
        return convert_fail(reader->conversion,
                            "says behind its events that their times are relative to %.24s: give --start-ns",
                            reader->event);
    decimal_parse(reader->event, 1, NULL, &reader->conversion->start_ns);
    return true;
}

static bool read_object(reader_t *reader)
{
    bool has_events = false;
    int got;
    while ((got = next_visible(reader->from)) != '}' && got != EOF) {
        if (got == ',')
            continue;
        if (got != '"' || !read_value(reader, got))
            return (has_events && ends_torn(reader)) ||
                   convert_fail(reader->conversion, "is not JSON of Chrome's trace format");
        char *name = strdup(reader->event);
        const bool is_good =
            name ? read_key(reader, name, &has_events) : convert_fail(reader->conversion, "out of memory");
        free(name);
        if (!is_good)
            return has_events && ends_torn(reader);
    }
    return has_events || convert_fail(reader->conversion, "has no traceEvents");
}

bool chrome_begin(chrome_output_t *output)
{
    return fputs("{\"traceEvents\": [", output->to) >= 0;
}

bool convert_chrome(conversion_t *conversion, FILE *from, chrome_output_t *output)
{
    reader_t *reader = calloc(1, sizeof *reader);
    char *event = malloc(FIRST_EVENT_BYTES);
    if (!reader || !event) {
        free(reader);
        free(event);
        return convert_fail(conversion, "out of memory");
    }
    *reader = (reader_t){
        .conversion = conversion, .from = from, .output = output, .event = event, .capacity = FIRST_EVENT_BYTES};
    output->files++;
    const int first = next_visible(from);
    const bool is_good =
        first == '['   ? read_events(reader)
        : first == '{' ? read_object(reader)
                       : convert_fail(conversion, first == EOF ? "is empty" : "is not JSON of Chrome's trace format");
    free(reader->event);
    free(reader);
    return is_good;
}

bool chrome_end(chrome_output_t *output)
{
    const bool is_good = fprintf(output->to, "\n]%s}\n", output->keys ? output->keys : "") >= 0;
    free(output->keys);
    return is_good;
}
