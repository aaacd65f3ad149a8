/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * clock_reader.c - interpolation between readings of two clocks, and files of clock records. C99, without anything else
 * of the project: other programs may compile a copy.
 *
 * A time goes two ways: from the clock that has it to MONOTONIC_RAW by looks, which cost nothing and are frequent, and
 * from there to the global clock by records, which cost messages. MONOTONIC_RAW has the rate of the hardware. So
 * between two records the drift wanders by no more than a known limit, whatever somebody did to the other clocks
 * meanwhile.
 */
#include "mpix_clock_reader.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Times and offsets are whole nanoseconds and picoseconds, so each reading is off by this. */
#define RESOLUTION_NS 1

/* ---- Interpolation */

static const mpix_clock_pair *pair_at(const mpix_clock_line *line, size_t i)
{
    return (const mpix_clock_pair *)((const char *)line->pairs + i * line->stride_bytes);
}

static double ahead_growth_ns(const mpix_clock_pair *from, const mpix_clock_pair *to)
{
    return (double)(to->ahead_ns - from->ahead_ns) + (double)(to->ahead_ps - from->ahead_ps) / 1000;
}

/* Whether a clock was set between two pairs: no rate explains both. */
static bool contradict(const mpix_clock_line *line, const mpix_clock_pair *from, const mpix_clock_pair *to)
{
    const double apart_ns = (double)(to->at_ns - from->at_ns);
    return to->deviation_ns < 0 || fabs(ahead_growth_ns(from, to)) >
                                       from->bound_ns + to->bound_ns + line->rate_limit * apart_ns + 2 * RESOLUTION_NS;
}

/*
 * Between two pairs, the mean drifts before and after a time differ by as much as the clock may wander: the two means
 * are half the time between the pairs apart. They differ by no more than the rates of two clocks may.
 */
static double bound_between_ns(const mpix_clock_line *line, const mpix_clock_pair *from, const mpix_clock_pair *to,
                               int64_t at_ns)
{
    if (at_ns <= from->at_ns)
        return from->bound_ns;
    if (contradict(line, from, to) || isinf(from->bound_ns) || isinf(to->bound_ns))
        return INFINITY;
    const double apart_ns = (double)(to->at_ns - from->at_ns), age_ns = (double)(at_ns - from->at_ns);
    const double part = age_ns / apart_ns;
    const double change = fmin(line->wander_per_s * (1 + apart_ns * 1e-9 / 2), 2 * line->rate_limit);
    return from->bound_ns + part * (to->bound_ns - from->bound_ns) + change * part * (apart_ns - age_ns);
}

/* Beyond all pairs, from the nearest one, `end`, by the mean drift since its neighbor; NULL: it is the only one. */
static double bound_beyond_ns(const mpix_clock_line *line, const mpix_clock_pair *neighbor, const mpix_clock_pair *end,
                              int64_t at_ns)
{
    const double age_ns = fabs((double)(at_ns - end->at_ns));
    if (!neighbor || neighbor->at_ns == end->at_ns)
        return end->bound_ns + (age_ns > 0 ? line->rate_limit * age_ns : 0);
    if (neighbor->at_ns < end->at_ns ? contradict(line, neighbor, end) : contradict(line, end, neighbor))
        return INFINITY;
    const double apart_ns = fabs((double)(end->at_ns - neighbor->at_ns));
    const double wandered = line->wander_per_s * (1 + (apart_ns + age_ns) / 2 * 1e-9);
    const double drift_bound = (end->bound_ns + neighbor->bound_ns) / apart_ns + wandered;
    return end->bound_ns + (age_ns > 0 ? fmin(drift_bound, 2 * line->rate_limit) * age_ns : 0);
}

/* The second of the pairs on both sides of a time, or of the two nearest ones. The line has two pairs at least. */
static size_t find_end(const mpix_clock_line *line, int64_t at_ns, size_t *place)
{
    size_t before = 0, after = line->count - 1;
    if (place && *place > 0 && *place < line->count && pair_at(line, *place - 1)->at_ns <= at_ns) {
        if (at_ns < pair_at(line, *place)->at_ns || *place == after)
            return *place;
        before = *place;
    }
    while (after - before > 1) {
        const size_t middle = before + (after - before) / 2;
        if (pair_at(line, middle)->at_ns <= at_ns)
            before = middle;
        else
            after = middle;
    }
    if (place)
        *place = after;
    return after;
}

mpix_clock_reading mpix_clock_read_line(const mpix_clock_line *line, int64_t at_ns, size_t *place)
{
    const size_t end = line->count > 1 ? find_end(line, at_ns, place) : 0;
    const mpix_clock_pair *from = pair_at(line, end > 0 ? end - 1 : 0), *to = pair_at(line, end);
    const mpix_clock_pair *near = at_ns > to->at_ns ? to : from;
    double drift = to->at_ns > from->at_ns ? ahead_growth_ns(from, to) / (double)(to->at_ns - from->at_ns) : 0;
    if (at_ns < from->at_ns || at_ns > to->at_ns)
        drift = fmin(fmax(drift, -line->rate_limit), line->rate_limit);
    const double rest_ns = (double)near->ahead_ps / 1000 + drift * (double)(at_ns - near->at_ns);
    const double whole_ns = floor(rest_ns);
    return (mpix_clock_reading){at_ns + near->ahead_ns + (int64_t)whole_ns, rest_ns - whole_ns};
}

double mpix_clock_line_bound_ns(const mpix_clock_line *line, int64_t at_ns)
{
    const mpix_clock_pair *first = pair_at(line, 0), *last = pair_at(line, line->count - 1);
    const bool is_alone = line->count == 1;
    if (at_ns <= first->at_ns)
        return RESOLUTION_NS + bound_beyond_ns(line, is_alone ? NULL : pair_at(line, 1), first, at_ns);
    if (at_ns >= last->at_ns)
        return RESOLUTION_NS + bound_beyond_ns(line, is_alone ? NULL : pair_at(line, line->count - 2), last, at_ns);
    const size_t end = find_end(line, at_ns, NULL);
    return RESOLUTION_NS + bound_between_ns(line, pair_at(line, end - 1), pair_at(line, end), at_ns);
}

/* ---- Files */

const char *const mpix_clock_id_names[MPIX_CLOCK_IDS + 1] = {"monotonic_raw", "monotonic", "boottime", "realtime",
                                                             "tai",           "counter",   NULL};

typedef mpix_clock_look look;

typedef struct looks {
    look *items;
    size_t count, capacity;
    size_t *ends; /* of the stretches in which the clock was not set: the look after the last one of each */
    size_t stretches, ends_capacity;
    int64_t namespace_ns;
} looks;

/* Of MONOTONIC_RAW. */
typedef struct span {
    int64_t first_ns, last_ns;
} span;

typedef struct recorded_host {
    char *name, *boot;
    bool is_replaced;       /* another boot of the host came later in the file */
    int64_t look_ns;        /* between two looks */
    mpix_clock_line global; /* from MONOTONIC_RAW */
    mpix_clock_pair *pairs;
    size_t count, capacity;
    looks clocks[MPIX_CLOCK_IDS];
    mpix_clock_utc_look *utc_looks;
    size_t utc_count, utc_capacity;
    mpix_clock_line utc; /* from the global clock, by those of these that know it */
    mpix_clock_pair *utc_pairs;
    span *spans; /* in which files that were joined have records or looks of it; none: it is of one file */
    size_t span_count, span_capacity;
} recorded_host;

struct mpix_clock_file {
    int64_t unix_ns; /* at global time 0 */
    double rate_limit, wander_per_s;
    recorded_host *hosts;
    size_t count, capacity;
    size_t recent;           /* the host of the last line */
    bool has_words, has_utc; /* of UTC, of some host; and some of them bound it */
};

/* A clock that the kernel corrects may differ in rate from MONOTONIC_RAW by this, if no look says more. */
#define CORRECTED_RATE_LIMIT 1e-3

/* Readings further from zero are refused, so that sums of a few do not overflow; and so are greater limits of rates. */
#define MAX_READING (INT64_MAX / 4)
#define MAX_RATE_LIMIT 1

/* Grows an array for one more item. Returns false if memory lacks. */
static bool grow(void **items, size_t count, size_t *capacity, size_t item_bytes)
{
    if (count < *capacity)
        return true;
    const size_t more = *capacity > 0 ? 2 * *capacity : 4;
    void *grown = realloc(*items, more * item_bytes);
    if (!grown)
        return false;
    *items = grown;
    *capacity = more;
    return true;
}

