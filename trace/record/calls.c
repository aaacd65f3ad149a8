/* SPDX-License-Identifier: BSD-3-Clause */
/* calls.c - when calls were entered and left, runs of unsuccessful calls, and the regions of the program. */
#include "trace/record/calls.h"

#include "base/host.h"
#include "trace/record/file.h"
#include "trace/record/table.h"

#include <stdarg.h>
#include <stdio.h>

trace_thread *mh_trace_thread_of(trace_call *call)
{
    if (!call->thread)
        call->thread = mh_trace_new_thread();
    return call->thread;
}

static void put_left_call(trace_thread *thread, int64_t now_ns)
{
    const uint16_t id = thread->open_ids[--thread->open_count];
    mh_trace_put(thread, (trace_event){now_ns, 0, -1, 0, 0, id, TRACE_LEAVE, 0});
}

/*
 * The run, with those that began before it ended within it. Returns the next one after these. outer_end_ns: no earlier
 * than this one, or else times would decrease.
 */
static const trace_run *put_run(trace_thread *thread, const trace_run *run, int64_t *outer_end_ns)
{
    const trace_run *next = run + 1;
    int64_t end_ns = run->leave_ns;
    mh_trace_put(thread, (trace_event){run->enter_ns, run->site, -1, 0, 0, run->id, TRACE_ENTER, 0});
    while (next < thread->runs + thread->run_count && next->enter_ns < end_ns)
        next = put_run(thread, next, &end_ns);
    mh_trace_put(thread, (trace_event){end_ns, run->count, -1, 0, 0, run->id, TRACE_LEAVE, 0});
    if (*outer_end_ns < end_ns)
        *outer_end_ns = end_ns;
    return next;
}

static TRACE_RARE void put_runs(trace_thread *thread)
{
    const trace_run *next = thread->runs;
    while (next < thread->runs + thread->run_count)
        next = put_run(thread, next, &(int64_t){0});
    thread->run_count = 0;
}

static inline void settle(trace_thread *thread, int open_count, int64_t now_ns)
{
    if (thread->run_count != 0)
        put_runs(thread);
    while (thread->open_count > open_count)
        put_left_call(thread, now_ns);
}

void mh_trace_settle(trace_thread *thread, int open_count, int64_t now_ns)
{
    settle(thread, open_count, now_ns);
}

/* How many recorded calls it is within. */
static int depth_of(const trace_call *call)
{
    int depth = 0;
    for (const trace_call *outer = call->outer; outer; outer = outer->outer)
        depth += outer->is_recorded;
    return depth;
}

static trace_run *find_run(trace_thread *thread, const trace_call *call)
{
    for (int i = 0; i < thread->run_count; i++)
        if (thread->runs[i].site == call->site && thread->runs[i].id == call->id)
            return &thread->runs[i];
    return NULL;
}

/*
 * If much time passes between two unsuccessful calls, the program computes, and all runs end: else one would contain
 * the computation. But after calls that went on for as long, the process was rather interrupted. Programs may compute
 * thousands of times between calls, so runs go on if the buffer is half full.
 */
static void end_runs_before(trace_thread *thread, const trace_call *call)
{
    int64_t first_ns = INT64_MAX, last_ns = INT64_MIN; /* of the calls since the last long time between two */
    for (const trace_run *run = thread->runs; run < thread->runs + thread->run_count; run++) {
        first_ns = run->recent_ns < first_ns ? run->recent_ns : first_ns;
        last_ns = run->leave_ns > last_ns ? run->leave_ns : last_ns;
    }
    if (thread->run_count == 0 || call->enter_ns - last_ns <= TRACE_POLL_GAP_NS)
        return;
    if (last_ns - first_ns <= TRACE_POLL_GAP_NS && !mh_trace_is_half_full())
        mh_trace_settle(thread, depth_of(call), call->enter_ns);
    for (trace_run *run = thread->runs; run < thread->runs + thread->run_count; run++)
        run->recent_ns = call->enter_ns;
}

