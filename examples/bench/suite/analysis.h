/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * analysis.h - from the times of all calls on all ranks to the figures of a row. No MPI.
 *
 * A sample is one call of the operation on all ranks. It is valid where no rank has a mark against it.
 */
#ifndef ANALYSIS_H
#define ANALYSIS_H

#include <stdbool.h>
#include <stdint.h>

/* What a rank says of its start of a call. Of several ranks' marks the sample's reason is the greatest. */
typedef enum sample_mark {
    MARK_VALID = 0,
    MARK_LATE = 1,  /* it knew the starting time before it came, and started too late all the same */
    MARK_MISSED = 2 /* it learned the starting time, or was ready for it, only after it had passed */
} sample_mark_t;

/* Times of the global clock, in ns. */
typedef struct call_times {
    int64_t start_ns;
    int64_t end_ns;
} call_times_t;

/* All calls of a row on all ranks: element [call * ranks + rank]. */
typedef struct sample_set {
    int ranks;
    int64_t calls;
    const call_times_t *times;
    const uint8_t *marks; /* sample_mark_t */
} sample_set_t;

/* What a sample's run time is, of which the distribution is told. */
typedef enum run_time {
    RUN_TIME_LOCAL,   /* the greatest of the ranks' own durations, end - start */
    RUN_TIME_MAKESPAN /* from the first start to the last end, by the global clock */
} run_time_t;
const char *run_time_name(int index);

enum { MAX_QUANTILES = 16 };

typedef struct analysis {
    int64_t valid;       /* samples; where 0, only the three counts mean anything */
    int64_t missed;      /* discarded: some rank missed the start */
    int64_t late;        /* discarded: none missed, some rank started late */
    double avg_ns;       /* the mean over ranks of each rank's mean duration (OSU's) */
    double max_mean_ns;  /* the greatest of the ranks' means */
    double makespan_ns;  /* the mean of the samples' makespans */
    double mean_ns;      /* this and the following of the samples' run times */
    double deviation_ns; /* standard deviation, n - 1; 0 for one sample */
    int64_t min_ns;
    int64_t max_ns;
    double median_ns;       /* of an even number the mean of the middle two */
    int64_t median_low_ns;  /* confidence interval of the median of at least 95 %, by order statistics; of fewer than */
    int64_t median_high_ns; /* six samples there is none: then min and max, and */
    bool median_interval;   /* this is false */
    int64_t quantile_ns[MAX_QUANTILES]; /* nearest rank: the least that at least this fraction does not exceed */
    int slowest_rank;                   /* of the greatest mean duration; the lowest such rank */
    int fastest_rank;                   /* of the least */
} analysis_t;

/*
 * analyse - all figures of a row.
 *
 * fractions        for quantile_ns, above 0 and at most 1
 * fraction_count   at most MAX_QUANTILES
 *
 * Returns false where memory lacks.
 */
bool analyse(const sample_set_t *set, run_time_t run_time, const double *fractions, int fraction_count,
             analysis_t *analysis);

/* analyse_mark - the greatest mark against a call. */
sample_mark_t analyse_mark(const sample_set_t *set, int64_t call);

/* analysis_is_narrow - whether both bounds of the median's interval are within so many percent of it. */
bool analysis_is_narrow(const analysis_t *analysis, double percent);

/*
 * analyse_median_interval - the places, from 0, of the bounds of a confidence interval of the median of at least 95 %,
 * by the binomial distribution, in a sorted sample. Returns false where there is none.
 */
bool analyse_median_interval(int64_t count, int64_t *low, int64_t *high);

#endif /* ANALYSIS_H */