/* ---- One line of a file: an object of JSON whose values are whole numbers, texts, and arrays of whole numbers */

typedef struct value {
    char key[40];
    char text[256]; /* empty: it is no text */
    int64_t numbers[4];
    int count; /* of numbers */
} value;

static void skip_blanks(const char **at)
{
    while (**at == ' ' || **at == '\t' || **at == '\r' || **at == '\n')
        ++*at;
}

static bool take(const char **at, char expected)
{
    skip_blanks(at);
    if (**at != expected)
        return false;
    ++*at;
    return true;
}

/* A text without control characters. Of escapes, those of a quote, a backslash and a slash are known. */
static bool take_text(const char **at, char *text, size_t size)
{
    size_t length = 0;
    if (!take(at, '"'))
        return false;
    while (**at != '"' && **at != '\0' && length + 1 < size) {
        if (**at == '\\' && (*++*at == '\0' || !strchr("\"\\/", **at)))
            return false;
        text[length++] = *(*at)++;
    }
    text[length] = '\0';
    return take(at, '"');
}

static bool take_number(const char **at, int64_t *number)
{
    skip_blanks(at);
    const bool is_negative = **at == '-';
    const char *from = *at += is_negative;
    int64_t magnitude = 0;
    for (; **at >= '0' && **at <= '9'; ++*at) {
        if (magnitude > (MAX_READING - 9) / 10)
            return false;
        magnitude = 10 * magnitude + (**at - '0');
    }
    *number = is_negative ? -magnitude : magnitude;
    return *at > from;
}

static bool take_value(const char **at, value *to)
{
    to->text[0] = '\0';
    to->count = 0;
    skip_blanks(at);
    if (**at == '"')
        return take_text(at, to->text, sizeof to->text);
    if (**at != '[') {
        to->count = 1;
        return take_number(at, &to->numbers[0]);
    }
    ++*at;
    do {
        if (to->count == 4 || !take_number(at, &to->numbers[to->count++]))
            return false;
    } while (take(at, ','));
    return take(at, ']');
}

/* The next key and value of an object; *at is behind its opening brace, or behind the last value. False at its end, and
 * where the line is not as it should be: *at is then not at the end of the line. */
static bool next_value(const char **at, value *to)
{
    skip_blanks(at);
    if (**at == '}') {
        ++*at;
        skip_blanks(at);
        return false;
    }
    take(at, ',');
    const char *begin = *at;
    if (take_text(at, to->key, sizeof to->key) && take(at, ':') && take_value(at, to))
        return true;
    *at = *begin ? begin : begin - 1;
    return false;
}

static int clock_named(const char *name)
{
    for (int id = 0; id < MPIX_CLOCK_IDS; id++)
        if (strcmp(name, mpix_clock_id_names[id]) == 0)
            return id;
    return -1;
}

/* ---- What the lines say */

static char *copy_text(const char *text)
{
    const size_t bytes = strlen(text) + 1;
    char *copy = malloc(bytes);
    return copy ? memcpy(copy, text, bytes) : NULL;
}

static recorded_host *host_of(const mpix_clock_file *file, const char *name, const char *boot)
{
    for (size_t i = file->count; i-- > 0;)
        if (strcmp(file->hosts[i].name, name) == 0 && (!boot || strcmp(file->hosts[i].boot, boot) == 0))
            return &file->hosts[i];
    return NULL;
}

/* The last boot of a host. Lines of a host follow each other, and hosts have one order in all records. */
static recorded_host *host_of_line(mpix_clock_file *file, const char *name)
{
    for (size_t i = file->recent; i < file->count && i < file->recent + 2; i++)
        if (!file->hosts[i].is_replaced && strcmp(file->hosts[i].name, name) == 0)
            return &file->hosts[file->recent = i];
    recorded_host *of = host_of(file, name, NULL);
    file->recent = of ? (size_t)(of - file->hosts) : 0;
    return of;
}

static recorded_host *add_host(mpix_clock_file *file, const char *name, const char *boot, int64_t look_ns)
{
    void *hosts = file->hosts;
    if (!grow(&hosts, file->count, &file->capacity, sizeof *file->hosts))
        return NULL;
    file->hosts = hosts;
    recorded_host *of = &file->hosts[file->count], *replaced = host_of(file, name, NULL);
    if (replaced)
        replaced->is_replaced = true;
    *of = (recorded_host){.name = copy_text(name), .boot = copy_text(boot), .look_ns = look_ns};
    if (of->name && of->boot) {
        file->count++;
        return of;
    }
    free(of->name);
    free(of->boot);
    return NULL;
}

static bool add_pair(recorded_host *of, mpix_clock_pair pair)
{
    void *pairs = of->pairs;
    if (!grow(&pairs, of->count, &of->capacity, sizeof *of->pairs))
        return false;
    of->pairs = pairs;
    of->pairs[of->count++] = pair;
    return true;
}

static bool add_look(looks *of, look added)
{
    void *items = of->items;
    if (!grow(&items, of->count, &of->capacity, sizeof *of->items))
        return false;
    of->items = items;
    of->items[of->count++] = added;
    return true;
}

static bool add_utc_look(recorded_host *of, mpix_clock_utc_look added)
{
    void *items = of->utc_looks;
    if (!grow(&items, of->utc_count, &of->utc_capacity, sizeof *of->utc_looks))
        return false;
    of->utc_looks = items;
    of->utc_looks[of->utc_count++] = added;
    return true;
}

static const char out_of_memory[] = "out of memory";

/* {"mpix_clock_records": 1, "unix_ns": N, "rate_limit_ppb": N, "wander_ppb_per_s": N}; other keys are for people. */
static const char *read_head(mpix_clock_file *file, const char *line)
{
    value value;
    int64_t version = 0;
    if (!take(&line, '{'))
        return "is not a file of clock records";
    file->rate_limit = file->wander_per_s = -1;
    while (next_value(&line, &value)) {
        if (value.count != 1)
            continue;
        if (strcmp(value.key, "mpix_clock_records") == 0)
            version = value.numbers[0];
        if (strcmp(value.key, "unix_ns") == 0)
            file->unix_ns = value.numbers[0];
        if (strcmp(value.key, "rate_limit_ppb") == 0)
            file->rate_limit = (double)value.numbers[0] * 1e-9;
        if (strcmp(value.key, "wander_ppb_per_s") == 0)
            file->wander_per_s = (double)value.numbers[0] * 1e-9;
    }
    return *line || version == 0 ? "is not a file of clock records"
           : version != 1        ? "has a version that is not known here: take a newer reader"
           : file->rate_limit < 0 || file->rate_limit > MAX_RATE_LIMIT || file->wander_per_s < 0
               ? "does not say what rates clocks may have"
               : NULL;
}

/* Sums and differences of a few such times do not overflow. */
static bool is_uptime(int64_t ns)
{
    return ns > -MAX_READING / 4 && ns < MAX_READING / 4;
}

/* What a line of a host says of it, in the order of the keys: its name is the first one. */
static const char *take_item(mpix_clock_file *file, recorded_host **of, const value *value)
{
    if (strcmp(value->key, "host") == 0) {
        *of = host_of_line(file, value->text);
        return NULL;
    }
    if (strcmp(value->key, "raw") == 0) {
        if (!*of || value->count != 3 || value->numbers[2] < 0)
            return "has a record without a host, or not of three numbers";
        if (!is_uptime(value->numbers[0]) || !is_uptime(value->numbers[1]))
            return "has a record of more than 18 years";
        return add_pair(*of, (mpix_clock_pair){.at_ns = value->numbers[0],
                                               .ahead_ns = value->numbers[1] - value->numbers[0],
                                               .bound_ns = (double)value->numbers[2]})
                   ? NULL
                   : out_of_memory;
    }
    if (strcmp(value->key, "utc") == 0) {
        if (!*of || value->count != 4)
            return "has a word of UTC without a host, or not of four numbers";
        if (!is_uptime(value->numbers[1]))
            return "has a word of UTC of more than 18 years";
        return add_utc_look(*of, (mpix_clock_utc_look){value->numbers[0], value->numbers[1], value->numbers[2],
                                                       value->numbers[3]})
                   ? NULL
                   : out_of_memory;
    }
    const int id = clock_named(value->key);
    if (id < 0)
        return NULL;
    if (!*of || value->count < 3 || value->numbers[2] < 0)
        return "has a look without a host, or of fewer than three numbers";
    return add_look(&(*of)->clocks[id], (look){value->numbers[0], value->numbers[1], value->numbers[2],
                                               value->count > 3 ? value->numbers[3] : -1})
               ? NULL
               : out_of_memory;
}

