/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * record.c - how a recording begins and ends.
 *
 * Each part of it has a header, and uses the parts after it in this list alone: pulse: what the
 * program is doing; requests, collectives, messages: what calls mean; communicators: and where; clock: the clock
 * records; calls: when; buffer: events in memory; sites: names; file: what is written; recording: what all share. For
 * most events, nothing is allocated and no lock is taken.
 */
#define _GNU_SOURCE
#include "base/host.h"
#include "pure/statistics.h"
#include "pure/units.h"
#include "trace/back/twin.h"
#include "trace/record/calls.h"
#include "trace/record/clock.h"
#include "trace/record/communicators.h"
#include "trace/record/file.h"
#include "trace/record/messages.h"
#include "trace/record/pulse.h"
#include "trace/record/sites.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *const *function_names; /* by id less 1 */
static int64_t began_ns;                  /* the end of MPI_Init */

static void write_names(const char *const *functions, int count)
{
    char *text = NULL;
    size_t size;
    function_names = functions;
    mh_trace.clock_id = (uint16_t)(count + 1);
    mh_trace.flush_id = (uint16_t)(count + 2);
    mh_trace.unrecorded_id = (uint16_t)(count + 3);
    mh_trace.first_region_id = (uint16_t)(count + 4);
    FILE *file = open_memstream(&text, &size);
    for (int i = 0; file && i < count + 3; i++) {
        static const char *const others[] = {"clock", "flush", "unrecorded"};
        const char *name = i < count ? functions[i] : others[i - count];
        uint32_t head[2] = {(uint32_t)i + 1, (uint32_t)strlen(name)};
        fwrite(head, sizeof head, 1, file);
        fputs(name, file);
    }
    if (file && fclose(file) == 0)
        mh_trace_write_one(TRACE_BLOCK_NAMES, text, size);
    free(text);
}

/* ---- What was run */

static void write_command(FILE *file)
{
    FILE *command = fopen("/proc/self/cmdline", "re");
    int c;
    fputs("command ", file);
    while (command && (c = getc(command)) != EOF)
        putc(c == '\0' || c == '\n' ? ' ' : c, file);
    if (command)
        fclose(command);
    putc('\n', file);
}

static void write_statistic(FILE *file, const char *key)
{
    char value[256];
    if (mh_interpose_statistic(mh_twin_of_world, key, value, sizeof value))
        fprintf(file, "%s %s\n", key, value);
}

/*
 * What it costs to record a call: two readings of the clock, and two events. Memory is new to the process, as it is in
 * a run. The process may lose its processor meanwhile, so the median of some parts counts. Picoseconds; 0: not known.
 */
static int64_t measure_call_ps(void)
{
    enum { PARTS = 5, CALLS = 200 };
    int64_t taken_ns[PARTS];
    _Static_assert(2 * PARTS * CALLS <= TRACE_CHUNK_EVENTS, "all fit");
    trace_chunk *chunk = aligned_alloc(_Alignof(trace_chunk), sizeof *chunk);
    if (!chunk)
        return 0;
    trace_thread thread = {.next = chunk->events, .end = chunk->events + TRACE_CHUNK_EVENTS, .last = chunk};
    for (int part = 0; part < PARTS; part++) {
        const int64_t first_ns = mh_trace_now_ns();
        for (int i = 0; i < CALLS; i++) {
            mh_trace_put(&thread,
                         (trace_event){.time_ns = mh_base_clock_glance_ns(&mh_trace.clock), .kind = TRACE_ENTER});
            mh_trace_put(&thread, (trace_event){.time_ns = mh_trace_now_ns(), .kind = TRACE_LEAVE});
        }
        taken_ns[part] = mh_trace_now_ns() - first_ns;
    }
    free(chunk);
    return mh_median(taken_ns, PARTS) * 1000 / CALLS;
}

