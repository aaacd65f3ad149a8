/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * operations.h - the lists of operations, and what these have in common: shapes, and arguments of MPI's functions.
 *
 * To add an operation: a shape, if none is like it, a line of description, and its place in one of the lists.
 */
#ifndef OPERATIONS_H
#define OPERATIONS_H

#include "bench/suite/operation_private.h"

/* Each ends with one that has no name. */
extern const operation_t collective_operations[], pair_operations[], one_sided_operations[], file_operations[];

/* Operations with counts and displacements move the same data. */
#define SHAPE(name, ...) static const shape_t name = {__VA_ARGS__};
#define TWO_SHAPES(name, name_v, ...) \
    SHAPE(name, __VA_ARGS__)          \
    SHAPE(name_v, __VA_ARGS__, .has_displacements = true)

#define NEIGHBOR_ALL_TO_ALL \
    .send = PER_DESTINATION, .receive = PER_SOURCE, .from = FROM_NEIGHBOR, .to_own = true, .has_neighbors = true

#define COMM work->plan.comm
#define SEND work->send, work->count, work->type
#define RECEIVE work->receive, work->count, work->type
#define SEND_V work->send, work->counts, work->displacements, work->type
#define RECEIVE_V work->receive, work->counts, work->displacements, work->type
#define SEND_W work->send, work->counts, work->displacements, work->types
#define RECEIVE_W work->receive, work->counts, work->displacements, work->types
#define BETWEEN work->send, work->receive
#define OF work->type, work->op

#define POINT_TO_POINT(name, exchange)                                   \
    static int exchange_##name(const work_t *work, MPI_Request *request) \
    {                                                                    \
        (void)request;                                                   \
        return work->partner < 0 ? MPI_SUCCESS : (exchange);             \
    }

/* The first of a pair. */
static inline bool leads(const work_t *work)
{
    return work->rank < work->partner;
}

/* How many messages a call has in one direction. */
static inline int messages_in_call(const work_t *work)
{
    return work->plan.operation->shape->directions > 0 ? work->messages : 1;
}

#endif
