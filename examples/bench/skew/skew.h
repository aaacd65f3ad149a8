/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * skew.h - the parts of mpix_skew: what releases processes, the blocks of calls, what comes of them, and watching.
 *
 * Blocks of calls of each scheme take turns, so whatever else the machine does disturbs all alike. All this may be
 * repeated; figures are then medians over the repetitions.
 */
#ifndef SKEW_H
#define SKEW_H

#include "common/exit_clock.h"
#include "common/output.h"
#include "common/statistics.h"
#include "common/world.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* MPI_Barrier, MPIX_Harmonize as it is, by each of its barriers, and that of another library. */
enum { SCHEME_BARRIER, SCHEME_HARMONIZE, SCHEME_FIRST_FORCED, SCHEME_OTHER = SCHEME_FIRST_FORCED + 4, SCHEMES };
enum { MAX_REPEATS = 99 };

typedef enum figure { P50_NS, P90_NS, P99_NS, P999_NS, MAX_NS, CALL_NS, VALID_PER_S, FIGURES } figure_t;

typedef struct skew_settings {
    int64_t calls;
    int64_t block;
    int64_t warmup;
    int64_t repeats;
    int64_t schemes; /* bit i for scheme i */
    int64_t clock;
    double limit_s;
    double watch_s;
    const char *other_path; /* rank 0 only */
    results_t results;
} skew_settings_t;

typedef struct scheme {
    const char *name;
    const char *call;                          /* the function behind it, for messages */
    int (*release)(MPI_Comm comm, int *valid); /* valid: whether this process left when it should */
    MPI_Comm comm;
} scheme_t;

/* What was measured of one scheme in one repetition. Rank 0 knows all of it, the others only calls. */
typedef struct tally {
    int64_t *skew_ticks; /* of each call, and of one that is not valid on all ranks -1 - this; NULL: not kept */
    int64_t calls;
    int64_t valid;
    int64_t loop_ns;  /* in the measured loop, on the slowest rank */
    int64_t spent_ns; /* in all */
} tally_t;

/* What all repetitions of a scheme came to, on rank 0. */
typedef struct result {
    double figures[FIGURES][MAX_REPEATS];
    int repeats;       /* for call_ns and valid_per_s */
    int valid_repeats; /* those that have a valid call, for the others */
    int64_t calls;
    int64_t valid;
} result_t;

/* Room for one block on this rank. */
typedef struct block {
    int64_t *exit_ticks;
    int *valid;
    int64_t *greatest; /* per call: last exit, first exit negated, invalid; then the loop's time */
} block_t;

typedef struct skew_run {
    world_t world;
    skew_settings_t settings;
    exit_clock_t clock;
    scheme_t schemes[SCHEMES];
    block_t block;
    tally_t tallies[SCHEMES];
    result_t results[SCHEMES];
} skew_run_t;

/* The schemes of --release, NULL after the last. */
extern const char *const skew_schemes[];

/* skew_is_chosen - whether a scheme is measured. */
bool skew_is_chosen(const skew_run_t *run, int index);

/*
 * skew_open_schemes - get each chosen scheme ready, and call it once. Collective. A barrier that the library cannot use
 * here is left out, with a line on standard error. Returns an exit status.
 */
int skew_open_schemes(skew_run_t *run);

/* skew_close_schemes - free what skew_open_schemes made. Collective. */
void skew_close_schemes(skew_run_t *run);

/* skew_allocate - the memory for blocks and calls. Local. The job ends where there is too little. */
void skew_allocate(skew_run_t *run);
void skew_free(skew_run_t *run);

/* skew_run_block - measure a block of calls and add it to the tally. Collective. */
void skew_run_block(skew_run_t *run, const scheme_t *scheme, int64_t calls, tally_t *tally);

/* skew_follow_rank_0 - what rank 0 has decided, as only its clock and counts matter. Collective. */
int64_t skew_follow_rank_0(const skew_run_t *run, int64_t decision);

/* skew_fitting_calls - the calls of a block that takes no more than max_ns. */
int64_t skew_fitting_calls(const skew_run_t *run, const tally_t *tally, double max_ns);

/* skew_measure - one repetition: all calls of all schemes, in turn. Collective. */
void skew_measure(skew_run_t *run);

/* skew_take_in - rank 0: figures of this repetition, and its raw rows. */
void skew_take_in(skew_run_t *run, double tick_ns);

/* skew_print - rank 0: the table. Returns an exit status. */
int skew_print(const skew_run_t *run, double tick_ns, const char *clock_text);

/* skew_chart - of the last repetition, from skew_take_in's rows. */
extern const plot_chart_t skew_chart;

/* skew_watch - call MPIX_Harmonize for some time, with a row on rank 0 each interval and at the end. Collective. */
void skew_watch(skew_run_t *run);

#endif /* SKEW_H */