/* A new host: {"host": NAME, "boot": TEXT, "look_ns": N, "CLOCK_namespace_ns": N}. */
static const char *take_host(mpix_clock_file *file, const char *line)
{
    value value;
    char name[sizeof value.text] = "", boot[sizeof value.text] = "";
    int64_t look_ns = 0, namespace_ns[MPIX_CLOCK_IDS] = {0};
    while (next_value(&line, &value)) {
        char *suffix = strstr(value.key, "_namespace_ns");
        if (strcmp(value.key, "host") == 0)
            memcpy(name, value.text, sizeof name);
        if (strcmp(value.key, "boot") == 0)
            memcpy(boot, value.text, sizeof boot);
        if (value.count == 1 && strcmp(value.key, "look_ns") == 0)
            look_ns = value.numbers[0];
        if (value.count == 1 && suffix) {
            *suffix = '\0';
            if (clock_named(value.key) >= 0)
                namespace_ns[clock_named(value.key)] = value.numbers[0];
        }
    }
    recorded_host *of = host_of(file, name, boot);
    if (!of && !(of = add_host(file, name, boot, look_ns)))
        return out_of_memory;
    for (int id = 0; id < MPIX_CLOCK_IDS; id++)
        of->clocks[id].namespace_ns = namespace_ns[id];
    return NULL;
}

/* Reads a line behind the head. *torn: the line is not complete, which only the last one may be. */
static const char *read_line(mpix_clock_file *file, const char *line, bool *torn)
{
    value value;
    recorded_host *of = NULL;
    const char *at = line, *wrong = NULL;
    bool is_host = false;
    /* First the whole line is looked at, so that nothing is taken from a line that is not complete. */
    *torn = !take(&at, '{');
    const char *const begin = at;
    while (!*torn && next_value(&at, &value))
        is_host = is_host || strcmp(value.key, "boot") == 0;
    *torn = *torn || *at != '\0';
    if (*torn)
        return NULL;
    if (is_host)
        return take_host(file, begin);
    for (at = begin; !wrong && next_value(&at, &value);)
        wrong = take_item(file, &of, &value);
    return wrong;
}

/* ---- From a clock to MONOTONIC_RAW */

/* When, by MONOTONIC_RAW. */
typedef struct interval {
    double min_ns, max_ns; /* less the raw time of the first look, so that a double has them exactly */
    int how;
} interval;

static interval interval_of(double one_ns, double other_ns, double half_ns, int how)
{
    return (interval){fmin(one_ns, other_ns) - half_ns, fmax(one_ns, other_ns) + half_ns, how};
}

/* Raw nanoseconds for one unit of the clock, from one look to another. */
static double unit_ns(const look *from, const look *to)
{
    return (double)(to->raw_ns - from->raw_ns) / (double)(to->at - from->at);
}

/* Clocks other than the counter have nanoseconds, and those that were set would say something else. */
static double usual_unit_ns(const looks *of, mpix_clock_id id)
{
    const look *first = &of->items[0], *last = &of->items[of->count - 1];
    return id == MPIX_CLOCK_COUNTER && last->at > first->at ? unit_ns(first, last) : 1;
}

/* As bend_ns: nobody looked for a while before. So it is known after files were joined that have another look_ns. */
#define BEHIND_GAP (-2)

/* Whether nobody looked for a while. */
static bool is_gap(int64_t look_ns, const look *from, const look *to)
{
    return to->bend_ns == BEHIND_GAP || (to->bend_ns < 0 && to->raw_ns - from->raw_ns > 2 * look_ns);
}

/* Whether a clock was set between a look and the next one. Between frequent looks, what else this may be is bounded by
 * those around. */
static bool is_set_after(const looks *of, size_t i, mpix_clock_id id, int64_t look_ns)
{
    const look *from = &of->items[i], *to = from + 1;
    const double passed_ns = (double)(to->raw_ns - from->raw_ns);
    const double limit = is_gap(look_ns, from, to) ? CORRECTED_RATE_LIMIT : 0.1;
    if (to->at <= from->at)
        return true;
    return id != MPIX_CLOCK_COUNTER && fabs((double)(to->at - from->at) - passed_ns) >
                                           limit * passed_ns + (double)(from->half_ns + to->half_ns) + 1e3;
}

static bool may_be_set(mpix_clock_id id)
{
    return id == MPIX_CLOCK_REALTIME || id == MPIX_CLOCK_TAI || id == MPIX_CLOCK_BOOTTIME; /* this one by a suspend */
}

/*
 * Nobody looked between two looks, or before or after them, or there are no others, so that these tell no rate. The
 * rate was anything that the kernel makes it, and a clock may have been set by what a rate would explain.
 */
static interval in_gap(mpix_clock_id id, const look *from, const look *to, double usual, double half_ns,
                       double chord_ns, int64_t reading)
{
    const double passed_ns = (double)(to->raw_ns - from->raw_ns);
    const double grown_ns = fabs(usual * (double)(to->at - from->at) - passed_ns);
    const double near_ns = usual * fmin((double)(reading - from->at), (double)(to->at - reading));
    const double limit = id == MPIX_CLOCK_COUNTER ? 0 : CORRECTED_RATE_LIMIT; /* one oscillator with MONOTONIC_RAW */
    const double slewed_ns = passed_ns > 0 ? (limit + grown_ns / passed_ns) * near_ns : 0;
    return interval_of(chord_ns, chord_ns, half_ns + slewed_ns + (may_be_set(id) ? grown_ns : 0), 0);
}

/* Between two looks, between which the clock was not set. */
static interval between_looks(const recorded_host *of, const looks *clock, mpix_clock_id id, size_t i, size_t begin,
                              size_t end, int64_t reading)
{
    const look *from = &clock->items[i], *to = from + 1;
    const int64_t zero_ns = clock->items[0].raw_ns;
    const double half_ns = (double)(from->half_ns > to->half_ns ? from->half_ns : to->half_ns) + RESOLUTION_NS;
    const double from_ns = (double)(from->raw_ns - zero_ns), to_ns = (double)(to->raw_ns - zero_ns);
    const double since = (double)(reading - from->at), until = (double)(to->at - reading), unit = unit_ns(from, to);
    if (to->bend_ns >= 0) {
        const double at_ns = from_ns + unit * since;
        return interval_of(at_ns, at_ns, half_ns + (double)to->bend_ns, 0);
    }
    const double chord_ns = from_ns + unit * since;
    const look *previous = i > begin ? from - 1 : from, *next = i + 2 < end ? to + 1 : to;
    const bool are_alone = previous == from && next == to;
    if (are_alone || is_gap(of->look_ns, from, to) || (previous < from && is_gap(of->look_ns, previous, from)) ||
        (next > to && is_gap(of->look_ns, to, next)))
        return in_gap(id, from, to, usual_unit_ns(clock, id), half_ns, chord_ns, reading);
    /*
     * The rate of the clock was changed once: the clock has the rate of before until then, and from then on that of
     * after. Or the rate was changed in the stretches before and after, and here it is constant. Looks that are near
     * each other tell a rate roughly.
     */
    double left_ns = from_ns + unit * since, right_ns = left_ns, rough_ns = 0;
    if (previous < from) {
        left_ns = from_ns + since * unit_ns(previous, from);
        rough_ns = 2 * half_ns * since / (double)(from->at - previous->at);
    }
    if (next > to) {
        right_ns = to_ns - until * unit_ns(to, next);
        rough_ns = fmax(rough_ns, 2 * half_ns * until / (double)(next->at - to->at));
    }
    /* Where only one side is known, a clock may have been set by little, and then had the rate of that side. */
    if (may_be_set(id) && previous < from && next == to)
        right_ns = to_ns - until * unit_ns(previous, from);
    if (may_be_set(id) && previous == from && next > to)
        left_ns = from_ns + since * unit_ns(to, next);
    return interval_of(fmin(chord_ns, fmin(left_ns, right_ns)), fmax(chord_ns, fmax(left_ns, right_ns)),
                       half_ns + rough_ns, 0);
}

/* Before or after the looks at which the clock was not set. rate_limit: infinite, if they tell no rate. */
static interval beyond_look(const looks *clock, size_t i, double unit, double rate_limit, int64_t reading)
{
    const look *near = &clock->items[i];
    const double apart_ns = unit * (double)(reading - near->at);
    const double at_ns = (double)(near->raw_ns - clock->items[0].raw_ns) + apart_ns;
    const double drifted_ns = reading == near->at ? 0
                              : isinf(rate_limit) ? (double)MAX_READING
                                                  : rate_limit * fabs(apart_ns);
    return interval_of(at_ns, at_ns, (double)near->half_ns + RESOLUTION_NS + drifted_ns,
                       reading != near->at ? MPIX_CLOCK_EXTRAPOLATED : 0);
}

