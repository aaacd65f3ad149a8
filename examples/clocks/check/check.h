/* SPDX-License-Identifier: BSD-3-Clause */
/* check.h - the parts of mpix_clock_check: what is to be done and measuring, the tables and the chart. */
#ifndef CHECK_H
#define CHECK_H

#include "common/clock_error.h"
#include "common/exit_clock.h"
#include "common/output.h"
#include "common/world.h"

#include <stdbool.h>
#include <stdint.h>

enum { MAX_LABELS = 32, LABEL_BYTES = 128, MAX_COLUMNS = 13 };

typedef struct check_settings {
    int64_t exchanges;
    int64_t pairs;
    int64_t seed;
    int64_t repeats;
    int64_t truth;
    double sample;
    double keep_ms;
    number_list_t ages_s;
    const char *labels; /* rank 0 only */
    results_t results;
} check_settings_t;

/* The error of one rank at one time. */
typedef struct check {
    double age_s; /* as it was when this rank's turn came */
    clock_error_t error;
} check_t;

/* The clock of one communicator, from its synchronization on. */
typedef struct trial {
    int64_t call_ns;            /* in MPIX_Clock_sync, on the slowest rank */
    int64_t sync_ns;            /* what the library says of it, likewise */
    int64_t syncs[MAX_NUMBERS]; /* so far, at each age */
    check_t *checks;            /* ages x checked ranks, on rank 0 */
} trial_t;

typedef struct check_run {
    world_t world;
    check_settings_t settings;
    int labels;
    char label[MAX_LABELS][LABEL_BYTES]; /* empty: what the library does by itself */
    int ages;
    int *checked_rank; /* in ascending order */
    int checked;
    bool is_checked; /* this rank */
    bool has_truth;
    const char *truth_text;
    exit_clock_t shared; /* if there is truth */
    trial_t *trials;     /* labels x repeats */

    /* Of the report */
    column_t columns[MAX_COLUMNS];
    table_t table;
    int64_t *values; /* room for one of each check at one age, or each run */
    int64_t checks;
    int64_t violations;
} check_run_t;

/* Where rank 0 keeps the runs of a label. */
static inline trial_t *check_trial_of(const check_run_t *run, int label, int repeat)
{
    return &run->trials[label * run->settings.repeats + repeat];
}

/* The checks of one run at one age, one for each rank checked. */
static inline check_t *check_checks_of(const check_run_t *run, int label, int repeat, int age)
{
    return &check_trial_of(run, label, repeat)->checks[(size_t)age * (size_t)run->checked];
}

/* Whether not all ranks are checked. */
static inline bool check_is_sampled(const check_run_t *run)
{
    return run->checked < run->world.ranks - 1;
}

static inline void *check_room(const check_run_t *run, int64_t count, size_t item_bytes)
{
    return world_room(&run->world, count, item_bytes, ": give less for --repeats, --ages-s or --pairs");
}

/* Reads the labels on rank 0 and gives them to all, as the library spells them. Collective. Returns a status. */
int check_read_labels(check_run_t *run);

/* Takes the ranks to check: each of those left with the chance that makes the number come out. All take the same. */
void check_choose_ranks(check_run_t *run);

/* Synchronizes a new communicator by a label, and checks it at all ages. */
void check_run_trial(check_run_t *run, int label, int repeat);

/* Gets the report ready. */
void check_open_report(check_run_t *run);

/* Prints what is known beforehand, and the titles. */
void check_print_head(const check_run_t *run);

/* Prints what is known after a run has reached an age: a row comes as soon as it may. */
void check_print_age(check_run_t *run, int label, int repeat, int age);

/* Draws the chart on rank 0. Returns a status. */
int check_draw(check_run_t *run);

#endif /* CHECK_H */
