/* SPDX-License-Identifier: BSD-3-Clause */
/* drift.h - the parts of mpix_clock_drift: measuring, what it comes to, how it is shown. */
#ifndef DRIFT_H
#define DRIFT_H

#include "common/burst.h"
#include "common/machine_clock.h"
#include "common/output.h"
#include "common/world.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct drift_settings {
    double duration_s;
    double interval_s;
    int64_t exchanges;
    int64_t clocks;      /* bit i for clock i */
    double threshold_ns; /* 0: the series' own */
    results_t results;
} drift_settings_t;

/* What a burst said of one clock. */
typedef struct point {
    double time_s; /* since measuring began */
    int64_t offset_ns;
    int64_t half_width_ns;
} point_t;

/* One clock of one rank over time, on rank 0. */
typedef struct series {
    point_t *points;       /* as many as there were rounds */
    int64_t half_width_ns; /* median */
    int count;             /* of the undisturbed points, which the following are of */
    double *time_s;
    double *offset_ns;   /* minus the first */
    double *residual_ns; /* from the line through all */
    double threshold_ns;
    double linear_s;
} series_t;

typedef struct drift_run {
    world_t world;
    drift_settings_t settings;
    int clock_list[MACHINE_CLOCKS]; /* those measured */
    int clock_count;

    /* Rank 0 only */
    exchange_t *exchanges; /* of one burst */
    series_t *series;      /* of rank r and the clock at place c: [(r - 1) * clock_count + c] */
    int series_count;
    int64_t max_rounds;
    int rounds;
    int64_t *widths_ns;    /* room for one of each round */
    double *begin_tick_ns; /* of each rank's counter, as known before and after */
    double *end_tick_ns;
} drift_run_t;

/* The fits of all windows of one length. */
typedef struct fits {
    bool good; /* each window has points enough */
    double slope_ppb, min_ppb, max_ppb;
    double rms_ns, max_ns;
} fits_t;

/* The rank and the clock of a series. */
static inline int drift_rank_of(const drift_run_t *run, int series)
{
    return 1 + series / run->clock_count;
}
static inline int drift_clock_of(const drift_run_t *run, int series)
{
    return run->clock_list[series % run->clock_count];
}

/* Finds residuals and how long each clock is linear, on rank 0. */
void drift_analyze(const drift_run_t *run);

/* Whether a burst counts. */
bool drift_is_undisturbed(const series_t *series, const point_t *point);

/* When measuring ended, as the series tells. */
double drift_duration_s(const drift_run_t *run, const series_t *series);

/* Cuts the run into so many windows. */
fits_t drift_fit_windows(const drift_run_t *run, const series_t *series, int windows);

/* Shows everything, on rank 0. Returns a status. */
int drift_report(drift_run_t *run);

#endif /* DRIFT_H */
