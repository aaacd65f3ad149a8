/* SPDX-License-Identifier: BSD-3-Clause */
/* test_windows.c - who waits for whom in accesses of windows: for who has a lock, and for targets that compute. */
#include "unit/support.h"
#include "analyzed.h"

enum { HELD_NS = 1000000, BRIEF_NS = 30000, ACCESS_BYTES = 100 };

/* A call of one access of a window of all, which lasts until a time, or some time. */
static void call_window(made_trace *made, int rank, made_name function, trace_access mode, int target, double until_ns)
{
    trace_event event = {.kind = TRACE_ACCESS, .partner = target, .value = mode <= TRACE_UPDATE ? ACCESS_BYTES : 0};
    event.mode = mode;
    made_enter(made, rank, function);
    made->now_ns[rank] = fmax(made->now_ns[rank] + RESULT_NS, until_ns);
    made_put(made, rank, event);
    made_leave(made, rank, function);
}

/* Another call of MPI, which accesses nothing. */
static void stay_in_mpi(made_trace *made, int rank, double until_ns)
{
    made_enter(made, rank, MADE_SEND);
    made->now_ns[rank] = fmax(made->now_ns[rank], until_ns);
    made_leave(made, rank, MADE_SEND);
}

/* How long calls wait in a state, for rank 1. */
static int64_t waits_ns(const wait_analysis *of, wait_state state)
{
    int64_t sum_ns = 0;
    for (size_t i = 0; i < of->waits.count; i++) {
        const graph_wait *wait = &of->waits.list[i];
        if (wait->state == state && wait->lane == 0 && wait->late_lane == 1)
            sum_ns += wait->end_ns - wait->begin_ns;
    }
    return sum_ns;
}

static const struct {
    trace_access first, second;
    int target; /* of the second one; that of the first one is 0 */
    bool waits;
} lock_pairs[] = {
    {TRACE_LOCK_EXCLUSIVE, TRACE_LOCK_EXCLUSIVE, 0, true}, {TRACE_LOCK_SHARED, TRACE_LOCK_EXCLUSIVE, 0, true},
    {TRACE_LOCK_EXCLUSIVE, TRACE_LOCK_SHARED, 0, true},    {TRACE_LOCK_EXCLUSIVE, TRACE_LOCK_SHARED, -1, true},
    {TRACE_LOCK_SHARED, TRACE_LOCK_EXCLUSIVE, 1, false},   {TRACE_LOCK_SHARED, TRACE_LOCK_SHARED, 0, false}};

/* Rank 1 has a lock while rank 0 asks for one. It gets it in MPI_Win_unlock only. */
LOOP_TEST(the_holder_of_a_lock_is_waited_for, COUNT_OF(lock_pairs))
{
    made_trace made;
    wait_analysis found;
    trace_matches matches;
    begin(&made, 2);
    made_calls(&made, MADE_INIT);
    call_window(&made, 1, MADE_WIN_LOCK, lock_pairs[_i].first, 0, 0);
    call_window(&made, 1, MADE_WIN_FLUSH, TRACE_FLUSH, 0, 0);
    made_work(&made, 1, HELD_NS);
    const double released_ns = made.now_ns[1];
    call_window(&made, 1, MADE_WIN_UNLOCK, TRACE_UNLOCK, 0, 0);
    made_work(&made, 0, WORK_NS);
    call_window(&made, 0, MADE_WIN_LOCK, lock_pairs[_i].second, lock_pairs[_i].target, 0);
    const double asked_ns = made.now_ns[0];
    call_window(&made, 0, MADE_WIN_UNLOCK, TRACE_UNLOCK, lock_pairs[_i].target, released_ns + LATENCY_NS);
    made_calls(&made, MADE_FINALIZE);
    made_records(&made, 0, 0);
    analyze(&found, &matches, &made, TRACE_GLOBAL);
    const int64_t wanted_ns = lock_pairs[_i].waits ? (int64_t)(released_ns - asked_ns) : 0;
    EXPECT(waits_ns(&found, STATE_LOCK) == wanted_ns, "it waits for %" PRId64 " ns, not %" PRId64,
           waits_ns(&found, STATE_LOCK), wanted_ns);
    EXPECT(!lock_pairs[_i].waits || found.unseen_ns < LATENCY_NS,
           "of calls that wait, %" PRId64 " ns are not attributed", found.unseen_ns);
    forget(&found, &matches, &made);
}

