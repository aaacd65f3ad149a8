/* SPDX-License-Identifier: BSD-3-Clause */
/* compute.c - computing beside an operation, to see how much of it passes meanwhile. */
#include "suite/compute.h"

enum { CALIBRATION_ROUNDS = 20000, CALIBRATIONS = 5 };

/* Arithmetic that no compiler can leave out. Returns its result. */
__attribute__((noinline)) static double compute_rounds(int64_t rounds)
{
    double value = 1;
    for (int64_t i = 0; i < rounds; i++) {
        value = value * 0.999999 + 1e-6;
        __asm__ volatile("" : "+m"(value));
    }
    return value;
}

#ifdef SMPI_H
/* A simulator takes no time for arithmetic. */
static void compute(const measure_t *measure, int64_t ns)
{
    wait_until(&measure->releaser, global_time_ns(measure->span) + ns);
}
#else
static void compute(const measure_t *measure, int64_t ns)
{
    compute_rounds((int64_t)((double)ns * measure->calls_per_ns));
}
#endif

/* The quickest of several runs is the least disturbed. */
double compute_calibrate(const measure_t *measure)
{
    int64_t min_ns = INT64_MAX;
    for (int i = 0; i < CALIBRATIONS; i++) {
        int64_t begin_ns = global_time_ns(measure->span);
        compute_rounds(CALIBRATION_ROUNDS);
        int64_t took_ns = global_time_ns(measure->span) - begin_ns;
        min_ns = took_ns < min_ns ? took_ns : min_ns;
    }
    return min_ns > 0 ? (double)CALIBRATION_ROUNDS / (double)min_ns : 1;
}

int64_t compute_call_overlapped(const measure_t *measure, int64_t compute_ns)
{
    const world_t *span = measure->span;
    int64_t tests = measure->job->settings.test_calls;
    int64_t computed_ns = 0;
    world_require(span, work_start(measure->work), measure->function);
    for (int64_t i = 0; i <= tests; i++) {
        int64_t begin_ns = global_time_ns(span);
        compute(measure, compute_ns / (tests + 1));
        computed_ns += global_time_ns(span) - begin_ns;
        if (i < tests)
            world_require(span, work_test(measure->work), "MPI_Test");
    }
    world_require(span, work_finish(measure->work), measure->function);
    return computed_ns;
}
