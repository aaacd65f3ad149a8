/* SPDX-License-Identifier: BSD-3-Clause */
/* check.h - the parts of mpix_clock_check: what is to be done, measuring, the tables, the chart. */
#ifndef CHECK_H
#define CHECK_H

#include "common/clock_error.h"
#include "common/exit_clock.h"
#include "common/output.h"
#include "common/plot.h"
#include "common/table.h"
#include "common/world.h"

#include <stdbool.h>
#include <stdint.h>

enum { LABELS_MOST = 32, AGES_MOST = 64, LABEL_BYTES = 128, MOST_COLUMNS = 13 };
#define AGE_MOST_S 86400.0

typedef struct check_settings {
    int64_t exchanges;
    int64_t pairs;
    int64_t seed;
    int64_t repeat;
    int64_t truth;
    int64_t ranks;
    output_t output;
    double sample;
    double keep_ms;
    const char *labels_text; /* the texts: rank 0 only */
    const char *ages_text;
    const char *plot_path;
} check_settings_t;

/* What is to be done, the same on all ranks. */
typedef struct plan {
    int labels;
    int ages;
    char label[LABELS_MOST][LABEL_BYTES]; /* empty: what the library does by itself */
    double age_s[AGES_MOST];
} plan_t;

/* The error of one rank at one time. */
typedef struct check {
    double age_s; /* as it was when this rank's turn came */
    clock_error_t error;
} check_t;

/* The clock of one communicator, from its synchronization on. */
typedef struct trial {
    int64_t call_ns;          /* in MPIX_Clock_sync, on the slowest rank */
    int64_t sync_ns;          /* what the library says of it, likewise */
    int64_t syncs[AGES_MOST]; /* so far, at each age */
    check_t *checks;          /* ages x checked ranks */
} trial_t;

typedef struct check_run {
    world_t world;
    check_settings_t settings;
    plan_t plan;
    int *checked_rank; /* in ascending order */
    int checked;
    bool has_truth;
    const char *truth_text;
    exit_clock_t shared; /* where there is truth */
    plot_file_t plot;
    trial_t *trials; /* labels x repeat; those of other ranks than 0 are without checks */
} check_run_t;

typedef struct report {
    const check_run_t *run;
    table_t table;
    column_t columns[MOST_COLUMNS];
    int64_t *values; /* room for one of each check at one age, or each run */
    int64_t checks;
    int64_t violations;
} report_t;

/* What all checks of a label at one age come to, but for quantiles. */
typedef struct extremes {
    int64_t half_width_ns;
    int64_t bound_ns;
    double true_ns;
    int64_t violations;
} extremes_t;

/* Reads the lists on rank 0 and gives them to all. Returns STATUS_BAD_OPTION after a line about it. Collective. */
int check_make_plan(check_run_t *run);

/* Refuses labels that the library does; puts its own spelling in the place of others. Collective. Returns a status. */
int check_labels(check_run_t *run);

/* Takes the ranks to check: each of those left with the chance that makes the number come out. All ranks take the same.
 */
bool check_choose_ranks(check_run_t *run);

/* Whether a rank is one of them. */
bool check_is_checked(const check_run_t *run, int rank);

/* Whether not all ranks are checked. */
bool check_is_sampled(const check_run_t *run);

/* Makes a communicator like the world's, to be synchronized as a label says. Returns the code of setting that. */
int check_open_clock(const check_run_t *run, const char *label, world_t *clock_world);

/* Returns when, by this rank's clock. */
int64_t check_synchronize(const check_run_t *run, const world_t *clock_world, trial_t *trial);

/* Calls MPIX_Harmonize until a time by rank 0's clock. */
void check_keep_until(const check_run_t *run, const world_t *clock_world, int64_t end_ns);

/* Sleeps; returns at once where the time is not above 0. */
void check_sleep_for(int64_t time_ns);

/* Leaves the checks on rank 0. */
void check_all(const check_run_t *run, const world_t *clock_world, int64_t begin_ns, check_t *checks);

/* A statistic of the library that is a whole number; 0 where there is none. */
int64_t check_whole_statistic(const world_t *clock_world, const char *key);

/* Where rank 0 keeps the runs of a label. */
trial_t *check_trial_of(const check_run_t *run, int label, int repeat);

/* The checks of one run at one age, one for each rank checked. */
const check_t *check_checks_of(const check_run_t *run, int label, int repeat, int age);

/* Gets a report ready. Returns false if out of memory. */
bool check_report_open(report_t *report, const check_run_t *run);

/* Prints what is known beforehand, and the titles. */
void check_print_head(const report_t *report);

/* Prints what is known after a run has reached an age: a row comes as soon as it may. */
void check_print_age(report_t *report, int label, int repeat, int age);

/* Widens the extremes by one check. */
void check_take_in(extremes_t *most, const clock_error_t *error, double tick_ns);

/* Draws the chart on rank 0. Returns a status. */
int check_draw(check_run_t *run);

#endif /* CHECK_H */
