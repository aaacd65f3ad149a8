/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace_truth.c - how far the times of a trace are from the truth, by each way to make global times.
 *
 * Usage: trace_truth FOLDER CORRECTED, with MH_SIMULATED_CLOCK as in the run that was traced, but for "exact". The
 * trace is of two processes: rank 0 with an exact clock, rank 1 with the one that is described, whose origin is given.
 * CORRECTED is what mpix_trace_check wrote from it. Prints a line of NAME=VALUE for each clock: errors of the times of
 * rank 1's events in ns, of the global clock also its bounds and how many errors are greater than theirs.
 */
#include "pure/order_statistics.h"
#include "simulation/simulated.h"
#include "trace/read/trace.h"

#include <inttypes.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

/* A reading of a clock, and the inverse of it, are rounded to whole nanoseconds. */
enum { ROUNDED_NS = 2 };

static trace measured, corrected;
static int64_t *true_ns; /* of each event of rank 1 */
static int64_t zero_ns;  /* global less true time, of rank 0 */

static void fail(const char *reason)
{
    fprintf(stderr, "trace_truth: %s\n", reason);
    exit(1);
}

static void read_trace(trace *read, const char *folder)
{
    char message[TRACE_MESSAGE_SIZE];
    if (!trace_read(read, folder, message))
        fail(message);
    if (read->size != 2 || read->processes[0].location_count != 1 || read->processes[1].location_count != 1)
        fail("the trace is not of two processes with a thread each");
}

static const trace_location *events_of(const trace *of, int rank)
{
    return &of->processes[rank].locations[0];
}

static void learn_truth(void)
{
    const trace_location *events = events_of(&measured, 1);
    true_ns = malloc(events->count * sizeof *true_ns + 1);
    if (!true_ns)
        fail("there is no memory");
    for (size_t i = 0; i < events->count; i++)
        true_ns[i] = mh_simulated_true_from_local_ns(events->events[i].time_ns);
}

static void print_errors(const char *clock, const double *error_ns, size_t count)
{
    double squares = 0;
    int64_t *sizes = malloc(count * sizeof *sizes + 1);
    if (!sizes || count == 0)
        fail("there are no events, or no memory");
    for (size_t i = 0; i < count; i++) {
        sizes[i] = llround(fabs(error_ns[i]));
        squares += error_ns[i] * error_ns[i] / (double)count;
    }
    mh_sort(sizes, (int64_t)count);
    printf("clock=%s events=%zu error_rms=%.1f error_p50=%" PRId64 " error_p99=%" PRId64 " error_max=%" PRId64, clock,
           count, sqrt(squares), quantile(sizes, (int64_t)count, 0.5), quantile(sizes, (int64_t)count, 0.99),
           sizes[count - 1]);
    free(sizes);
}

static void print_bounds(const double *error_ns, size_t count)
{
    double sum_ns = 0, max_ns = 0;
    size_t beyond = 0;
    for (size_t i = 0; i < count; i++) {
        double bound_ns = trace_bound_ns(&measured.processes[1], events_of(&measured, 1)->events[i].time_ns);
        beyond += fabs(error_ns[i]) > bound_ns + ROUNDED_NS;
        max_ns = fmax(max_ns, bound_ns);
        sum_ns += bound_ns;
    }
    printf(" bound_mean=%.0f bound_max=%.0f beyond=%zu", sum_ns / (double)count, max_ns, beyond);
}

static void judge(const char *name, trace_clock by, double *error_ns)
{
    trace_set_times(&measured, by);
    const trace_location *first = events_of(&measured, 0), *events = events_of(&measured, 1);
    zero_ns = measured.start_ns + llround(first->global_ns[0]) - first->events[0].time_ns;
    for (size_t i = 0; i < events->count; i++)
        error_ns[i] = events->global_ns[i] - (double)(true_ns[i] + zero_ns - measured.start_ns);
    print_errors(name, error_ns, events->count);
    if (by == TRACE_GLOBAL)
        print_bounds(error_ns, events->count);
    printf("\n");
}

/* Its times are global ones. */
static void judge_corrected(double *error_ns)
{
    const trace_location *events = events_of(&corrected, 1);
    if (events->count != events_of(&measured, 1)->count)
        fail("the corrected trace has other events");
    for (size_t i = 0; i < events->count; i++)
        error_ns[i] = (double)(events->events[i].time_ns - (true_ns[i] + zero_ns));
    print_errors("corrected", error_ns, events->count);
    printf("\n");
}

int main(int argc, char **argv)
{
    static const char *const clocks[] = {"local", "start", "linear", "global"};
    MPI_Init(&argc, &argv);
    if (argc != 3)
        fail("usage: trace_truth FOLDER CORRECTED");
    read_trace(&measured, argv[1]);
    read_trace(&corrected, argv[2]);
    learn_truth();
    double *error_ns = malloc(events_of(&measured, 1)->count * sizeof *error_ns + 1);
    if (!error_ns)
        fail("there is no memory");
    for (trace_clock by = TRACE_LOCAL; by <= TRACE_GLOBAL; by++)
        judge(clocks[by], by, error_ns);
    judge_corrected(error_ns);
    free(error_ns);
    free(true_ns);
    trace_free(&measured);
    trace_free(&corrected);
    MPI_Finalize();
    return 0;
}