/* Without MPI_Win_flush, nothing tells who had the lock first but who asked first. */
static const struct {
    bool is_first;    /* rank 1 asks first */
    bool waits_there; /* rank 0 does, at the target of the lock, and not at another one */
} askers[] = {{true, true}, {false, true}, {true, false}};

LOOP_TEST(who_had_a_lock_before_is_known, COUNT_OF(askers))
{
    made_trace made;
    wait_analysis found;
    trace_matches matches;
    begin(&made, 2);
    made_calls(&made, MADE_INIT);
    made_work(&made, askers[_i].is_first ? 0 : 1, WORK_NS);
    call_window(&made, 1, MADE_WIN_LOCK, TRACE_LOCK_EXCLUSIVE, 0, 0);
    call_window(&made, 0, MADE_WIN_LOCK, TRACE_LOCK_EXCLUSIVE, 0, 0);
    if (!askers[_i].waits_there)
        call_window(&made, 0, MADE_WIN_LOCK, TRACE_LOCK_SHARED, 1, 0);
    const double asked_ns = made.now_ns[0];
    made_work(&made, 1, HELD_NS);
    const double released_ns = made.now_ns[1];
    call_window(&made, 1, MADE_WIN_UNLOCK, TRACE_UNLOCK, 0, 0);
    if (!askers[_i].waits_there)
        call_window(&made, 0, MADE_WIN_UNLOCK, TRACE_UNLOCK, 1, released_ns + LATENCY_NS);
    call_window(&made, 0, MADE_WIN_UNLOCK, TRACE_UNLOCK, 0, released_ns + LATENCY_NS);
    made_calls(&made, MADE_FINALIZE);
    made_records(&made, 0, 0);
    analyze(&found, &matches, &made, TRACE_GLOBAL);
    const bool waits = askers[_i].is_first && askers[_i].waits_there;
    EXPECT(waits_ns(&found, STATE_LOCK) == (waits ? (int64_t)(released_ns - asked_ns) : 0), "it waits for %" PRId64,
           waits_ns(&found, STATE_LOCK));
    EXPECT(!askers[_i].waits_there || (waits ? found.unseen_ns < LATENCY_NS : found.unseen_ns >= HELD_NS),
           "%" PRId64 " ns are not attributed", found.unseen_ns);
    forget(&found, &matches, &made);
}

typedef struct {
    const char *name;
    int64_t quick_ns;              /* so long a flush takes while the target is in MPI; 0: there is none */
    int64_t stays_ns, computes_ns; /* the target, in a call when the last flush begins, and then */
    trace_access earlier, later;   /* the former is complete while its target computes; FLUSH: nothing is to be done */
    int earlier_target;            /* rank 2 is on the host of rank 0, and rank 1 on another one; else all are on one */
    bool waits, is_known;
} busy_target;

static void set_text(made_trace *made, int rank, const char *text)
{
    free(made->trace.processes[rank].text);
    made->trace.processes[rank].text = strdup(text);
}

