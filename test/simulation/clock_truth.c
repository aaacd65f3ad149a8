/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * clock_truth.c - how far the global clock is from the truth, where the truth is known: with simulated clocks.
 *
 * Usage: clock_truth SECONDS PERIOD_US [SYNC LABEL [READINGS]]. Calls MPIX_Harmonize every PERIOD_US for SECONDS;
 * after each call each process compares its global clock with that of rank 0, whose base clock must be exact, through
 * true time. READINGS more, until the next call, are held against their bounds only. Prints one line NAME=VALUE...:
 * errors and bounds in ns, those of the last tenth of the calls as end_NAME, violations of the bound, release skew,
 * cost of synchronization, and how often a second a process was interrupted, which is the control: on a machine that
 * does much else, clocks cannot be compared well.
 */
#include "pure/order_statistics.h"
#include "world.h"
#include "simulated.h"

#include <inttypes.h>
#include <math.h>
#include <mpix_harmonize.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

/* Calls between agreements on whether to go on. */
enum { AGREE_EVERY = 16 };

/*
 * On a busy machine a run takes longer, as it makes at least so many calls, and the tightest bracket of some tries
 * counts. Nothing disturbs a simulation, for which each reading of a clock is work; true time is exact there.
 */
#ifdef SMPI_H
enum { MIN_CALLS = 0, TRIES = 1 };
#else
enum { MIN_CALLS = 9 * AGREE_EVERY, TRIES = 8 };
#endif
enum { END_PART = 10 };

typedef struct sample {
    int64_t true_ns; /* middle of the bracket around the reading */
    int64_t global_ns;
    int64_t bound_ns;
    int64_t bracket_ns; /* half its width */
    int64_t exit_ns;    /* true time at the return of the call */
    int64_t valid;
    int64_t zero_ns;         /* true time when global time is zero: after a step of a clock another one than before */
    int64_t zero_bracket_ns; /* half the width of the bracket by which this is known */
} sample;

static world_t world;
static int64_t readings, violations; /* beside those of samples */

static int64_t statistic(const char *name)
{
    char key[64];
    snprintf(key, sizeof key, "mpix_harmonize_%s", name);
    return world_number(&world, key);
}

static void sleep_us(long us)
{
    struct timespec wait = {us / 1000000, us % 1000000 * 1000};
    nanosleep(&wait, NULL);
}

static void read_once(sample *one)
{
    int64_t before_ns = mh_simulated_true_ns();
    world_require(&world, MPIX_Global_time_ns(world.comm, &one->global_ns, &one->bound_ns));
    int64_t after_ns = mh_simulated_true_ns();
    one->bracket_ns = (after_ns - before_ns + 1) / 2;
    one->true_ns = before_ns + (after_ns - before_ns) / 2;
}

/* The tightest of some brackets. */
static void read_clock(sample *best)
{
    best->bracket_ns = INT64_MAX;
    for (int i = 0; i < TRIES; i++) {
        sample one = *best;
        read_once(&one);
        if (one.bracket_ns < best->bracket_ns)
            *best = one;
    }
}

/* What global time is: that of rank 0. A process that was stopped reads it slowly for a while, and so less exactly. */
static void learn_zero(sample *one)
{
    int64_t zero[] = {one->true_ns - one->global_ns, one->bracket_ns};
    MPI_Bcast(zero, 2, MPI_INT64_T, 0, world.comm);
    one->zero_ns = zero[0];
    one->zero_bracket_ns = zero[1];
}

static int64_t error_of(const sample *one)
{
    return one->global_ns - (one->true_ns - one->zero_ns);
}

static int is_violation(const sample *one)
{
    const double doubt_ns = (double)one->bracket_ns + (double)one->zero_bracket_ns;
    return fabs((double)error_of(one)) > (double)one->bound_ns + doubt_ns;
}

static void read_often(int count, const sample *after)
{
    sample one = *after;
    for (int i = 0; i < count; i++) {
        read_once(&one);
        violations += is_violation(&one);
    }
    readings += count;
}