static void write_text(void)
{
    const int64_t call_ps = measure_call_ps();
    char *text = NULL, host[256] = "", version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    if (!file)
        return;
    gethostname(host, sizeof host - 1);
    PMPI_Get_library_version(version, &length);
    version[strcspn(version, "\n")] = '\0';
    write_command(file);
    fprintf(file, "host %s\npid %d\nmpi %s\nrecorder %s\n", host, (int)getpid(), version, PACKAGE_VERSION);
    write_statistic(file, "mpix_harmonize_clock_used");
    write_statistic(file, "mpix_harmonize_clock_epoch_unix_ns");
    write_statistic(file, "mpix_harmonize_wander_max_ppb_per_s");
    if (call_ps > 0)
        fprintf(file, "call_ps %" PRId64 "\n", call_ps);
    if (mh_choices.only[0])
        fprintf(file, "only %s\n", mh_choices.only);
    if (mh_choices.from_ns != INT64_MIN)
        fprintf(file, "from_ns %" PRId64 "\n", mh_choices.from_ns);
    if (mh_choices.ranks[0])
        fprintf(file, "ranks %s\n", mh_choices.ranks);
    if (mh_choices.to_ns != INT64_MAX)
        fprintf(file, "to_ns %" PRId64 "\n", mh_choices.to_ns);
    if (fclose(file) == 0)
        mh_trace_write_one(TRACE_BLOCK_TEXT, text, size);
    free(text);
}

/* ---- Beginning */

/* Collective: if a process cannot make its file, none is left, and the reason names it. NULL: there is no reason. */
static const char *open_files(void)
{
    static char reason[sizeof mh_choices.folder + 200];
    uint64_t job = mh_fresh_number();
    struct {
        int error, rank;
    } mine = {0, mh_trace.rank}, worst;
    PMPI_Bcast(&job, 1, MPI_UINT64_T, 0, mh_twin_of_world);
    mine.error = mh_trace_open_file(job);
    PMPI_Allreduce(&mine, &worst, 1, MPI_2INT, MPI_MAXLOC, mh_twin_of_world);
    if (worst.error == 0)
        return NULL;
    snprintf(reason, sizeof reason, "cannot write %s/" TRACE_FILE_PATTERN ": %s", mh_choices.folder, worst.rank,
             strerror(worst.error));
    mh_trace_remove_file();
    return reason;
}

static bool prepare(void)
{
    PMPI_Comm_rank(mh_twin_of_world, &mh_trace.rank);
    PMPI_Comm_size(mh_twin_of_world, &mh_trace.size);
    mh_trace.pid = getpid();
    mh_trace.is_listed = !mh_choices.ranks[0] || mh_is_listed(mh_choices.ranks, mh_trace.rank, &(int){0});
    const int counts = mh_trace.is_listed;
    PMPI_Allreduce(&counts, &mh_trace.listed_count, 1, MPI_INT, MPI_SUM, mh_twin_of_world);
    mh_trace_learn_sizes();
    mh_trace_open_comms();
    return mh_interpose_agree(mh_trace_open_buffer(mh_choices.buffer_bytes), mh_twin_of_world);
}

/* MPI_Init, which began before there was a clock, and the first synchronization. */
static void put_beginning(trace_call *call, int64_t entered_ns, int64_t left_ns)
{
    trace_thread *thread = mh_trace_thread_of(call);
    int64_t now_ns = mh_trace_now_ns();
    began_ns = now_ns;
    if (thread)
        thread->doing.since_ns = now_ns;
    if (!thread || mh_trace.from_ns > entered_ns)
        return;
    if (mh_trace.is_wanted[call->id]) {
        mh_trace_put(thread, (trace_event){entered_ns, call->site, -1, 0, 0, call->id, TRACE_ENTER, 0});
        mh_trace_put(thread, (trace_event){left_ns, 0, -1, 0, 0, call->id, TRACE_LEAVE, 0});
    }
    mh_trace_put(thread, (trace_event){left_ns, 0, -1, 0, 0, mh_trace.clock_id, TRACE_ENTER, 0});
    mh_trace_put(thread, (trace_event){now_ns, 0, -1, 0, 0, mh_trace.clock_id, TRACE_LEAVE, 0});
}

