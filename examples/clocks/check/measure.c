/* SPDX-License-Identifier: BSD-3-Clause */
/* measure.c - the clock of one communicator: synchronized, kept, and compared with that of rank 0. */
#include "check/check.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

static int64_t greatest_of_ranks(const check_run_t *run, int64_t value)
{
    int64_t greatest = value;
    int code = MPI_Reduce(&value, &greatest, 1, MPI_INT64_T, MPI_MAX, 0, run->world.comm);

    world_require(&run->world, code, "MPI_Reduce");
    return greatest;
}

int64_t check_whole_statistic(const world_t *clock_world, const char *key)
{
    char text[MPI_MAX_INFO_VAL + 1];

    return world_statistic(clock_world, key, text, sizeof(text)) ? strtoll(text, NULL, 10) : 0;
}

int64_t check_synchronize(const check_run_t *run, const world_t *clock_world, trial_t *trial)
{
    int64_t begin_ns, end_ns;

    MPI_Barrier(run->world.comm);
    begin_ns = system_time_ns();
    world_require(clock_world, MPIX_Clock_sync(clock_world->comm), "MPIX_Clock_sync");
    end_ns = system_time_ns();
    trial->call_ns = greatest_of_ranks(run, end_ns - begin_ns);
    trial->sync_ns = greatest_of_ranks(run, check_whole_statistic(clock_world, "mpix_harmonize_sync_duration_ns"));
    return end_ns;
}

void check_sleep_for(int64_t time_ns)
{
    struct timespec left = {(time_t)(time_ns / 1000000000), (long)(time_ns % 1000000000)};

    if (time_ns > 0)
        nanosleep(&left, NULL);
}

void check_keep_until(const check_run_t *run, const world_t *clock_world, int64_t end_ns)
{
    for (;;) {
        int64_t left_ns = end_ns - system_time_ns();
        int valid;

        world_require(&run->world, MPI_Bcast(&left_ns, 1, MPI_INT64_T, 0, run->world.comm), "MPI_Bcast");
        if (left_ns <= 0)
            return;
        check_sleep_for((int64_t)fmin((double)left_ns, run->settings.keep_ms * 1e6));
        world_require(clock_world, MPIX_Harmonize(clock_world->comm, &valid), "MPIX_Harmonize");
    }
}

void check_all(const check_run_t *run, const world_t *clock_world, int64_t begin_ns, check_t *checks)
{
    const clock_meter_t meter = {clock_world, run->world.comm, run->has_truth ? &run->shared : NULL,
                                 run->settings.exchanges};

    if (run->world.rank != 0) {
        if (check_is_checked(run, run->world.rank))
            clock_error_answer(&meter);
        return;
    }
    for (int i = 0; i < run->checked; i++) {
        checks[i].age_s = (double)(system_time_ns() - begin_ns) * 1e-9;
        clock_error_ask(&meter, run->checked_rank[i], &checks[i].error);
    }
}

trial_t *check_trial_of(const check_run_t *run, int label, int repeat)
{
    return &run->trials[label * run->settings.repeat + repeat];
}

const check_t *check_checks_of(const check_run_t *run, int label, int repeat, int age)
{
    return &check_trial_of(run, label, repeat)->checks[(size_t)age * (size_t)run->checked];
}
