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

struct drift_settings {
    double seconds;
    double interval_s;
    int64_t exchanges;
    int64_t clocks;      /* bit i for clock i */
    double threshold_ns; /* 0: the series' own */
    struct output output;
    const char *raw_path; /* these two on rank 0 only */
    const char *plot_path;
};

/* What a burst said of one clock. */
struct point {
    double time_s; /* since measuring began */
    struct offset_window window;
};

/* One clock of one rank over time, on rank 0. The arrays are of the undisturbed points. */
struct series {
    struct point *points;  /* all: as many as there were rounds */
    int64_t half_width_ns; /* median */
    double *time_s;
    double *offset_ns;   /* minus the first */
    double *residual_ns; /* from the line through all */
    int count;
    double threshold_ns;
    double linear_s;
};

struct drift_run {
    struct world world;
    struct drift_settings settings;
    int clock_list[MACHINE_CLOCKS]; /* those measured */
    int clock_count;
    FILE *raw;
    struct plot_file plot;

    /* Rank 0 only */
    struct exchange *exchanges; /* of one burst */
    struct series *series;      /* of rank r and the clock at place c: [(r - 1) * clock_count + c] */
    int64_t most_rounds;
    int rounds;
    double *begin_tick_ns; /* of each rank's tsc, as known before and after */
    double *end_tick_ns;
};

/* The fits of all windows of one length. */
struct fits {
    int windows;
    bool good; /* each window has points enough */
    double slope_ppb, least_ppb, most_ppb;
    double rms_ns, most_ns;
};

/* The series of a rank and of the clock at a place in the list of those measured. */
struct series *drift_series_of(const struct drift_run *run, int rank, int place);

/* All rounds of bursts. Collective. */
void drift_measure(struct drift_run *run, MPI_Comm kernel);

/* Finds residuals and how long each clock is linear, on rank 0. Returns false if out of memory. */
bool drift_analyse(const struct drift_run *run);

/* The offset that a burst says. */
int64_t drift_middle_ns(const struct point *point);

/* What that may be off by. Coarse clocks, and clocks that were set during the burst, may leave less than nothing. */
int64_t drift_half_width_ns(const struct point *point);

/* Whether a burst counts. */
bool drift_is_undisturbed(const struct series *series, const struct point *point);

/* When measuring ended, as the series tells. */
double drift_duration_s(const struct drift_run *run, const struct series *series);

/* Cuts the run into so many windows. */
struct fits drift_fit_windows(const struct drift_run *run, const struct series *series, int windows);

/* Analyses and shows everything, on rank 0. Returns a status. */
int drift_report(struct drift_run *run);

#endif /* DRIFT_H */