/* The rate of two looks, if they are far enough apart to tell it; from it, the rate may change by the limit. */
static double unit_near(const look *from, const look *to, mpix_clock_id id, double usual)
{
    const double doubt =
        ((double)(from->half_ns + to->half_ns) + 2.0 * RESOLUTION_NS) / (double)(to->raw_ns - from->raw_ns);
    return id == MPIX_CLOCK_COUNTER || (doubt >= 0 && doubt < CORRECTED_RATE_LIMIT / 10) ? unit_ns(from, to) : usual;
}

/*
 * When the clock had a reading, while it was not set between two looks, begin to end - 1. Returns false if it had the
 * reading before or after that.
 */
static bool in_stretch(const recorded_host *of, const looks *clock, mpix_clock_id id, size_t begin, size_t end,
                       int64_t reading, interval *found)
{
    const look *first = &clock->items[begin], *last = &clock->items[end - 1];
    const double usual = usual_unit_ns(clock, id);
    double rate_limit = 1.1 * CORRECTED_RATE_LIMIT, unit = usual;
    /* It and MONOTONIC_RAW have one oscillator, but one look does not tell how long a tick is. */
    if (id == MPIX_CLOCK_COUNTER)
        rate_limit = last->raw_ns > first->raw_ns
                         ? (double)(first->half_ns + last->half_ns + 2) / (double)(last->raw_ns - first->raw_ns)
                         : INFINITY;
    if (reading < first->at) {
        if (end - begin > 1)
            unit = unit_near(first, first + 1, id, usual);
        *found = beyond_look(clock, begin, unit, rate_limit, reading);
        if (begin == 0)
            return true;
        found->how = 0;
        return found->max_ns >= (double)(first[-1].raw_ns - clock->items[0].raw_ns);
    }
    if (reading >= last->at) {
        if (end - begin > 1)
            unit = unit_near(last - 1, last, id, usual);
        *found = beyond_look(clock, end - 1, unit, rate_limit, reading);
        if (end == clock->count)
            return true;
        found->how = 0;
        return found->min_ns <= (double)(last[1].raw_ns - clock->items[0].raw_ns);
    }
    size_t before = begin, after = end - 1;
    while (after - before > 1) {
        const size_t middle = before + (after - before) / 2;
        if (clock->items[middle].at <= reading)
            before = middle;
        else
            after = middle;
    }
    *found = between_looks(of, clock, id, before, begin, end, reading);
    return true;
}

/* All times at which a clock may have had a reading. */
static interval find_interval(const recorded_host *of, mpix_clock_id id, int64_t reading)
{
    const looks *clock = &of->clocks[id];
    interval all = {INFINITY, -INFINITY, 0}, found, nearest = {0};
    size_t times = 0;
    for (size_t i = 0, begin = 0; i < clock->stretches; begin = clock->ends[i++]) {
        const size_t end = clock->ends[i];
        if (in_stretch(of, clock, id, begin, end, reading, &found)) {
            all = (interval){fmin(all.min_ns, found.min_ns), fmax(all.max_ns, found.max_ns), all.how | found.how};
            times++;
        } else if (end < clock->count && reading >= clock->items[end - 1].at) {
            const double zero_ns = (double)clock->items[0].raw_ns;
            nearest = (interval){(double)clock->items[end - 1].raw_ns - zero_ns,
                                 (double)clock->items[end].raw_ns - zero_ns, MPIX_CLOCK_AMBIGUOUS};
        }
    }
    /* A clock that was set ahead has left out the reading: it was taken while the clock was set, if it was taken. */
    if (times == 0)
        return nearest;
    all.how |= times > 1 ? MPIX_CLOCK_AMBIGUOUS : 0;
    return all;
}

/* ---- From MONOTONIC_RAW to the global clock */

/*
 * Where two records contradict each other, the host was suspended between them, or the global clock was moved: it is
 * one clock until then, and another from then on.
 */
static mpix_clock_reading read_global(const recorded_host *of, int64_t raw_ns, double *bound_ns, int *how)
{
    mpix_clock_line before = of->global, after = of->global;
    size_t end = 0;
    mpix_clock_reading read = mpix_clock_read_line(&of->global, raw_ns, &end);
    *bound_ns = mpix_clock_line_bound_ns(&of->global, raw_ns);
    if (isfinite(*bound_ns) || end == 0 || raw_ns <= of->pairs[end - 1].at_ns || raw_ns >= of->pairs[end].at_ns)
        return read;
    before.count = end;
    after.pairs += end;
    after.count -= end;
    const mpix_clock_reading one = mpix_clock_read_line(&before, raw_ns, NULL);
    const mpix_clock_reading other = mpix_clock_read_line(&after, raw_ns, NULL);
    const double apart_ns = (double)(other.time_ns - one.time_ns) + other.rest_ns - one.rest_ns;
    *how |= MPIX_CLOCK_AMBIGUOUS;
    read.time_ns = one.time_ns + (int64_t)floor(apart_ns / 2);
    *bound_ns = fabs(apart_ns) / 2 + RESOLUTION_NS +
                fmax(mpix_clock_line_bound_ns(&before, raw_ns), mpix_clock_line_bound_ns(&after, raw_ns));
    return read;
}

static int64_t limited(int64_t time)
{
    return time > MAX_READING ? MAX_READING : time < -MAX_READING ? -MAX_READING : time;
}

int mpix_clock_convert(const mpix_clock_file *file, int host, mpix_clock_id clock, int64_t reading,
                       mpix_clock_time *time)
{
    const recorded_host *of = &file->hosts[host];
    double half_ns = 0;
    int how = 0;
    if (!mpix_clock_has(file, host, clock))
        return -1;
    reading = limited(reading);
    int64_t raw_ns = reading;
    if (clock != MPIX_CLOCK_MONOTONIC_RAW) {
        const interval when = find_interval(of, clock, reading);
        const double middle_ns = when.min_ns + (when.max_ns - when.min_ns) / 2;
        half_ns = (when.max_ns - when.min_ns) / 2;
        how = when.how;
        raw_ns = limited(of->clocks[clock].items[0].raw_ns +
                         (int64_t)fmin(fmax(middle_ns, -(double)MAX_READING), (double)MAX_READING));
    }
    if (raw_ns < of->pairs[0].at_ns || raw_ns > of->pairs[of->count - 1].at_ns)
        how |= MPIX_CLOCK_EXTRAPOLATED;
    double global_bound_ns;
    const mpix_clock_reading global = read_global(of, raw_ns, &global_bound_ns, &how);
    const double raw_bound_ns = half_ns > 0 ? half_ns * (1 + file->rate_limit) : 0;
    const double bound_ns = ceil(global_bound_ns + raw_bound_ns) + RESOLUTION_NS;
    time->global_ns = global.time_ns + (global.rest_ns >= 0.5);
    time->unix_ns = time->global_ns + file->unix_ns;
    time->bound_ns = bound_ns < (double)MAX_READING ? (int64_t)bound_ns : INT64_MAX;
    time->how = how;
    return 0;
}

/* ---- Opening and joining */

void mpix_clock_close(mpix_clock_file *file)
{
    if (!file)
        return;
    for (size_t i = 0; i < file->count; i++) {
        recorded_host *of = &file->hosts[i];
        for (int id = 0; id < MPIX_CLOCK_IDS; id++) {
            free(of->clocks[id].items);
            free(of->clocks[id].ends);
        }
        free(of->utc_looks);
        free(of->utc_pairs);
        free(of->spans);
        free(of->pairs);
        free(of->name);
        free(of->boot);
    }
    free(file->hosts);
    free(file);
}

static int by_reading(const void *a, const void *b)
{
    const mpix_clock_pair *x = a, *y = b;
    return (x->at_ns > y->at_ns) - (x->at_ns < y->at_ns);
}

static int by_raw_time(const void *a, const void *b)
{
    const look *x = a, *y = b;
    return x->raw_ns != y->raw_ns ? (x->raw_ns > y->raw_ns) - (x->raw_ns < y->raw_ns)
                                  : (x->at > y->at) - (x->at < y->at);
}

