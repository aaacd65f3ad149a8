/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fuzz_trace.c - the input is the file of each rank of a job of up to three: what is read is sound, so that all that
 * the tools make of it holds what it promises; what is refused is explained in one line.
 */
#include "fuzz/fuzz.h"
#include "common/cli/memory.h"
#include "trace/check/check.h"
#include "trace/convert/conversion.h"
#include "trace/read/parse.h"
#include "trace/report/answer.h"
#include "trace/report/profile.h"
#include "trace/report/sites.h"

#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_RANKS = 3, LATENCY_NS = 100 };

static char folder[] = "/tmp/fuzz_trace.XXXXXX", copy[sizeof folder + 5];

static void empty(const char *of)
{
    char path[TRACE_PATH_SIZE];
    for (int rank = 0; rank < MAX_RANKS; rank++) {
        trace_path(path, of, rank);
        unlink(path);
    }
}

static void remove_folders(void)
{
    empty(folder);
    empty(copy);
    rmdir(copy);
    rmdir(folder);
}

static void make_folders(void)
{
    static bool is_made;
    if (is_made)
        return;
    is_made = true;
    FUZZ_REQUIRE(mkdtemp(folder));
    snprintf(copy, sizeof copy, "%s/copy", folder);
    FUZZ_REQUIRE(mkdir(copy, 0777) == 0 && atexit(remove_folders) == 0);
}

static void write_files(const uint8_t *data, size_t size)
{
    trace_file_head head = {.size = 1};
    if (size >= sizeof head)
        memcpy(&head, data, sizeof head);
    head.version += TRACE_VERSION; /* kept inputs stay good when it is raised */
    const int ranks = head.size > 0 && head.size <= MAX_RANKS ? head.size : 1;
    empty(folder);
    for (head.rank = 0; head.rank < ranks; head.rank++) {
        char path[TRACE_PATH_SIZE];
        trace_path(path, folder, head.rank);
        FILE *file = fopen(path, "wb");
        FUZZ_REQUIRE(file);
        const size_t head_bytes = size >= sizeof head ? sizeof head : 0;
        fwrite(&head, 1, head_bytes, file);
        fwrite(data + head_bytes, 1, size - head_bytes, file);
        FUZZ_REQUIRE(fclose(file) == 0);
    }
}

static void check_times_of(trace *read, trace_clock by)
{
    trace_set_times(read, by);
    for (const trace_location *at = NULL; (at = trace_next_location(read, at)) != NULL;)
        for (size_t k = 0; k < at->count; k++) {
            const double at_ns = at->global_ns[k];
            FUZZ_REQUIRE(isfinite(at_ns) && at_ns >= 0 && (k == 0 || at_ns >= at->global_ns[k - 1]));
            FUZZ_REQUIRE(trace_bound_ns(at->process, at->events[k].time_ns) >= 0);
        }
}

static void check_matches(const trace_matches *matches)
{
    for (size_t i = 0; i < matches->message_count; i++) {
        const trace_point *send = &matches->messages[i].send, *receive = &matches->messages[i].receive;
        FUZZ_REQUIRE(send->at->events[send->event].kind == TRACE_SEND);
        FUZZ_REQUIRE(receive->at->events[receive->event].kind == TRACE_RECEIVE);
    }
    for (size_t i = 0; i < matches->call_count; i++)
        for (int part = 0; part < matches->calls[i].count; part++) {
            const trace_part *of = &matches->calls[i].parts[part];
            FUZZ_REQUIRE(of->enter.event < of->enter.at->count && of->record < of->enter.at->count);
            FUZZ_REQUIRE(of->leave.event < of->leave.at->count && of->wait.at == of->leave.at &&
                         of->wait.event <= of->leave.event);
        }
}

/* After the correction nothing is violated. */
static void check_correction(const trace *read, const trace_matches *matches)
{
    conditions of;
    conditions_find(read, matches, &of);
    int64_t *time_ns = malloc((of.event_count + 1) * sizeof *time_ns);
    FUZZ_REQUIRE(time_ns);
    conditions_times(&of, time_ns);
    const bool is_good = conditions_correct(&of, LATENCY_NS, time_ns);
    const check_relations found = check_times(&of, time_ns, LATENCY_NS, true);
    for (size_t i = 0; i < found.count; i++)
        FUZZ_REQUIRE(!is_good || found.list[i].late_ns <= 0);
    free(found.list);
    free(time_ns);
    conditions_free(&of);
}