/* A flush of rank 0 lasts until rank 1 calls MPI. Returns for how long rank 1 lets it wait. */
static int64_t make_busy_target(made_trace *made, const busy_target *of)
{
    begin(made, 3);
    for (int rank = 0; rank < 3; rank++)
        set_text(made, rank, rank == 1 && of->earlier_target == 2 ? "host b\n" : "host a\n");
    made_calls(made, MADE_INIT);
    made_work(made, 0, LATENCY_NS);
    stay_in_mpi(made, 1, made->now_ns[0] + BRIEF_NS);
    call_window(made, 0, MADE_WIN_LOCK, TRACE_LOCK_SHARED, 1, 0);
    call_window(made, 0, MADE_WIN_FLUSH, TRACE_FLUSH, 1, 0);
    if (of->quick_ns > 0) {
        call_window(made, 0, MADE_PUT, of->later, 1, 0);
        call_window(made, 0, MADE_WIN_FLUSH, TRACE_FLUSH, 1, made->now_ns[0] + (double)of->quick_ns);
    }
    made_work(made, 0, BRIEF_NS + LATENCY_NS);
    call_window(made, 0, MADE_PUT, of->earlier, of->earlier_target, 0);
    call_window(made, 0, MADE_WIN_FLUSH, TRACE_FLUSH, of->earlier_target, 0);
    call_window(made, 0, MADE_PUT, of->later, 1, 0);
    const double flushed_ns = made->now_ns[0];
    if (of->stays_ns > 0)
        stay_in_mpi(made, 1, flushed_ns + (double)of->stays_ns);
    const double called_ns = flushed_ns + (double)(of->stays_ns + of->computes_ns);
    made->now_ns[1] = called_ns;
    call_window(made, 0, MADE_WIN_FLUSH, TRACE_FLUSH, 1, called_ns + LATENCY_NS);
    call_window(made, 1, MADE_WIN_LOCK, TRACE_LOCK_SHARED, 1, 0);
    call_window(made, 1, MADE_WIN_UNLOCK, TRACE_UNLOCK, 1, 0);
    call_window(made, 0, MADE_WIN_UNLOCK, TRACE_UNLOCK, 1, 0);
    made->now_ns[2] = made->now_ns[0];
    made_calls(made, MADE_FINALIZE);
    made_records(made, 0, 0);
    return (int64_t)(called_ns - flushed_ns);
}

static const busy_target busy_targets[] = {
    {"a put", RESULT_NS, 0, HELD_NS, TRACE_FLUSH, TRACE_PUT, 1, true, true},
    {"a put after a get", RESULT_NS, 0, HELD_NS, TRACE_GET, TRACE_PUT, 1, true, true},
    {"a put after one that needed no target", RESULT_NS, 0, HELD_NS, TRACE_PUT, TRACE_PUT, 1, false, true},
    {"a put after one to another host", RESULT_NS, 0, HELD_NS, TRACE_PUT, TRACE_PUT, 2, true, true},
    {"a target that hardly computes", RESULT_NS, 0, BRIEF_NS, TRACE_FLUSH, TRACE_PUT, 1, false, true},
    {"nothing to complete", RESULT_NS, 0, HELD_NS, TRACE_FLUSH, TRACE_FLUSH, 1, false, false},
    {"a target that is in MPI at first", RESULT_NS, BRIEF_NS, HELD_NS, TRACE_FLUSH, TRACE_PUT, 1, true, true},
    {"a target that is in MPI for long", RESULT_NS, HELD_NS, HELD_NS, TRACE_FLUSH, TRACE_PUT, 1, false, true},
    {"no quick flush", INT64_C(2) * LATENCY_NS, 0, HELD_NS, TRACE_FLUSH, TRACE_PUT, 1, false, false},
    {"no flush before", 0, 0, HELD_NS, TRACE_FLUSH, TRACE_PUT, 1, false, false}};

LOOP_TEST(a_busy_target_is_waited_for, COUNT_OF(busy_targets))
{
    made_trace made;
    wait_analysis found;
    trace_matches matches;
    const busy_target *of = &busy_targets[_i];
    const int64_t busy_ns = make_busy_target(&made, of);
    analyze(&found, &matches, &made, TRACE_GLOBAL);
    EXPECT(waits_ns(&found, STATE_PROGRESS) == (of->waits ? busy_ns : 0),
           "%s: it waits for %" PRId64 " ns, not %" PRId64, of->name, waits_ns(&found, STATE_PROGRESS), busy_ns);
    EXPECT(of->is_known ? found.unseen_ns < LATENCY_NS : found.unseen_ns >= HELD_NS,
           "%s: %" PRId64 " ns are not attributed", of->name, found.unseen_ns);
    forget(&found, &matches, &made);
}

