/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * analysis.h - from the times of each call on all ranks to the figures of a row. No MPI.
 *
 * A sample is one call of the operation on all ranks. It is valid if no rank has a mark against it. Of a valid
 * sample a few numbers are kept, of the others how many there are.
 */
#ifndef ANALYSIS_H
#define ANALYSIS_H

#include <stdbool.h>
#include <stdint.h>

/* What a rank reports about its start of a call. The largest mark of all ranks is the reason of the sample. */
typedef enum sample_mark {
    MARK_VALID = 0,
    MARK_LATE = 1,  /* it knew the starting time before this time came, but started too late */
    MARK_MISSED = 2 /* it learned the starting time, or was ready for it, only after it had passed */
} sample_mark_t;

/* What a rank reports about a call. Times are of the global clock, in ns. */
typedef struct call_note {
    int64_t start_ns;
    int64_t end_ns;
    int64_t target_ns;  /* when it was to start, if there are imposed arrivals */
    int64_t compute_ns; /* how long it computed between the halves of the call, if it did */
    int64_t mark;       /* sample_mark_t */
} call_note_t;

/* The run time of a sample, whose distribution is reported. */
typedef enum run_time {
    RUN_TIME_LOCAL,   /* the largest of the ranks' own durations, end - start */
    RUN_TIME_MAKESPAN /* from the first start to the last end, by the global clock */
} run_time_t;
extern const char *const run_times[]; /* their names, NULL after the last */

enum { MAX_QUANTILES = 16 };

typedef struct analysis {
    int64_t valid;       /* samples; if 0, only the counts mean anything */
    int64_t missed;      /* discarded: some rank missed the start */
    int64_t late;        /* discarded: none missed, some rank started late */
    int64_t discarded;   /* both */
    double avg_ns;       /* the mean over ranks of each rank's mean duration (OSU's) */
    double min_mean_ns;  /* the smallest of the ranks' means, and */
    double max_mean_ns;  /* the largest */
    double makespan_ns;  /* the mean of the samples' makespans */
    double mean_ns;      /* this and the following of the samples' run times */
    double deviation_ns; /* standard deviation, n - 1; 0 for one sample */
    int64_t min_ns;
    int64_t max_ns;
    double median_ns;       /* of an even number the mean of the middle two */
    int64_t median_low_ns;  /* confidence interval of the median of at least 95 %, by order statistics, on each side */
    int64_t median_high_ns; /* half a step of the clock at least; of fewer than six samples min and max, and */
    bool median_interval;   /* this is false */
    double interval_ns;     /* how far these bounds are from the median, the farther one */
    double sampling_ns;     /* the same by order statistics alone, which more samples make less */
    int64_t quantile_ns[MAX_QUANTILES]; /* nearest rank: the smallest that at least this fraction does not exceed */
    int slowest_rank;                   /* of the largest mean duration; the lowest such rank */
    int fastest_rank;                   /* of the least */
} analysis_t;

/* What is reported about the valid samples of a row with imposed arrivals. */
typedef struct arrival_figures {
    int64_t span_ns;      /* the longest delay that was asked for */
    double from_first_ns; /* median time from the first arrival to the last exit */
    double from_last_ns;  /* likewise from the last arrival */
    double in_call_ns;    /* median of the ranks' mean times in a call */
    double robustness;    /* from_last_ns as a multiple of that without delays; NaN: not known */
    int64_t error_ns;     /* how far arrivals were from the requested ones: the median of all ranks and samples */
    int64_t error_p99_ns; /* likewise the 99th percentile */
    double bound_ns;      /* of the global clock, the largest of the ranks; NaN: not known */
} arrival_figures_t;

/* What is kept of each valid sample: its run times of both kinds, and more; the last kind has a value for each rank. */
typedef enum series {
    SERIES_LOCAL_NS = RUN_TIME_LOCAL,
    SERIES_MAKESPAN_NS = RUN_TIME_MAKESPAN,
    SERIES_FROM_LAST_NS, /* from the last start to the last end */
    SERIES_IN_CALL_NS,   /* the sum of the ranks' durations */
    SERIES_COMPUTE_NS,   /* the largest of the ranks' */
    SERIES_ERROR_NS,     /* how far from its target each rank started, if arrivals are imposed */
    ALL_SERIES
} series_t;

/* The samples of a row. If all members but the first two are zero, there are no samples yet. */
typedef struct samples {
    int ranks;
    bool imposes;          /* there are imposed arrivals */
    int64_t resolution_ns; /* by clock_step; 0: not known */
    int64_t calls, valid, missed, late;
    int64_t capacity; /* of series, in samples */
    int64_t *series[ALL_SERIES];
    int64_t *rank_sums_ns; /* of the ranks' durations */
} samples_t;

/* samples_mark - the largest mark against a call, of which each rank has a note. */
sample_mark_t samples_mark(const call_note_t *notes, int ranks);

/* samples_take - take in a call by the notes of all ranks. Returns false if memory lacks. */
bool samples_take(samples_t *samples, const call_note_t *notes);

/* samples_median - the median of one kind of numbers, of an even number the mean of the middle two. */
double samples_median(samples_t *samples, series_t series);

/* samples_free - free them. */
void samples_free(samples_t *samples);

/*
 * analyze - all figures of a row. Samples change places, those taken in later are not affected.
 *
 * fractions        for quantile_ns, above 0 and at most 1
 * fraction_count   at most MAX_QUANTILES
 */
void analyze(samples_t *samples, run_time_t run_time, const double *fractions, int fraction_count,
             analysis_t *analysis);

/* analyze_arrivals - of samples with imposed arrivals, at least one of them valid: all but span, robustness, bound. */
void analyze_arrivals(samples_t *samples, arrival_figures_t *figures);

/* analysis_is_narrow - whether the median, by order statistics alone, is known within so many percent. */
bool analysis_is_narrow(const analysis_t *analysis, double percent);

/*
 * analyze_median_interval - the places, from 0, of the bounds of a confidence interval of the median of at least 95 %,
 * by the binomial distribution, in a sorted sample. Returns false if there is none.
 */
bool analyze_median_interval(int64_t count, int64_t *low, int64_t *high);

#endif