static bool end_stretch(looks *of, size_t end)
{
    void *ends = of->ends;
    if (!grow(&ends, of->stretches, &of->ends_capacity, sizeof *of->ends))
        return false;
    of->ends = ends;
    of->ends[of->stretches++] = end;
    return true;
}

static bool find_stretches(looks *of, mpix_clock_id id, int64_t look_ns)
{
    bool is_good = true;
    of->stretches = 0;
    for (size_t i = 0; is_good && i < of->count; i++)
        if (i + 1 == of->count || is_set_after(of, i, id, look_ns))
            is_good = end_stretch(of, i + 1);
    return is_good;
}

/* systemd-timesyncd tells the kernel an error of 0, which is no bound. So does phc2sys, which leaves the estimate. */
static bool is_word_of_utc(const mpix_clock_utc_look *look)
{
    return look->estimate_ns > 0 && look->estimate_ns <= look->within_ns;
}

/* UTC beside the global clock, where a kernel knew it. Returns false if memory lacks. */
static bool settle_utc(const mpix_clock_file *file, recorded_host *of)
{
    size_t count = 0;
    if (of->count == 0 || of->utc_count == 0)
        return true;
    mpix_clock_pair *pairs = realloc(of->utc_pairs, of->utc_count * sizeof *pairs);
    if (!pairs)
        return false;
    for (size_t i = 0; i < of->utc_count; i++) {
        const mpix_clock_utc_look *look = &of->utc_looks[i];
        double bound_ns;
        int how = 0;
        const int64_t global_ns = read_global(of, look->raw_ns, &bound_ns, &how).time_ns;
        if (is_word_of_utc(look) && how == 0 && is_uptime(global_ns))
            pairs[count++] = (mpix_clock_pair){
                .at_ns = global_ns, .ahead_ns = look->at - global_ns, .bound_ns = (double)look->within_ns + bound_ns};
    }
    qsort(pairs, count, sizeof *pairs, by_reading);
    of->utc_pairs = pairs;
    of->utc = (mpix_clock_line){pairs, count, sizeof *pairs, file->rate_limit, file->wander_per_s};
    return true;
}

/* Brings records and looks into order. Returns false if memory lacks. A host without records has a name only. */
static bool settle(mpix_clock_file *file)
{
    bool is_good = true;
    file->has_words = file->has_utc = false;
    for (size_t i = 0; i < file->count; i++) {
        recorded_host *of = &file->hosts[i];
        if (of->count > 0)
            qsort(of->pairs, of->count, sizeof *of->pairs, by_reading);
        of->global = (mpix_clock_line){of->pairs, of->count, sizeof *of->pairs, file->rate_limit, file->wander_per_s};
        for (int id = 0; id < MPIX_CLOCK_IDS; id++) {
            if (of->clocks[id].count > 0)
                qsort(of->clocks[id].items, of->clocks[id].count, sizeof(look), by_raw_time);
            is_good = is_good && find_stretches(&of->clocks[id], (mpix_clock_id)id, of->look_ns);
        }
        is_good = is_good && settle_utc(file, of);
        file->has_words = file->has_words || of->utc_count > 0;
        file->has_utc = file->has_utc || of->utc.count > 0;
    }
    return is_good;
}

/* A line of any length, without its end. Returns false at the end of the file, or if memory lacks. */
static bool get_line(FILE *stream, char **line, size_t *capacity)
{
    size_t length = 0;
    void *grown = *line;
    for (;;) {
        if (!grow(&grown, length + 1 < *capacity ? 0 : *capacity, capacity, 1))
            return false;
        *line = grown;
        if (!fgets(*line + length, (int)(*capacity - length > INT_MAX ? INT_MAX : *capacity - length), stream))
            return length > 0;
        length += strlen(*line + length);
        if (length > 0 && (*line)[length - 1] == '\n') {
            (*line)[length - 1] = '\0';
            return true;
        }
    }
}

static const char *read_lines(mpix_clock_file *file, FILE *stream, size_t *number)
{
    char *line = NULL;
    size_t capacity = 0;
    const char *wrong = NULL;
    bool torn = false;
    while (!wrong && get_line(stream, &line, &capacity)) {
        if (torn) /* and lines follow */
            wrong = "has a line that is not an object of numbers and texts";
        else if (++*number == 1)
            wrong = read_head(file, line);
        else if (line[0] != '\0')
            wrong = read_line(file, line, &torn);
    }
    free(line);
    return wrong ? wrong : ferror(stream) ? "cannot be read" : *number == 0 ? "is empty" : NULL;
}

mpix_clock_file *mpix_clock_open(const char *path, char why[MPIX_CLOCK_WHY_BYTES])
{
    mpix_clock_file *file = calloc(1, sizeof *file);
    FILE *stream = fopen(path, "r");
    size_t number = 0;
    const char *wrong = !file ? out_of_memory : !stream ? "cannot be opened" : read_lines(file, stream, &number);
    if (stream)
        fclose(stream);
    if (!wrong && !settle(file))
        wrong = out_of_memory;
    if (wrong) {
        if (number > 1)
            snprintf(why, MPIX_CLOCK_WHY_BYTES, "%.150s, line %zu: %s", path, number, wrong);
        else
            snprintf(why, MPIX_CLOCK_WHY_BYTES, "%.150s: %s", path, wrong);
        mpix_clock_close(file);
        return NULL;
    }
    return file;
}

/*
 * What two jobs recorded of a host while it was not suspended. By its clock the times of the second job become those of
 * the first one.
 */
typedef struct bridge {
    mpix_clock_line here, there;
    double doubt_ns; /* between the two, the host may have been suspended for so long */
} bridge;

typedef struct junction {
    mpix_clock_pair *pairs; /* the records that the first file has of the host, to which more are added there */
    bridge *bridges;
    size_t count, capacity;
    bool is_whole; /* they have all records of the second file */
} junction;

static int64_t global_of(const mpix_clock_pair *pair)
{
    return pair->at_ns + pair->ahead_ns;
}

/* How far a time of the second job is from the records of a bridge. */
static double away_ns(const bridge *its, int64_t global_ns)
{
    const int64_t first_ns = global_of(pair_at(&its->there, 0));
    const int64_t last_ns = global_of(pair_at(&its->there, its->there.count - 1));
    return global_ns < first_ns  ? (double)(first_ns - global_ns)
           : global_ns > last_ns ? (double)(global_ns - last_ns)
                                 : 0;
}

static const bridge *nearest_bridge(const junction *at, int64_t global_ns)
{
    const bridge *nearest = at->bridges;
    for (size_t i = 1; i < at->count; i++)
        if (away_ns(&at->bridges[i], global_ns) < away_ns(nearest, global_ns))
            nearest = &at->bridges[i];
    return nearest;
}

/* The reading of MONOTONIC_RAW at a global time, which grows with it. */
static int64_t raw_at(const mpix_clock_line *line, int64_t global_ns)
{
    size_t after = 0, end = line->count;
    while (after < end) {
        const size_t middle = after + (end - after) / 2;
        if (global_of(pair_at(line, middle)) > global_ns)
            end = middle;
        else
            after = middle + 1;
    }
    const mpix_clock_pair *from = pair_at(line, after > 0 ? after - 1 : 0);
    if (after > 0 && after < line->count) {
        const mpix_clock_pair *to = pair_at(line, after);
        const double part = (double)(global_ns - global_of(from)) / (double)(global_of(to) - global_of(from));
        return from->at_ns + (int64_t)(part * (double)(to->at_ns - from->at_ns));
    }
    int64_t raw_ns = limited(global_ns - from->ahead_ns);
    for (int round = 0; round < 3; round++) /* each one takes the error times the drift */
        raw_ns = limited(raw_ns + (global_ns - mpix_clock_read_line(line, raw_ns, NULL).time_ns));
    return raw_ns;
}

/*
 * While the host was suspended, and where no bridge has the time, MONOTONIC_RAW is what it would be if the host had not
 * been suspended since the nearest bridge. A record that would be of more than 18 years, which no sound files make, is
 * of 0 and has no bound.
 */
static mpix_clock_pair moved(mpix_clock_pair pair, const junction *at)
{
    const bridge *by = nearest_bridge(at, global_of(&pair));
    const int64_t shared_ns = raw_at(&by->there, global_of(&pair));
    const mpix_clock_reading back = mpix_clock_read_line(&by->there, shared_ns, NULL);
    const mpix_clock_reading read = mpix_clock_read_line(&by->here, shared_ns, NULL);
    const int64_t here_ns = limited(read.time_ns) + limited(global_of(&pair) - back.time_ns);
    pair.ahead_ns = (is_uptime(here_ns) ? here_ns : 0) - pair.at_ns;
    pair.ahead_ps = 0;
    pair.bound_ns += is_uptime(here_ns) ? mpix_clock_line_bound_ns(&by->there, shared_ns) +
                                              mpix_clock_line_bound_ns(&by->here, shared_ns) + by->doubt_ns
                                        : INFINITY;
    return pair;
}

