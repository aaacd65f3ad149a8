/* SPDX-License-Identifier: BSD-3-Clause */
/* calls.c - calls on one communicator, and what a process records of each. */
#define _GNU_SOURCE /* RUSAGE_THREAD */

#include "simulation/simulated.h"
#include "soak.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static MPI_Win window;
static soak_arrival *arrivals[SOAK_MOST_RANKS]; /* by rank in the world */

void soak_calls_begin(void)
{
    soak_arrival *mine;
    SOAK_TRY(MPI_Win_allocate_shared(sizeof *mine, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &window));
    atomic_init(&mine->number, 0);
    for (int i = 0; i < soak_ranks; i++) {
        MPI_Aint bytes;
        int unit;
        SOAK_TRY(MPI_Win_shared_query(window, i, &bytes, &unit, &arrivals[i]));
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

void soak_calls_end(void)
{
    MPI_Win_free(&window);
}

static void raise_latest(soak_slot *slot, int64_t time_ns)
{
    int64_t latest_ns = atomic_load(&slot->latest_ns);
    while (latest_ns < time_ns && !atomic_compare_exchange_weak(&slot->latest_ns, &latest_ns, time_ns))
        ;
}

int64_t soak_read(soak_slot *slot, int64_t *bound_ns)
{
    int64_t time_ns, latest_ns = atomic_load(&slot->latest_ns);
    SOAK_TRY(MPIX_Global_time_ns(slot->comm, &time_ns, bound_ns));
    if (latest_ns != INT64_MIN && !soak_judge(SOAK_MONOTONE, latest_ns - time_ns, 0))
        soak_complain("global time went back by %ld ns", (long)(latest_ns - time_ns));
    raise_latest(slot, time_ns);
    return time_ns;
}

static int64_t switches(void)
{
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nivcsw + usage.ru_nvcsw;
}

/* How long this thread has waited for a processor so far; 0 where the kernel does not tell. */
static int64_t delay_ns(void)
{
    static int file = -2;
    char text[100] = "";
    if (file == -2)
        file = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    if (file < 0 || pread(file, text, sizeof text - 1, 0) <= 0)
        return 0;
    return strtoll(text + strcspn(text, " "), NULL, 10);
}

static int64_t jumps(void)
{
    int64_t sum_ns;
    return mh_simulated_jumps(&sum_ns);
}

static void check_arrivals(const soak_slot *slot, int64_t number)
{
    for (int i = 0; i < slot->size; i++) {
        int64_t arrived = atomic_load(&arrivals[slot->members[i]]->number);
        if (!soak_judge(SOAK_RELEASE, arrived < number, 0))
            soak_complain("released before rank %d arrived", slot->members[i]);
    }
}

static int64_t number_of(MPI_Info info, const char *name)
{
    char key[64], value[64] = "0";
    int found;
    snprintf(key, sizeof key, "mpix_harmonize_%s", name);
    MPI_Info_get(info, key, sizeof value - 1, value, &found);
    return atoll(value);
}

static void read_statistics(soak_slot *slot, soak_record *record)
{
    MPI_Info info;
    SOAK_TRY(MPIX_Harmonize_get_info(slot->comm, &info));
    record->slack_ns = number_of(info, "slack_used_ns");
    record->tolerance_ns = number_of(info, "tolerance_used_ns");
    MPI_Info_free(&info);
}

static void read_after(soak_slot *slot, soak_record *record)
{
    int64_t before_ns = mh_simulated_true_ns();
    record->global_ns = soak_read(slot, &record->bound_ns);
    record->width_ns = mh_simulated_true_ns() - before_ns;
    record->read_ns = before_ns + record->width_ns / 2;
    record->jumps_after = jumps();
}

static void make_call(soak_slot *slot, int64_t number, soak_record *record)
{
    int flag = 0;
    record->jumps_before = jumps();
    record->switches = -switches();
    record->delay_ns = -delay_ns();
    record->arrived_ns = mh_simulated_true_ns();
    atomic_store(&arrivals[soak_rank]->number, number);
    if (record->is_sync)
        SOAK_TRY(MPIX_Clock_sync(slot->comm));
    else
        SOAK_TRY(MPIX_Harmonize(slot->comm, &flag));
    record->left_ns = mh_simulated_true_ns();
    soak_time_plain_code();
    record->switches += switches();
    record->delay_ns += delay_ns();
    record->flag = flag;
    if (!record->is_sync)
        check_arrivals(slot, number);
    read_after(slot, record);
}

static void make_ready(soak_slot *slot)
{
    slot->is_fresh = false;
    pthread_mutex_lock(&slot->lock);
    slot->is_ready = true;
    pthread_mutex_unlock(&slot->lock);
}

/* After a call that followed a step of this process's clock, global time goes on. */
static void check_passing(soak_slot *slot, const soak_record *first, const soak_record *last)
{
    soak_record before = {0}, after = {0};
    if (last->is_sync || first->jumps_before == last->jumps_before)
        return;
    read_after(slot, &before);
    soak_sleep_us(20000);
    read_after(slot, &after);
    if (after.jumps_after != last->jumps_before)
        return;
    int64_t true_ns = after.read_ns - before.read_ns, wrong_ns = after.global_ns - before.global_ns - true_ns;
    int64_t max_ns = SOAK_NS_PER_MS + true_ns / 1000 + before.width_ns + after.width_ns;
    if (after.bound_ns != INT64_MAX) /* a poor fit is known to be one */
        max_ns += before.bound_ns + after.bound_ns;
    if (!soak_judge(SOAK_PASSING, llabs(wrong_ns), max_ns))
        soak_complain("%ld ns of global time passed in %ld ns after a step, bound %ld ns", (long)(true_ns + wrong_ns),
                      (long)true_ns, (long)after.bound_ns);
}

/* The least that may come between two calls on one process, so that all have arrived at different times. */
static void dawdle(uint64_t *own)
{
    if (soak_one_in(own, 4))
        soak_sleep_us(soak_below(own, soak_one_in(own, 10) ? 20000 : 500));
}

int64_t soak_batch(soak_slot *slot, int64_t number, uint64_t *agreed, uint64_t *own)
{
    static soak_record records[SOAK_MOST_CALLS];
    bool is_crowded = soak_ranks > sysconf(_SC_NPROCESSORS_ONLN);
    int calls = 1 + (int)soak_below(agreed, is_crowded ? SOAK_MOST_CALLS / 4 : SOAK_MOST_CALLS);
    for (int i = 0; i < calls; i++) {
        records[i] = (soak_record){.is_sync = soak_one_in(agreed, 20), .is_fresh = slot->is_fresh};
        make_call(slot, number++, &records[i]);
        make_ready(slot);
        read_statistics(slot, &records[i]);
        dawdle(own);
    }
    check_passing(slot, &records[0], &records[calls - 1]);
    soak_judge_batch(slot, records, calls);
    return number;
}
