/* SPDX-License-Identifier: BSD-3-Clause */
/* list.h - the parts of mpix_clock_list: what ranks see of a clock, and the list. */
#ifndef LIST_H
#define LIST_H

#include "common/machine_clock.h"
#include "common/output.h"
#include "common/statistics.h"
#include "common/world.h"

#include <stdbool.h>
#include <stdint.h>

/* Readings that are timed together, so that the cost of timing does not count. */
enum { BLOCK_READS = 100 };

enum { REASON_BYTES = 256 };

typedef struct list_settings {
    int64_t reads;
    results_t results;
} list_settings_t;

/* A clock as one rank sees it. */
typedef struct sight {
    double read_ns;
    double step_ns;
    double stated_ns;
} sight_t;

/* A clock as all ranks see it, on rank 0. */
typedef struct listing {
    bool is_foreign;           /* no rank's kind of processor has it: it is left out */
    bool lacks;                /* a rank cannot read it at all, so there are no figures */
    bool usable;               /* the library can use it */
    char reason[REASON_BYTES]; /* why not */
    sight_t max;               /* the greatest figures of all ranks */
    int slowest;               /* the rank whose readings cost most */
    int *group;                /* of each rank: the first rank that reads the same clock */
    int64_t doubt_ns;          /* ranks of a group may differ by so much */
    curve_t intervals_ns;      /* between successive readings of rank 0 */
} listing_t;

typedef struct list_run {
    world_t world;
    list_settings_t settings;
    MPI_Comm kernel; /* the ranks under this one's kernel */
    double tick_ns;  /* of the counter */
    int64_t *room;   /* for a number per reading */
    listing_t listings[MACHINE_CLOCKS];
    int chosen; /* the clock that auto takes */
    char chosen_reason[REASON_BYTES];
} list_run_t;

/* Measures what the ranks see of a clock; leaves the greatest figures on rank 0. Collective. */
void list_look_at(list_run_t *run, int clock);

/*
 * Finds the groups of ranks that read the same clock, under each kernel by itself: two kernels' clocks are two. The
 * first rank of each kernel forms them, all ranks gather them on rank 0. Collective.
 */
void list_find_groups(list_run_t *run, int clock);

/* Prints remarks, the list and the chart on rank 0. Collective. Returns a status there. */
int list_report(list_run_t *run);

#endif /* LIST_H */