static void mark_gaps(looks *of, int64_t look_ns)
{
    for (size_t i = 0; i < of->count; i++)
        if (i == 0 || is_gap(look_ns, &of->items[i - 1], &of->items[i]))
            of->items[i].bend_ns = BEHIND_GAP;
}

static span whole_span(const recorded_host *of)
{
    span whole = {INT64_MAX, INT64_MIN};
    if (of->count > 0)
        whole = (span){of->pairs[0].at_ns, of->pairs[of->count - 1].at_ns};
    for (int id = 0; id < MPIX_CLOCK_IDS; id++) {
        const looks *its = &of->clocks[id];
        if (its->count > 0 && its->items[0].raw_ns < whole.first_ns)
            whole.first_ns = its->items[0].raw_ns;
        if (its->count > 0 && its->items[its->count - 1].raw_ns > whole.last_ns)
            whole.last_ns = its->items[its->count - 1].raw_ns;
    }
    return whole;
}

static bool add_span(recorded_host *to, span added)
{
    void *spans = to->spans;
    if (!grow(&spans, to->span_count, &to->span_capacity, sizeof *to->spans))
        return false;
    to->spans = spans;
    to->spans[to->span_count++] = added;
    return true;
}

static bool add_spans(recorded_host *to, const recorded_host *from)
{
    bool is_good = from->span_count > 0 || add_span(to, whole_span(from));
    for (size_t i = 0; is_good && i < from->span_count; i++)
        is_good = add_span(to, from->spans[i]);
    return is_good;
}

/* Whether a file that was joined has the host at a time from `since` to `until`. */
static bool is_recorded(const recorded_host *of, int64_t since_ns, int64_t until_ns)
{
    for (size_t i = 0; i < of->span_count; i++)
        if (of->spans[i].first_ns <= until_ns && since_ns <= of->spans[i].last_ns)
            return true;
    return false;
}

/* Looks from when the other files do not have the host. The first one behind a seam follows on none of its own file. */
static bool add_looks(recorded_host *to, const recorded_host *from, int id)
{
    const looks *its = &from->clocks[id];
    bool is_good = true;
    mark_gaps(&to->clocks[id], to->look_ns);
    for (size_t i = 0; is_good && i < its->count; i++) {
        look added = its->items[i];
        if (is_recorded(to, added.raw_ns, added.raw_ns))
            continue;
        if (i == 0 || is_recorded(to, its->items[i - 1].raw_ns, added.raw_ns) ||
            is_gap(from->look_ns, &its->items[i - 1], &added))
            added.bend_ns = BEHIND_GAP;
        is_good = add_look(&to->clocks[id], added);
    }
    return is_good;
}

/* The same of records. Their bounds grow, so that no longer all contradict each other that did in their own file. */
static bool add_pairs(recorded_host *to, const recorded_host *from, const junction *at)
{
    bool is_good = true;
    for (size_t i = 0; is_good && i < from->count; i++) {
        mpix_clock_pair pair = from->pairs[i];
        if (is_recorded(to, pair.at_ns, pair.at_ns))
            continue;
        if (i > 0 && contradict(&from->global, &from->pairs[i - 1], &pair))
            pair.deviation_ns = -1;
        is_good = add_pair(to, moved(pair, at));
    }
    return is_good;
}

/* The host may have been recorded in both jobs, one after the other. */
static bool add_recorded(mpix_clock_file *file, const recorded_host *from, const junction *at)
{
    recorded_host *to = host_of(file, from->name, from->boot);
    bool is_good = true;
    if (!to) {
        to = add_host(file, from->name, from->boot, from->look_ns);
        for (int id = 0; to && id < MPIX_CLOCK_IDS; id++)
            to->clocks[id].namespace_ns = from->clocks[id].namespace_ns;
    } else if (to->span_count == 0) {
        is_good = add_span(to, whole_span(to));
    }
    if (!to)
        return false;
    for (int id = 0; is_good && id < MPIX_CLOCK_IDS; id++)
        is_good = add_looks(to, from, id);
    if (from->look_ns > to->look_ns)
        to->look_ns = from->look_ns;
    for (size_t i = 0; is_good && i < from->utc_count; i++)
        is_good = add_utc_look(to, from->utc_looks[i]);
    return is_good && add_pairs(to, from, at) && add_spans(to, from);
}

static bool have_one_namespace(const recorded_host *here, const recorded_host *there)
{
    for (int id = 0; id < MPIX_CLOCK_IDS; id++)
        if (here->clocks[id].namespace_ns != there->clocks[id].namespace_ns)
            return false;
    return true;
}

/* Between two looks at BOOTTIME a host was suspended, or may have been. */
typedef struct silence {
    int64_t since_ns, until_ns; /* MONOTONIC_RAW */
    bool is_known;              /* it was suspended */
    double doubt_ns;            /* for so long it may have been, as nobody looked for a while */
} silence;

/* What one file has of the host. cuts[i]: the host was suspended between the records i - 1 and i, as these tell. */
typedef struct side {
    const recorded_host *of;
    bool *cuts;
} side;

/* A host that two files have. */
typedef struct common_host {
    side here, there;
    span looked; /* at BOOTTIME, by any of the files */
    silence *silences;
    size_t count, capacity;
} common_host;

static bool merge_looks(looks *merged, const common_host *its, mpix_clock_id id)
{
    const looks *of[] = {&its->here.of->clocks[id], &its->there.of->clocks[id]};
    bool is_good = true;
    for (int k = 0; k < 2; k++)
        for (size_t i = 0; is_good && i < of[k]->count; i++)
            is_good = add_look(merged, of[k]->items[i]);
    if (is_good && merged->count > 0)
        qsort(merged->items, merged->count, sizeof *merged->items, by_raw_time);
    return is_good;
}

static const look *nearest_look(const looks *of, int64_t raw_ns)
{
    size_t after = 0, end = of->count;
    while (after < end) {
        const size_t middle = after + (end - after) / 2;
        if (of->items[middle].raw_ns < raw_ns)
            after = middle + 1;
        else
            end = middle;
    }
    const bool is_before =
        after == of->count || (after > 0 && raw_ns - of->items[after - 1].raw_ns < of->items[after].raw_ns - raw_ns);
    return &of->items[is_before ? after - 1 : after];
}

/*
 * BOOTTIME goes on while the host is suspended, MONOTONIC and MONOTONIC_RAW do not. The kernel slews BOOTTIME and
 * MONOTONIC alike, so they tell most, if somebody looked at both.
 */
static silence silence_between(const look *from, const look *to, const looks *monotonic)
{
    const double passed_ns = (double)(to->raw_ns - from->raw_ns);
    double asleep_ns = (double)(to->at - from->at) - passed_ns, slewed_ns = CORRECTED_RATE_LIMIT * passed_ns;
    double half_ns = (double)(from->half_ns + to->half_ns);
    if (monotonic->count > 0) {
        const look *first = nearest_look(monotonic, from->raw_ns), *last = nearest_look(monotonic, to->raw_ns);
        const int64_t before_ns = from->raw_ns - first->raw_ns, after_ns = to->raw_ns - last->raw_ns;
        const double limit_ns = CORRECTED_RATE_LIMIT * (fabs((double)before_ns) + fabs((double)after_ns));
        if (limit_ns < slewed_ns) {
            asleep_ns = (double)(to->at - from->at) - (double)(last->at - first->at) - (double)(after_ns - before_ns);
            slewed_ns = limit_ns;
            half_ns += (double)(first->half_ns + last->half_ns);
        }
    }
    return (silence){from->raw_ns, to->raw_ns, fabs(asleep_ns) > slewed_ns + half_ns + 2 * RESOLUTION_NS,
                     fabs(asleep_ns) + slewed_ns};
}

static bool add_silence(common_host *to, silence added)
{
    void *silences = to->silences;
    if (!grow(&silences, to->count, &to->capacity, sizeof *to->silences))
        return false;
    to->silences = silences;
    to->silences[to->count++] = added;
    return true;
}

