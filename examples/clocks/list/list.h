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

struct list_settings {
    int64_t reads;
    struct output output;
    const char *plot_path; /* rank 0 only */
};

/* A clock as one rank sees it. */
struct sight {
    double read_ns;
    double step_ns;
    double stated_ns;
};

/* How the intervals between successive readings are distributed. */
struct curve {
    double interval_ns[CURVE_POINTS];
    double share[CURVE_POINTS]; /* of intervals that are not longer */
};

/* A clock as all ranks see it, on rank 0. */
struct listing {
    bool lacks;                /* a rank cannot read it at all, so there are no figures */
    bool usable;               /* the library can use it */
    char reason[REASON_BYTES]; /* why not */
    struct sight most;         /* the greatest figures of all ranks */
    int slowest;               /* the rank whose readings cost most */
    int *group;                /* of each rank: the first rank that reads the same clock */
    int64_t doubt_ns;          /* ranks of a group may differ by so much */
    struct curve curve;        /* of rank 0 */
};

struct list_run {
    struct world world;
    struct list_settings settings;
    MPI_Comm kernel; /* the ranks under this one's kernel */
    double tick_ns;  /* of tsc */
    int64_t *room;   /* for a number per reading */
    struct plot_file plot;
    struct listing listings[MACHINE_CLOCKS];
    int chosen; /* the clock that auto takes */
    char chosen_reason[REASON_BYTES];
};

/* The length of a tick of a clock. */
double list_tick_ns(const struct list_run *run, int clock);

/* Measures what this rank sees of a clock. */
struct sight list_look_at(const struct list_run *run, int clock, struct curve *curve);

/* Leaves the greatest figures of all ranks on rank 0. Collective. */
void list_combine_sights(const struct list_run *run, struct sight sight, struct listing *listing);

/*
 * Finds the groups of ranks that read the same clock, under each kernel by itself: two kernels' clocks are two. The
 * first rank of each kernel forms them, all ranks gather them on rank 0. Collective. Returns false if out of memory.
 */
bool list_find_groups(const struct list_run *run, int clock, struct listing *listing);

/* Asks the library whether it can use a clock. Collective. */
void list_ask_about(const struct list_run *run, int clock, struct listing *listing);

/* Asks which clock the library takes by itself. Collective. Returns false after a line where the library fails. */
bool list_ask_for_choice(struct list_run *run);

/* Prints remarks and the list, on rank 0. Returns a status. */
int list_print(const struct list_run *run);

/* Tells what is wrong with the clocks of each kernel that has a complaint. Collective. */
void list_tell_warnings(const struct list_run *run);

/* How the intervals between readings are distributed, on rank 0: steps show what a clock resolves. */
int list_draw(struct list_run *run);

#endif /* LIST_H */
