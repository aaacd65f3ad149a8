/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * operation_private.h - how an operation is described, and what it finds made ready.
 */
#ifndef OPERATION_PRIVATE_H
#define OPERATION_PRIVATE_H

#include "suite/arena.h"
#include "suite/elements.h"
#include "suite/operation.h"

enum { MOST_NEIGHBORS = 2 };

/* Which ranks have a buffer. */
typedef enum holders { HELD_BY_ALL, HELD_BY_ROOT, HELD_BY_FIRST, HELD_BY_SECOND, HELD_BY_FIRST_TWO } holders_t;

/* How many blocks, each a message, it has there. */
typedef enum blocks { NO_BLOCK, ONE_BLOCK, BLOCK_PER_RANK, BLOCK_PER_NEIGHBOR } blocks_t;

typedef struct extent {
    holders_t holders;
    blocks_t blocks;
} extent_t;

/* What MPI_IN_PLACE replaces. A broadcast has one buffer, so its root always contributes from the receive buffer. */
typedef enum in_place {
    IN_PLACE_NEVER,
    SEND_IN_PLACE,
    ROOT_SENDS_IN_PLACE,
    ROOT_RECEIVES_IN_PLACE,
    ROOT_SENDS_FROM_RESULT
} in_place_t;

/* How the data of an operation lie and move, whatever its form. */
typedef struct shape {
    extent_t send;
    extent_t receive;
    /* Whose values come to a block of the result; NULL: there is no result. */
    origin_t (*origin)(const work_t *work, int block);
    in_place_t in_place;
    bool in_place_at_own_block; /* contributed in place: block `rank` of the receive buffer instead of its first ones */
    bool has_root;
    bool reduces;
    bool has_displacements;      /* of elements, as int */
    bool has_byte_displacements; /* of bytes, as int */
    bool has_neighbors;
    bool takes_turns; /* the second message waits for the first */
    int least_ranks;
} shape_t;

typedef struct operation {
    const char *name;
    const char *function;
    operation_form_t form;
    const shape_t *shape;
    /* Carries it out; starts it (non-blocking), or makes the request (persistent). NULL: the MPI library has it not. */
    int (*call)(const work_t *work, MPI_Request *request);
} operation_t;

/* operation_list - all descriptions, also of what the MPI library has not; NULL after the last. */
extern const operation_t *const operation_list[];

/* What is ready for a call. Arrays have an element for each rank, and equal blocks one after the other. */
typedef struct work {
    /* Of the plan. */
    const operation_t *operation;
    MPI_Comm comm; /* that of the neighborhood where there is one */
    int rank;
    int ranks;
    MPI_Datatype type;
    MPI_Op op;
    const element_t *element;
    const reduction_t *reduction; /* NULL: it does not reduce */
    int planned_root;
    bool in_place;
    int neighbors;
    int neighbor[MOST_NEIGHBORS];
    int place_there[MOST_NEIGHBORS]; /* this rank's among that neighbor's neighbors */
    arena_t arena;
    /* Of the size. */
    int64_t size_bytes;
    int count;
    int *counts;
    int *displacements;
    int *byte_displacements;
    MPI_Aint *addresses; /* the same for neighborhoods */
    MPI_Datatype *types;
    MPI_Request *requests; /* persistent: one for each root */
    int request_count;
    /* Of the call. */
    int64_t call;
    int root;
    char *send_memory;
    char *receive_memory;
    void *send; /* as MPI gets it: that memory, or MPI_IN_PLACE */
    void *receive;
    MPI_Request *request;
} work_t;

/* work_block_count - the blocks that a rank has in an extent. */
int work_block_count(const work_t *work, const extent_t *extent);

/* work_result - where this rank's result is; *blocks: how many blocks it has. */
char *work_result(const work_t *work, int *blocks);

#endif /* OPERATION_PRIVATE_H */