static bool find_silences(common_host *its)
{
    const int64_t here_ns = its->here.of->look_ns, there_ns = its->there.of->look_ns;
    looks boottime = {0}, monotonic = {0};
    bool is_good =
        merge_looks(&boottime, its, MPIX_CLOCK_BOOTTIME) && merge_looks(&monotonic, its, MPIX_CLOCK_MONOTONIC);
    its->looked = (span){INT64_MAX, INT64_MIN};
    if (is_good && boottime.count > 0)
        its->looked = (span){boottime.items[0].raw_ns, boottime.items[boottime.count - 1].raw_ns};
    for (size_t i = 1; is_good && i < boottime.count; i++) {
        const look *from = &boottime.items[i - 1], *to = &boottime.items[i];
        const silence found = silence_between(from, to, &monotonic);
        if (found.is_known || is_gap(here_ns > there_ns ? here_ns : there_ns, from, to))
            is_good = add_silence(its, found);
    }
    free(boottime.items);
    free(monotonic.items);
    return is_good;
}

/* Whether BOOTTIME tells that the host was suspended. If it does not, it may have been, for *doubt_ns at most. */
static bool slept(const common_host *its, int64_t since_ns, int64_t until_ns, double *doubt_ns)
{
    *doubt_ns = 0;
    for (size_t i = 0; i < its->count; i++) {
        const silence *one = &its->silences[i];
        if (one->since_ns >= until_ns || one->until_ns <= since_ns)
            continue;
        if (one->is_known)
            return true;
        *doubt_ns += one->doubt_ns;
    }
    return false;
}

static bool is_looked_at(const common_host *its, int64_t since_ns, int64_t until_ns)
{
    return its->looked.first_ns <= since_ns && until_ns <= its->looked.last_ns;
}

/* Where the global clock gained on MONOTONIC_RAW, the host was suspended, unless BOOTTIME knows better. */
static bool is_cut(const common_host *its, const recorded_host *of, size_t i)
{
    const mpix_clock_pair *from = &of->pairs[i - 1], *to = &of->pairs[i];
    const double gained_ns = ahead_growth_ns(from, to);
    double doubt_ns;
    if (gained_ns <= 0 || !contradict(&of->global, from, to))
        return false;
    return slept(its, from->at_ns, to->at_ns, &doubt_ns) || !is_looked_at(its, from->at_ns, to->at_ns) ||
           gained_ns <= doubt_ns;
}

static bool find_cuts(const common_host *its, side *of)
{
    of->cuts = calloc(of->of->count, sizeof *of->cuts);
    for (size_t i = 1; of->cuts && i < of->of->count; i++)
        of->cuts[i] = is_cut(its, of->of, i);
    return of->cuts != NULL;
}

static bool is_cut_between(const side *of, int64_t since_ns, int64_t until_ns)
{
    const mpix_clock_pair *pairs = of->of->pairs;
    for (size_t i = 1; i < of->of->count; i++)
        if (of->cuts[i] && pairs[i - 1].at_ns < until_ns && since_ns < pairs[i].at_ns)
            return true;
    return false;
}

/* Whether the records of the second file tell each suspend among them. They do not if its global clock stopped, too. */
static bool is_told(const common_host *its)
{
    const recorded_host *of = its->there.of;
    for (size_t i = 0; i < its->count; i++) {
        const silence *one = &its->silences[i];
        if (one->is_known && one->since_ns < of->pairs[of->count - 1].at_ns && of->pairs[0].at_ns < one->until_ns &&
            !is_cut_between(&its->there, one->since_ns, one->until_ns))
            return false;
    }
    return true;
}

/* The record at which the host was suspended again since one, or the number of all. */
static size_t next_cut(const side *of, size_t begin)
{
    size_t end = begin + 1;
    while (end < of->of->count && !of->cuts[end])
        end++;
    return end;
}

static mpix_clock_line part_of(const mpix_clock_line *line, size_t begin, size_t end)
{
    mpix_clock_line part = *line;
    part.pairs = pair_at(line, begin);
    part.count = end - begin;
    return part;
}

/* Whether the host was not suspended between the records of one file and of the other. */
static bool is_bridge(const common_host *its, bridge *one)
{
    const int64_t here_ns = pair_at(&one->here, 0)->at_ns, there_ns = pair_at(&one->there, 0)->at_ns;
    const int64_t here_end_ns = pair_at(&one->here, one->here.count - 1)->at_ns;
    const int64_t there_end_ns = pair_at(&one->there, one->there.count - 1)->at_ns;
    if (here_ns <= there_end_ns && there_ns <= here_end_ns)
        return true;
    const int64_t since_ns = there_ns > here_end_ns ? here_end_ns : there_end_ns;
    const int64_t until_ns = there_ns > here_end_ns ? there_ns : here_ns;
    if (slept(its, since_ns, until_ns, &one->doubt_ns))
        return false;
    return is_looked_at(its, since_ns, until_ns) ||
           !(is_cut_between(&its->here, since_ns, until_ns) || is_cut_between(&its->there, since_ns, until_ns));
}

static bool add_bridge(junction *to, bridge added)
{
    void *bridges = to->bridges;
    if (!grow(&bridges, to->count, &to->capacity, sizeof *to->bridges))
        return false;
    to->bridges = bridges;
    to->bridges[to->count++] = added;
    return true;
}

static bool add_bridges(const common_host *its, const mpix_clock_line *there, junction *to)
{
    const recorded_host *of = its->here.of;
    bool is_good = true;
    for (size_t begin = 0, end; is_good && begin < of->count; begin = end) {
        end = next_cut(&its->here, begin);
        bridge one = {part_of(&of->global, begin, end), *there, 0};
        one.here.pairs = to->pairs + begin;
        if (is_bridge(its, &one))
            is_good = add_bridge(to, one);
    }
    return is_good;
}

/* Whether the global clock was moved. */
static bool is_bent(const mpix_clock_line *line)
{
    for (size_t i = 1; i < line->count; i++)
        if (contradict(line, pair_at(line, i - 1), pair_at(line, i)))
            return true;
    return false;
}

/*
 * Records of the second file that no bridge has are further than a suspend from those of the first one: they must not
 * tell more. Nor may records be on both sides of a suspend that they do not tell. Returns false if memory lacks.
 */
static bool find_bridges(const common_host *its, junction *made)
{
    const recorded_host *there = its->there.of;
    made->is_whole = true;
    for (size_t begin = 0, end; begin < there->count; begin = end) {
        const size_t had = made->count;
        end = next_cut(&its->there, begin);
        const mpix_clock_line part = part_of(&there->global, begin, end);
        if (!add_bridges(its, &part, made))
            return false;
        if (made->count > had + 1 || (made->count == had && is_bent(&part))) {
            made->count = 0;
            return true;
        }
        made->is_whole = made->is_whole && made->count > had;
    }
    return true;
}

static void free_junction(junction *of)
{
    free(of->bridges);
    free(of->pairs);
}

/* Without bridges, if the host is of no use. Returns false if memory lacks. */
static bool make_junction(const recorded_host *here, const recorded_host *there, junction *made)
{
    common_host its = {.here.of = here, .there.of = there};
    *made = (junction){.pairs = malloc(here->count * sizeof *made->pairs)};
    bool is_good = made->pairs && find_silences(&its) && find_cuts(&its, &its.here) && find_cuts(&its, &its.there);
    if (made->pairs)
        memcpy(made->pairs, here->pairs, here->count * sizeof *made->pairs);
    if (is_good && is_told(&its))
        is_good = find_bridges(&its, made);
    free(its.silences);
    free(its.here.cuts);
    free(its.there.cuts);
    return is_good;
}

/* Finds a host of both files whose MONOTONIC_RAW counted from one file to the other, if it can all the time of both. */
static bool find_junction(const mpix_clock_file *file, const mpix_clock_file *other, junction *found,
                          char why[MPIX_CLOCK_WHY_BYTES])
{
    snprintf(why, MPIX_CLOCK_WHY_BYTES, "the files have records of no host in common, since the same boot");
    for (size_t i = 0; i < other->count; i++) {
        const recorded_host *there = &other->hosts[i], *here = host_of(file, there->name, there->boot);
        junction its;
        if (here && !have_one_namespace(here, there)) {
            snprintf(why, MPIX_CLOCK_WHY_BYTES, "%.100s had another time namespace when the other file was written",
                     there->name);
            return false;
        }
        if (!here || here->count == 0 || there->count == 0 || (found->count > 0 && found->is_whole))
            continue;
        const bool is_made = make_junction(here, there, &its);
        snprintf(why, MPIX_CLOCK_WHY_BYTES,
                 "%.100s, which the files have in common, was suspended between them, or while they were written",
                 there->name);
        if (is_made && its.count > 0 && (found->count == 0 || its.is_whole)) {
            const junction worse = *found;
            *found = its;
            its = worse;
        }
        free_junction(&its);
        if (!is_made) {
            snprintf(why, MPIX_CLOCK_WHY_BYTES, "%s", out_of_memory);
            return false;
        }
    }
    return found->count > 0;
}