/* Also of calls that are not long. */
LOOP_TEST(what_a_target_does_may_be_unknown, 2)
{
    static const busy_target brief = {
        "a brief computation", RESULT_NS, 0, BRIEF_NS, TRACE_FLUSH, TRACE_PUT, 1, false, false};
    const busy_target *of = _i == 0 ? &busy_targets[0] : &brief;
    made_trace made;
    wait_analysis found;
    trace_matches matches;
    make_busy_target(&made, of);
    if (_i == 0)
        for (int rank = 0; rank < 3; rank++)
            set_text(&made, rank, "only win_*\n");
    else
        made_leave_out(&made, 1);
    analyze(&found, &matches, &made, TRACE_GLOBAL);
    EXPECT(waits_ns(&found, STATE_PROGRESS) == 0, "%s: it waits for %" PRId64 " ns", of->name,
           waits_ns(&found, STATE_PROGRESS));
    EXPECT(found.unseen_ns >= of->computes_ns - LATENCY_NS, "%s: %" PRId64 " ns are not attributed", of->name,
           found.unseen_ns);
    forget(&found, &matches, &made);
}

/* A lock of all targets lasts until rank 1, which nobody accesses, calls MPI. Of two ranks, it may be no other. */
LOOP_TEST(a_lock_of_all_targets_is_of_those_that_are_accessed, 2)
{
    made_trace made;
    wait_analysis found;
    trace_matches matches;
    const int ranks = 2 + _i;
    begin(&made, ranks);
    made_calls(&made, MADE_INIT);
    call_window(&made, 0, MADE_WIN_LOCK, TRACE_LOCK_SHARED, -1, 0);
    call_window(&made, 0, MADE_WIN_UNLOCK, TRACE_UNLOCK, -1, 0);
    made_work(&made, 1, HELD_NS);
    call_window(&made, 0, MADE_WIN_LOCK, TRACE_LOCK_SHARED, -1, made.now_ns[1] + LATENCY_NS);
    stay_in_mpi(&made, 1, 0);
    made_work(&made, 1, HELD_NS);
    call_window(&made, 0, MADE_WIN_UNLOCK, TRACE_UNLOCK, -1, made.now_ns[1] + LATENCY_NS);
    made_calls(&made, MADE_FINALIZE);
    made_records(&made, 0, 0);
    analyze(&found, &matches, &made, TRACE_GLOBAL);
    const int64_t waited_ns = waits_ns(&found, STATE_PROGRESS), lasts_ns = (int64_t)2 * HELD_NS;
    EXPECT(ranks == 2 ? llabs(waited_ns - lasts_ns) / 2 <= LATENCY_NS : waited_ns == 0, "it waits for %" PRId64 " ns",
           waited_ns);
    EXPECT((found.unseen_ns >= lasts_ns - LATENCY_NS) == (ranks == 3), "%" PRId64 " ns are not attributed",
           found.unseen_ns);
    forget(&found, &matches, &made);
}

/* Rank 0 asks rank 1 for a lock, which rank 2 may have, and gets it late, though rank 1 is in MPI. */
LOOP_TEST(a_process_that_is_not_recorded_may_have_a_lock, 2)
{
    made_trace made;
    wait_analysis found;
    trace_matches matches;
    begin(&made, 3);
    made_calls(&made, MADE_INIT);
    stay_in_mpi(&made, 1, 2 * HELD_NS);
    call_window(&made, 0, MADE_WIN_LOCK, TRACE_LOCK_EXCLUSIVE, 1, 0);
    call_window(&made, 0, MADE_WIN_UNLOCK, TRACE_UNLOCK, 1, HELD_NS);
    made_calls(&made, MADE_FINALIZE);
    made_records(&made, 0, 0);
    if (_i == 1)
        made_leave_out(&made, 2);
    analyze(&found, &matches, &made, TRACE_GLOBAL);
    EXPECT(_i == 0 ? found.unseen_ns < LATENCY_NS : found.unseen_ns >= HELD_NS - LATENCY_NS,
           "%" PRId64 " ns are not attributed", found.unseen_ns);
    forget(&found, &matches, &made);
}