/* What is wrong with the options for so many processes; NULL: nothing. */
static const char *judge_options(void)
{
    static char reason[160];
    int largest = -1;
    if (mh_choices.ranks[0])
        mh_is_listed(mh_choices.ranks, 0, &largest);
    if (largest >= mh_trace.size)
        return "option --only-ranks names more ranks than there are";
    if (mh_choices.limit_bytes >= mh_trace_least_limit())
        return NULL;
    snprintf(reason, sizeof reason, "option --limit is not enough for %d ranks, give %" PRId64 "K or more",
             mh_trace.listed_count, mh_trace_least_limit() / 1024);
    return reason;
}

/* Whether functions are recorded that send, or receive, or say for which messages they wait. */
static bool wants_messages(const char *const *functions, int count)
{
    static const char *const parts[] = {"send", "recv", "start", "probe", "win_"};
    for (int i = 0; i < count; i++)
        for (size_t k = 0; mh_trace.is_wanted[i + 1] && k < sizeof parts / sizeof *parts; k++)
            if (strcasestr(functions[i], parts[k]))
                return true;
    return false;
}

const char *mh_trace_begin(const char *const *functions, const bool *is_wanted, int count, int64_t entered_raw_ns,
                           int64_t left_raw_ns, trace_call *call)
{
    int64_t began_raw_ns = trace_raw_now_ns();
    mh_trace.is_wanted = is_wanted;
    if (!prepare())
        return "a process is out of memory";
    mh_trace.counts_messages = mh_trace.is_listed && wants_messages(functions, count);
    if (!mh_trace_start_clock())
        return "the clocks could not be synchronized";
    int64_t raw_ns = trace_raw_now_ns(), now_ns = mh_trace_now_ns();
    const char *reason = judge_options();
    if (!reason)
        reason = open_files();
    if (reason)
        return reason;
    write_text();
    write_names(functions, count);
    mh_trace_write_first_comms();
    mh_trace_write_clock(now_ns - (raw_ns - began_raw_ns));
    put_beginning(call, now_ns - (raw_ns - entered_raw_ns), now_ns - (raw_ns - left_raw_ns));
    mh_trace_start_pulse();
    return NULL;
}

/* ---- Ending */

/* What a process has recorded, and what it could not. */
typedef struct {
    trace_counts counts;
    uint64_t unknown_comms;
    int64_t error;
    int64_t in_calls_ns, run_ns, longest_ns; /* of the thread that calls MPI_Finalize, from MPI_Init on */
    int64_t limit_ns;                        /* when the limit was met, in global time; INT64_MAX: it is not */
    int32_t longest_id;
    bool is_elsewhere; /* its file is in another folder than that of rank 0 */
    bool lacks_paths, lacks_places, lacks_regions;
    char host[64];
} result;

static atomic_bool losses_are_said, is_reported;

static const char *cause_of(int64_t error)
{
    return error & TRACE_FILE_WAS_CLOSED ? "the program closed its descriptor, and it cannot be opened again: " : "";
}

/* Not in the user's language: this may be in a signal handler, where a translation cannot be looked up. */
static const char *reason_of(int64_t error)
{
    error &= ~TRACE_FILE_WAS_CLOSED;
#if defined __GLIBC__ && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 32)
    const char *text = strerrordesc_np((int)error);
    return text ? text : "unknown error";
#else
    return strerror((int)error);
#endif
}

/* What is lost to whoever reads the folder of rank 0. */
static void report_places(const result *results)
{
    int count = 0, first = 0;
    for (int i = 0; i < mh_trace.size; i++)
        if (results[i].is_elsewhere && count++ == 0)
            first = i;
    if (count > 0)
        mh_trace_say(
            "%d of %d ranks wrote into %s on other hosts than %s, where rank 0 is; the first is rank %d on %s: "
            "copy the files together, or record in a folder that all hosts share",
            count, mh_trace.size, mh_choices.folder, results[0].host, first, results[first].host);
}

