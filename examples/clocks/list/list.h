/* SPDX-License-Identifier: BSD-3-Clause */
/* list.h - the parts of mpix_clock_list: what a rank sees, who shares a clock, what the library says, the list. */
#ifndef LIST_H
#define LIST_H

#include "common/burst.h"
#include "common/machine_clock.h"
#include "common/output.h"
#include "common/plot.h"
#include "common/world.h"

#include <stdbool.h>
#include <stdint.h>

/* Readings that are timed together, so that the cost of timing does not count. */
enum { BLOCK_READS = 100 };

enum { REASON_BYTES = 256, SHOWN_GROUPS_BYTES = 40 };

enum { CURVE_POINTS = 200 };

typedef struct list_settings {
    int64_t reads;
    output_t output;
    const char *plot_path; /* rank 0 only */
} list_settings_t;

/* A clock as one rank sees it. */
typedef struct sight {
    double read_ns;
    double step_ns;
    double stated_ns;
} sight_t;

/* How the intervals between successive readings are distributed. */
typedef struct curve {
    double interval_ns[CURVE_POINTS];
    double share[CURVE_POINTS]; /* of intervals that are not longer */
} curve_t;

/* A clock as all ranks see it, on rank 0. */
typedef struct listing {
    bool lacks;                /* a rank cannot read it at all, so there are no figures */
    bool usable;               /* the library can use it */
    char reason[REASON_BYTES]; /* why not */
    sight_t most;              /* the greatest figures of all ranks */
    int slowest;               /* the rank whose readings cost most */
    int *group;                /* of each rank: the first rank that reads the same clock */
    int64_t doubt_ns;          /* ranks of a group may differ by so much */
    curve_t curve;             /* of rank 0 */
} listing_t;

typedef struct list_run {
    world_t world;
    list_settings_t settings;
    MPI_Comm kernel; /* the ranks under this one's kernel */
    double tick_ns;  /* of tsc */
    int64_t *room;   /* for a number per reading */
    plot_file_t plot;
    listing_t listings[MACHINE_CLOCKS];
    int chosen; /* the clock that auto takes */
    char chosen_reason[REASON_BYTES];
} list_run_t;

/* The length of a tick of a clock. */
double list_tick_ns(const list_run_t *run, int clock);

/* Measures what this rank sees of a clock. */
sight_t list_look_at(const list_run_t *run, int clock, curve_t *curve);

/* Leaves the greatest figures of all ranks on rank 0. Collective. */
void list_combine_sights(const list_run_t *run, sight_t sight, listing_t *listing);

/*
 * Finds the groups of ranks that read the same clock, under each kernel by itself: two kernels' clocks are two. The
 * first rank of each kernel forms them, all ranks gather them on rank 0. Collective. Returns false if out of memory.
 */
bool list_find_groups(const list_run_t *run, int clock, listing_t *listing);

/* Asks the library whether it can use a clock. Collective. */
void list_ask_about(const list_run_t *run, int clock, listing_t *listing);

/* Asks which clock the library takes by itself. Collective. Returns false after a line where the library fails. */
bool list_ask_for_choice(list_run_t *run);

/* Prints remarks and the list, on rank 0. Returns a status. */
int list_print(const list_run_t *run);

/* Tells what is wrong with the clocks of each kernel that has a complaint. Collective. */
void list_tell_warnings(const list_run_t *run);

/* How the intervals between readings are distributed, on rank 0: steps show what a clock resolves. */
int list_draw(list_run_t *run);

#endif /* LIST_H */
