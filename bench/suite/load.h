/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * load.h - how much of the processors' time on the node of rank 0 others take meanwhile: other programs, and the
 * hypervisor. By the kernel's counts, so nothing is known of less than a second, or in a simulator.
 */
#ifndef LOAD_H
#define LOAD_H

#include "common/mpi/world.h"

#include <stdbool.h>
#include <stdint.h>

/* Of all processors of a node, in ticks. */
typedef struct ticks {
    int64_t all, used, stolen; /* used: by any program, or by the kernel, but for interrupts */
} ticks_t;

/* load_ticks - those of the first line of /proc/stat, behind its first word; all zero if it does not tell. */
ticks_t load_ticks(const char *line);

/*
 * load_shares - what others took from begin to end, in percent of the time of all processors, if these programs took
 * own_ns.
 *
 * Returns false if too little time has passed.
 */
bool load_shares(ticks_t begin, ticks_t end, int64_t own_ns, long processors, double *others_percent,
                 double *steal_percent);

typedef struct load {
    bool is_near;       /* this process is on the node of rank 0 */
    int64_t own_ns;     /* what this process had used when it began */
    ticks_t begin;      /* rank 0 */
    double most_others; /* rank 0, in percent: the most of what was told; likewise the next one */
    double most_steal;
} load_t;

/* load_open - find out where this process is. Collective over world. */
void load_open(load_t *load, const world_t *world);

/* load_begin - from here on. Local. */
void load_begin(load_t *load);

/*
 * load_tell - what others took since load_begin, in percent of the time of all processors. Collective over the span,
 * outside of which no process of the world has done anything since.
 *
 * Returns false, as do other ranks than 0, if too little time has passed.
 */
bool load_tell(load_t *load, const world_t *span, double *others_percent, double *steal_percent);

/* load_warn - rank 0: a line on standard error if the node was busy. Local. */
void load_warn(const load_t *load, const char *program);

#endif