/* How much there is, and what is known of it without comparing the ranks. */
static void report_what_there_is(const result *results)
{
    uint64_t events = 0;
    double least = 1, most = 0;
    int longest = 0;
    for (int i = 0; i < mh_trace.size; i++) {
        const double share = (double)results[i].in_calls_ns / fmax((double)results[i].run_ns, 1);
        events += results[i].counts.events;
        least = fmin(least, share);
        most = fmax(most, share);
        if (results[i].longest_ns > results[longest].longest_ns)
            longest = i;
    }
    char shares[32];
    snprintf(shares, sizeof shares, rint(100 * least) < rint(100 * most) ? "%.0f to %.0f" : "%.0f", 100 * least,
             100 * most);
    mh_trace_say(
        "%d file%s, %" PRIu64 " events; in MPI for %s %% of the time; the longest call: %.3g s in %s on rank %d",
        mh_trace.size, mh_trace.size == 1 ? "" : "s", events, shares, (double)results[longest].longest_ns * MH_S_PER_NS,
        results[longest].longest_id > 0 ? function_names[results[longest].longest_id - 1] : "none", longest);
    mh_trace_say("who waits for whom: next: mpix_trace_report %s", mh_choices.folder);
}

/* What has no name in the trace. */
static void report_room(const result *results)
{
    int paths = 0, places = 0, regions = 0;
    for (int i = 0; i < mh_trace.size; i++) {
        paths += results[i].lacks_paths;
        places += results[i].lacks_places;
        regions += results[i].lacks_regions;
    }
    if (paths > 0)
        mh_trace_say("%d of %d ranks called MPI by more paths of callers than there is room for: further calls have no "
                     "place; give fewer --frames",
                     paths, mh_trace.size);
    if (places > 0)
        mh_trace_say("%d of %d ranks called MPI from more places than there is room for: further ones have no name",
                     places, mh_trace.size);
    if (regions > 0)
        mh_trace_say("%d of %d ranks had more regions than there is room for: further ones are not recorded", regions,
                     mh_trace.size);
}

/* One line for each kind of loss: of the first rank that has it, and how many more have. And what there is. */
static void report(const result *results)
{
    is_reported = true;
    int full = 0, failed = 0, lost = 0, limited = 0, first_full = -1, first_failed = -1, first_limited = -1;
    int most_unknown = 0;
    uint64_t dropped = 0, threads = 0;
    for (int i = 0; i < mh_trace.size; i++) {
        dropped += results[i].counts.dropped;
        threads += results[i].counts.lost_threads;
        if (results[i].counts.dropped > 0 && full++ == 0)
            first_full = i;
        if (results[i].error != 0 && failed++ == 0)
            first_failed = i;
        if (results[i].limit_ns != INT64_MAX) {
            limited++;
            if (first_limited < 0 || results[i].limit_ns < results[first_limited].limit_ns)
                first_limited = i;
        }
        lost += results[i].counts.lost_threads > 0;
        if (results[i].unknown_comms > results[most_unknown].unknown_comms)
            most_unknown = i;
    }
    if (limited > 0)
        mh_trace_say("%d of %d ranks stopped recording at the limit of the trace, rank %d first, after %.1f s; give a "
                     "larger --limit, or record less: --only, --from-s, MPI_Pcontrol(0)",
                     limited, mh_trace.size, first_limited,
                     fmax((double)results[first_limited].limit_ns, 0) * MH_S_PER_NS);
    if (full > 0)
        mh_trace_say("the buffer was full on %d of %d ranks: rank %d dropped %" PRIu64 " events, all together %" PRIu64
                     "; give a larger --buffer",
                     full, mh_trace.size, first_full, results[first_full].counts.dropped, dropped);
    if (lost > 0)
        mh_trace_say("%" PRIu64 " threads on %d ranks exceeded the limit, and were not recorded", threads, lost);
    report_room(results);
    if (results[most_unknown].unknown_comms > 0)
        mh_trace_say("rank %d made %" PRIu64 " more communicators and windows than a trace can tell apart: calls on "
                     "these are recorded, but no messages and no waits are found there",
                     most_unknown, results[most_unknown].unknown_comms);
    if (failed > 0)
        mh_trace_say("%d of %d ranks could not write all events: rank %d: %s/" TRACE_FILE_PATTERN ": %s%s", failed,
                     mh_trace.size, first_failed, mh_choices.folder, first_failed,
                     cause_of(results[first_failed].error), reason_of(results[first_failed].error));
    report_places(results);
    if (!mh_choices.quiet_trace)
        report_what_there_is(results);
}

