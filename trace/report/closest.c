/* SPDX-License-Identifier: BSD-3-Clause */
/* closest.c - which of the shapes of mpix_bench arrivals look like. */
#include "trace/report/arrivals.h"

#include "common/cli/memory.h"
#include "common/arrival/arrival.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

_Static_assert((int)PATTERN_BYTES >= (int)ARRIVAL_TEXT_BYTES, "a pattern is a text of arrival.h");

/* Two shapes whose closeness differs by less than this are equally close. */
#define SLACK 1e-9

/* The shapes that stay the same. Those that say most in fewest words come first: among two ranks several are one. */
static const arrival_shape_t shapes[] = {ARRIVAL_LAST_LATE, ARRIVAL_FIRST_LATE, ARRIVAL_ONE_LATE, ARRIVAL_HALF_LATE,
                                         ARRIVAL_ASCENDING, ARRIVAL_DESCENDING, ARRIVAL_BELL,     ARRIVAL_EXPONENTIAL};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

/* Takes off the mean, and makes the length 1; returns false if all elements are the same. */
static bool to_direction(double *vector, int size)
{
    double mean = 0, length = 0;
    for (int i = 0; i < size; i++)
        mean += vector[i] / size;
    for (int i = 0; i < size; i++)
        length = hypot(length, vector[i] - mean);
    for (int i = 0; i < size && length > 0; i++)
        vector[i] = (vector[i] - mean) / length;
    return length > 0;
}

static double product(const double *a, const double *b, int size)
{
    double sum = 0;
    for (int i = 0; i < size; i++)
        sum += a[i] * b[i];
    return sum;
}

/* The mean of the calls' directions. Its length is 1 if they are all the same, and near 0 if they have nothing in
   common; its product with a shape's direction is the mean correlation. */
static void find_direction(const arrivals_t *arrivals, double *mean, double *delays)
{
    for (int64_t call = 0; call < arrivals->calls; call++) {
        const double *enter_ns = &arrivals->enter_ns[call * arrivals->ranks];
        for (int rank = 0; rank < arrivals->ranks; rank++)
            delays[rank] = enter_ns[rank] - enter_ns[0];
        if (to_direction(delays, arrivals->ranks))
            for (int rank = 0; rank < arrivals->ranks; rank++)
                mean[rank] += delays[rank] / (double)arrivals->calls;
    }
}

static void take(arrivals_summary_t *summary, arrival_t arrival, double closeness, double magnitude_ns)
{
    if (closeness <= summary->closeness + SLACK)
        return;
    arrival.magnitude = nearbyint(magnitude_ns) / 1e3;
    arrival_name(&arrival);
    snprintf(summary->pattern, PATTERN_BYTES, "%s", arrival.text);
    summary->closeness = fmin(closeness, 1);
}

static void try_shape(const arrival_t *arrival, const double *direction, double *parts, int ranks,
                      arrivals_summary_t *summary)
{
    for (int rank = 0; rank < ranks; rank++)
        parts[rank] = arrival_part(arrival, rank, ranks, 0, 0);
    if (to_direction(parts, ranks))
        take(summary, *arrival, product(direction, parts, ranks), (double)summary->spread_median_ns);
}

static void try_shapes(const double *direction, double *parts, int ranks, arrivals_summary_t *summary)
{
    /* Of so many parts between 0 and 1, the smallest and the largest are that far apart in the mean. */
    double random_spread = (ranks - 1.0) / (ranks + 1.0);
    for (int i = 0; i < SHAPES; i++)
        for (int rank = 0; rank < (shapes[i] == ARRIVAL_ONE_LATE ? ranks : 1); rank++)
            try_shape(&(arrival_t){.shape = shapes[i], .rank = rank}, direction, parts, ranks, summary);
    take(summary, (arrival_t){.shape = ARRIVAL_RANDOM}, 1 - sqrt(product(direction, direction, ranks)),
         (double)summary->spread_median_ns / random_spread);
}

void arrivals_closest(const arrivals_t *arrivals, arrivals_summary_t *summary)
{
    int ranks = arrivals->ranks;
    if (ranks < 2 || summary->spread_median_ns <= summary->bound_ns || summary->spread_median_ns <= 0) {
        snprintf(summary->pattern, PATTERN_BYTES, "together");
        summary->closeness = 1 - (double)summary->clear_calls / (double)arrivals->calls;
        return;
    }
    double *direction = or_exit(calloc(1, array_bytes(ranks, 2 * sizeof(double))));
    find_direction(arrivals, direction, direction + ranks);
    try_shapes(direction, direction + ranks, ranks, summary);
    free(direction);
}