static void report(const trace *read, const trace_matches *matches)
{
    profile_t profile;
    sites_t sites;
    profile_make(&profile, read);
    for (size_t i = 0; i < profile.count; i++)
        FUZZ_REQUIRE(profile.list[i].function && profile.list[i].total_ns >= 0);
    profile_free(&profile);
    sites_find(&sites, read, matches);
    sites_free(&sites);
}

/* All that is waited is charged, and the critical path is as long as the run. */
static void analyze(const trace *read, const trace_matches *matches)
{
    wait_analysis found;
    answer_t answer;
    int64_t charged_ns = 0, path_ns = 0;
    analysis_make(&found, read, matches);
    for (size_t i = 0; i < found.causes.count; i++) {
        charged_ns += found.causes.list[i].charged_ns;
        path_ns += found.causes.list[i].path_ns;
        FUZZ_REQUIRE(found.causes.list[i].charged_ns >= found.causes.list[i].direct_ns);
    }
    FUZZ_REQUIRE(charged_ns == found.causes.waited_ns);
    FUZZ_REQUIRE(path_ns == found.run_ns);
    answer_make(&answer, &found);
    analysis_free(&found);
}

static void convert(const trace *read)
{
    conversion job = {.program = "fuzz_trace", .of = read, .file = fopen("/dev/null", "w")};
    FUZZ_REQUIRE(job.file);
    communicators_find(&job.communicators, read);
    FUZZ_REQUIRE(convert_to_csv(&job) == STATUS_GOOD);
#ifdef MH_WITH_JANSSON
    FUZZ_REQUIRE(convert_to_perfetto(&job) == STATUS_GOOD);
#endif
    communicators_free(&job.communicators);
    fclose(job.file);
}

/* What is written is what was read. */
static void write_again(const trace *read)
{
    char message[TRACE_MESSAGE_SIZE];
    trace again;
    empty(copy);
    FUZZ_REQUIRE(trace_write(read, copy, message) && trace_read(&again, copy, message));
    for (int rank = 0; rank < read->size; rank++) {
        FUZZ_REQUIRE(again.processes[rank].record_count == read->processes[rank].record_count);
        for (size_t i = 0; i < again.processes[rank].location_count; i++)
            FUZZ_REQUIRE(again.processes[rank].locations[i].count == read->processes[rank].locations[i].count);
    }
    trace_free(&again);
}

/* The second quarter of the run, as it was written again. */
static void check_part(const trace *whole)
{
    char message[TRACE_MESSAGE_SIZE];
    trace part;
    trace_matches matches;
    const double run_s = (whole->last_ns - whole->zero_ns) / 1e9;
    FUZZ_REQUIRE(trace_read_outline(&part, copy, message));
    FUZZ_REQUIRE(trace_read_part(&part, &matches, copy, run_s / 4, run_s / 2, message));
    for (const trace_location *at = NULL; (at = trace_next_location(&part, at)) != NULL;)
        FUZZ_REQUIRE(at->count == 0 || ((part.has_start || at->global_ns[0] >= part.cut_from_ns) && //
                                        at->global_ns[at->count - 1] <= part.cut_to_ns));
    check_matches(&matches);
    report(&part, &matches);
    analyze(&part, &matches);
    trace_matches_free(&matches);
    trace_free(&part);
}

static void check_trace(trace *read)
{
    trace_matches matches;
    for (trace_clock by = TRACE_LOCAL; by <= TRACE_GLOBAL; by++)
        check_times_of(read, by);
    trace_warn(read, "fuzz_trace");
    trace_match(read, &matches);
    check_matches(&matches);
    check_correction(read, &matches);
    report(read, &matches);
    analyze(read, &matches);
    convert(read);
    write_again(read);
    trace_matches_free(&matches);
    check_part(read);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char message[TRACE_MESSAGE_SIZE] = "";
    trace read;
    make_folders();
    write_files(data, size);
    if (trace_read(&read, folder, message)) {
        check_trace(&read);
        trace_free(&read);
        return 0;
    }
    FUZZ_REQUIRE(message[0] != '\0' && strlen(message) < TRACE_MESSAGE_SIZE);
    for (const char *next = message; *next != '\0'; next++)
        FUZZ_REQUIRE((unsigned char)*next >= ' ');
    return 0;
}
