/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpix_clock_convert - put the timestamps of any program on the global clock, by the file that mpix_clock record wrote.
 * It needs no MPI library, so files can be converted on a laptop.
 */
#define _GNU_SOURCE
#include "bench/convert/conversion.h"
#include "common/cli/options.h"
#include "common/cli/output.h"
#include "pure/units.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char program_name[] = "mpix_clock_convert";

typedef enum format { FROM_CHROME, FROM_CSV, FROM_TEXT, FROM_PACKETS } format_t;
static const char *const formats[] = {
    [FROM_CHROME] = "chrome", [FROM_CSV] = "csv", [FROM_TEXT] = "text", [FROM_PACKETS] = "packets", NULL};

static const struct {
    const char *name;
    int64_t ns;
} units[] = {{"s", MH_NS_PER_S}, {"ms", MH_NS_PER_MS}, {"us", MH_NS_PER_US}, {"ns", 1}, {NULL, 0}};

typedef struct convert_settings {
    text_list_t records, inputs;
    int64_t clock, format, unit; /* or ABSENT */
    int64_t start_ns, is_kernels, since_start, shares_flows, tells_offsets;
    const char *host, *column, *pattern, *time_format, *output;
} convert_settings_t;

#define FIELD(field) offsetof(convert_settings_t, field)

static const option_spec_t options[] = {
    {'c', "clocks", "FILE", OPTION_TEXTS, FIELD(records), .doc = "the file that mpix_clock record wrote",
     .more = "Once more for each other job that shares a host with any of them: all times are then on the clock of "
             "the first file."},
    {0, "clock", "CLOCK", OPTION_CHOICE, FIELD(clock), .names = NAMES(mpix_clock_id_names),
     .doc = "the clock that the times of INPUT were read from",
     .more =
         "Readings of several clocks look alike, so nobody can guess it. `counter` is the counter of the processor, "
         "in ticks."},
    {0, "host", "HOST", OPTION_TEXT, FIELD(host), .default_doc = "the only one", .doc = "the host of INPUT"},
    {0, "kernel", NULL, OPTION_SWITCH, FIELD(is_kernels), .doc = "the kernel took the times, as those of perf",
     .more = "A time namespace, as containers may have it, adds nothing to them."},
    {0, "from", "FORMAT", OPTION_CHOICE, FIELD(format), .names = NAMES(formats), .default_doc = "by the name of INPUT",
     .doc = "the format of INPUT",
     .more = "`chrome` is the JSON of Chrome, Perfetto, Kineto and node. `packets` is pcap or pcapng. A "
             "file of text that begins with traceEvents is `chrome`."},
    {0, "unit", "UNIT", OPTION_CHOICE, FIELD(unit), .names = NAMES(units), .default_doc = "us of chrome, else s",
     .doc = "the unit of the times of INPUT"},
    {0, "start-ns", "NS", OPTION_INTEGER, FIELD(start_ns), .max = 9e18, .default_text = "0",
     .doc = "what the times of INPUT are relative to, by its clock",
     .more = "Of the format `chrome`, baseTimeNanoseconds in the file counts unless this is given."},
    {0, "column", "COLUMN", OPTION_TEXT, FIELD(column), .default_text = "1",
     .doc = "csv: the column of times, a name or a number from 1"},
    {0, "pattern", "REGEX", OPTION_TEXT, FIELD(pattern),
     .default_doc = "the first number with a decimal point that is not part of a word, a version or an address",
     .doc = "text: an extended regular expression that finds the time in a line",
     .more = "If it has a group, the first group is the time. Lines without a time are copied."},
    {0, "time-format", "FORMAT", OPTION_TEXT, FIELD(time_format), .default_doc = "a decimal number",
     .doc = "text: the form of a date in UTC, as strptime takes it",
     .more = "A fraction of the second may follow, behind a point or a comma, and an offset from UTC, such as Z or "
             "+01:00."},
    {0, "since-start", NULL, OPTION_SWITCH, FIELD(since_start),
     .doc = "write times since the start of the records, not since 1970",
     .more = "Readers that keep microseconds in a double have then all digits."},
    {0, "shared-flows", NULL, OPTION_SWITCH, FIELD(shares_flows),
     .doc = "chrome: an id of a flow means the same on all hosts"},
    {0, "offsets", NULL, OPTION_SWITCH, FIELD(tells_offsets),
     .doc = "instead, print for each clock the one offset that other readers take",
     .more =
         "A line of JSON for each: offset_ns is to be added to readings of the clock, and is wrong by at most "
         "error_ns; null: no bound is known. If the reader takes a rate, too: offset_at_ns at the reading at_ns, and "
         "rate_ppb from there on. "
         "Readers are those of CTF (babeltrace2), OTF2 and pcap (editcap)."},
    {'o', "output", "FILE", OPTION_TEXT, FIELD(output), .default_doc = "standard output", .doc = "the file to write",
     .more = "FILE.gz is compressed."},
};