static int measure(sample *samples, int most, double seconds, long period_us, int more, int64_t *sync_ns_at_1s)
{
    int count = 0, flag, go_on = 1;
    int64_t first_ns = mh_simulated_true_ns();
    *sync_ns_at_1s = -1;
    while (go_on) {
        sample *one = &samples[count++];
        world_require(&world, MPIX_Harmonize(world.comm, &flag));
        one->exit_ns = mh_simulated_true_ns();
        one->valid = flag;
        read_clock(one);
        learn_zero(one);
        if (*sync_ns_at_1s < 0 && one->exit_ns - first_ns > 1000000000)
            *sync_ns_at_1s = statistic("sync_total_ns");
        read_often(more / 2, one);
        sleep_us(period_us);
        read_often(more - more / 2, one);
        if (count % AGREE_EVERY != 0 && count < most)
            continue;
        go_on = count < most && (count < MIN_CALLS || (double)(one->exit_ns - first_ns) < seconds * 1e9);
        MPI_Allreduce(MPI_IN_PLACE, &go_on, 1, MPI_INT, MPI_LAND, world.comm);
    }
    return count;
}

static void count_violations(const sample *samples, int count)
{
    for (int i = 0; i < count; i++)
        violations += is_violation(&samples[i]);
    MPI_Allreduce(MPI_IN_PLACE, &violations, 1, MPI_INT64_T, MPI_SUM, world.comm);
}

/* The greatest of the processes' mean and greatest bounds; a reading of which nothing is known has none. */
static void gather_bounds(const sample *samples, int count, double *mean, double *most)
{
    double bounds[2] = {0, 0};
    int known = 0;
    for (int i = 0; i < count; i++) {
        bounds[1] = fmax(bounds[1], (double)samples[i].bound_ns);
        if (samples[i].bound_ns == INT64_MAX)
            continue;
        bounds[0] += (double)samples[i].bound_ns;
        known++;
    }
    bounds[0] /= known > 0 ? known : 1;
    MPI_Allreduce(MPI_IN_PLACE, bounds, 2, MPI_DOUBLE, MPI_MAX, world.comm);
    *mean = bounds[0];
    *most = bounds[1];
}

/* The errors of all processes but rank 0, gathered there. */
static void report_errors(const char *part, const sample *samples, int count)
{
    int64_t *mine = world_room(&world, count, sizeof *mine), *all = NULL;
    double squares = 0, mean_bound, most_bound;
    for (int i = 0; i < count; i++)
        mine[i] = llabs(error_of(&samples[i]));
    if (world.rank == 0)
        all = world_room(&world, (int64_t)count * world.ranks, sizeof *all);
    MPI_Gather(mine, count, MPI_INT64_T, all, count, MPI_INT64_T, 0, world.comm);
    gather_bounds(samples, count, &mean_bound, &most_bound);
    if (all) {
        int64_t *others = all + count;
        int total = count * (world.ranks - 1);
        mh_sort(others, total);
        for (int i = 0; i < total; i++)
            squares += (double)others[i] * (double)others[i] / total;
        printf(" %serror_rms=%.1f %serror_p50=%" PRId64 " %serror_p99=%" PRId64, part, sqrt(squares), part,
               quantile(others, total, 0.5), part, quantile(others, total, 0.99));
        printf(" %serror_max=%" PRId64 " %sbound_mean=%.0f %sbound_max=%.0f", part, others[total - 1], part, mean_bound,
               part, most_bound);
    }
    free(mine);
    free(all);
}