int mpix_clock_join(mpix_clock_file *file, const mpix_clock_file *other, char why[MPIX_CLOCK_WHY_BYTES])
{
    junction at = {NULL, NULL, 0, 0, false};
    if (file == other)
        return 0;
    const bool is_found = find_junction(file, other, &at, why);
    bool is_good = is_found;
    for (size_t i = 0; is_good && i < other->count; i++)
        is_good = add_recorded(file, &other->hosts[i], &at);
    free_junction(&at);
    if (is_good && settle(file))
        return 0;
    if (is_found)
        snprintf(why, MPIX_CLOCK_WHY_BYTES, "%s", out_of_memory);
    return -1;
}

/* ---- What a file has */

int mpix_clock_host_count(const mpix_clock_file *file)
{
    return (int)file->count;
}

const char *mpix_clock_host_name(const mpix_clock_file *file, int host)
{
    return file->hosts[host].name;
}

const char *mpix_clock_host_boot(const mpix_clock_file *file, int host)
{
    return file->hosts[host].boot;
}

int mpix_clock_find_host(const mpix_clock_file *file, const char *name)
{
    int found = -1;
    for (size_t i = 0; i < file->count; i++)
        if (strcmp(file->hosts[i].name, name) == 0)
            found = found == -1 ? (int)i : -2;
    return found;
}

int mpix_clock_has(const mpix_clock_file *file, int host, mpix_clock_id clock)
{
    const recorded_host *of = &file->hosts[host];
    return of->count > 0 && (clock == MPIX_CLOCK_MONOTONIC_RAW || of->clocks[clock].count > 0);
}

int64_t mpix_clock_namespace_ns(const mpix_clock_file *file, int host, mpix_clock_id clock)
{
    return file->hosts[host].clocks[clock].namespace_ns;
}

/* What the word of a host is wrong by at most; MAX_READING: it bounds nothing. */
static double utc_bound_ns(const recorded_host *of, int64_t global_ns)
{
    return of->utc.count > 0 ? fmin(mpix_clock_line_bound_ns(&of->utc, global_ns), (double)MAX_READING)
                             : (double)MAX_READING;
}

int mpix_clock_utc_of(const mpix_clock_file *file, int host, int64_t global_ns, mpix_clock_utc *utc)
{
    const recorded_host *of = &file->hosts[host];
    global_ns = limited(global_ns);
    const double bound_ns = utc_bound_ns(of, global_ns);
    if (bound_ns >= (double)MAX_READING)
        return of->utc_count > 0 ? 1 : -1;
    const int64_t time_ns = mpix_clock_read_line(&of->utc, global_ns, NULL).time_ns;
    *utc = (mpix_clock_utc){host, time_ns - global_ns - file->unix_ns, (int64_t)ceil(bound_ns) + 1};
    return 0;
}

int mpix_clock_find_utc(const mpix_clock_file *file, int64_t global_ns, mpix_clock_utc *utc)
{
    double least_ns = (double)MAX_READING;
    int surest = -1;
    global_ns = limited(global_ns);
    for (size_t i = 0; file->has_utc && i < file->count; i++) {
        const double bound_ns = utc_bound_ns(&file->hosts[i], global_ns);
        if (bound_ns < least_ns) {
            least_ns = bound_ns;
            surest = (int)i;
        }
    }
    return surest >= 0 ? mpix_clock_utc_of(file, surest, global_ns, utc) : file->has_words ? 1 : -1;
}

void mpix_clock_span(const mpix_clock_file *file, int host, mpix_clock_id clock, int64_t *first, int64_t *last)
{
    const recorded_host *of = &file->hosts[host];
    const looks *its = &of->clocks[clock];
    *first = clock == MPIX_CLOCK_MONOTONIC_RAW ? of->pairs[0].at_ns : its->items[0].at;
    *last = clock == MPIX_CLOCK_MONOTONIC_RAW ? of->pairs[of->count - 1].at_ns : its->items[its->count - 1].at;
}

/* ---- Records in memory */

mpix_clock_file *mpix_clock_new(int64_t unix_ns, int64_t look_ns)
{
    mpix_clock_file *file = calloc(1, sizeof *file);
    if (file && !add_host(file, "", "", look_ns)) {
        mpix_clock_close(file);
        return NULL;
    }
    if (file) {
        file->unix_ns = unix_ns;
        mpix_clock_limit(file, INFINITY, INFINITY);
    }
    return file;
}

void mpix_clock_limit(mpix_clock_file *file, double rate_limit, double wander_per_s)
{
    recorded_host *of = &file->hosts[0];
    file->rate_limit = rate_limit;
    file->wander_per_s = wander_per_s;
    of->global = (mpix_clock_line){of->pairs, of->count, sizeof *of->pairs, rate_limit, wander_per_s};
}

int mpix_clock_push_record(mpix_clock_file *file, mpix_clock_pair record)
{
    const bool is_good = add_pair(&file->hosts[0], record);
    mpix_clock_limit(file, file->rate_limit, file->wander_per_s);
    return is_good ? 0 : -1;
}

void mpix_clock_pop_record(mpix_clock_file *file)
{
    file->hosts[0].count--;
    mpix_clock_limit(file, file->rate_limit, file->wander_per_s);
}

int mpix_clock_push_look(mpix_clock_file *file, mpix_clock_id clock, mpix_clock_look look)
{
    looks *of = &file->hosts[0].clocks[clock];
    if (!add_look(of, look))
        return -1;
    if (of->stretches > 0 && !is_set_after(of, of->count - 2, clock, file->hosts[0].look_ns))
        of->ends[of->stretches - 1] = of->count;
    else if (!end_stretch(of, of->count)) {
        of->count--;
        return -1;
    }
    return 0;
}

void mpix_clock_pop_look(mpix_clock_file *file, mpix_clock_id clock)
{
    looks *of = &file->hosts[0].clocks[clock];
    const size_t begin = of->stretches > 1 ? of->ends[of->stretches - 2] : 0;
    of->count--;
    of->ends[of->stretches - 1] = of->count;
    of->stretches -= of->count == begin;
}

/*
 * The look from which on all are kept: an earlier one than `old`, if the clock was set back behind it and had readings
 * then that it had again after `old`.
 */
static size_t keep_setting(const looks *its, size_t old, mpix_clock_id id, int64_t look_ns)
{
    size_t kept = old;
    for (size_t i = old < its->count ? old : 0; i-- > 0;) {
        const int64_t passed_ns = its->items[i + 1].raw_ns - its->items[i].raw_ns;
        if (is_set_after(its, i, id, look_ns) && its->items[i].at + passed_ns + passed_ns / 8 > its->items[old].at)
            kept = i;
    }
    return kept;
}

void mpix_clock_forget(mpix_clock_file *file, int64_t before_raw_ns)
{
    recorded_host *of = &file->hosts[0];
    size_t old = 0;
    while (old < of->count && of->pairs[old].at_ns < before_raw_ns)
        old++;
    of->count -= old;
    if (old > 0)
        memmove(of->pairs, of->pairs + old, of->count * sizeof *of->pairs);
    mpix_clock_limit(file, file->rate_limit, file->wander_per_s);
    for (int id = 0; id < MPIX_CLOCK_IDS; id++) {
        looks *its = &of->clocks[id];
        for (old = 0; old < its->count && its->items[old].raw_ns < before_raw_ns;)
            old++;
        old -= old > 0 && old < its->count && its->items[old].bend_ns >= 0;
        old = keep_setting(its, old, (mpix_clock_id)id, of->look_ns);
        if (old == 0)
            continue;
        its->count -= old;
        memmove(its->items, its->items + old, its->count * sizeof *its->items);
        find_stretches(its, (mpix_clock_id)id, of->look_ns); /* they are not more than before */
    }
}

const mpix_clock_pair *mpix_clock_records(const mpix_clock_file *file, size_t *count)
{
    *count = file->hosts[0].count;
    return file->hosts[0].pairs;
}

const mpix_clock_look *mpix_clock_looks(const mpix_clock_file *file, mpix_clock_id clock, size_t *count)
{
    *count = file->hosts[0].clocks[clock].count;
    return file->hosts[0].clocks[clock].items;
}