static const option_spec_t operand = OPTION(0, "input", "[HOST=]INPUT", OPTION_TEXTS, FIELD(inputs), .doc = "");

static const char notes[] =
    "INPUT: a file, also FILE.gz, or - for standard input. Of the format chrome, there may be several, each with its\n"
    "HOST=, and all come into one file.\n"
    "\n"
    "The true time is within the bound of the written one. Tables and events have the bound beside each time; after\n"
    "the last time, the largest is told on standard error. mpix_clock_reader(3) says what is assumed of clocks.\n"
    "\n"
    "Exit status: 0 if all is well, 1 if INPUT cannot be converted, 2 for a bad option.\n";

static const program_spec_t program =
    PROGRAM_SPEC(program_name, "Puts the timestamps of any program on the global clock that mpix_clock record wrote.",
                 .operand = &operand, .usage = "mpix_clock_convert -c FILE --clock CLOCK [OPTION]... [HOST=]INPUT...");

/* ---- Files that may be compressed */

typedef struct stream {
    FILE *file;
    pid_t gzip; /* 0: none */
} stream_t;

static bool ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text), end_length = strlen(end);
    return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

/* Puts gzip between a file and this process. Returns this process's end, or NULL. */
static FILE *through_gzip(int file, bool writes, pid_t *gzip)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return NULL;
    *gzip = fork();
    if (*gzip == 0) {
        dup2(writes ? ends[0] : file, STDIN_FILENO);
        dup2(writes ? file : ends[1], STDOUT_FILENO);
        execlp("gzip", "gzip", writes ? "-c" : "-dc", (char *)NULL);
        fprintf(stderr, "%s: gzip cannot be started: %s\n", program_name, strerror(errno));
        _exit(127);
    }
    close(file);
    close(ends[writes ? 0 : 1]);
    return *gzip < 0 ? NULL : fdopen(ends[writes ? 1 : 0], writes ? "w" : "r");
}

/* Says so, with errno. Is false. */
static bool say_unopened(const char *path)
{
    fprintf(stderr, "%s: \"%.200s\" cannot be opened: %s\n", program_name, path, strerror(errno));
    return false;
}

static bool open_input(stream_t *stream, const char *path)
{
    *stream = (stream_t){0};
    const int file = strcmp(path, "-") == 0 ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
    if (file >= 0)
        stream->file = ends_with(path, ".gz") ? through_gzip(file, false, &stream->gzip) : fdopen(file, "r");
    return stream->file || say_unopened(path);
}

/* Whether all could be read, or written. */
static bool close_stream(stream_t *stream)
{
    int state = 0;
    const bool is_good = ferror(stream->file) == 0;
    const bool is_closed = fclose(stream->file) == 0;
    if (stream->gzip > 0)
        waitpid(stream->gzip, &state, 0);
    return is_good && is_closed && state == 0;
}

