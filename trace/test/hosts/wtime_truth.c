/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wtime_truth.c - how far apart MPI_Wtime is on the processes of a program that knows nothing of this library: for
 * run_wtime_tests.sh, which runs it with mpix_preload and simulated clocks. All processes know the true time.
 *
 * Usage: wtime_truth SECONDS [alone]. Each process reads MPI_Wtime every 20 ms, at the same true times. All of them
 * make a collective call at the start of each second; with "alone", they make none at all. Prints one line
 * NAME=VALUE...: the differences between each process and rank 0 in ns, those of the first second as first_NAME, and
 * those of the last readings as last_NAME. A reading that was interrupted does not count.
 */
#include "pure/order_statistics.h"

#include <inttypes.h>
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { READINGS_PER_S = 50, LAST = 5, TRIES = 8, MAX_S = 3600 };
static const int64_t ns_per_s = 1000000000, longest_reading_ns = 2000, spin_ns = 300000, margin_ns = 5000000;

#define INTERRUPTED INT64_MIN

static int rank, processes;

static int64_t true_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now); /* simulated clocks are made of it */
    return (int64_t)now.tv_sec * ns_per_s + now.tv_nsec;
}

static void wait_until(int64_t instant_ns)
{
    int64_t wake_ns = instant_ns - spin_ns;
    struct timespec wake = {wake_ns / ns_per_s, wake_ns % ns_per_s};
    clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &wake, NULL);
    while (true_ns() < instant_ns) {
    }
}

/* By how much MPI_Wtime is ahead of the time since start_ns: the quickest of some readings. */
static int64_t read_ahead_ns(int64_t start_ns)
{
    int64_t ahead_ns = INTERRUPTED;
    int64_t shortest_ns = longest_reading_ns;
    for (int i = 0; i < TRIES; i++) {
        int64_t before_ns = true_ns();
        double now_s = MPI_Wtime();
        int64_t took_ns = true_ns() - before_ns;
        if (took_ns < shortest_ns) {
            shortest_ns = took_ns;
            ahead_ns = (int64_t)(now_s * 1e9) - (before_ns - start_ns) - took_ns / 2;
        }
    }
    return ahead_ns;
}

/* Nor is there a collective call before or after the readings: it would look after the clocks. */
static int64_t agree_on_start(void)
{
    int64_t start_ns = true_ns() + margin_ns;
    if (rank > 0)
        MPI_Recv(&start_ns, 1, MPI_INT64_T, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 1; i < processes && rank == 0; i++)
        MPI_Send(&start_ns, 1, MPI_INT64_T, i, 0, MPI_COMM_WORLD);
    return start_ns;
}

static void read_all(int64_t *ahead_ns, int readings, int alone)
{
    int64_t start_ns = agree_on_start();
    int one = 1, sum;
    for (int i = 0; i < readings; i++) {
        if (i % READINGS_PER_S == 0 && !alone)
            MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        wait_until(start_ns + margin_ns + (int64_t)i * ns_per_s / READINGS_PER_S);
        ahead_ns[i] = read_ahead_ns(start_ns);
    }
}

static void gather(int64_t *mine, int readings, int64_t *all)
{
    if (rank > 0)
        MPI_Send(mine, readings, MPI_INT64_T, 0, 0, MPI_COMM_WORLD);
    else
        memcpy(all, mine, (size_t)readings * sizeof *mine);
    for (int i = 1; i < processes && rank == 0; i++)
        MPI_Recv(all + (ptrdiff_t)i * readings, readings, MPI_INT64_T, i, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Between each process and rank 0, for some of the readings, in ascending order. Returns how many there are. */
static int64_t find_differences(const int64_t *all, int readings, int first, int end, int64_t *differences)
{
    int64_t count = 0;
    for (int i = readings; i < processes * readings; i++) {
        int64_t its = all[i], that_of_0 = all[i % readings];
        if (i % readings >= first && i % readings < end && its != INTERRUPTED && that_of_0 != INTERRUPTED)
            differences[count++] = llabs(its - that_of_0);
    }
    mh_sort(differences, count);
    return count;
}

static void print_differences(const char *prefix, const int64_t *sorted, int64_t count)
{
    printf("%sreadings=%" PRId64 " ", prefix, count);
    if (count > 0)
        printf("%sp50=%" PRId64 " %sp99=%" PRId64 " %smax=%" PRId64 " ", prefix, quantile(sorted, count, 0.5), prefix,
               quantile(sorted, count, 0.99), prefix, sorted[count - 1]);
}

static void print_all(const int64_t *all, int readings, int64_t *scratch)
{
    print_differences("", scratch, find_differences(all, readings, 0, readings, scratch));
    print_differences("first_", scratch, find_differences(all, readings, 0, READINGS_PER_S, scratch));
    print_differences("last_", scratch, find_differences(all, readings, readings - LAST, readings, scratch));
    puts("");
}

int main(int argc, char **argv)
{
    int seconds = argc > 1 ? atoi(argv[1]) : 0, readings = seconds * READINGS_PER_S;
    if (seconds < 1 || seconds > MAX_S) {
        fprintf(stderr, "wtime_truth: seconds: 1 to %d\n", MAX_S);
        return 2;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &processes);
    size_t size = (size_t)processes * (size_t)readings;
    int64_t *mine = calloc((size_t)readings, sizeof *mine), *all = calloc(2 * size, sizeof *all);
    if (!mine || !all) {
        MPI_Abort(MPI_COMM_WORLD, 1);
        abort();
    }
    read_all(mine, readings, argc > 2);
    gather(mine, readings, all);
    if (rank == 0)
        print_all(all, readings, all + size);
    free(mine);
    free(all);
    MPI_Finalize();
    return 0;
}