static void report_skew(const sample *samples, int count)
{
    int64_t *first = world_room(&world, count, sizeof *first), *last = world_room(&world, count, sizeof *last);
    int64_t *valid = world_room(&world, count, sizeof *valid);
    int64_t *skew = world_room(&world, count, sizeof *skew);
    int used = 0;
    for (int i = 0; i < count; i++) {
        first[i] = last[i] = samples[i].exit_ns;
        valid[i] = samples[i].valid;
    }
    MPI_Allreduce(MPI_IN_PLACE, first, count, MPI_INT64_T, MPI_MIN, world.comm);
    MPI_Allreduce(MPI_IN_PLACE, last, count, MPI_INT64_T, MPI_MAX, world.comm);
    MPI_Allreduce(MPI_IN_PLACE, valid, count, MPI_INT64_T, MPI_MIN, world.comm);
    for (int i = 0; i < count; i++)
        if (valid[i])
            skew[used++] = last[i] - first[i];
    mh_sort(skew, used);
    if (world.rank == 0 && used > 0)
        printf(" calls=%d valid=%.4f skew_p50=%" PRId64 " skew_p99=%" PRId64, count, (double)used / count,
               quantile(skew, used, 0.5), quantile(skew, used, 0.99));
    free(first);
    free(last);
    free(valid);
    free(skew);
}

/* Of the process that was interrupted the most, since it began. */
static double interruptions_per_s(double seconds)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    double mine = (double)usage.ru_nivcsw / seconds, most;
#ifdef SMPI_H
    mine = 0; /* a simulation does not depend on the machine */
#endif
    MPI_Allreduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, world.comm);
    return most;
}

static int64_t messages_of_all(void)
{
    int64_t messages = mh_simulated_messages(), sum = 0;
    MPI_Reduce(&messages, &sum, 1, MPI_INT64_T, MPI_SUM, 0, world.comm);
    return sum;
}

int main(int argc, char **argv)
{
    world = world_begin("clock_truth", &argc, &argv);
    double seconds = argc > 1 ? atof(argv[1]) : 1;
    long period_us = argc > 2 ? atol(argv[2]) : 10000;
    world_require(&world, world_set(&world, "mpix_harmonize_clock", "simulated"));
    world_require(&world, world_set(&world, "mpix_harmonize_sync", argc > 3 ? argv[3] : ""));
    int most = (int)(seconds * 1e6 / (double)period_us) + MIN_CALLS;
    sample *samples = world_room(&world, (int64_t)most + AGREE_EVERY, sizeof *samples);
    int64_t before_ns = mh_simulated_true_ns(), sync_ns_at_1s;
    world_require(&world, MPIX_Clock_sync(world.comm));
    int64_t first_sync_ns = mh_simulated_true_ns() - before_ns, first_messages = messages_of_all();
    world_require(&world, MPIX_Clock_sync(world.comm));
    int64_t later_messages = messages_of_all() - first_messages, start_ns = mh_simulated_true_ns();
    int count = measure(samples, most, seconds, period_us, argc > 4 ? atoi(argv[4]) : 0, &sync_ns_at_1s);
    count_violations(samples, count);
    if (world.rank == 0)
        printf("readings=%ld violations=%ld", (long)((count + readings) * (world.ranks - 1)), (long)violations);
    report_errors("", samples, count);
    report_errors("end_", samples + count - count / END_PART, count / END_PART);
    report_skew(samples, count);
    int64_t disruptions = world_max(&world, statistic("clock_disruptions"));
    double interrupted = interruptions_per_s((double)(mh_simulated_true_ns() - start_ns) * 1e-9);
    if (world.rank == 0) {
        double rest_ns = (double)(mh_simulated_true_ns() - start_ns) - 1e9;
        double cost = sync_ns_at_1s < 0 ? 0 : 100 * (double)(statistic("sync_total_ns") - sync_ns_at_1s) / rest_ns;
        printf(" first_sync_us=%.0f last_sync_us=%.1f syncs=%ld interval_ms=%.0f sync_percent=%.4f disruptions=%ld"
               " first_messages=%ld later_messages=%ld interrupted=%.0f\n",
               (double)first_sync_ns * 1e-3, (double)statistic("sync_duration_ns") * 1e-3, (long)statistic("syncs"),
               (double)statistic("resync_used_ns") * 1e-6, cost, (long)disruptions, (long)first_messages,
               (long)later_messages, interrupted);
    }
    free(samples);
    return world_end(&world, EXIT_SUCCESS);
}
