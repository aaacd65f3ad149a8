/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * comm_numbers.h - the communicators of a job, each once, by numbers that all processes have in common.
 */
#ifndef TRACE_CONVERT_COMM_NUMBERS_H
#define TRACE_CONVERT_COMM_NUMBERS_H

#include "trace/read/trace.h"

/* Numbers. MPI_COMM_SELF is one for all processes. */
enum { COMMUNICATOR_UNKNOWN = -1, COMMUNICATOR_WORLD, COMMUNICATOR_SELF, COMMUNICATORS_PREDEFINED };

typedef struct {
    bool is_inter;
    int size;            /* of the group that messages go to */
    const int *ranks;    /* of this group, in MPI_COMM_WORLD; NULL of MPI_COMM_SELF */
    int other_side;      /* of an intercommunicator: the number of the one that has the local group; or unknown */
    int common;          /* the number that both sides of an intercommunicator have for users, from 0 without gaps */
    int first_in_common; /* the place of its first rank among the ranks of both sides */
} communicator;

typedef struct {
    const trace *of;
    int count;
    communicator *list; /* by number */
    int **numbers;      /* by rank in MPI_COMM_WORLD, then by id on this process */
    int *world;         /* its ranks */
} communicators;

/* communicators_find - collect those of all processes; to be freed. */
void communicators_find(communicators *found, const trace *of);
void communicators_free(communicators *found);

/* communicators_of - what is an id on a process; NULL: it is not known. */
const communicator *communicators_of(const communicators *found, int rank, uint32_t id);

/* communicators_common - the number that users see of what is an id on a process, or COMMUNICATOR_UNKNOWN. */
int communicators_common(const communicators *found, int rank, uint32_t id);

/* communicators_place - where the partner of an event is among the ranks of both sides; else the partner itself. */
int communicators_place(const communicators *found, int rank, const trace_event *event);

/* communicators_name - what users call a common number. */
enum { COMMUNICATOR_NAME_SIZE = 40 };
const char *communicators_name(int number, char name[COMMUNICATOR_NAME_SIZE]);

#endif