static bool open_output(stream_t *stream, const char *path)
{
    *stream = (stream_t){.file = stdout};
    if (!path)
        return true;
    const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    stream->file = file < 0                 ? NULL
                   : ends_with(path, ".gz") ? through_gzip(file, true, &stream->gzip)
                                            : fdopen(file, "w");
    if (!stream->file)
        fprintf(stderr, "%s: option --output: \"%.200s\" cannot be created: %s\n", program_name, path, strerror(errno));
    return stream->file != NULL;
}

/* ---- What is to be converted */

/* The host that stands before a path; else the path is all of it. */
static int cut_host(const mpix_clock_file *records, const char **path)
{
    char name[256];
    const char *equals = strchr(*path, '=');
    if (!equals || (size_t)(equals - *path) >= sizeof name)
        return -1;
    memcpy(name, *path, (size_t)(equals - *path));
    name[equals - *path] = '\0';
    const int host = mpix_clock_find_host(records, name);
    if (host != -1)
        *path = equals + 1;
    return host;
}

enum { HOSTS_BYTES = 300 };

static void list_hosts(const mpix_clock_file *records, char *text, size_t size)
{
    size_t length = 0;
    text[0] = '\0';
    for (int i = 0; i < mpix_clock_host_count(records) && length < size; i++)
        length += (size_t)snprintf(text + length, size - length, "%s%.60s", i > 0 ? ", " : "",
                                   mpix_clock_host_name(records, i));
}

static void say_host_lacks(const convert_settings_t *settings, const mpix_clock_file *records)
{
    char hosts[HOSTS_BYTES];
    list_hosts(records, hosts, sizeof hosts);
    fprintf(stderr, "%s: option --host: \"%.60s\" is not in the records, give one of %s\n", program_name,
            settings->host, hosts);
}

static bool choose_host(const convert_settings_t *settings, conversion_t *conversion)
{
    char hosts[HOSTS_BYTES];
    int host = cut_host(conversion->records, &conversion->path);
    if (host == -1 && settings->host)
        host = mpix_clock_find_host(conversion->records, settings->host);
    else if (host == -1 && mpix_clock_host_count(conversion->records) == 1)
        host = 0;
    list_hosts(conversion->records, hosts, sizeof hosts);
    if (host == -2)
        fprintf(stderr, "%s: the host of \"%.200s\" was booted while it was recorded: convert by a file of one boot\n",
                program_name, conversion->path);
    else if (host == -1 && settings->host)
        say_host_lacks(settings, conversion->records);
    else if (host == -1)
        fprintf(stderr, "%s: of which host is \"%.200s\"? Give HOST=%.200s, with a host of %s\n", program_name,
                conversion->path, conversion->path, hosts);
    else if (!mpix_clock_has(conversion->records, host, conversion->clock))
        fprintf(stderr, "%s: option --clock: the records of %s do not have %s\n", program_name,
                mpix_clock_host_name(conversion->records, host), mpix_clock_id_names[conversion->clock]);
    else
        return conversion->host = host, true;
    return false;
}

/* Whether a file begins as an object of Chrome's JSON does, whatever its name: node's end in .log. */
static bool begins_with_events(const char *path)
{
    static const char events[] = "{\"traceEvents\"";
    char begin[200] = "";
    struct stat there;
    size_t visible = 0;
    if (stat(path, &there) != 0 || !S_ISREG(there.st_mode))
        return false;
    FILE *file = fopen(path, "re");
    for (int got; file && visible + 1 < sizeof begin && (got = getc(file)) != EOF;)
        if (!strchr(" \t\r\n", got))
            begin[visible++] = (char)got;
    if (file)
        fclose(file);
    return strncmp(begin, events, sizeof events - 1) == 0;
}

