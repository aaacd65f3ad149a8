/* SPDX-License-Identifier: BSD-3-Clause */
/* judge.c - invariants of a call that several processes together can judge. */
#include "soak.h"

#include <stdlib.h>
#include <string.h>

/* How far rates of clocks may be from that of true time, as a part of a thousand. */
enum { RATE_PARTS = 1000, READ_NS = 200 };

/* A call that synchronizes from the start, after a step of a clock, too. */
static const int64_t MAX_FIRST_NS = 5 * SOAK_NS_PER_S;

/* The longest call that had to synchronize from the start, on this machine as busy as it is. */
static int64_t control_ns;

int64_t soak_agree_on_control(void)
{
    SOAK_TRY(MPI_Allreduce(MPI_IN_PLACE, &control_ns, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD));
    return control_ns;
}

/* One call: the records of all processes. */
typedef struct call {
    const soak_record *of[SOAK_MOST_RANKS];
    int size;
    int64_t latest_arrival_ns, bound_ns; /* of all */
    bool is_sync, is_stepped;
} call;

static call gather(const soak_record *all, int calls, int size, int n)
{
    call one = {.size = size, .latest_arrival_ns = INT64_MIN};
    for (int i = 0; i < size; i++) {
        const soak_record *record = one.of[i] = &all[i * calls + n];
        if (record->arrived_ns > one.latest_arrival_ns)
            one.latest_arrival_ns = record->arrived_ns;
        if (record->bound_ns > one.bound_ns)
            one.bound_ns = record->bound_ns;
        one.is_sync = record->is_sync;
        one.is_stepped |= record->jumps_after != record->jumps_before;
    }
    return one;
}

/*
 * That a process waits for a processor is not the library's doing. One may do so while the others wait for it, and then
 * another one, so these times add up.
 */
static int64_t delay_ns(const call *one)
{
    int64_t sum_ns = 0;
    for (int i = 0; i < one->size; i++)
        sum_ns += one->of[i]->delay_ns;
    return sum_ns;
}

static void judge_duration(const call *one, int rank, int n)
{
    int64_t took_ns = one->of[rank]->left_ns - one->latest_arrival_ns - delay_ns(one);
    bool is_fresh = one->of[rank]->is_fresh;
    int64_t max_ns = is_fresh ? MAX_FIRST_NS : SOAK_NS_PER_S / 2 + control_ns;
    if (is_fresh && took_ns > control_ns)
        control_ns = took_ns;
    if (!soak_judge(is_fresh ? SOAK_FIRST_DURATION : SOAK_DURATION, took_ns, max_ns))
        soak_complain("%s %d took %ld ms on rank %d beside %ld ms of waiting for processors, the longest first one "
                      "%ld ms",
                      is_fresh ? "first call" : "call", n, (long)(took_ns / SOAK_NS_PER_MS), rank,
                      (long)(delay_ns(one) / SOAK_NS_PER_MS), (long)(control_ns / SOAK_NS_PER_MS));
}

/* The error of a process's reading against that of rank 0, at the same time by true time. */
static void judge_bound(const call *one, int rank, int n)
{
    const soak_record *mine = one->of[rank], *zero = one->of[0];
    if (one->is_stepped || mine->bound_ns == INT64_MAX || zero->bound_ns == INT64_MAX)
        return;
    int64_t error_ns = (mine->global_ns - mine->read_ns) - (zero->global_ns - zero->read_ns);
    int64_t other_ns = llabs(mine->read_ns - zero->read_ns) / RATE_PARTS + (mine->width_ns + zero->width_ns + 1) / 2;
    int64_t most_ns = mine->bound_ns + zero->bound_ns + other_ns + 2;
    if (!soak_judge(SOAK_BOUND, llabs(error_ns), most_ns))
        soak_complain("after call %d%s global time is off by %ld ns on rank %d, bound %ld ns, bound of rank 0 %ld ns, "
                      "readings %ld ns",
                      n, mine->is_sync ? " (MPIX_Clock_sync)" : "", (long)error_ns, rank, (long)mine->bound_ns,
                      (long)zero->bound_ns, (long)other_ns);
}

static void judge_valid(const call *one, int rank, int n)
{
    const soak_record *mine = one->of[rank];
    int64_t early_ns = one->latest_arrival_ns - mine->left_ns;
    if (!soak_judge(SOAK_FLAG, early_ns, 0))
        soak_complain("call %d was left on rank %d %ld ns before the latest arrival, the flag is 1", n, rank,
                      (long)early_ns);
    if (one->is_stepped || one->bound_ns == INT64_MAX)
        return;
    early_ns += mine->slack_ns;
    if (!soak_judge(SOAK_DEADLINE, early_ns, 2 * one->bound_ns + READ_NS))
        soak_complain("call %d was left on rank %d %ld ns before the deadline, bound %ld ns, the flag is 1", n, rank,
                      (long)early_ns, (long)one->bound_ns);
}

/* Exits of valid processes that are further apart than the flags alone explain. */
static void count_interruption(const call *one)
{
    const soak_record *first = NULL, *last = NULL;
    int valid = 0;
    for (int i = 0; i < one->size; i++) {
        if (!one->of[i]->flag)
            continue;
        valid++;
        if (!first || one->of[i]->left_ns < first->left_ns)
            first = one->of[i];
        if (!last || one->of[i]->left_ns > last->left_ns)
            last = one->of[i];
    }
    soak_add(SOAK_VALID_CALLS, valid == one->size);
    if (valid < 2 || one->is_stepped || one->bound_ns == INT64_MAX)
        return;
    soak_add(SOAK_PAIRED, 1);
    int64_t excess_ns = last->left_ns - first->left_ns - first->tolerance_ns - 2 * one->bound_ns - READ_NS;
    if (excess_ns <= 0)
        return;
    soak_note_interruption(excess_ns);
    soak_add(SOAK_SWITCHED, last->switches > 0);
}

static void judge_call(const call *one, int n)
{
    soak_add(one->is_sync ? SOAK_SYNCS : SOAK_CALLS, 1);
    soak_add(SOAK_NOT_JUDGED, one->is_stepped);
    for (int i = 0; i < one->size; i++) {
        judge_duration(one, i, n);
        judge_bound(one, i, n);
        if (!one->is_sync && one->of[i]->flag)
            judge_valid(one, i, n);
    }
    if (!one->is_sync)
        count_interruption(one);
}

void soak_judge_batch(soak_slot *slot, const soak_record *records, int calls)
{
    static soak_record all[SOAK_MOST_RANKS * SOAK_MOST_CALLS];
    int bytes = calls * (int)sizeof *records;
    SOAK_TRY(MPI_Gather(records, bytes, MPI_BYTE, all, bytes, MPI_BYTE, 0, slot->comm));
    for (int n = 0; n < calls && slot->rank == 0; n++) {
        call one = gather(all, calls, slot->size, n);
        judge_call(&one, n);
    }
}
