/* SPDX-License-Identifier: BSD-3-Clause */
/* operation.c - the operations that can be tuned, and how they are called. */
#include "tune/operation.h"

const operation_t operations[] = {
    [OPERATION_ALLGATHER] = {"allgather", "Allgather", .has_blocks = true},
    [OPERATION_ALLREDUCE] = {"allreduce", "Allreduce", .is_reduction = true},
    [OPERATION_ALLTOALL] = {"alltoall", "Alltoall", .has_blocks = true},
    [OPERATION_BCAST] = {"bcast", "Bcast", .has_root = true},
    [OPERATION_GATHER] = {"gather", "Gather", .has_blocks = true, .has_root = true},
    [OPERATION_REDUCE] = {"reduce", "Reduce", .is_reduction = true, .has_root = true},
    [OPERATION_REDUCE_SCATTER] = {"reduce_scatter", "Reduce_scatter", .is_reduction = true, .has_blocks = true},
    [OPERATION_SCATTER] = {"scatter", "Scatter", .has_blocks = true, .has_root = true},
    [OPERATIONS] = {0},
};

int operation_call(const probe_call_t *call, const void *send, void *receive)
{
    int rank, count = call->count;
    MPI_Datatype type = call->type;
    MPI_Comm comm = MPI_COMM_WORLD;
    MPI_Comm_rank(comm, &rank);
    bool is_root = !operations[call->kind].has_root || rank == call->root;
    const void *from = call->is_in_place && is_root ? MPI_IN_PLACE : send;
    switch (call->kind) {
    case OPERATION_ALLGATHER:
        return MPI_Allgather(from, count, type, receive, count, type, comm);
    case OPERATION_ALLREDUCE:
        return MPI_Allreduce(from, receive, count, type, call->op, comm);
    case OPERATION_ALLTOALL:
        return MPI_Alltoall(from, count, type, receive, count, type, comm);
    case OPERATION_BCAST:
        return MPI_Bcast(receive, count, type, call->root, comm);
    case OPERATION_GATHER:
        return MPI_Gather(from, count, type, receive, count, type, call->root, comm);
    case OPERATION_REDUCE:
        return MPI_Reduce(from, receive, count, type, call->op, call->root, comm);
    case OPERATION_REDUCE_SCATTER:
        return MPI_Reduce_scatter(from, receive, call->counts, type, call->op, comm);
    case OPERATION_SCATTER:
        return MPI_Scatter(send, count, type, call->is_in_place && is_root ? MPI_IN_PLACE : receive, count, type,
                           call->root, comm);
    default:
        return MPI_ERR_ARG;
    }
}