static int64_t format_of(const convert_settings_t *settings, const char *path)
{
    static const struct {
        const char *end;
        format_t format;
    } ends[] = {{".json", FROM_CHROME},    {".json.gz", FROM_CHROME},    {".csv", FROM_CSV},
                {".csv.gz", FROM_CSV},     {".pcap", FROM_PACKETS},      {".pcap.gz", FROM_PACKETS},
                {".pcapng", FROM_PACKETS}, {".pcapng.gz", FROM_PACKETS}, {".log", FROM_TEXT},
                {".log.gz", FROM_TEXT},    {".txt", FROM_TEXT},          {".txt.gz", FROM_TEXT}};
    if (settings->format != ABSENT)
        return settings->format;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        if (ends_with(path, ends[i].end))
            return ends[i].format == FROM_TEXT && begins_with_events(path) ? FROM_CHROME : ends[i].format;
    return ABSENT;
}

/* Whether a path, or a standard stream if it is NULL, is a file with bytes of its own. */
static bool find_file(const char *path, int standard, struct stat *there)
{
    return (path ? stat(path, there) : fstat(standard, there)) == 0 && S_ISREG(there->st_mode);
}

/* Refuses to write to a file that is read: -, standard input. */
static bool is_kept(const convert_settings_t *settings, const char *path)
{
    struct stat read, written;
    if (!find_file(strcmp(path, "-") == 0 ? NULL : path, STDIN_FILENO, &read) ||
        !find_file(settings->output, STDOUT_FILENO, &written) || read.st_dev != written.st_dev ||
        read.st_ino != written.st_ino)
        return true;
    fprintf(stderr, "%s: \"%.200s\": it is %s, too\n", program_name, path,
            settings->output ? "the file of --output" : "standard output");
    return false;
}

static bool are_records_kept(const convert_settings_t *settings)
{
    bool are_kept = true;
    for (int i = 0; are_kept && i < settings->records.count; i++)
        are_kept = is_kept(settings, settings->records.texts[i]);
    return are_kept;
}

/* What the command line asks for, before anything is written. */
static bool check_inputs(const convert_settings_t *settings, conversion_t *conversions, const mpix_clock_file *records)
{
    for (int i = 0; i < settings->inputs.count; i++) {
        conversion_t *conversion = &conversions[i];
        *conversion = (conversion_t){.records = records,
                                     .path = settings->inputs.texts[i],
                                     .clock = (mpix_clock_id)settings->clock,
                                     .is_kernels = settings->is_kernels != 0,
                                     .start_ns = settings->start_ns,
                                     .since_start = settings->since_start != 0};
        if (!choose_host(settings, conversion))
            return false;
        const int64_t format = format_of(settings, conversion->path);
        const char *wrong = format == ABSENT ? "its name does not tell the format: give --from"
                            : settings->inputs.count > 1 && format != FROM_CHROME
                                ? "only files of the format chrome come into one: convert one at a time"
                                : NULL;
        if (wrong) {
            fprintf(stderr, "%s: \"%.200s\": %s\n", program_name, conversion->path, wrong);
            return false;
        }
        if (!is_kept(settings, conversion->path))
            return false;
        const int64_t unit = settings->clock == MPIX_CLOCK_COUNTER ? 3
                             : settings->unit != ABSENT            ? settings->unit
                             : format == FROM_CHROME               ? 2
                                                                   : 0;
        conversion->unit_ns = units[unit].ns;
    }
    return true;
}

static void tell(const conversion_t *conversion, int64_t lines_without)
{
    char bound[60] = "not known";
    if (conversion->worst_ns < INT64_MAX)
        snprintf(bound, sizeof bound, "%.3f us", (double)conversion->worst_ns * 1e-3);
    fprintf(stderr, "%s: %.200s: %" PRId64 " times of %s, largest bound %s", program_name, conversion->path,
            conversion->times, mpix_clock_host_name(conversion->records, conversion->host), bound);
    if (conversion->extrapolated > 0)
        fprintf(stderr, "; %" PRId64 " before or after the records", conversion->extrapolated);
    if (conversion->ambiguous > 0)
        fprintf(stderr, "; %" PRId64 " ambiguous, as the clock was set", conversion->ambiguous);
    if (lines_without > 0)
        fprintf(stderr, "; %" PRId64 " lines without a time", lines_without);
    if (conversion->torn)
        fprintf(stderr, "; it ends within %s, which is left out", conversion->torn);
    fputs("\n", stderr);
}

