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

struct check_settings {
    int64_t exchanges;
    int64_t pairs;
    int64_t seed;
    int64_t repeat;
    int64_t truth;
    int64_t ranks;
    struct output output;
    double sample;
    double keep_ms;
    const char *labels_text; /* the texts: rank 0 only */
    const char *ages_text;
    const char *plot_path;
};

/* What is to be done, the same on all ranks. */
struct plan {
    int labels;
    int ages;
    char label[LABELS_MOST][LABEL_BYTES]; /* empty: what the library does by itself */
    double age_s[AGES_MOST];
};

/* The error of one rank at one time. */
struct check {
    double age_s; /* as it was when this rank's turn came */
    struct clock_error error;
};

/* The clock of one communicator, from its synchronization on. */
struct trial {
    int64_t call_ns;          /* in MPIX_Clock_sync, on the slowest rank */
    int64_t sync_ns;          /* what the library says of it, likewise */
    int64_t syncs[AGES_MOST]; /* so far, at each age */
    struct check *checks;     /* ages x checked ranks */
};

struct check_run {
    struct world world;
    struct check_settings settings;
    struct plan plan;
    int *checked_rank; /* in ascending order */
    int checked;
    bool has_truth;
    const char *truth_text;
    struct exit_clock shared; /* where there is truth */
    struct plot_file plot;
    struct trial *trials; /* labels x repeat; those of other ranks than 0 are without checks */
};

struct report {
    const struct check_run *run;
    struct table table;
    struct column columns[MOST_COLUMNS];
    int64_t *values; /* room for one of each check at one age, or each run */
    int64_t checks;
    int64_t violations;
};

/* What all checks of a label at one age come to, but for quantiles. */
struct extremes {
    int64_t half_width_ns;
    int64_t bound_ns;
    double true_ns;
    int64_t violations;
};

/* Reads the lists on rank 0 and gives them to all. Returns STATUS_BAD_OPTION after a line about it. Collective. */
int check_make_plan(struct check_run *run);

/* Refuses labels that the library does; puts its own spelling in the place of others. Collective. Returns a status. */
int check_labels(struct check_run *run);

/* Takes the ranks to check: each of those left with the chance that makes the number come out. All ranks take the same.
 */
bool check_choose_ranks(struct check_run *run);

/* Whether a rank is one of them. */
bool check_is_checked(const struct check_run *run, int rank);

/* Whether not all ranks are checked. */
bool check_is_sampled(const struct check_run *run);

/* Makes a communicator like the world's, to be synchronized as a label says. Returns the code of setting that. */
int check_open_clock(const struct check_run *run, const char *label, struct world *clock_world);

/* Returns when, by this rank's clock. */
int64_t check_synchronize(const struct check_run *run, const struct world *clock_world, struct trial *trial);

/* Calls MPIX_Harmonize until a time by rank 0's clock. */
void check_keep_until(const struct check_run *run, const struct world *clock_world, int64_t end_ns);

/* Sleeps; returns at once where the time is not above 0. */
void check_sleep_for(int64_t time_ns);

/* Leaves the checks on rank 0. */
void check_all(const struct check_run *run, const struct world *clock_world, int64_t begin_ns, struct check *checks);

/* A statistic of the library that is a whole number; 0 where there is none. */
int64_t check_whole_statistic(const struct world *clock_world, const char *key);

/* Where rank 0 keeps the runs of a label. */
struct trial *check_trial_of(const struct check_run *run, int label, int repeat);

/* The checks of one run at one age, one for each rank checked. */
const struct check *check_checks_of(const struct check_run *run, int label, int repeat, int age);

/* Gets a report ready. Returns false if out of memory. */
bool check_report_open(struct report *report, const struct check_run *run);

/* Prints what is known beforehand, and the titles. */
void check_print_head(const struct report *report);

/* Prints what is known after a run has reached an age: a row comes as soon as it may. */
void check_print_age(struct report *report, int label, int repeat, int age);

/* Widens the extremes by one check. */
void check_take_in(struct extremes *most, const struct clock_error *error, double tick_ns);

/* Draws the chart on rank 0. Returns a status. */
int check_draw(struct check_run *run);

#endif /* CHECK_H */