static void report_all(trace_call *call)
{
    const trace_thread *thread = mh_trace_thread_of(call);
    result mine = {.counts = mh_trace_count(),
                   .unknown_comms = mh_trace_count_unknown_comms(),
                   .error = mh_trace_file_error(),
                   .run_ns = mh_trace_now_ns() - began_ns,
                   .in_calls_ns = thread ? thread->in_calls_ns : 0,
                   .longest_ns = thread ? thread->longest_ns : 0,
                   .longest_id = thread ? thread->longest_id : 0,
                   .limit_ns = mh_trace_limit_ns(),
                   .is_elsewhere = !mh_trace_is_beside_first(),
                   .lacks_paths = mh_trace_lacks_paths(),
                   .lacks_places = mh_trace_lacks_places(),
                   .lacks_regions = mh_trace_lacks_regions()};
    gethostname(mine.host, sizeof mine.host - 1);
    result *all = mh_trace.rank == 0 ? calloc((size_t)mh_trace.size, sizeof *all) : NULL;
    int ready = mh_trace.rank != 0 || all;
    PMPI_Bcast(&ready, 1, MPI_INT, 0, mh_twin_of_world);
    if (ready)
        PMPI_Gather(&mine, sizeof mine, MPI_BYTE, all, sizeof mine, MPI_BYTE, 0, mh_twin_of_world);
    if (all)
        report(all);
    free(all);
    losses_are_said = ready && (mine.counts.dropped > 0 || mine.error != 0);
}

/* Of this process: others may end in another way. */
static void say_own_losses(void)
{
    const result mine = {.counts = mh_trace_count(), .error = mh_trace_file_error()};
    if ((mine.counts.dropped == 0 && mine.error == 0) || atomic_exchange(&losses_are_said, true))
        return;
    if (mine.counts.dropped > 0)
        mh_trace_say("the buffer was full: rank %d dropped %" PRIu64 " events; give a larger --buffer", mh_trace.rank,
                     mine.counts.dropped);
    if (mine.error != 0)
        mh_trace_say("rank %d could not write all events: %s/" TRACE_FILE_PATTERN ": %s%s", mh_trace.rank,
                     mh_choices.folder, mh_trace.rank, cause_of(mine.error), reason_of(mine.error));
}

void mh_trace_end(trace_call *call)
{
    mh_trace_switch(call, true);
    mh_trace_end_clock(call);
    mh_trace_flush(TRACE_AT_ANY_TIME, false);
    report_all(call);
    mh_trace_enter(call);
}

/* When it records no more. */
static void end_thread(trace_thread *thread)
{
    mh_trace_settle(thread, 0, mh_trace_now_ns());
}

void mh_trace_finish(trace_call *call)
{
    mh_trace_returned(call);
    mh_trace_leave(call);
    mh_trace_stop_pulse();
    mh_trace_for_each_thread(end_thread);
    mh_trace_flush(TRACE_AT_ANY_TIME, true);
    mh_trace_write_limit();
    const trace_counts counts = mh_trace_count();
    const trace_end ended = {.time_ns = mh_trace_now_ns(), .events = counts.events, .dropped = counts.dropped};
    mh_trace_write_one(TRACE_BLOCK_END, &ended, sizeof ended);
    mh_trace_close_file();
}

/* A child process of the program has nothing of its own to write. Launchers were seen to lose what a process printed
 * just before it ended the job. */
void mh_trace_abort(void)
{
    static const struct timespec pause = {.tv_nsec = 200 * MH_NS_PER_MS};
    if (mh_trace.pid != getpid())
        return;
    mh_trace_flush(TRACE_IN_A_SECOND, true);
    mh_trace_write_limit();
    mh_trace_beat();
    say_own_losses();
    if (mh_trace.rank == 0 && !mh_choices.quiet_trace && !atomic_exchange(&is_reported, true)) {
        mh_trace_say("the program ends without MPI_Finalize; next: mpix_trace_report %s", mh_choices.folder);
        nanosleep(&pause, NULL);
    }
}

/* The program ends without MPI_Finalize. */
__attribute__((destructor)) static void end_anyway(void)
{
    mh_trace_abort();
}

bool mh_trace_is_wanted(int id)
{
    return mh_trace.is_wanted[id];
}