/* Written times are Unix time by the clock of the first host as the records began. */
static void tell_utc(const conversion_t *conversions, int64_t count)
{
    utc_distance_t all = {.worst_ns = 0};
    for (int64_t i = 0; i < count; i++) {
        const utc_distance_t *one = &conversions[i].utc;
        if (one->is_known && one->worst_ns > all.worst_ns) {
            all.worst_ns = one->worst_ns;
            all.host = one->host;
        }
        all.is_known = all.is_known || one->is_known;
        all.is_unknown = all.is_unknown || one->is_unknown;
    }
    if (all.is_known)
        fprintf(stderr, "%s: UTC is within %.3f ms of %sthese times, says the kernel of %s\n", program_name,
                ceil(all.worst_ns * 1e-3) * 1e-3, all.is_unknown ? "some of " : "",
                mpix_clock_host_name(conversions[0].records, all.host));
    if (all.is_unknown)
        fprintf(stderr, "%s: how far UTC is from %s times is not known\n", program_name,
                all.is_known ? "the other" : "these");
}

static bool convert_input(const convert_settings_t *settings, conversion_t *conversion, chrome_output_t *chrome,
                          FILE *to)
{
    stream_t from;
    int64_t lines_without = 0;
    bool is_good;
    if (!open_input(&from, conversion->path))
        return false;
    switch (format_of(settings, conversion->path)) {
    case FROM_CHROME:
        is_good = convert_chrome(conversion, from.file, chrome);
        break;
    case FROM_CSV:
        is_good = convert_csv(conversion, from.file, to, settings->column);
        break;
    case FROM_TEXT:
        is_good = convert_text(conversion, from.file, to, settings->pattern, settings->time_format, &lines_without);
        break;
    default:
        is_good = convert_packets(conversion, from.file, to);
    }
    if (!close_stream(&from) && is_good)
        is_good = convert_fail(conversion, "could not be read to its end");
    if (is_good)
        tell(conversion, lines_without);
    else
        fprintf(stderr, "%s: %s\n", program_name, conversion->why);
    return is_good;
}

/* Looked at before the output is emptied. */
static bool can_be_read(const char *path)
{
    return strcmp(path, "-") == 0 || access(path, R_OK) == 0 || say_unopened(path);
}

static int convert_all(const convert_settings_t *settings, conversion_t *conversions)
{
    stream_t to;
    for (int i = 0; i < settings->inputs.count; i++)
        if (!can_be_read(conversions[i].path))
            return STATUS_FAILED;
    if (!open_output(&to, settings->output))
        return STATUS_BAD_OPTION;
    chrome_output_t chrome = {
        .to = to.file, .shares_flows = settings->shares_flows != 0, .inputs = settings->inputs.count};
    const bool is_chrome = settings->inputs.count > 0 && format_of(settings, conversions[0].path) == FROM_CHROME;
    bool is_good = !is_chrome || chrome_begin(&chrome);
    for (int i = 0; is_good && i < settings->inputs.count; i++)
        is_good = convert_input(settings, &conversions[i], &chrome, to.file);
    is_good = is_good && (!is_chrome || chrome_end(&chrome));
    if (is_good)
        tell_utc(conversions, settings->inputs.count);
    if (to.file == stdout ? fflush(stdout) != 0 : !close_stream(&to)) {
        fprintf(stderr, "%s: \"%.200s\" could not be written\n", program_name,
                settings->output ? settings->output : "standard output");
        is_good = false;
    }
    /* A file that ends in the middle may be taken for a whole one. Devices and links stay. */
    struct stat there;
    if (!is_good && settings->output && lstat(settings->output, &there) == 0 && S_ISREG(there.st_mode) &&
        unlink(settings->output) == 0)
        fprintf(stderr, "%s: \"%.200s\" was removed, as it was not complete\n", program_name, settings->output);
    return is_good ? STATUS_GOOD : STATUS_FAILED;
}

