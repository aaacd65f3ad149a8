/* SPDX-License-Identifier: BSD-3-Clause */
#include "suite/analysis.h"

#include "common/room.h"
#include "common/statistics.h"

#include <math.h>
#include <stdlib.h>

/* What the confidence interval of the median may miss, on both sides together. */
#define MEDIAN_MISSED 0.05L

/* Of the binomial distribution, values this much less likely than the likeliest one are left out. */
#define NEGLIGIBLE 1e-25L

const char *run_time_name(int index)
{
    static const char *const names[] = {[RUN_TIME_LOCAL] = "local", [RUN_TIME_MAKESPAN] = "makespan"};
    return index >= 0 && index < (int)(sizeof(names) / sizeof(names[0])) ? names[index] : NULL;
}

/*
 * How many of count values lie below the median is binomial, with a chance of 1/2 each. Between the values at places
 * low and count - 1 - low the median is not found when at most low of them, or at least count - low, lie below it. The
 * chances are taken in proportion to the likeliest number, so nothing overflows, and summed from the least upwards.
 */
bool analyse_median_interval(int64_t count, int64_t *low, int64_t *high)
{
    int64_t number = count / 2;
    long double weight = 1, total = 0, tail;
    while (number > 0 && weight > NEGLIGIBLE) {
        total += weight;
        weight *= (long double)number / (long double)(count - number + 1);
        number--;
    }
    total = 2 * (total + weight) - (count % 2 == 0 ? 1 : 0);
    for (tail = weight, *low = -1; 2 * tail <= MEDIAN_MISSED * total; tail += weight) {
        *low = number;
        weight *= (long double)(count - number) / (long double)(number + 1);
        number++;
    }
    *high = count - 1 - *low;
    return *low >= 0;
}

sample_mark_t analyse_mark(const sample_set_t *set, int64_t call)
{
    const uint8_t *marks = &set->marks[call * set->ranks];
    uint8_t mark = MARK_VALID;
    for (int rank = 0; rank < set->ranks; rank++)
        mark = marks[rank] > mark ? marks[rank] : mark;
    return mark;
}

/* Adds up the durations of each rank. Returns a call's run time; makespan_ns is out. */
static int64_t take_in(const sample_set_t *set, int64_t call, run_time_t run_time, int64_t *rank_sums_ns,
                       int64_t *makespan_ns)
{
    const call_times_t *times = &set->times[call * set->ranks];
    int64_t first_ns = times[0].start_ns, last_ns = times[0].end_ns, longest_ns = last_ns - first_ns;
    for (int rank = 0; rank < set->ranks; rank++) {
        int64_t duration_ns = times[rank].end_ns - times[rank].start_ns;
        rank_sums_ns[rank] += duration_ns;
        longest_ns = duration_ns > longest_ns ? duration_ns : longest_ns;
        first_ns = times[rank].start_ns < first_ns ? times[rank].start_ns : first_ns;
        last_ns = times[rank].end_ns > last_ns ? times[rank].end_ns : last_ns;
    }
    *makespan_ns = last_ns - first_ns;
    return run_time == RUN_TIME_MAKESPAN ? *makespan_ns : longest_ns;
}

static void summarise_ranks(const int64_t *rank_sums_ns, int ranks, analysis_t *analysis)
{
    double valid = (double)analysis->valid;
    int64_t sum_ns = 0;
    for (int rank = 0; rank < ranks; rank++) {
        sum_ns += rank_sums_ns[rank];
        if (rank_sums_ns[rank] > rank_sums_ns[analysis->slowest_rank])
            analysis->slowest_rank = rank;
        if (rank_sums_ns[rank] < rank_sums_ns[analysis->fastest_rank])
            analysis->fastest_rank = rank;
    }
    /* All ranks have the same number of samples. */
    analysis->avg_ns = (double)sum_ns / (valid * ranks);
    analysis->max_mean_ns = (double)rank_sums_ns[analysis->slowest_rank] / valid;
}

static double deviation_of(const int64_t *values, int64_t count, double mean)
{
    double square_sum = 0;
    for (int64_t i = 0; i < count; i++)
        square_sum += ((double)values[i] - mean) * ((double)values[i] - mean);
    return count > 1 ? sqrt(square_sum / (double)(count - 1)) : 0;
}

static double mean_of(const int64_t *values, int64_t count)
{
    int64_t sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += values[i];
    return (double)sum / (double)count;
}

/* sorted: count > 0 values */
static void summarise_run_times(const int64_t *sorted, int64_t count, const double *fractions, int fraction_count,
                                analysis_t *analysis)
{
    int64_t low, high, below_ns = sorted[(count - 1) / 2], above_ns = sorted[count / 2];
    analysis->mean_ns = mean_of(sorted, count);
    analysis->deviation_ns = deviation_of(sorted, count, analysis->mean_ns);
    analysis->min_ns = sorted[0];
    analysis->max_ns = sorted[count - 1];
    analysis->median_ns = ((double)below_ns + (double)above_ns) / 2;
    analysis->median_interval = analyse_median_interval(count, &low, &high);
    analysis->median_low_ns = sorted[analysis->median_interval ? low : 0];
    analysis->median_high_ns = sorted[analysis->median_interval ? high : count - 1];
    for (int i = 0; i < fraction_count; i++)
        analysis->quantile_ns[i] = quantile(sorted, count, fractions[i]);
}

bool analysis_is_narrow(const analysis_t *analysis, double percent)
{
    double limit_ns = percent / 100 * analysis->median_ns;
    return analysis->median_interval && (double)analysis->median_high_ns - analysis->median_ns <= limit_ns &&
           analysis->median_ns - (double)analysis->median_low_ns <= limit_ns;
}

bool analyse(const sample_set_t *set, run_time_t run_time, const double *fractions, int fraction_count,
             analysis_t *analysis)
{
    int64_t *rank_sums_ns = calloc(1, room_bytes(set->ranks + set->calls, sizeof(*rank_sums_ns)));
    int64_t makespan_ns, makespan_sum_ns = 0;
    *analysis = (analysis_t){0};
    if (rank_sums_ns == NULL)
        return false;
    int64_t *run_times_ns = rank_sums_ns + set->ranks;
    for (int64_t call = 0; call < set->calls; call++) {
        sample_mark_t mark = analyse_mark(set, call);
        analysis->missed += mark == MARK_MISSED;
        analysis->late += mark == MARK_LATE;
        if (mark != MARK_VALID)
            continue;
        run_times_ns[analysis->valid++] = take_in(set, call, run_time, rank_sums_ns, &makespan_ns);
        makespan_sum_ns += makespan_ns;
    }
    if (analysis->valid > 0) {
        analysis->makespan_ns = (double)makespan_sum_ns / (double)analysis->valid;
        summarise_ranks(rank_sums_ns, set->ranks, analysis);
        sort_ascending(run_times_ns, analysis->valid);
        summarise_run_times(run_times_ns, analysis->valid, fractions, fraction_count, analysis);
    }
    free(rank_sums_ns);
    return true;
}
