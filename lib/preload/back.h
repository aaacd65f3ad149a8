/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * back.h - the parts of the back, which is compiled with the MPI library: back.c has the clock of the world and what
 * the front calls, communicators.c the barriers, report.c what is written at MPI_Finalize.
 *
 * The back never uses a communicator of the program for the library: it makes a communicator of its own of the same
 * processes. The program's error handlers do not see its errors, unless the program gives a communicator that is none.
 * If anything fails, the real barrier takes over.
 */
#ifndef PRELOAD_BACK_H
#define PRELOAD_BACK_H

#include "mpix_harmonize.h"

#include <stdbool.h>

enum { PRELOAD_NAME_SIZE = 64 };

typedef struct {
    int barrier; /* MPI_Barrier is to be harmonized */
    int wtime;   /* MPI_Wtime is to be the global clock */
    int all;     /* also barriers of communicators without some processes of the world */
    int quiet;   /* no report */
} preload_options;

/* The results of the barriers of one communicator, over all its processes. */
typedef struct {
    char name[PRELOAD_NAME_SIZE];
    int64_t ranks;
    int64_t barriers;
    int64_t harmonized;
    int64_t judged;  /* the first harmonized ones, for which it is known whether they were valid on all */
    int64_t valid;   /* of these */
    int64_t late[3]; /* sampled latenesses: how many, their sum, the largest; nanoseconds */
} preload_summary;

/* ---- back.c */

extern preload_options mh_preload_options;

/* A communicator of the program's world. MPI_COMM_NULL: the preload does nothing. */
extern MPI_Comm mh_preload_world;

/* What was done for the clock of the world in collective calls. */
typedef struct {
    int64_t calls; /* of all processes */
    int64_t looks; /* in how many of them the clocks were checked */
} preload_care;
extern preload_care mh_preload_care;

/* Before a collective call of all processes that MPI is to do. */
void mh_preload_before_call(void);

/* Before one that checks the clocks itself. */
void mh_preload_before_harmonize(void);

/* ---- communicators.c */

/* A number that the library knows of this communicator. Returns whether it does. */
bool mh_preload_statistic(MPI_Comm comm, const char *key, int64_t *value);

/* Prepare for the barriers of the world. */
void mh_preload_open_communicators(void);

/*
 * Whether this is the world, or a communicator of the same processes, which make its collective calls and those of the
 * world in one order. Remembered for each communicator.
 */
bool mh_preload_is_world(MPI_Comm comm);

/* A barrier of the program. Returns whether it is done; otherwise the real one must be called. */
bool mh_preload_barrier(MPI_Comm comm);

/* Sum up what is left, collectively over the world. */
void mh_preload_close_communicators(void);

/* Free what the communicators have, except mh_preload_world. */
void mh_preload_free_communicators(void);

/* The summaries of communicators of which this process was rank 0. Returns how many. */
int mh_preload_summaries(const preload_summary **summaries);

/* The barriers of this process that were left to MPI. */
int64_t mh_preload_passed(void);

/* ---- report.c */

/* Collective over the world. */
void mh_preload_report(void);

#endif