static __attribute__((noinline)) void add_to_run(trace_thread *thread, const trace_call *call)
{
    end_runs_before(thread, call);
    trace_run *run = find_run(thread, call);
    if (!run) {
        if (thread->run_count == 0 || thread->run_count == TRACE_RUNS)
            mh_trace_settle(thread, depth_of(call), call->enter_ns);
        run = &thread->runs[thread->run_count++];
        *run = (trace_run){.site = call->site, .enter_ns = call->enter_ns, .recent_ns = call->enter_ns, .id = call->id};
    }
    run->count++;
    run->leave_ns = call->leave_ns;
}

static inline void put_enter(trace_call *call)
{
    trace_thread *thread = call->thread;
    call->is_recorded = true;
    settle(thread, depth_of(call), call->enter_ns);
    thread->open_ids[thread->open_count++] = call->id;
    mh_trace_put(thread, (trace_event){call->enter_ns, call->site, -1, 0, 0, call->id, TRACE_ENTER, 0});
}

void mh_trace_record_enter(trace_call *call)
{
    if (!call->is_silent && !call->is_recorded)
        put_enter(call);
}

/*
 * A call waits for nothing before it begins, so a quick reading of the clock is enough. When it is left, earlier
 * instructions must be complete, so that time is a full reading.
 */
static int64_t enter_time_ns(const trace_thread *thread)
{
    int64_t now_ns = mh_base_clock_glance_ns(&mh_trace.clock);
    return thread && now_ns < thread->last_ns ? thread->last_ns : now_ns;
}

static void note_call(trace_call *call)
{
    call->doing = &call->thread->doing;
    *call->doing =
        (trace_doing){.since_ns = call->enter_ns, .site = call->site, .partner = MPI_ANY_SOURCE, .id = call->id};
}

/* Each thread has such a region for itself, from its first call that is left out; what it records next ends it. */
static TRACE_RARE void begin_unrecorded(const trace_call *call, trace_thread *thread, int64_t now_ns)
{
    const bool is_open = thread->open_count > 0 && thread->open_ids[thread->open_count - 1] == mh_trace.unrecorded_id;
    if (is_open || now_ns < mh_trace.asked_from_ns || now_ns >= mh_trace.to_ns)
        return;
    if (call->outer)
        mh_trace_record_enter(call->outer);
    mh_trace_settle(thread, depth_of(call), now_ns);
    if (thread->open_count == TRACE_DEPTH)
        return;
    thread->open_ids[thread->open_count++] = mh_trace.unrecorded_id;
    mh_trace_put(thread, (trace_event){now_ns, 0, -1, 0, 0, mh_trace.unrecorded_id, TRACE_ENTER, 0});
}

static bool is_left_out(const trace_call *call)
{
    return !call->thread || !mh_trace.is_wanted[call->id] || call->enter_ns < mh_trace.from_ns ||
           call->enter_ns >= mh_trace.to_ns || (call->outer && depth_of(call) >= TRACE_DEPTH);
}

/* What was just stored in a call is not loaded again, other than as it was stored: the processor would wait. */
void mh_trace_enter(trace_call *call)
{
    trace_thread *thread = mh_trace_thread_of(call);
    call->doing = NULL;
    if (call->outer)
        mh_trace_record_enter(call->outer); /* a trial, too: this call is within it */
    call->is_recorded = false;
    call->started = (trace_request){0};
    call->enter_ns = enter_time_ns(thread);
    const bool is_silent = is_left_out(call);
    call->is_silent = is_silent;
    if (thread)
        note_call(call);
    if (is_silent && thread && mh_trace.is_off)
        begin_unrecorded(call, thread, call->enter_ns);
    if (!is_silent && !call->is_trial)
        put_enter(call);
}

static void count_time(const trace_call *call)
{
    const int64_t ns = call->leave_ns - call->enter_ns;
    call->thread->in_calls_ns += ns;
    if (ns > call->thread->longest_ns) {
        call->thread->longest_ns = ns;
        call->thread->longest_id = call->id;
    }
}

void mh_trace_returned(trace_call *call)
{
    call->leave_ns = mh_trace_now_ns();
    if (!call->thread)
        return;
    call->thread->last_ns = call->leave_ns;
    call->thread->doing.since_ns = call->leave_ns;
    call->thread->doing.id = 0;
    if (call->outer)
        note_call(call->outer);
    else
        count_time(call);
    if (call->is_recorded && call->thread->run_count != 0) /* of calls in its callbacks */
        put_runs(call->thread);
}

