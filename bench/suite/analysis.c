/* SPDX-License-Identifier: BSD-3-Clause */
/* analysis.c - reduce the times of a call to one sample, and samples to the figures of a row. */
#include "bench/suite/analysis.h"

#include "common/cli/memory.h"
#include "pure/order_statistics.h"

#include <math.h>
#include <stdlib.h>

/* The probability that the confidence interval does not contain the median, on both sides together. */
#define MEDIAN_MISSED 0.05L

/* Of the binomial distribution, values this much less likely than the likeliest one are left out. */
#define NEGLIGIBLE 1e-25L

#define ERROR_TAIL 0.99

enum { FIRST_CAPACITY = 512 };

const char *const run_times[] = {[RUN_TIME_LOCAL] = "local", [RUN_TIME_MAKESPAN] = "makespan", NULL};

/*
 * How many of count values lie below the median is binomial, with a chance of 1/2 each. Between the values at places
 * low and count - 1 - low the median is not found when at most low of them, or at least count - low, lie below it. The
 * chances are taken in proportion to the likeliest number, so nothing overflows, and summed from the smallest upwards.
 */
bool analyze_median_interval(int64_t count, int64_t *low, int64_t *high)
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

/* ---- Samples */

sample_mark_t samples_mark(const call_note_t *notes, int ranks)
{
    int64_t mark = MARK_VALID;
    for (int rank = 0; rank < ranks; rank++)
        mark = notes[rank].mark > mark ? notes[rank].mark : mark;
    return (sample_mark_t)mark;
}

/* Makes room for one more. */
static bool reserve(samples_t *samples)
{
    if (!samples->rank_sums_ns)
        samples->rank_sums_ns = calloc((size_t)samples->ranks, sizeof samples->rank_sums_ns[0]);
    if (samples->valid < samples->capacity)
        return true;
    samples->capacity = samples->capacity > 0 ? 2 * samples->capacity : FIRST_CAPACITY;
    for (int i = 0; i < ALL_SERIES; i++) {
        int64_t numbers = i != SERIES_ERROR_NS ? 1 : samples->imposes ? samples->ranks : 0;
        int64_t *longer = realloc(samples->series[i], array_bytes(numbers * samples->capacity + 1, sizeof *longer));
        if (!longer)
            return false;
        samples->series[i] = longer;
    }
    return samples->rank_sums_ns != NULL;
}

bool samples_take(samples_t *samples, const call_note_t *notes)
{
    sample_mark_t mark = samples_mark(notes, samples->ranks);
    int64_t first_ns = notes[0].start_ns, last_ns = first_ns, exit_ns = notes[0].end_ns;
    int64_t longest_ns = exit_ns - first_ns, in_call_ns = 0, compute_ns = 0, at = samples->valid;
    samples->calls++;
    samples->missed += mark == MARK_MISSED;
    samples->late += mark == MARK_LATE;
    if (mark != MARK_VALID)
        return true;
    if (!reserve(samples))
        return false;
    for (int rank = 0; rank < samples->ranks; rank++) {
        const call_note_t *note = &notes[rank];
        int64_t duration_ns = note->end_ns - note->start_ns;
        first_ns = lesser(first_ns, note->start_ns);
        last_ns = greater(last_ns, note->start_ns);
        exit_ns = greater(exit_ns, note->end_ns);
        longest_ns = greater(longest_ns, duration_ns);
        compute_ns = greater(compute_ns, note->compute_ns);
        in_call_ns += duration_ns;
        samples->rank_sums_ns[rank] += duration_ns;
        if (samples->imposes)
            samples->series[SERIES_ERROR_NS][at * samples->ranks + rank] = llabs(note->start_ns - note->target_ns);
    }
    samples->series[SERIES_LOCAL_NS][at] = longest_ns;
    samples->series[SERIES_MAKESPAN_NS][at] = exit_ns - first_ns;
    samples->series[SERIES_FROM_LAST_NS][at] = exit_ns - last_ns;
    samples->series[SERIES_IN_CALL_NS][at] = in_call_ns;
    samples->series[SERIES_COMPUTE_NS][at] = compute_ns;
    samples->valid++;
    return true;
}

double samples_median(samples_t *samples, series_t series)
{
    mh_sort(samples->series[series], samples->valid);
    return middle_of(samples->series[series], samples->valid);
}