/* ---- One offset, for readers that take no more */

/*
 * The offset in the middle between its extremes, so that its greatest error is least. Between two places it may be
 * further from the middle by as much as it changes from one to the next, unless the clock was set there, which the
 * bounds have.
 */
static void tell_offset(const mpix_clock_file *records, int host, mpix_clock_id clock)
{
    enum { PLACES = 100000 };
    int64_t first, last, least_ns = INT64_MAX, most_ns = INT64_MIN, bound_ns = 0, change_ns = 0, begin_ns = 0;
    int64_t offset_ns = 0;
    int how = MPIX_CLOCK_AMBIGUOUS;
    mpix_clock_span(records, host, clock, &first, &last);
    for (int i = 0; i <= PLACES; i++) {
        const int64_t reading = first + (int64_t)((double)(last - first) * i / PLACES), before_ns = offset_ns;
        mpix_clock_time time;
        mpix_clock_convert(records, host, clock, reading, &time);
        offset_ns = time.unix_ns - reading;
        begin_ns = i == 0 ? offset_ns : begin_ns;
        least_ns = offset_ns < least_ns ? offset_ns : least_ns;
        most_ns = offset_ns > most_ns ? offset_ns : most_ns;
        bound_ns = time.bound_ns > bound_ns ? time.bound_ns : bound_ns;
        if (((how | time.how) & MPIX_CLOCK_AMBIGUOUS) == 0 && llabs(offset_ns - before_ns) > change_ns)
            change_ns = llabs(offset_ns - before_ns);
        how = time.how;
    }
    const double rate_ppb = last > first ? 1e9 * (double)(offset_ns - begin_ns) / (double)(last - first) : 0;
    char error_text[TIME_TEXT_BYTES] = "null", bound_text[TIME_TEXT_BYTES] = "null"; /* not known */
    if (bound_ns < INT64_MAX) {
        decimal_print((most_ns - least_ns + 1) / 2 + bound_ns + change_ns, 1, error_text);
        decimal_print(bound_ns, 1, bound_text);
    }
    printf("{\"host\": \"%s\", \"boot\": \"%s\", \"clock\": \"%s\", \"offset_ns\": %" PRId64 ", \"error_ns\": %s"
           ", \"rate_ppb\": %.3f, \"at_ns\": %" PRId64 ", \"offset_at_ns\": %" PRId64 ", \"bound_ns\": %s}\n",
           mpix_clock_host_name(records, host), mpix_clock_host_boot(records, host), mpix_clock_id_names[clock],
           least_ns + (most_ns - least_ns) / 2, error_text, rate_ppb, first, begin_ns, bound_text);
}

static int tell_offsets(const convert_settings_t *settings, const mpix_clock_file *records)
{
    int64_t told = 0;
    if (settings->host && mpix_clock_find_host(records, settings->host) == -1)
        return say_host_lacks(settings, records), STATUS_BAD_OPTION;
    for (int host = 0; host < mpix_clock_host_count(records); host++)
        for (int id = 0; id < MPIX_CLOCK_COUNTER; id++)
            if ((settings->clock == ABSENT || settings->clock == id) &&
                mpix_clock_has(records, host, (mpix_clock_id)id) &&
                (!settings->host || strcmp(settings->host, mpix_clock_host_name(records, host)) == 0)) {
                tell_offset(records, host, (mpix_clock_id)id);
                told++;
            }
    if (told == 0) {
        fprintf(stderr, "%s: the records have no offset of %s\n", program_name,
                settings->clock == ABSENT ? "any clock" : mpix_clock_id_names[settings->clock]);
        return STATUS_BAD_OPTION;
    }
    return output_flush(stdout) ? STATUS_GOOD : STATUS_FAILED;
}