void mh_trace_leave(trace_call *call)
{
    if (call->is_silent)
        return;
    if (call->is_recorded)
        settle(call->thread, depth_of(call), call->leave_ns);
    else
        add_to_run(call->thread, call);
}

void mh_trace_tried(trace_call *call, int result, int found)
{
    if (result != MPI_SUCCESS || found)
        mh_trace_record_enter(call);
}

bool mh_trace_is_of_class(int error, int class)
{
    int its_class = MPI_SUCCESS;
    return error != MPI_SUCCESS && PMPI_Error_class(error, &its_class) == MPI_SUCCESS && its_class == class;
}

void mh_trace_number(const trace_call *call, trace_request *its)
{
    static _Atomic uint32_t last;
    if (its->number == 0)
        its->number = atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;
    its->is_silent = call->is_silent;
}

/* ---- Regions */

void mh_trace_put_region(trace_call *call, uint16_t id, bool enters)
{
    trace_thread *thread = mh_trace_thread_of(call);
    int64_t now_ns = mh_trace_now_ns();
    if (!thread || now_ns < mh_trace.from_ns || now_ns >= mh_trace.to_ns)
        return;
    if (call->outer)
        mh_trace_record_enter(call->outer);
    thread->last_ns = now_ns;
    mh_trace_settle(thread, depth_of(call), now_ns);
    mh_trace_put(thread, (trace_event){now_ns, 0, -1, 0, 0, id, enters ? TRACE_ENTER : TRACE_LEAVE, 0});
}

/* Programs number their regions, or name them. */
enum { FIRST_LEVEL = 3, REGION_BITS = 9, NAME_BYTES = 200 };
static trace_table regions = TRACE_TABLE(REGION_BITS);
static atomic_bool lacks_regions;

__attribute__((format(printf, 2, 3))) static TRACE_RARE void name_region(uint64_t key, const char *format, ...)
{
    static trace_lock naming = TRACE_LOCK;
    char name[NAME_BYTES + sizeof "region "];
    va_list arguments;
    va_start(arguments, format);
    mh_trace_lock(&naming, TRACE_AT_ANY_TIME);
    const int64_t slot = mh_trace_reserve(&regions, key);
    if (slot >= 0) {
        vsnprintf(name, sizeof name, format, arguments);
        mh_trace_write_name(mh_trace.first_region_id + (uint32_t)slot, name);
        mh_trace_publish(&regions, slot, key);
    } else if (slot == TRACE_ABSENT) {
        atomic_store(&lacks_regions, true);
    }
    mh_trace_unlock(&naming);
    va_end(arguments);
}

bool mh_trace_lacks_regions(void)
{
    return atomic_load(&lacks_regions);
}

static void put_known_region(trace_call *call, uint64_t key, bool enters)
{
    const int64_t slot = mh_trace_find(&regions, key);
    if (slot >= 0)
        mh_trace_put_region(call, (uint16_t)(mh_trace.first_region_id + slot), enters);
}

/* Keys of names have a bit that numbers have not. Two names may have the same key, though it is most unlikely. */
void mh_trace_named_region(trace_call *call, const char *name, bool enters)
{
    const uint64_t key = mh_hash_text(name) | UINT64_C(1) << 63;
    if (mh_trace_find(&regions, key) < 0)
        name_region(key, "region %s", name);
    put_known_region(call, key, enters);
}

/* Collective calls are numbered and messages are counted even so, so that later ones are matched. */
void mh_trace_switch(trace_call *call, bool is_on)
{
    trace_thread *thread = mh_trace_thread_of(call);
    if (!thread || mh_trace.is_off != is_on)
        return;
    if (!is_on)
        begin_unrecorded(call, thread, mh_trace_now_ns());
    mh_trace.is_off = !is_on;
    mh_trace_place_window();
    if (is_on)
        mh_trace_settle(thread, depth_of(call), mh_trace_now_ns());
}

void mh_trace_region(trace_call *call, int level)
{
    if (level == 0 || level == 1) {
        mh_trace_switch(call, level == 1);
        return;
    }
    const uint32_t number = level < 0 ? -(uint32_t)level : (uint32_t)level;
    if (number < FIRST_LEVEL)
        return;
    if (mh_trace_find(&regions, number) < 0)
        name_region(number, "region %u", number);
    put_known_region(call, number, level > 0);
}
