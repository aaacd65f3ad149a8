/* SPDX-License-Identifier: BSD-3-Clause */
/* planted_communicators.c - kinds of planted in which ranks wait for new communicators, and between two groups. */
#include "planted.h"

static MPI_Comm part, bridge; /* rank 0, or the others; between the two */

#define COMMUNICATOR(name, function, ...)    \
    static void name(void)                   \
    {                                        \
        MPI_Comm other = MPI_COMM_NULL;      \
        work();                              \
        CALL(function, __VA_ARGS__, &other); \
        CALL(Comm_free, &other);             \
    }
COMMUNICATOR(comm_dup, Comm_dup, world)
COMMUNICATOR(comm_split, Comm_split, world, rank / MOST_RANKS, rank)
COMMUNICATOR(comm_split_type, Comm_split_type, world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL)
COMMUNICATOR(cart_create, Cart_create, world, 1, &ranks, (int[]){1}, 0)
COMMUNICATOR(intercomm_create, Intercomm_create, part, 0, world, rank == 0 ? 1 : 0, 0)

static void comm_create(void)
{
    MPI_Comm other = MPI_COMM_NULL;
    MPI_Group group;
    CALL(Comm_group, world, &group);
    work();
    CALL(Comm_create, world, group, &other);
    CALL(Comm_free, &other);
    CALL(Group_free, &group);
}

static void comm_create_group(void)
{
    MPI_Comm other = MPI_COMM_NULL;
    MPI_Group group;
    CALL(Comm_group, world, &group);
    work();
    CALL(Comm_create_group, world, group, 0, &other);
    CALL(Comm_free, &other);
    CALL(Group_free, &group);
}

static void comm_idup(void)
{
    MPI_Comm other = MPI_COMM_NULL;
    work();
    CALL(Comm_idup, world, &other, &request);
    complete();
    CALL(Comm_free, &other);
}

static void dist_graph_create(void)
{
    MPI_Comm other = MPI_COMM_NULL;
    work();
    CALL(Dist_graph_create_adjacent, world, 1, &left, &(int){1}, 1, &right, &(int){1}, MPI_INFO_NULL, 0, &other);
    CALL(Comm_free, &other);
}

static void intercomm_merge(void)
{
    MPI_Comm between = MPI_COMM_NULL, other = MPI_COMM_NULL;
    CALL(Intercomm_create, part, 0, world, rank == 0 ? 1 : 0, 0, &between);
    work();
    CALL(Intercomm_merge, between, rank > 0, &other);
    CALL(Comm_free, &other);
    CALL(Comm_free, &between);
}

/* ---- Operations between rank 0 and the others */

static void inter_bcast(void)
{
    work();
    CALL(Bcast, in, 1, MPI_INT, rank == 0 ? MPI_ROOT : 0, bridge);
    CALL(Barrier, world);
}

static void inter_gather(void)
{
    static int many_in[MOST_RANKS];
    work();
    CALL(Gather, out, 1, MPI_INT, many_in, 1, MPI_INT, rank == 0 ? MPI_ROOT : 0, bridge);
}

BLOCKING(inter_barrier, Barrier, bridge)
BLOCKING(inter_allreduce, Allreduce, out, in, 1, MPI_INT, MPI_SUM, bridge)
NONBLOCKING(inter_iallreduce, Iallreduce, out, in, 1, MPI_INT, MPI_SUM, bridge)

static void set_up(int traits)
{
    if (!(traits & USES_PARTS))
        return;
    MPI_Comm_split(world, rank > 0, rank, &part);
    MPI_Intercomm_create(part, 0, world, rank == 0 ? 1 : 0, 0, &bridge);
}

static const kind kinds[] = {
    KIND(comm_dup, ""),
    KIND(comm_idup, ""),
    KIND(comm_split, ""),
    KIND(comm_split_type, ""),
    KIND(comm_create, "wait at N x N"),
    KIND(comm_create_group, "wait at N x N"),
    KIND(cart_create, ""),
    KIND(dist_graph_create, ""),
    KIND(intercomm_create, "wait at N x N", USES_PARTS),
    KIND(intercomm_merge, "wait at N x N", USES_PARTS),
    KIND(inter_barrier, "wait at barrier", USES_PARTS),
    KIND(inter_allreduce, "wait at N x N", USES_PARTS),
    KIND(inter_iallreduce, "wait at N x N", USES_PARTS),
    KIND(inter_bcast, "late broadcast", USES_PARTS | FIRST_LATE),
    KIND(inter_gather, "early reduce", USES_PARTS),
};
const family communicators = {.kinds = kinds, .count = sizeof kinds / sizeof kinds[0], .set_up = set_up};
