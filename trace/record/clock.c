/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * clock.c - the clock records: at MPI_Init, at collective calls of all processes when one is due, at MPI_Finalize.
 *
 * All processes make the same collective calls on communicators over all of them in the same order. So they count them
 * as they are made, and agree at each look upon the number until the next one, by how long it has been and how frequent
 * they are; it at most doubles. A look is a reduction; if it finds that a record is due, the clocks are synchronized
 * and what is in memory is written.
 */
#include "trace/record/clock.h"

#include "pure/units.h"
#include "make_state.h"
#include "mpix_harmonize.h"
#include "trace/back/twin.h"
#include "trace/record/calls.h"
#include "trace/record/file.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_STRIDE = 32 };
static const int64_t interval_ns = 700 * MH_NS_PER_MS;

static mh_comm_state *state;
static bool cannot_synchronize;
static int calls_since_record, stride = 1, calls_until_look = 1;
static int64_t last_record_ns;
static _Atomic int64_t offset_ns; /* of the last record; when the limit of the trace was met, of the one before */

/* Times of the program's options are global. */
static void place_window(const mh_clock_record *now)
{
    const interpose_choices *options = &mh_choices;
    const int64_t now_offset_ns = now->global_less_local_ns;
    const bool is_whole = options->from_ns == INT64_MIN;
    if (mh_trace.met_ns == INT64_MAX)
        offset_ns = now_offset_ns;
    mh_trace.asked_from_ns = !mh_trace.is_listed ? INT64_MAX : is_whole ? INT64_MIN : options->from_ns - now_offset_ns;
    mh_trace.asked_to_ns = options->to_ns == INT64_MAX ? INT64_MAX : options->to_ns - now_offset_ns;
    mh_trace_place_window();
}

int64_t mh_trace_limit_ns(void)
{
    return mh_trace.met_ns == INT64_MAX ? INT64_MAX : mh_trace.met_ns + offset_ns;
}

void mh_trace_write_limit(void)
{
    static atomic_bool is_written;
    const int64_t limit_ns = mh_trace_limit_ns();
    char text[64];
    if (limit_ns == INT64_MAX || atomic_exchange(&is_written, true))
        return;
    snprintf(text, sizeof text, "limit_ns %" PRId64 "\n", limit_ns);
    mh_trace_write_one(TRACE_BLOCK_TEXT, text, strlen(text));
}

void mh_trace_write_clock(int64_t began_ns)
{
    mh_clock_record now = mh_comm_clock_record(&state->clock);
    trace_clock_record record = {
        .pair.at_ns = now.local_ns,
        .pair.ahead_ns = now.global_less_local_ns,
        .pair.ahead_ps = now.global_less_local_ps,
        .pair.deviation_ns = now.deviation_ns,
        .pair.bound_ns = now.bound_ns == MH_TIME_UNKNOWN_NS ? INFINITY : (double)now.bound_ns,
        .burst_ns = began_ns ? now.local_ns - began_ns : 0,
    };
    mh_trace_write_one(TRACE_BLOCK_CLOCK, &record, sizeof record);
    place_window(&now);
    last_record_ns = now.local_ns;
}

bool mh_trace_start_clock(void)
{
    mh_error error = MH_NO_ERROR;
    bool is_ready = PMPIX_Clock_sync(mh_twin_of_world) == MPI_SUCCESS &&
                    mh_comm_state_find(mh_twin_of_world, &state, &error) == MPI_SUCCESS && state;
    if (!mh_interpose_agree(is_ready, mh_twin_of_world))
        return false;
    mh_trace.clock = state->clock.global.base;
    return true;
}

static void synchronize(void)
{
    int64_t began_ns = mh_trace_now_ns();
    bool is_done = PMPIX_Clock_sync(mh_twin_of_world) == MPI_SUCCESS;
    cannot_synchronize = !mh_interpose_agree(is_done, mh_twin_of_world);
    if (!cannot_synchronize)
        mh_trace_write_clock(began_ns);
}

static void plan_look(double calls)
{
    int max = 2 * stride < MAX_STRIDE ? 2 * stride : MAX_STRIDE;
    stride = calls < 1 ? 1 : calls > max ? max : (int)calls;
    calls_until_look = stride;
}

/* Returns whether the time has come. */
static bool is_due(void)
{
    int64_t mine_ns = mh_trace_now_ns() - last_record_ns, longest_ns = 0;
    if (PMPI_Allreduce(&mine_ns, &longest_ns, 1, MPI_INT64_T, MPI_MAX, mh_twin_of_world) != MPI_SUCCESS) {
        cannot_synchronize = true;
        return false;
    }
    double calls_per_ns = calls_since_record / fmax((double)longest_ns, 1);
    bool due = longest_ns >= interval_ns;
    plan_look((double)(due ? interval_ns : interval_ns - longest_ns) * calls_per_ns);
    return due;
}

void mh_trace_clock_region(trace_call *call, bool enters)
{
    mh_trace_put_region(call, mh_trace.clock_id, enters);
    if (call->thread)
        call->thread->doing = (trace_doing){.since_ns = mh_trace_now_ns(), .id = enters ? mh_trace.clock_id : 0};
}

static void look(trace_call *call)
{
    interpose_thread_state its;
    mh_interpose_leave_state(&its);
    mh_trace_clock_region(call, true);
    bool due = is_due();
    if (due) {
        calls_since_record = 0;
        synchronize();
    }
    mh_trace_clock_region(call, false);
    mh_interpose_restore_state(&its);
    if (due)
        mh_trace_flush(TRACE_AT_ONCE, false);
}

void mh_trace_look_after_clock(trace_call *call)
{
    if (cannot_synchronize)
        return;
    calls_since_record++;
    if (--calls_until_look <= 0)
        look(call);
}

static void write_records(void)
{
    char why[256] = "";
    if (!mh_choices.clocks[0] || PMPIX_Clock_write(mh_twin_of_world, mh_choices.clocks) == MPI_SUCCESS)
        return;
    mh_interpose_statistic(mh_twin_of_world, "mpix_harmonize_last_error", why, sizeof why);
    if (mh_trace.rank == 0)
        mh_trace_say("there is no file of clock records: %s", why);
}

void mh_trace_end_clock(trace_call *call)
{
    mh_trace_clock_region(call, true);
    if (!cannot_synchronize)
        synchronize();
    write_records();
    cannot_synchronize = true; /* callbacks of attributes may make calls in MPI_Finalize */
    mh_trace_clock_region(call, false);
}
