/* SPDX-License-Identifier: BSD-3-Clause */
/* drift.h - the parts of mpix_clock_drift: measuring, what it comes to, how it is shown. */
#ifndef DRIFT_H
#define DRIFT_H

#include "common/burst.h"
#include "common/line.h"
#include "common/machine_clock.h"
#include "common/output.h"
#include "common/plot.h"
#include "common/world.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct drift_settings {
    double seconds;
    double interval_s;
    int64_t exchanges;
    int64_t clocks;      /* bit i for clock i */
    double threshold_ns; /* 0: the series' own */
    output_t output;
    const char *raw_path; /* these two on rank 0 only */
    const char *plot_path;
} drift_settings_t;

/* What a burst said of one clock. */
typedef struct point {
    double time_s; /* since measuring began */
    offset_window_t window;
} point_t;

/* One clock of one rank over time, on rank 0. The arrays are of the undisturbed points. */
typedef struct series {
    point_t *points;       /* all: as many as there were rounds */
    int64_t half_width_ns; /* median */
    double *time_s;
    double *offset_ns;   /* minus the first */
    double *residual_ns; /* from the line through all */
    int count;
    double threshold_ns;
    double linear_s;
} series_t;

typedef struct drift_run {
    world_t world;
    drift_settings_t settings;
    int clock_list[MACHINE_CLOCKS]; /* those measured */
    int clock_count;
    FILE *raw;
    plot_file_t plot;

    /* Rank 0 only */
    exchange_t *exchanges; /* of one burst */
    series_t *series;      /* of rank r and the clock at place c: [(r - 1) * clock_count + c] */
    int64_t most_rounds;
    int rounds;
    double *begin_tick_ns; /* of each rank's tsc, as known before and after */
    double *end_tick_ns;
} drift_run_t;

/* The fits of all windows of one length. */
typedef struct fits {
    int windows;
    bool good; /* each window has points enough */
    double slope_ppb, least_ppb, most_ppb;
    double rms_ns, most_ns;
} fits_t;

/* The series of a rank and of the clock at a place in the list of those measured. */
series_t *drift_series_of(const drift_run_t *run, int rank, int place);

/* All rounds of bursts. Collective. */
void drift_measure(drift_run_t *run, MPI_Comm kernel);

/* Finds residuals and how long each clock is linear, on rank 0. Returns false if out of memory. */
bool drift_analyse(const drift_run_t *run);

/* The offset that a burst says. */
int64_t drift_middle_ns(const point_t *point);

/* What that may be off by. Coarse clocks, and clocks that were set during the burst, may leave less than nothing. */
int64_t drift_half_width_ns(const point_t *point);

/* Whether a burst counts. */
bool drift_is_undisturbed(const series_t *series, const point_t *point);

/* When measuring ended, as the series tells. */
double drift_duration_s(const drift_run_t *run, const series_t *series);

/* Cuts the run into so many windows. */
fits_t drift_fit_windows(const drift_run_t *run, const series_t *series, int windows);

/* Analyses and shows everything, on rank 0. Returns a status. */
int drift_report(drift_run_t *run);

#endif /* DRIFT_H */
