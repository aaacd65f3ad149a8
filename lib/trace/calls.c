/* SPDX-License-Identifier: BSD-3-Clause */
/* calls.c - when calls were entered and left, runs of calls in vain, and the regions of the program. */
#include "trace/back.h"

#include <stdio.h>

trace_thread *mh_trace_thread_of(trace_call *call)
{
    if (!call->thread)
        call->thread = mh_trace_new_thread();
    return call->thread;
}

void mh_trace_put_run(trace_thread *thread)
{
    trace_run run = thread->run;
    if (run.count == 0)
        return;
    thread->run.count = 0;
    mh_trace_put(thread, (trace_event){run.enter_ns, run.site, -1, 0, 0, run.id, TRACE_ENTER, 0});
    mh_trace_put(thread, (trace_event){run.leave_ns, run.count, -1, 0, 0, run.id, TRACE_LEAVE, 0});
}

static void add_to_run(trace_thread *thread, const trace_call *call)
{
    trace_run *run = &thread->run;
    if (run->count == 0 || run->id != call->id || run->site != call->site) {
        mh_trace_put_run(thread);
        *run = (trace_run){.site = call->site, .enter_ns = call->enter_ns, .id = call->id};
    }
    run->count++;
    run->leave_ns = call->leave_ns;
}

void mh_trace_record_enter(trace_call *call)
{
    if (call->is_silent || call->is_recorded)
        return;
    call->is_recorded = true;
    mh_trace_put_run(call->thread);
    mh_trace_put(call->thread, (trace_event){call->enter_ns, call->site, -1, 0, 0, call->id, TRACE_ENTER, 0});
}

void mh_trace_enter(trace_call *call)
{
    trace_thread *thread = mh_trace_thread_of(call);
    call->leave_ns = 0;
    call->is_recorded = false;
    call->started = (trace_request){0};
    call->enter_ns = mh_trace_now_ns();
    call->is_silent = !thread || !mh_trace.is_wanted[call->id] || call->enter_ns < mh_trace.from_ns ||
                      call->enter_ns >= mh_trace.to_ns;
    if (!call->is_trial)
        mh_trace_record_enter(call);
}

int64_t mh_trace_leave_ns(trace_call *call)
{
    if (call->leave_ns == 0)
        call->leave_ns = mh_trace_now_ns();
    return call->leave_ns;
}

void mh_trace_leave(trace_call *call)
{
    int64_t leave_ns = mh_trace_leave_ns(call);
    if (call->is_silent)
        return;
    if (call->is_recorded)
        mh_trace_put(call->thread, (trace_event){leave_ns, 0, -1, 0, 0, call->id, TRACE_LEAVE, 0});
    else
        add_to_run(call->thread, call);
}

void mh_trace_tried(trace_call *call, int result, int found)
{
    mh_trace_leave_ns(call);
    if (result != MPI_SUCCESS || found)
        mh_trace_record_enter(call);
}

/* ---- Regions */

void mh_trace_put_region(trace_thread *thread, uint16_t id, bool enters)
{
    int64_t now_ns = mh_trace_now_ns();
    if (!thread || now_ns < mh_trace.from_ns || now_ns >= mh_trace.to_ns)
        return;
    mh_trace_put_run(thread);
    mh_trace_put(thread, (trace_event){now_ns, 0, -1, 0, 0, id, enters ? TRACE_ENTER : TRACE_LEAVE, 0});
}

/* A bit for each region that was entered, and for each whose name was written. */
enum { FIRST_LEVEL = 3, WORDS = 1024 };
static _Atomic uint64_t entered[WORDS];
static uint64_t named[WORDS];

void mh_trace_region(trace_call *call, int level)
{
    unsigned index = (unsigned)(level < 0 ? -(int64_t)level : level) - FIRST_LEVEL;
    unsigned id = mh_trace.first_region_id + index;
    if (index >= WORDS * 64 || id >= TRACE_NO_COMM)
        return;
    uint64_t bit = UINT64_C(1) << index % 64;
    if (!(atomic_load_explicit(&entered[index / 64], memory_order_relaxed) & bit))
        atomic_fetch_or(&entered[index / 64], bit);
    mh_trace_put_region(mh_trace_thread_of(call), (uint16_t)id, level > 0);
}

void mh_trace_write_regions(void)
{
    for (unsigned word = 0; word < WORDS; word++) {
        uint64_t missing = atomic_load(&entered[word]) & ~named[word];
        named[word] |= missing;
        for (; missing; missing &= missing - 1) {
            unsigned index = word * 64 + (unsigned)__builtin_ctzll(missing);
            char name[32];
            snprintf(name, sizeof name, "region %u", index + FIRST_LEVEL);
            mh_trace_write_name(mh_trace.first_region_id + index, name);
        }
    }
}
