/* SPDX-License-Identifier: BSD-3-Clause */
/* calls.c - when calls were entered and left, runs of unsuccessful calls, and the regions of the program. */
#include "interpose/record/calls.h"

#include "interpose/record/regions.h"

trace_thread *mh_trace_thread_of(trace_call *call)
{
    if (!call->thread)
        call->thread = mh_trace_new_thread();
    return call->thread;
}

static TRACE_RARE void put_left_call(trace_thread *thread, int64_t now_ns)
{
    const uint16_t id = thread->open_ids[--thread->open_count];
    mh_trace_put(thread, (trace_event){now_ns, 0, -1, 0, 0, id, TRACE_LEAVE, 0});
}

/* Runs that have begun and not ended, each within the one before. ends_ns: no earlier than of those within. */
typedef struct {
    int count;
    const trace_run *runs[TRACE_RUNS];
    int64_t ends_ns[TRACE_RUNS];
} open_runs;

static void end_run(trace_thread *thread, open_runs *open)
{
    int last = --open->count;
    const trace_run *run = open->runs[last];
    int64_t end_ns = open->ends_ns[last];
    mh_trace_put(thread, (trace_event){end_ns, run->count, -1, 0, 0, run->id, TRACE_LEAVE, 0});
    if (last > 0 && open->ends_ns[last - 1] < end_ns)
        open->ends_ns[last - 1] = end_ns;
}

/* Where places are called in turn, the first one ends last, or else times would decrease. */
static TRACE_RARE void put_runs(trace_thread *thread)
{
    open_runs open = {0};
    for (const trace_run *run = thread->runs; run < thread->runs + thread->run_count; run++) {
        while (open.count > 0 && open.ends_ns[open.count - 1] <= run->enter_ns)
            end_run(thread, &open);
        mh_trace_put(thread, (trace_event){run->enter_ns, run->site, -1, 0, 0, run->id, TRACE_ENTER, 0});
        open.runs[open.count] = run;
        open.ends_ns[open.count++] = run->leave_ns;
    }
    while (open.count > 0)
        end_run(thread, &open);
    thread->run_count = 0;
}

void mh_trace_settle(trace_thread *thread, int open_count, int64_t now_ns)
{
    if (thread->run_count != 0)
        put_runs(thread);
    while (thread->open_count > open_count)
        put_left_call(thread, now_ns);
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

static void add_to_run(trace_thread *thread, const trace_call *call)
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

void mh_trace_record_enter(trace_call *call)
{
    if (call->is_silent || call->is_recorded)
        return;
    call->is_recorded = true;
    mh_trace_settle(call->thread, depth_of(call), call->enter_ns);
    call->thread->open_ids[call->thread->open_count++] = call->id;
    mh_trace_put(call->thread, (trace_event){call->enter_ns, call->site, -1, 0, 0, call->id, TRACE_ENTER, 0});
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

void mh_trace_enter(trace_call *call)
{
    trace_thread *thread = mh_trace_thread_of(call);
    if (call->outer)
        mh_trace_record_enter(call->outer); /* a trial, too: this call is within it */
    call->leave_ns = 0;
    call->is_recorded = false;
    call->started = (trace_request){0};
    call->enter_ns = enter_time_ns(thread);
    call->is_silent = !thread || !mh_trace.is_wanted[call->id] || call->enter_ns < mh_trace.from_ns ||
                      call->enter_ns >= mh_trace.to_ns || (call->outer && depth_of(call) >= TRACE_DEPTH);
    if (!call->is_trial)
        mh_trace_record_enter(call);
}

int64_t mh_trace_leave_ns(trace_call *call)
{
    if (call->leave_ns == 0) {
        call->leave_ns = mh_trace_now_ns();
        if (call->thread)
            call->thread->last_ns = call->leave_ns;
    }
    return call->leave_ns;
}

void mh_trace_leave(trace_call *call)
{
    int64_t leave_ns = mh_trace_leave_ns(call);
    if (call->is_silent)
        return;
    if (!call->is_recorded) {
        add_to_run(call->thread, call);
        return;
    }
    mh_trace_settle(call->thread, depth_of(call), leave_ns);
}

void mh_trace_tried(trace_call *call, int result, int found)
{
    mh_trace_leave_ns(call);
    if (result != MPI_SUCCESS || found)
        mh_trace_record_enter(call);
}

bool mh_trace_is_of_class(int error, int class)
{
    int its_class = MPI_SUCCESS;
    return error != MPI_SUCCESS && PMPI_Error_class(error, &its_class) == MPI_SUCCESS && its_class == class;
}

static _Atomic uint32_t last_request;

uint32_t mh_trace_new_request(trace_call *call, uint8_t does)
{
    trace_request *its = &call->started;
    if (its->number == 0)
        its->number = atomic_fetch_add_explicit(&last_request, 1, memory_order_relaxed) + 1;
    its->does |= does;
    its->is_silent = call->is_silent;
    return its->number;
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

void mh_trace_region(trace_call *call, int level)
{
    uint16_t id = mh_trace_region_id(level < 0 ? -(uint32_t)level : (uint32_t)level);
    if (id != 0)
        mh_trace_put_region(call, id, level > 0);
}