void samples_free(samples_t *samples)
{
    for (int i = 0; i < ALL_SERIES; i++)
        free(samples->series[i]);
    free(samples->rank_sums_ns);
    *samples = (samples_t){0};
}

/* ---- Figures */

static void summarize_ranks(const int64_t *rank_sums_ns, int ranks, analysis_t *analysis)
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
    analysis->min_mean_ns = (double)rank_sums_ns[analysis->fastest_rank] / valid;
    analysis->max_mean_ns = (double)rank_sums_ns[analysis->slowest_rank] / valid;
}

static double deviation_of(const int64_t *values, int64_t count, double mean)
{
    double square_sum = 0;
    for (int64_t i = 0; i < count; i++)
        square_sum += ((double)values[i] - mean) * ((double)values[i] - mean);
    return count > 1 ? sqrt(square_sum / (double)(count - 1)) : 0;
}

/* Of the bounds of the median's interval. */
static double farther_ns(const analysis_t *analysis)
{
    return fmax(analysis->median_ns - (double)analysis->median_low_ns,
                (double)analysis->median_high_ns - analysis->median_ns);
}

/* sorted: count > 0 values */
static void summarize_run_times(const int64_t *sorted, int64_t count, double resolution_ns, const double *fractions,
                                int fraction_count, analysis_t *analysis)
{
    int64_t low, high;
    analysis->mean_ns = mh_mean(sorted, (int)count);
    analysis->deviation_ns = deviation_of(sorted, count, analysis->mean_ns);
    analysis->min_ns = sorted[0];
    analysis->max_ns = sorted[count - 1];
    analysis->median_ns = middle_of(sorted, count);
    analysis->median_interval = analyze_median_interval(count, &low, &high);
    analysis->median_low_ns = sorted[analysis->median_interval ? low : 0];
    analysis->median_high_ns = sorted[analysis->median_interval ? high : count - 1];
    analysis->sampling_ns = farther_ns(analysis);
    if (analysis->median_interval) {
        const int64_t below_ns = (int64_t)floor(fmax(analysis->median_ns - resolution_ns / 2, 0));
        const int64_t above_ns = (int64_t)ceil(analysis->median_ns + resolution_ns / 2);
        analysis->median_low_ns = below_ns < analysis->median_low_ns ? below_ns : analysis->median_low_ns;
        analysis->median_high_ns = above_ns > analysis->median_high_ns ? above_ns : analysis->median_high_ns;
    }
    analysis->interval_ns = farther_ns(analysis);
    for (int i = 0; i < fraction_count; i++)
        analysis->quantile_ns[i] = quantile(sorted, count, fractions[i]);
}

bool analysis_is_narrow(const analysis_t *analysis, double percent)
{
    return analysis->median_interval && analysis->sampling_ns <= percent / 100 * analysis->median_ns;
}

void analyze(samples_t *samples, run_time_t run_time, const double *fractions, int fraction_count, analysis_t *analysis)
{
    *analysis = (analysis_t){.valid = samples->valid,
                             .missed = samples->missed,
                             .late = samples->late,
                             .discarded = samples->missed + samples->late};
    if (samples->valid == 0)
        return;
    analysis->makespan_ns = mh_mean(samples->series[SERIES_MAKESPAN_NS], (int)samples->valid);
    summarize_ranks(samples->rank_sums_ns, samples->ranks, analysis);
    mh_sort(samples->series[run_time], samples->valid);
    summarize_run_times(samples->series[run_time], samples->valid, (double)samples->resolution_ns, fractions,
                        fraction_count, analysis);
}

void analyze_arrivals(samples_t *samples, arrival_figures_t *figures)
{
    int64_t *errors_ns = samples->series[SERIES_ERROR_NS], errors = samples->valid * samples->ranks;
    figures->from_first_ns = samples_median(samples, SERIES_MAKESPAN_NS);
    figures->from_last_ns = samples_median(samples, SERIES_FROM_LAST_NS);
    figures->in_call_ns = samples_median(samples, SERIES_IN_CALL_NS) / samples->ranks;
    mh_sort(errors_ns, errors);
    figures->error_ns = quantile(errors_ns, errors, 0.5);
    figures->error_p99_ns = quantile(errors_ns, errors, ERROR_TAIL);
}
