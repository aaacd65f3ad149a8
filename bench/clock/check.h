/* SPDX-License-Identifier: BSD-3-Clause */
/* check.h - what the parts of mpix_clock check, measuring and the report, have in common. */
#ifndef CHECK_H
#define CHECK_H

#include "common/mpi/burst.h"
#include "common/mpi/exit_clock.h"
#include "common/results/result_files.h"
#include "common/mpi/world.h"

#include <stdbool.h>
#include <stdint.h>

enum { MAX_LABELS = 32, LABEL_BYTES = 128 };

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

/* The error of one rank at one time: its global time minus that of rank 0. */
typedef struct check {
    double age_s;          /* as it was when this rank's turn came */
    int64_t error_ns;      /* by messages */
    int64_t half_width_ns; /* the error may be off by this */
    double true_ns;        /* by the shared clock, if there is truth */
    double true_half_width_ns;
    int64_t bound_ns; /* what the library states for both ranks together; INT64_MAX: nothing */
    bool is_violation;
} check_t;

/* The clock of one communicator, from its synchronization on. */
typedef struct trial {
    int64_t call_ns;            /* in MPIX_Clock_sync, on the slowest rank */
    int64_t sync_ns;            /* what the library says of it, likewise */
    int64_t syncs[MAX_NUMBERS]; /* so far, at each age */
} trial_t;

/* Its memory is of use until the end of the program. */
typedef struct check_run {
    world_t world;
    check_settings_t settings;
    int labels;
    char label[MAX_LABELS][LABEL_BYTES]; /* empty: what the library does by itself */
    int ages;
    int *checked_rank; /* in ascending order */
    int checked;
    bool is_checked;    /* this rank */
    exit_clock_t truth; /* the shared clock: the processor's counter */
    bool has_truth;
    double tick_ns;        /* of it */
    int64_t step_ns;       /* of the global clock on any rank the largest; 0: not known */
    trial_t *trials;       /* labels x repeats */
    check_t *checks;       /* of each trial: ages x checked ranks, on rank 0 */
    exchange_t *exchanges; /* with one rank, on rank 0 */

    /* Of the report */
    table_t table;
    int64_t *values; /* one for each check at one age, or each run */
    int64_t check_count;
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
    return &run->checks[((label * run->settings.repeats + repeat) * run->ages + age) * run->checked];
}

static inline void *check_allocate(const check_run_t *run, int64_t count, size_t item_bytes)
{
    return world_allocate(&run->world, count, item_bytes, ": give less for --repeats, --ages-s or --pairs");
}

/* Prints what is known before the first checks are told, and the titles, on rank 0. */
void check_begin_report(check_run_t *run);

/* Prints what is known after a run has reached an age: a row is printed as soon as possible. */
void check_print_age(check_run_t *run, int label, int repeat, int age);

/* The columns of results, and of raw files. */
extern const schema_t check_schema, check_raw_schema;

#endif
