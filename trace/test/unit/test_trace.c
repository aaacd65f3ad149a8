/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_trace.c - traces of known truth: that what was written is read, what is not sound is refused, events get the
 * right times within the right bounds, and the right ends become messages and calls.
 */
#include "made_trace.h"
#include "unit/support.h"
#include "common/cli/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RANKS = 3 };

static const made_clock clocks[RANKS] = {
    {0, 0, 0, 0}, {5000123456, 20e-6, 3e-6, 60}, {-777777777777, -11e-6, 1e-6, 30}};

/* The trace of a test, the folder to which it is written, and the trace that is read from there. */
static made_trace made;
static trace copy;
static char folder[64];

static void begin(void)
{
    made = (made_trace){.now_ns = NULL};
    copy = (trace){.size = 0};
    snprintf(folder, sizeof folder, "test_trace.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

static const char *path_of(int rank)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/" TRACE_FILE_PATTERN, folder, rank);
    return path;
}

static void end(void)
{
    trace_free(&copy);
    made_free(&made);
    for (int rank = 0; rank < RANKS + 1; rank++)
        unlink(path_of(rank));
    rmdir(folder);
}

/* A ring of messages and some collective operations, so many times, each taking about a tenth of a second. */
static void make_ring(int rounds, double record_period_ns, double error_ns)
{
    const double step_ns = 1e8;
    made_begin(&made, RANKS, clocks, base_seed());
    for (int i = 0; i < rounds; i++) {
        for (int rank = 0; rank < RANKS; rank++)
            made_work(&made, rank, step_ns * random_fraction(&made.chance));
        for (int rank = 0; rank < RANKS; rank++)
            made_message(&made, rank, (rank + 1) % RANKS, i % 2, 900);
        made_collective(&made, MADE_ALLREDUCE, -1, 1200);
        made_collective(&made, MADE_BCAST, i % RANKS, 1000);
    }
    made_records(&made, record_period_ns, error_ns);
}

static void write_files(void)
{
    char message[TRACE_MESSAGE_SIZE];
    EXPECT(trace_write(&made.trace, folder, message), "%s", message);
}

static void write_and_read(void)
{
    char message[TRACE_MESSAGE_SIZE];
    write_files();
    EXPECT(trace_read(&copy, folder, message), "%s", message);
}

/* ---- Reading */

TEST(what_was_written_is_read)
{
    char value[32];
    make_ring(5, 1e8, 50);
    write_and_read();

    ck_assert_int_eq(copy.size, RANKS);
    ck_assert_uint_eq(copy.job, base_seed());
    ck_assert_uint_eq(copy.name_count, MADE_NAMES);
    ck_assert_str_eq(copy.names[MADE_BCAST], "MPI_Bcast");
    for (int rank = 0; rank < RANKS; rank++) {
        const trace_process *wrote = &made.trace.processes[rank], *got = &copy.processes[rank];
        ck_assert_uint_eq(got->location_count, 1);
        ck_assert_uint_eq(got->locations[0].count, wrote->locations[0].count);
        ck_assert_mem_eq(got->locations[0].events, wrote->locations[0].events,
                         wrote->locations[0].count * sizeof(trace_event));
        ck_assert_uint_eq(got->record_count, wrote->record_count);
        ck_assert_mem_eq(got->records, wrote->records, wrote->record_count * sizeof(trace_clock_record));
        ck_assert_mem_eq(got->communicators[0].ranks, wrote->communicators[0].ranks, RANKS * sizeof(int));
        ck_assert_str_eq(trace_text(got, "program", value, sizeof value), "made");
        ck_assert_str_eq(trace_text(got, "prog", value, sizeof value), "");
        EXPECT(got->is_finished && !got->is_torn, "rank %d", rank);
    }
}

/* Texts of a file must not command the terminal that they are printed to. */
TEST(names_have_no_control_characters)
{
    make_ring(5, 1e8, 50);
    free(made.trace.names[MADE_BCAST]);
    made.trace.names[MADE_BCAST] = strdup("a\033[31m \302\2331m\2332J\n\a\177 \302\265 \303\244");
    write_and_read();
    ck_assert_str_eq(copy.names[MADE_BCAST], "a [31m   1m 2J    \302\265 \303\244");
}

/* Names of the same id differ, as user regions may. */
TEST(names_become_common)
{
    make_ring(1, 0, 50);
    char message[TRACE_MESSAGE_SIZE], *usual = made.trace.names[MADE_SEND];
    write_files();
    char aside[128];
    snprintf(aside, sizeof aside, "%s", path_of(RANKS));
    ck_assert_int_eq(rename(path_of(1), aside), 0);
    made.trace.names[MADE_SEND] = made.trace.names[MADE_RECV];
    made.trace.names[MADE_RECV] = usual;
    write_files();
    ck_assert_int_eq(rename(aside, path_of(1)), 0);
    EXPECT(trace_read(&copy, folder, message), "%s", message);

    /* Rank 1 has another id for MPI_Send than rank 0. */
    const trace_event *first = &copy.processes[1].locations[0].events[0];
    const char *name = made.trace.processes[1].locations[0].events[0].id == MADE_SEND ? "MPI_Send" : "MPI_Recv";
    ck_assert_str_eq(copy.names[first->id], name);
    ck_assert_str_eq(copy.names[copy.processes[0].locations[0].events[0].id],
                     made.trace.names[made.trace.processes[0].locations[0].events[0].id]);
}

/* What happens to the file of a rank, and the complaint. */
static const struct {
    enum { REMOVE, CUT, COPY, PATCH } what;
    int rank;
    off_t place; /* or length */
    uint32_t number;
    const char *complaint;
} spoilt[] = {
    {REMOVE, RANKS - 1, 0, 0,
     "rank-2.mpixtrace: missing; ranks without a file: 2, of 3: copy the files from the hosts"},
    {REMOVE, 1, 0, 0,
     "rank-1.mpixtrace: missing; ranks without a file: 1 to 2, of 3: copy the files from the hosts of these ranks, or "
     "record in a folder that all hosts share"},
    {REMOVE, 0, 0, 0, "there is no trace in this folder: it has no file rank-N.mpixtrace"},
    {COPY, RANKS, 0, 0, "files of several jobs: one had 3 processes, and there are 4 files"},
    {CUT, 1, 10, 0, "rank-1.mpixtrace: it ends within its first 32 bytes"},
    {PATCH, 1, 0, 0x3246544f, "rank-1.mpixtrace: this is not a trace: it does not begin with mpixtrac"},
    {PATCH, 1, offsetof(trace_file_head, byte_order), 0x04030201,
     "rank-1.mpixtrace: written on a machine of the other byte order"},
    {PATCH, 1, offsetof(trace_file_head, version), TRACE_VERSION + 1,
     "rank-1.mpixtrace: of version 8, and only 7 can be read"},
    {PATCH, 1, offsetof(trace_file_head, job), 7, "rank-1.mpixtrace: of another job than the files before it"},
    {PATCH, 1, offsetof(trace_file_head, rank), 2, "rank-1.mpixtrace: the file is of rank 2"},
    {PATCH, 1, sizeof(trace_file_head), 99, "rank-1.mpixtrace: a block is of the unknown kind 99"},
};

/* Also with all files of higher ranks, to remove. */
static void spoil(int row)
{
    int rank = spoilt[row].rank;
    char first[128];
    switch (spoilt[row].what) {
    case REMOVE:
        for (; rank < RANKS; rank++)
            unlink(path_of(rank));
        break;
    case CUT:
        ck_assert_int_eq(truncate(path_of(rank), spoilt[row].place), 0);
        break;
    case COPY:
        snprintf(first, sizeof first, "%s", path_of(0));
        ck_assert_int_eq(link(first, path_of(rank)), 0);
        break;
    case PATCH: {
        const uint32_t number = spoilt[row].number;
        int file = open(path_of(rank), O_RDWR);
        EXPECT(file >= 0 && pwrite(file, &number, sizeof number, spoilt[row].place) == (ssize_t)sizeof number &&
                   close(file) == 0,
               "%s", path_of(rank));
    }
    }
}

LOOP_TEST(what_is_not_sound_is_refused, COUNT_OF(spoilt))
{
    char message[TRACE_MESSAGE_SIZE];
    make_ring(1, 0, 50);
    write_files();
    spoil(_i);
    EXPECT(!trace_read(&copy, folder, message), "read although \"%s\"", spoilt[_i].complaint);
    EXPECT(strstr(message, spoilt[_i].complaint) && !strchr(message, '\n'), "\"%s\", not \"%s\"", message,
           spoilt[_i].complaint);
}

/* However large a communicator is, if its ranks are regular it takes one range. */
TEST(ranks_are_written_as_ranges)
{
    enum { SIZE = 16384 };
    static int32_t ranks[SIZE];
    for (int form = 0; form < 4; form++) { /* all, backward, each third, in no order */
        int ranges = 0;
        trace_range range;
        for (int i = 0; i < SIZE; i++)
            ranks[i] = form == 0 ? i : form == 1 ? SIZE - 1 - i : form == 2 ? 3 * i + 1 : i * i % 997;
        for (int next = 0; next < SIZE; next += range.count, ranges++) {
            range = trace_first_range(ranks + next, SIZE - next);
            for (int k = 0; k < range.count; k++)
                ck_assert_int_eq(ranks[next + k], range.first + k * range.step);
        }
        EXPECT(form == 3 ? ranges <= SIZE / 2 + 1 : ranges == 1, "form %d: %d ranges", form, ranges);
    }
}

/* The last block of states counts; the id of a name becomes the common one. */
TEST(states_are_read_or_refused)
{
    trace_now now = {.seen_ns = 5, .since_ns = 3, .site = 0x1000, .id = MADE_RECV, .comm = 0, .partner = 1};
    char message[TRACE_MESSAGE_SIZE];
    make_ring(1, 0, 50);
    made.trace.processes[1].now = calloc(1, sizeof now);
    made.trace.processes[1].now_count = 1;
    made.trace.processes[1].now[0] = now;
    write_and_read();
    ck_assert_uint_eq(copy.processes[0].now_count, 0);
    ck_assert_uint_eq(copy.processes[1].now_count, 1);
    ck_assert_mem_eq(copy.processes[1].now, &now, sizeof now);
    trace_free(&copy);
    now.id = TRACE_MAX_NAME + 1;
    made.trace.processes[1].now[0] = now;
    write_files();
    EXPECT(!trace_read(&copy, folder, message) && strstr(message, "a state has a name"), "%s", message);
    now.id = MADE_RECV;
    now.since_ns = INT64_MIN;
    made.trace.processes[1].now[0] = now;
    write_files();
    EXPECT(!trace_read(&copy, folder, message) && strstr(message, "a state has a time"), "%s", message);
}

/* The places of paths. A path is a function, its frames from the inside, as characters from '0' on, that by which it is
 * known, and that of the caller by which it is told from others, or 0; of rank 1, or of rank 0. */
static const char *const frames[] = {"solve+0x20 (0x1020) in a",
                                     "check+0x30 (0x1030) in a",
                                     "hypre_MPI_Recv+0x4 (0x1004) in a",
                                     "pass_on+0x8 (0x1008) in a",
                                     "wrap.c:5 one (0x2005) in a",
                                     "wrap.c:6 two (0x2006) in a",
                                     "wrap.c:7 three (0x2007) in a",
                                     "wrap.c:8 four (0x2008) in a",
                                     "solve.c:9 solve (0x2009) in a",
                                     "check.c:10 check (0x200a) in a",
                                     "_PyEval_EvalFrameDefault+0x10 (0x3010) in /usr/bin/python3.11",
                                     "+0x4000 in /opt/mpi/recv",
                                     "give(ompi_recv_t*)+0x8 (0x1008) in a",
                                     "wrap.c:9 Recv_by_MPI (0x2009) in a",
                                     "solve.c:9 solve (0x200b) in a"};
static const struct {
    struct {
        made_name function;
        const char *frames;
        char known, caller;
        bool is_elsewhere;
    } paths[5];
} path_rows[] = {
    /* By their own call, one below the other. */
    {{{MADE_RECV, "01", '0', 0, false}, {MADE_RECV, "10", '1', 0, false}}},
    /* A path that is the only one. */
    {{{MADE_RECV, "301", '3', 0, false}}},
    /* Named after what it calls, or not; within an interpreter; with such a name elsewhere than in its own. */
    {{{MADE_RECV, "20", '0', 0, false}, {MADE_SEND, "21", '2', 0, false}, {MADE_RECV, "=1", '1', 0, false}}},
    {{{MADE_RECV, "2:", '2', 0, false}}},
    {{{MADE_RECV, ";0", ';', 0, false}, {MADE_RECV, "<0", '<', 0, false}}},
    /* All come through it, from two places; and if that is not known of all. */
    {{{MADE_RECV, "30", '0', 0, false}, {MADE_RECV, "31", '1', 0, false}}},
    {{{MADE_RECV, "301", '0', 0, false}, {MADE_RECV, "311", '1', 0, false}}},
    {{{MADE_RECV, "3", '3', 0, false}, {MADE_RECV, "31", '3', 0, false}}},
    /* All are in one file, and are called from others; or from this file, too; or two of them from one place. */
    {{{MADE_RECV, "48", '8', 0, false},
      {MADE_SEND, "58", '8', 0, false},
      {MADE_BCAST, "69", '9', 0, false},
      {MADE_WAIT, "79", '9', 0, false}}},
    {{{MADE_RECV, "48", '4', 0, false},
      {MADE_SEND, "58", '5', 0, false},
      {MADE_BCAST, "69", '6', 0, false},
      {MADE_WAIT, "9", '9', 0, false}}},
    {{{MADE_RECV, "48", '4', 0, false},
      {MADE_SEND, "58", '5', 0, false},
      {MADE_BCAST, "69", '6', 0, false},
      {MADE_WAIT, "79", '7', 0, false},
      {MADE_WAIT, "69", '6', 0, false}}},
    /* From two callers; of one of them, which two call; one of them is not known, or an interpreter; on two ranks. */
    {{{MADE_RECV, "08", '0', '8', false}, {MADE_RECV, "09", '0', '9', false}, {MADE_RECV, "1", '1', 0, false}}},
    {{{MADE_RECV, "038", '0', '8', false}, {MADE_RECV, "039", '0', '9', false}, {MADE_RECV, "1", '1', 0, false}}},
    {{{MADE_RECV, "08", '0', 0, false}, {MADE_RECV, "0", '0', 0, false}, {MADE_RECV, "1", '1', 0, false}}},
    {{{MADE_RECV, "08", '0', 0, false}, {MADE_RECV, "0:", '0', 0, false}, {MADE_RECV, "1", '1', 0, false}}},
    {{{MADE_RECV, "08", '0', 0, false}, {MADE_RECV, "09", '0', 0, true}, {MADE_RECV, "1", '1', 0, false}}},
    /* A line of the caller that the compiler has repeated. */
    {{{MADE_RECV, "08", '0', 0, false}, {MADE_RECV, "0>", '0', 0, false}, {MADE_RECV, "1", '1', 0, false}}},
    /* All come through a place, and from several callers to the next one. */
    {{{MADE_RECV, "308", '0', '8', false}, {MADE_RECV, "309", '0', '9', false}, {MADE_RECV, "318", '1', 0, false}}},
};

enum { PATHS = 5 };

static void add_sites(trace_process *to)
{
    to->sites = or_exit(calloc(COUNT_OF(frames), sizeof to->sites[0]));
    to->site_count = COUNT_OF(frames);
    for (size_t i = 0; i < COUNT_OF(frames); i++)
        to->sites[i] = (trace_site){'0' + i, strdup(frames[i])};
    to->paths = or_exit(calloc(PATHS, sizeof to->paths[0]));
}

LOOP_TEST(paths_are_known_by_a_place, COUNT_OF(path_rows))
{
    make_ring(1, 0, 50);
    add_sites(&made.trace.processes[0]);
    add_sites(&made.trace.processes[1]);
    for (uint64_t i = 0; i < PATHS && path_rows[_i].paths[i].frames; i++) {
        const char *its = path_rows[_i].paths[i].frames;
        const uint32_t count = (uint32_t)strlen(its);
        trace_process *process = &made.trace.processes[!path_rows[_i].paths[i].is_elsewhere];
        trace_call_path *path = &process->paths[process->path_count++];
        *path = (trace_call_path){.number = 100 - i,
                                  .function = (uint16_t)path_rows[_i].paths[i].function,
                                  .count = count,
                                  .frames = or_exit(calloc(count, sizeof(uint64_t)))};
        for (uint32_t k = 0; k < count; k++)
            path->frames[k] = (uint64_t)its[k];
    }
    write_and_read();
    for (uint64_t i = 0; i < PATHS && path_rows[_i].paths[i].frames; i++) {
        const trace_process *process = &copy.processes[!path_rows[_i].paths[i].is_elsewhere];
        const char known = path_rows[_i].paths[i].known, caller = path_rows[_i].paths[i].caller;
        const char *brief = caller ? frames[caller - '0'] : "";
        const trace_site *site = trace_find_site(process, 100 - i);
        char text[256];
        snprintf(text, sizeof text, "%s%s%.*s", frames[known - '0'], caller ? " from " : "",
                 (int)(strcspn(brief, "(") - (caller ? 1 : 0)), brief);
        EXPECT(site && site->address == (uint64_t)known && strcmp(site->symbol, text) == 0, "path %d: %s, not %s",
               (int)i, site ? site->symbol : "no site", text);
        const char *from = site ? trace_site_caller(process, site) : NULL;
        EXPECT(caller ? from && strncmp(from, brief, strlen(from)) == 0 : !from, "path %d: from %s", (int)i,
               from ? from : "nobody");
        const size_t number = site ? trace_site_number(process, site) : 0;
        EXPECT(caller ? number >= process->site_count && number < process->site_count + process->called_count
                      : number == (size_t)(known - '0'),
               "path %d: the site has number %zu", (int)i, number);
    }
}

TEST(a_path_without_frames_is_refused)
{
    char message[TRACE_MESSAGE_SIZE];
    make_ring(1, 0, 50);
    made.trace.processes[1].paths = calloc(1, sizeof made.trace.processes[1].paths[0]);
    made.trace.processes[1].path_count = 1;
    write_files();
    EXPECT(!trace_read(&copy, folder, message) && strstr(message, "a block of paths"), "%s", message);
}

static const struct {
    uint8_t kind, mode;
    bool is_good;
} last_events[] = {{TRACE_ACCESS, TRACE_FLUSH_LOCAL, true},
                   {TRACE_SEND, TRACE_PARTITIONED, true},
                   {TRACE_SEND, TRACE_PARTITIONED + 1, false},
                   {TRACE_ACCESS + 1, 0, false},
                   {0, 0, false}};

/* What is on a communicator or window that the file does not have is read, but not where it is. */
LOOP_TEST(events_of_unknown_kinds_are_refused, COUNT_OF(last_events))
{
    char message[TRACE_MESSAGE_SIZE] = "";
    const uint8_t kind = last_events[_i].kind, mode = last_events[_i].mode;
    make_ring(1, 0, 50);
    made_put(&made, 1, (trace_event){.kind = kind, .mode = mode, .id = 9, .partner = 2, .value = 8});
    write_files();
    const bool is_read = trace_read(&copy, folder, message);
    EXPECT(is_read == last_events[_i].is_good, "%s", message);
    EXPECT(is_read || strstr(message, "an event is of an unknown kind"), "%s", message);
    if (is_read) {
        const trace_event *last = &copy.processes[1].locations[0].last;
        EXPECT(last->mode == mode && last->value == 8 && last->id == TRACE_NO_COMM, "another one");
    }
}

/* Wherever a file ends after its head, what comes before is read. */
TEST(a_torn_block_is_left_out)
{
    char message[TRACE_MESSAGE_SIZE];
    struct stat status;
    make_ring(2, 0, 50);
    write_files();
    ck_assert_int_eq(stat(path_of(1), &status), 0);
    const off_t end_bytes = (off_t)(sizeof(trace_block_head) + sizeof(trace_end));
    for (off_t length = status.st_size - 1; length > (off_t)sizeof(trace_file_head); length--) {
        ck_assert_int_eq(truncate(path_of(1), length), 0);
        EXPECT(trace_read(&copy, folder, message), "of %jd bytes: %s", (intmax_t)length, message);
        const trace_process *process = &copy.processes[1];
        const bool has_events = length >= status.st_size - end_bytes;
        EXPECT(!process->is_finished, "of %jd bytes: finished", (intmax_t)length);
        EXPECT((process->location_count == 1) == has_events, "of %jd bytes: %zu locations", (intmax_t)length,
               process->location_count);
        EXPECT(process->is_torn || length == status.st_size - end_bytes || !has_events, "of %jd bytes: not torn",
               (intmax_t)length);
        trace_free(&copy);
    }
}

/* ---- Times */

static double off_ns(int rank, size_t event)
{
    return fabs(copy.processes[rank].locations[0].global_ns[event] + (double)copy.start_ns - made.true_ns[rank][event]);
}

/* The root mean square of what global times are off by. *max_ns: the most. */
static double rms_by(trace_clock by, double *max_ns)
{
    double squares = 0, count = 0;
    *max_ns = 0;
    trace_set_times(&copy, by);
    for (int rank = 0; rank < copy.size; rank++) {
        const trace_location *location = &copy.processes[rank].locations[0];
        for (size_t i = 0; i < location->count; i++, count++) {
            EXPECT(location->global_ns[i] >= 0 && (i == 0 || location->global_ns[i] >= location->global_ns[i - 1]),
                   "rank %d, event %zu: at %g", rank, i, location->global_ns[i]);
            squares += off_ns(rank, i) * off_ns(rank, i);
            *max_ns = fmax(*max_ns, off_ns(rank, i));
        }
    }
    return sqrt(squares / count);
}

TEST(more_records_are_more_accurate)
{
    double max_ns, unused;
    make_ring(600, 5e8, 100);
    write_and_read();

    const double global_ns = rms_by(TRACE_GLOBAL, &max_ns), linear_ns = rms_by(TRACE_LINEAR, &unused);
    const double start_ns = rms_by(TRACE_START, &unused), local_ns = rms_by(TRACE_LOCAL, &unused);
    EXPECT(global_ns < 100 && max_ns < 250, "%g %g", global_ns, max_ns);
    EXPECT(linear_ns > 10 * global_ns, "%g", linear_ns);
    EXPECT(start_ns > 10 * linear_ns, "%g", start_ns);
    EXPECT(local_ns > 10 * start_ns, "%g", local_ns);
}

/* With records so and so far apart, and clocks whose rate changes at the limit of what they promise. */
LOOP_TEST(errors_are_within_bounds, 4)
{
    static const double periods_ns[] = {1e8, 1e9, 1e10, 0};
    make_ring(300, periods_ns[_i], 80);
    write_and_read();
    trace_set_times(&copy, TRACE_GLOBAL);
    double widest_ns = 0;
    for (int rank = 0; rank < RANKS; rank++) {
        const trace_location *location = &copy.processes[rank].locations[0];
        for (size_t i = 0; i < location->count; i++) {
            const double bound_ns = trace_bound_ns(&copy.processes[rank], location->events[i].time_ns);
            EXPECT(off_ns(rank, i) <= bound_ns + 1, "rank %d, event %zu: off by %g, bound %g", rank, i, off_ns(rank, i),
                   bound_ns);
            widest_ns = fmax(widest_ns, bound_ns);
        }
    }
    EXPECT(periods_ns[_i] != 1e8 || widest_ns < 100, "%g", widest_ns);
}

TEST(bounds_of_few_or_contradicting_records)
{
    trace_clock_record records[] = {{.pair = {.bound_ns = 10}}, {.pair = {.at_ns = 1000000, .bound_ns = 10}}};
    trace_process process = {.record_count = 0, .records = records, .rate_limit = 500e-6, .wander = 100e-9};
    ck_assert(isinf(trace_bound_ns(&process, 0)));
    process.record_count = 1;
    EXPECT(fabs(trace_bound_ns(&process, 1000000) - 511) < 1e-6, "%g", trace_bound_ns(&process, 1000000));
    process.record_count = 2;
    EXPECT(trace_bound_ns(&process, 500000) < 12, "%g", trace_bound_ns(&process, 500000));
    /* Beyond, by what both bounds allow for the drift: as much again for a time twice as far. */
    EXPECT(fabs(trace_bound_ns(&process, 2000000) - 31) < 1, "%g", trace_bound_ns(&process, 2000000));
    process.records[1].pair.ahead_ns = 1000;
    ck_assert(isinf(trace_bound_ns(&process, 500000)));
    ck_assert(isinf(trace_bound_ns(&process, 2000000)));
    process.records[1].pair.ahead_ns = 0;
    process.records[1].pair.bound_ns = INFINITY;
    ck_assert(isinf(trace_bound_ns(&process, 500000)));
}

/* Two records so close together that their errors make a rate which no clock has. */
TEST(times_beyond_the_records_are_within_bounds)
{
    trace_clock_record records[] = {{.pair = {.bound_ns = 10}},
                                    {.pair = {.at_ns = 1000, .bound_ns = 10, .ahead_ns = 10}}};
    trace_event events[] = {{.time_ns = -1000000, .kind = TRACE_ENTER}, {.time_ns = 1000000, .kind = TRACE_LEAVE}};
    trace_process process = {
        .record_count = 2, .records = records, .location_count = 1, .rate_limit = 500e-6, .wander = 100e-9};
    trace_location location = {.process = &process, .count = 2, .events = events};
    trace whole = {.size = 1, .processes = &process};
    process.locations = &location;
    trace_set_times(&whole, TRACE_GLOBAL);
    for (int i = 0; i < 2; i++) {
        const double error_ns = location.global_ns[i] + (double)whole.start_ns - (double)events[i].time_ns;
        EXPECT(fabs(error_ns) <= trace_bound_ns(&process, events[i].time_ns), "event %d is off by %g", i, error_ns);
    }
    free(location.global_ns);
}

/* ---- Messages and calls */

TEST(all_of_a_ring_is_matched)
{
    enum { ROUNDS = 20, MESSAGES = ROUNDS * RANKS, CALLS = ROUNDS * 2 };
    trace_matches matches;
    make_ring(ROUNDS, 0, 50);
    write_and_read();
    trace_match(&copy, &matches);
    ck_assert_uint_eq(matches.message_count, MESSAGES);
    ck_assert_uint_eq(matches.call_count, CALLS);
    ck_assert_uint_eq(matches.sends_alone + matches.receives_alone + matches.calls_incomplete, 0);
    for (size_t i = 0; i < matches.message_count; i++) {
        const trace_point *send = &matches.messages[i].send, *receive = &matches.messages[i].receive;
        const double sent_ns = made.true_ns[send->at->rank][send->event];
        const double took_ns = made.true_ns[receive->at->rank][receive->event] - sent_ns;
        EXPECT(took_ns >= 900, "message %zu took %g", i, took_ns);
        ck_assert_int_eq(receive->at->rank, (send->at->rank + 1) % RANKS);
    }
    for (size_t i = 0; i < matches.call_count; i++)
        for (int part = 0; part < matches.calls[i].count; part++) {
            const trace_part *of = &matches.calls[i].parts[part];
            const trace_event *events = copy.processes[part].locations[0].events;
            ck_assert_int_eq(of->enter.at->rank, part);
            ck_assert_int_eq(events[of->enter.event].kind, TRACE_ENTER);
            ck_assert_int_eq(events[of->leave.event].kind, TRACE_LEAVE);
            ck_assert_int_eq(events[of->leave.event].id, matches.calls[i].function);
            ck_assert_int_eq(events[of->record].kind, TRACE_COLLECTIVE);
        }
    trace_matches_free(&matches);
}

FIXTURE(begin, end)
