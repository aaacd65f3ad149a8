/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * operation.h - the collective operations that can be tuned, and calls of them for probes. A size is what mpix_bench
 * calls so: the bytes of a block, that one rank gives to another, or of the vector of a reduction.
 */
#ifndef TUNE_OPERATION_H
#define TUNE_OPERATION_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

typedef enum operation_kind {
    OPERATION_ALLGATHER,
    OPERATION_ALLREDUCE,
    OPERATION_ALLTOALL,
    OPERATION_BCAST,
    OPERATION_GATHER,
    OPERATION_REDUCE,
    OPERATION_REDUCE_SCATTER,
    OPERATION_SCATTER,
    OPERATIONS
} operation_kind_t;

typedef struct operation {
    const char *name; /* as mpix_bench has it */
    const char *mpi;  /* in names of MPICH's algorithms */
    bool is_reduction;
    bool has_blocks; /* one for each rank, so that the total is the block's size times the ranks */
    bool has_root;
} operation_t;

/* By kind; the last has no name. */
extern const operation_t operations[];

/* One call: so many elements in each block. */
typedef struct probe_call {
    operation_kind_t kind;
    MPI_Datatype type;
    MPI_Op op;         /* of a reduction */
    const int *counts; /* of reduce_scatter: the elements of each rank's block */
    int count;         /* of all others */
    int root;
    bool is_in_place;
} probe_call_t;

/* operation_call - call it on all processes. Returns MPI's error. */
int operation_call(const probe_call_t *call, const void *send, void *receive);

#endif