/* ---- */

typedef struct {
    mpix_clock_file *file; /* NULL: it is joined */
    char why[MPIX_CLOCK_WHY_BYTES];
} waiting_t;

static bool open_files(const text_list_t *paths, waiting_t *files)
{
    bool is_good = true;
    for (int i = 0; is_good && i < paths->count; i++) {
        files[i].file = mpix_clock_open(paths->texts[i], files[i].why);
        is_good = files[i].file != NULL;
        if (!is_good)
            fprintf(stderr, "%s: option --clocks: %s\n", program_name, files[i].why);
    }
    return is_good;
}

/* Joins what has a host in common by now. Returns how many files that were. */
static int join_round(mpix_clock_file *records, waiting_t *others, int count)
{
    int joined = 0;
    for (int i = 0; i < count; i++) {
        waiting_t *other = &others[i];
        if (!other->file || mpix_clock_join(records, other->file, other->why) != 0)
            continue;
        mpix_clock_close(other->file);
        other->file = NULL;
        joined++;
    }
    return joined;
}

/* A file may have no host in common with those before it, but with one that comes later. */
static bool join_files(const text_list_t *paths, waiting_t *files)
{
    const int others = (int)paths->count - 1;
    bool is_good = true;
    while (join_round(files[0].file, files + 1, others) > 0)
        ;
    for (int i = 1; i <= others; i++)
        if (files[i].file) {
            fprintf(stderr, "%s: option --clocks: %s: %s\n", program_name, paths->texts[i], files[i].why);
            is_good = false;
        }
    return is_good;
}

static mpix_clock_file *open_records(const text_list_t *paths)
{
    static waiting_t files[MAX_TEXTS];
    mpix_clock_file *records = NULL;
    if (open_files(paths, files) && join_files(paths, files)) {
        records = files[0].file;
        files[0].file = NULL;
    }
    for (int i = 0; i < paths->count; i++)
        mpix_clock_close(files[i].file);
    return records;
}

static int refuse(const char *what)
{
    options_refuse(program_name, "%s", what);
    return STATUS_BAD_OPTION;
}

int main(int argc, char **argv)
{
    static convert_settings_t settings;
    output_begin();
    const options_outcome_t outcome = options_parse(&program, argc, argv, &settings);
    if (outcome != OPTIONS_RUN)
        return output_answer(outcome, program_name);
    if (settings.records.count == 0)
        return refuse("option --clocks is missing, give the file that mpix_clock record wrote");
    if (!settings.tells_offsets && settings.clock == ABSENT)
        return refuse(
            "option --clock is missing: which clock did the program read? Clocks overlap, so nobody can guess it");
    if (!settings.tells_offsets && settings.inputs.count == 0)
        return refuse("no input is named");
    if (settings.tells_offsets && (settings.inputs.count > 0 || settings.output))
        return refuse("option --offsets converts no input, and prints to standard output");
    if (!are_records_kept(&settings))
        return STATUS_BAD_OPTION;
    mpix_clock_file *records = open_records(&settings.records);
    if (!records)
        return STATUS_BAD_OPTION;
    conversion_t *conversions = calloc((size_t)settings.inputs.count + 1, sizeof *conversions);
    int status = STATUS_BAD_OPTION;
    if (settings.tells_offsets)
        status = tell_offsets(&settings, records);
    else if (conversions && check_inputs(&settings, conversions, records))
        status = convert_all(&settings, conversions);
    free(conversions);
    mpix_clock_close(records);
    return status;
}
