/* SPDX-License-Identifier: BSD-3-Clause */
/* skew.h - what the parts of mpix_skew, measuring and the report, have in common. */
#ifndef SKEW_H
#define SKEW_H

#include "common/mpi/exit_clock.h"
#include "common/results/result_files.h"
#include "pure/order_statistics.h"
#include "common/mpi/world.h"
#include "bench/suite/engine.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* MPI_Barrier, MPIX_Harmonize as it is, by each of its barriers, and at last that of another library. */
enum { SCHEME_BARRIER, SCHEME_HARMONIZE, SCHEME_FIRST_FORCED, MAX_SCHEMES = 16 };
enum { MAX_REPEATS = 99 };

typedef enum figure { P50_NS, P90_NS, P99_NS, P999_NS, MAX_NS, CALL_NS, VALID_PER_S, FIGURES } figure_t;

typedef struct skew_settings {
    int64_t calls;
    int64_t block;
    int64_t warmup;
    int64_t repeats;
    int64_t schemes; /* bit i for scheme i: those that are measured */
    int64_t clock;
    double limit_s;
    const char *other_path; /* rank 0 only */
    results_t results;
} skew_settings_t;

/* The measurements of one scheme in one repetition, on rank 0. */
typedef struct tally {
    int64_t *skew_ticks; /* of each call, and of one that is not valid on all ranks -1 - this; NULL: not kept */
    int64_t calls;
    int64_t valid;
    int64_t loop_ns; /* in the measured loop, on the slowest rank */
} tally_t;

/* What all repetitions of a scheme came to, on rank 0. */
typedef struct result {
    double figures[FIGURES][MAX_REPEATS];
    int repeats;       /* for call_ns and valid_per_s */
    int valid_repeats; /* those that have a valid call, for the others */
    int64_t calls;
    int64_t valid;
} result_t;

typedef struct skew_scheme {
    const char *name;
    const char *call;                          /* the function behind it, for messages */
    int (*release)(MPI_Comm comm, int *valid); /* valid: whether this process left when it should */
    MPI_Comm comm;
    struct skew_run *run;
    tally_t tally;
    result_t result;
    sampling_t sampling;
} skew_scheme_t;

typedef struct skew_run {
    world_t world;
    skew_settings_t settings;
    exit_clock_t clock;
    skew_scheme_t schemes[MAX_SCHEMES];
    int64_t *exit_ticks; /* of each call of a block on this rank; likewise valid */
    int *valid;
    int64_t *maxima; /* per call of a block: last exit, first exit negated, invalid; then the loop's time */
    uint64_t dice;   /* for turns; the same on all ranks */
} skew_run_t;

static inline bool skew_is_chosen(const skew_run_t *run, int scheme)
{
    return (run->settings.schemes >> scheme & 1) != 0;
}

/* skew_take_in - rank 0: figures of this repetition, and its raw rows. */
void skew_take_in(skew_run_t *run, double tick_ns);

/* skew_print - rank 0: the table. Returns an exit status. */
int skew_print(const skew_run_t *run, double tick_ns, const char *clock_text);

/* The columns of results, and of raw files. */
extern const schema_t skew_schema, skew_raw_schema;

#endif
