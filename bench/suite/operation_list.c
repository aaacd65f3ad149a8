/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * operation_list.c - the operations: how their data move, and what arguments MPI's functions take.
 *
 * To add one: a shape, if none is like it, a line of description, and its place in the list below.
 */
#include "bench/suite/operation_private.h"

#include <stddef.h>
#include <string.h>

/* ---- How data move */

/* Operations with counts and displacements move the same data. */
#define SHAPE(name, ...) static const shape_t name = {__VA_ARGS__};
#define TWO_SHAPES(name, name_v, ...) \
    SHAPE(name, __VA_ARGS__)          \
    SHAPE(name_v, __VA_ARGS__, .has_displacements = true)

SHAPE(barrier, .send = 0)
SHAPE(init, .send = 0)
SHAPE(hello, .send = 0, .meets = true)
SHAPE(bcast, .send = AT_ROOT | ONE, .receive = ONE, .from = FROM_ROOT, .in_place = ROOT_SENDS_FROM_RESULT,
      .has_root = true)
SHAPE(reduce, .send = ONE, .receive = AT_ROOT | ONE, .from = FROM_ALL, .in_place = ROOT_SENDS_IN_PLACE,
      .has_root = true, .reduces = true)
SHAPE(allreduce, .send = ONE, .receive = ONE, .from = FROM_ALL, .in_place = SEND_IN_PLACE, .reduces = true)
SHAPE(scan, .send = ONE, .receive = ONE, .from = FROM_THOSE_UP_TO_OWN, .in_place = SEND_IN_PLACE, .reduces = true)
SHAPE(exscan, .send = ONE, .receive = ONE, .from = FROM_THOSE_BEFORE_OWN, .in_place = SEND_IN_PLACE, .reduces = true)
TWO_SHAPES(reduce_scatter_block, reduce_scatter, .send = PER_RANK, .receive = ONE, .from = FROM_ALL, .to_own = true,
           .in_place = SEND_IN_PLACE, .reduces = true)
TWO_SHAPES(gather, gatherv, .send = ONE, .receive = AT_ROOT | PER_RANK, .from = FROM_EACH,
           .in_place = ROOT_SENDS_IN_PLACE, .in_place_at_own_block = true, .has_root = true)
TWO_SHAPES(scatter, scatterv, .send = AT_ROOT | PER_RANK, .receive = ONE, .from = FROM_ROOT, .to_own = true,
           .in_place = ROOT_RECEIVES_IN_PLACE, .has_root = true)
TWO_SHAPES(allgather, allgatherv, .send = ONE, .receive = PER_RANK, .from = FROM_EACH, .in_place = SEND_IN_PLACE,
           .in_place_at_own_block = true)
#define ALL_TO_ALL .send = PER_RANK, .receive = PER_RANK, .from = FROM_EACH, .to_own = true, .in_place = SEND_IN_PLACE
TWO_SHAPES(alltoall, alltoallv, ALL_TO_ALL)
SHAPE(alltoallw, ALL_TO_ALL, .has_byte_displacements = true)
TWO_SHAPES(neighbor_allgather, neighbor_allgatherv, .send = ONE, .receive = PER_SOURCE, .from = FROM_NEIGHBOR,
           .has_neighbors = true)
#define NEIGHBOR_ALL_TO_ALL \
    .send = PER_DESTINATION, .receive = PER_SOURCE, .from = FROM_NEIGHBOR, .to_own = true, .has_neighbors = true
TWO_SHAPES(neighbor_alltoall, neighbor_alltoallv, NEIGHBOR_ALL_TO_ALL)
SHAPE(neighbor_alltoallw, NEIGHBOR_ALL_TO_ALL)
SHAPE(halo, NEIGHBOR_ALL_TO_ALL)

/* Composed calls have the shape of the operation that they replace. If this has no root, rank 0 is the root in between.
 * */
SHAPE(as_bcast, .send = AT_ROOT | ONE, .receive = ONE, .from = FROM_ROOT, .in_place = ROOT_SENDS_FROM_RESULT,
      .has_root = true, .has_parts = true)
SHAPE(as_reduce, .send = ONE, .receive = AT_ROOT | ONE, .scratch = ONE, .from = FROM_ALL, .has_root = true,
      .reduces = true, .has_parts = true)
SHAPE(as_allreduce, .send = ONE, .receive = ONE, .from = FROM_ALL, .reduces = true, .has_parts = true)
SHAPE(as_scan, .send = ONE, .receive = ONE, .from = FROM_THOSE_UP_TO_OWN, .reduces = true)
SHAPE(as_allgather, .send = ONE, .receive = PER_RANK, .from = FROM_EACH, .has_displacements = true, .counts_all = true)
SHAPE(as_reduce_scatter, .send = PER_RANK, .receive = ONE, .scratch = AT_ROOT | PER_RANK, .from = FROM_ALL,
      .to_own = true, .reduces = true, .has_displacements = true, .counts_all = true)

#define PAIR(give, take, blocks) .send = give | blocks, .receive = take | blocks, .from = FROM_PARTNER, .min_ranks = 2
SHAPE(latency, PAIR(AT_PAIRS, AT_PAIRS, ONE), .turns = 2)
SHAPE(latency_persistent, PAIR(AT_PAIRS, AT_PAIRS, ONE), .turns = 2, .keeps_requests = true)
SHAPE(partitioned_latency, PAIR(AT_PAIRS, AT_PAIRS, ONE), .turns = 2, .keeps_requests = true, .is_partitioned = true)
SHAPE(latency_mt, PAIR(AT_PAIRS, AT_PAIRS, PER_MESSAGE), .turns = 2, .has_threads = true)
SHAPE(latency_mp, PAIR(AT_PAIRS, AT_PAIRS, ONE), .turns = 2, .forks = true)
SHAPE(multi_lat, PAIR(AT_PAIRS, AT_PAIRS, ONE), .turns = 2, .pairs_all = true)
SHAPE(sendrecv, PAIR(AT_PAIRS, AT_PAIRS, ONE), .in_place = SEND_IN_PLACE)
SHAPE(send, PAIR(AT_LEADERS, AT_FOLLOWERS, ONE))
SHAPE(bw, PAIR(AT_LEADERS, AT_FOLLOWERS, PER_MESSAGE), .directions = 1)
SHAPE(bw_persistent, PAIR(AT_LEADERS, AT_FOLLOWERS, PER_MESSAGE), .directions = 1, .keeps_requests = true)
SHAPE(mbw_mr, PAIR(AT_LEADERS, AT_FOLLOWERS, PER_MESSAGE), .directions = 1, .has_rate = true, .pairs_all = true)
#define FAN(give, take)                                                                                    \
    .send = give, .receive = take, .from = FROM_PARTNER, .directions = 1, .pairs_all = true, .fans = true, \
    .min_ranks = 2
SHAPE(bw_fan_in, FAN(AT_FOLLOWERS | PER_MESSAGE, AT_LEADERS | PER_MESSAGE_OF_PARTNERS))
SHAPE(bw_fan_out, FAN(AT_LEADERS | PER_MESSAGE, AT_FOLLOWERS | PER_MESSAGE))
SHAPE(bibw, PAIR(AT_PAIRS, AT_PAIRS, PER_MESSAGE), .directions = 2)
SHAPE(bibw_persistent, PAIR(AT_PAIRS, AT_PAIRS, PER_MESSAGE), .directions = 2, .keeps_requests = true)

/*
 * One-sided: the first of each pair is the origin. Buffers lie alike in the memory of both, so an origin knows where
 * those of its partner are.
 */
#define ACCESS(what) .exposes = EXPOSES_##what, .pairs_all = true, .min_ranks = 2
#define ACCESS_ONE(what, provider, blocks) \
    .send = AT_PAIRS | ONE, .receive = AT_PAIRS | (blocks), .from = (provider), .turns = 1, ACCESS(what)
#define ACCESS_MANY(what, give, take) \
    .send = (give) | PER_MESSAGE, .receive = (take) | PER_MESSAGE, .from = FROM_PARTNER, ACCESS(what)
SHAPE(put_latency, ACCESS_ONE(RECEIVE, FROM_PARTNER, ONE))
SHAPE(get_latency, ACCESS_ONE(SEND, FROM_PARTNER, ONE))
SHAPE(acc_latency, ACCESS_ONE(RECEIVE, FROM_PAIR, ONE), .reduces = true)
SHAPE(get_acc_latency, ACCESS_ONE(RECEIVE, FROM_PAIR, WITH_FETCHED), .reduces = true, .fetches = true)
SHAPE(fop_latency, ACCESS_ONE(RECEIVE, FROM_PAIR, WITH_FETCHED), .reduces = true, .fetches = true,
      .has_one_element = true)
SHAPE(cas_latency, ACCESS_ONE(RECEIVE, FROM_PARTNER, WITH_FETCHED), .fetches = true, .has_one_element = true,
      .compares = true)
SHAPE(put_bw, ACCESS_MANY(RECEIVE, AT_LEADERS, AT_FOLLOWERS), .directions = 1)
SHAPE(put_bibw, ACCESS_MANY(RECEIVE, AT_PAIRS, AT_PAIRS), .directions = 2)
SHAPE(get_bw, ACCESS_MANY(SEND, AT_FOLLOWERS, AT_LEADERS), .directions = 1)
SHAPE(get_bibw, ACCESS_MANY(SEND, AT_PAIRS, AT_PAIRS), .directions = 2)
SHAPE(get_mbw, ACCESS_MANY(SEND, AT_FOLLOWERS, AT_LEADERS), .directions = 1, .has_rate = true)

/* Of several memories, which lie alike: rank 0 accesses those of all others, each rank does, or those of neighbors. */
#define ACCESS_ALL(what, ...) .exposes = EXPOSES_##what, .reaches_all = true, .min_ranks = 2, __VA_ARGS__
SHAPE(one_put_all, ACCESS_ALL(RECEIVE, .send = ONE, .receive = ONE, .from = FROM_ROOT, .is_from_one = true))
SHAPE(one_get_all, ACCESS_ALL(SEND, .send = ONE, .receive = PER_RANK, .from = FROM_EACH, .is_from_one = true))
SHAPE(all_put_all, ACCESS_ALL(RECEIVE, .send = ONE, .receive = PER_RANK, .from = FROM_EACH))
SHAPE(all_get_all, ACCESS_ALL(SEND, .send = ONE, .receive = PER_RANK, .from = FROM_EACH))
SHAPE(put_to_neighbors, ACCESS_ALL(RECEIVE, NEIGHBOR_ALL_TO_ALL))
SHAPE(get_from_neighbors, ACCESS_ALL(SEND, NEIGHBOR_ALL_TO_ALL))
/* Each call makes a window, in which a rank accesses its own memory. Open MPI 4 makes none for one rank. */
SHAPE(window, .send = ONE, .receive = ONE, .from = FROM_SELF, .makes_window = true, .min_ranks = 2)

/* Files: what is written is read again to be checked, what is read was written before. */
#define ACCESS_FILE(ranks, ...) \
    .send = (ranks) | ONE, .receive = (ranks) | ONE, .from = FROM_SELF, .directions = 1, .access = {__VA_ARGS__}
#define WRITE_AND_READ(name, ...)                                 \
    SHAPE(name##_write, ACCESS_FILE(__VA_ARGS__), .writes = true) \
    SHAPE(name##_read, ACCESS_FILE(__VA_ARGS__))
WRITE_AND_READ(alone_indv, AT_ROOT, BY_OWN_POINTER, ONE_USES_IT)
WRITE_AND_READ(alone_expl, AT_ROOT, BY_OFFSET, ONE_USES_IT)
WRITE_AND_READ(all_indv, 0, BY_OWN_POINTER, ALL_USE_ONE)
WRITE_AND_READ(all_expl, 0, BY_OFFSET, ALL_USE_ONE)
WRITE_AND_READ(all_shared, 0, BY_SHARED_POINTER, ALL_USE_ONE)
WRITE_AND_READ(all_priv, 0, BY_OWN_POINTER, ALL_HAVE_OWN)
WRITE_AND_READ(together_indv, 0, BY_OWN_POINTER, ALL_USE_ONE, .is_collective = true)
WRITE_AND_READ(together_expl, 0, BY_OFFSET, ALL_USE_ONE, .is_collective = true)
WRITE_AND_READ(together_shared, 0, BY_SHARED_POINTER, ALL_USE_ONE, .is_collective = true)
#define START_TO_WRITE_AND_READ(name, ...) WRITE_AND_READ(name##_start, __VA_ARGS__, .is_nonblocking = true)
START_TO_WRITE_AND_READ(alone_indv, AT_ROOT, BY_OWN_POINTER, ONE_USES_IT)
START_TO_WRITE_AND_READ(alone_expl, AT_ROOT, BY_OFFSET, ONE_USES_IT)
START_TO_WRITE_AND_READ(all_indv, 0, BY_OWN_POINTER, ALL_USE_ONE)
START_TO_WRITE_AND_READ(all_expl, 0, BY_OFFSET, ALL_USE_ONE)
START_TO_WRITE_AND_READ(all_shared, 0, BY_SHARED_POINTER, ALL_USE_ONE)
START_TO_WRITE_AND_READ(all_priv, 0, BY_OWN_POINTER, ALL_HAVE_OWN)
START_TO_WRITE_AND_READ(together_indv, 0, BY_OWN_POINTER, ALL_USE_ONE, .is_collective = true)
START_TO_WRITE_AND_READ(together_expl, 0, BY_OFFSET, ALL_USE_ONE, .is_collective = true)
START_TO_WRITE_AND_READ(together_shared, 0, BY_SHARED_POINTER, ALL_USE_ONE, .is_collective = true)
SHAPE(open_close, .send = 0, .access = {BY_OFFSET, ALL_USE_ONE})

/* ---- Collective operations, each in three forms */

#if SUITE_HAS_PERSISTENT
#define PERSISTENT_CALL(name) make_##name
#define PERSISTENT(name, Name, ...)                                    \
    static int make_##name(const work_t *work, MPI_Request *request)   \
    {                                                                  \
        return MPI_##Name##_init(__VA_ARGS__, MPI_INFO_NULL, request); \
    }
#else
#define PERSISTENT_CALL(name) NULL
#define PERSISTENT(name, Name, ...)
#endif
#define COLLECTIVE(name, Name, Iname, ...)                            \
    static int call_##name(const work_t *work, MPI_Request *request)  \
    {                                                                 \
        (void)request;                                                \
        return MPI_##Name(__VA_ARGS__);                               \
    }                                                                 \
    static int start_##name(const work_t *work, MPI_Request *request) \
    {                                                                 \
        return MPI_##Iname(__VA_ARGS__, request);                     \
    }                                                                 \
    PERSISTENT(name, Name, __VA_ARGS__)

#define COMM work->plan.comm
#define SEND work->send, work->count, work->type
#define RECEIVE work->receive, work->count, work->type
#define SEND_V work->send, work->counts, work->displacements, work->type
#define RECEIVE_V work->receive, work->counts, work->displacements, work->type
#define SEND_W work->send, work->counts, work->displacements, work->types
#define RECEIVE_W work->receive, work->counts, work->displacements, work->types
#define BETWEEN work->send, work->receive
#define OF work->type, work->op

/* What MPI's functions take, but for what differs between the forms. */
#define EACH_GLOBAL(X)                                                                                   \
    X(allgather, Allgather, Iallgather, SEND, RECEIVE, COMM)                                             \
    X(allgatherv, Allgatherv, Iallgatherv, SEND, RECEIVE_V, COMM)                                        \
    X(allreduce, Allreduce, Iallreduce, BETWEEN, work->count, OF, COMM)                                  \
    X(alltoall, Alltoall, Ialltoall, SEND, RECEIVE, COMM)                                                \
    X(alltoallv, Alltoallv, Ialltoallv, SEND_V, RECEIVE_V, COMM)                                         \
    X(alltoallw, Alltoallw, Ialltoallw, SEND_W, RECEIVE_W, COMM)                                         \
    X(barrier, Barrier, Ibarrier, COMM)                                                                  \
    X(bcast, Bcast, Ibcast, RECEIVE, work->root, COMM)                                                   \
    X(exscan, Exscan, Iexscan, BETWEEN, work->count, OF, COMM)                                           \
    X(gather, Gather, Igather, SEND, RECEIVE, work->root, COMM)                                          \
    X(gatherv, Gatherv, Igatherv, SEND, RECEIVE_V, work->root, COMM)                                     \
    X(reduce, Reduce, Ireduce, BETWEEN, work->count, OF, work->root, COMM)                               \
    X(reduce_scatter, Reduce_scatter, Ireduce_scatter, BETWEEN, work->counts, OF, COMM)                  \
    X(reduce_scatter_block, Reduce_scatter_block, Ireduce_scatter_block, BETWEEN, work->count, OF, COMM) \
    X(scan, Scan, Iscan, BETWEEN, work->count, OF, COMM)                                                 \
    X(scatter, Scatter, Iscatter, SEND, RECEIVE, work->root, COMM)                                       \
    X(scatterv, Scatterv, Iscatterv, SEND_V, RECEIVE, work->root, COMM)

#define EACH_NEIGHBORHOOD(X)                                                                                  \
    X(neighbor_allgather, Neighbor_allgather, Ineighbor_allgather, SEND, RECEIVE, COMM)                       \
    X(neighbor_allgatherv, Neighbor_allgatherv, Ineighbor_allgatherv, SEND, RECEIVE_V, COMM)                  \
    X(neighbor_alltoall, Neighbor_alltoall, Ineighbor_alltoall, SEND, RECEIVE, COMM)                          \
    X(neighbor_alltoallv, Neighbor_alltoallv, Ineighbor_alltoallv, SEND_V, RECEIVE_V, COMM)                   \
    X(neighbor_alltoallw, Neighbor_alltoallw, Ineighbor_alltoallw, work->send, work->counts, work->addresses, \
      work->types, work->receive, work->counts, work->addresses, work->types, COMM)

EACH_GLOBAL(COLLECTIVE)
EACH_NEIGHBORHOOD(COLLECTIVE)

/* ---- The same by several threads of each rank, those of the same number together */

#define MEMBERS(name, ...) SHAPE(name##_mt, .has_threads = true, .member = call_##name, __VA_ARGS__)
MEMBERS(barrier, .send = 0)
MEMBERS(bcast, .send = AT_ROOT | PER_MESSAGE, .receive = PER_MESSAGE, .from = FROM_ROOT,
        .in_place = ROOT_SENDS_FROM_RESULT, .has_root = true)
MEMBERS(reduce, .send = PER_MESSAGE, .receive = AT_ROOT | PER_MESSAGE, .from = FROM_ALL, .has_root = true,
        .reduces = true)
MEMBERS(allreduce, .send = PER_MESSAGE, .receive = PER_MESSAGE, .from = FROM_ALL, .reduces = true)

int call_member(const void *of, int thread)
{
    const work_t *work = of;
    work_t *member = &work->members[thread];
    member->root = work->root;
    member->send = work->send_memory + thread * work->size_bytes;
    member->receive = work->receive_memory + thread * work->size_bytes;
    return work->plan.operation->shape->member(member, NULL);
}

static int call_members(const work_t *work, MPI_Request *request)
{
    (void)request;
    return threads_call(work->threads);
}

/* ---- Composed of two blocking calls, as a program could do itself */

/* Messages that cannot be cut into equal parts take the functions with counts. */
static bool has_equal_parts(const work_t *work)
{
    return work->count % work->ranks == 0;
}

/* This rank's part of the message in the receive buffer. */
static void *own_part(const work_t *work)
{
    return work->receive_memory + (int64_t)work->displacements[work->rank] * work->plan.element->bytes;
}

#define OWN_PART work->rank == work->root ? MPI_IN_PLACE : own_part(work), work->counts[work->rank], work->type
#define EQUAL_PARTS work->receive, work->count / work->ranks, work->type

static int scatter_parts(const work_t *work)
{
    return has_equal_parts(work) ? MPI_Scatter(EQUAL_PARTS, OWN_PART, work->root, COMM)
                                 : MPI_Scatterv(RECEIVE_V, OWN_PART, work->root, COMM);
}

static int gather_parts(const work_t *work)
{
    return has_equal_parts(work) ? MPI_Gather(OWN_PART, EQUAL_PARTS, work->root, COMM)
                                 : MPI_Gatherv(OWN_PART, RECEIVE_V, work->root, COMM);
}

static int allgather_parts(const work_t *work)
{
    return has_equal_parts(work) ? MPI_Allgather(MPI_IN_PLACE, 0, work->type, EQUAL_PARTS, COMM)
                                 : MPI_Allgatherv(MPI_IN_PLACE, 0, work->type, RECEIVE_V, COMM);
}

static int reduce_scatter_parts(const work_t *work)
{
    return has_equal_parts(work)
               ? MPI_Reduce_scatter_block(work->send, own_part(work), work->counts[work->rank], OF, COMM)
               : MPI_Reduce_scatter(work->send, own_part(work), work->counts, OF, COMM);
}

/* Nobody is before rank 0, whose result is its own contribution. */
static int add_own(const work_t *work)
{
    if (work->rank > 0)
        return MPI_Reduce_local(BETWEEN, work->count, OF);
    memcpy(work->receive, work->send, (size_t)work->size_bytes);
    return MPI_SUCCESS;
}

static int bcast_blocks(const work_t *work)
{
    return MPI_Bcast(work->receive, work->count * work->ranks, work->type, work->root, COMM);
}

static int reduce_blocks(const work_t *work)
{
    return MPI_Reduce(BETWEEN, work->count * work->ranks, OF, work->root, COMM);
}

#define OWN_BLOCK work->rank == work->root ? MPI_IN_PLACE : work->receive, work->count, work->type

#define COMPOSED(identifier, first, second)                                   \
    static int compose_##identifier(const work_t *work, MPI_Request *request) \
    {                                                                         \
        (void)request;                                                        \
        int code = first;                                                     \
        return code == MPI_SUCCESS ? second : code;                           \
    }

COMPOSED(exscan_reduce_local, MPI_Exscan(BETWEEN, work->count, OF, COMM), add_own(work))
COMPOSED(gather_bcast, MPI_Gather(SEND, RECEIVE, work->root, COMM), bcast_blocks(work))
COMPOSED(gatherv_bcast, MPI_Gatherv(SEND, RECEIVE_V, work->root, COMM), bcast_blocks(work))
COMPOSED(reduce_bcast, MPI_Reduce(BETWEEN, work->count, OF, work->root, COMM), MPI_Bcast(RECEIVE, work->root, COMM))
COMPOSED(reduce_scatter, reduce_blocks(work), MPI_Scatter(RECEIVE, OWN_BLOCK, work->root, COMM))
COMPOSED(reduce_scatterv, reduce_blocks(work), MPI_Scatterv(RECEIVE_V, OWN_BLOCK, work->root, COMM))
COMPOSED(reduce_scatter_block_allgather, reduce_scatter_parts(work), allgather_parts(work))
COMPOSED(reduce_scatter_block_gather, reduce_scatter_parts(work), gather_parts(work))
COMPOSED(scatter_allgather, scatter_parts(work), allgather_parts(work))

/* ---- Between pairs of ranks */

enum { TAG = 1 };

#define TO work->send, work->count, work->type, work->partner, TAG, work->plan.comm
#define FROM work->receive, work->count, work->type, work->partner, TAG, work->plan.comm

static bool leads(const work_t *work)
{
    return work->rank < work->partner;
}

/* Each of both sends in its turn, with one kind of send. */
static int play(const work_t *work, int (*give)(const work_t *work))
{
    int code = leads(work) ? give(work) : MPI_SUCCESS;
    if (code == MPI_SUCCESS)
        code = MPI_Recv(FROM, MPI_STATUS_IGNORE);
    return code == MPI_SUCCESS && !leads(work) ? give(work) : code;
}

static int send_standard(const work_t *work)
{
    return MPI_Send(TO);
}

static int send_synchronous(const work_t *work)
{
    return MPI_Ssend(TO);
}

static int send_nonblocking(const work_t *work)
{
    MPI_Request request;
    int code = MPI_Isend(TO, &request);
    return code != MPI_SUCCESS ? code : MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static int partner_at(const work_t *work, int place)
{
    return work->partner + place * work->stride;
}

/* The messages of each partner have buffers of their own. */
static int receive_many(const work_t *work, int *count)
{
    int code = MPI_SUCCESS;
    for (int i = 0; i < work->messages; i++)
        for (int k = 0; code == MPI_SUCCESS && k < work->partners; k++)
            code = MPI_Irecv((char *)work->receive + ((int64_t)k * work->messages + i) * work->size_bytes, work->count,
                             work->type, partner_at(work, k), TAG, work->plan.comm, &work->requests[(*count)++]);
    return code;
}

/* All partners get the same. */
static int send_many(const work_t *work, int *count)
{
    int code = MPI_SUCCESS;
    for (int i = 0; i < work->messages; i++)
        for (int k = 0; code == MPI_SUCCESS && k < work->partners; k++)
            code = MPI_Isend((char *)work->send + i * work->size_bytes, work->count, work->type, partner_at(work, k),
                             TAG, work->plan.comm, &work->requests[(*count)++]);
    return code;
}

/* An answer to all messages of a sender, who does not know when the last one has arrived. */
static int answer(const work_t *work, bool gives)
{
    int code = MPI_SUCCESS;
    for (int k = 0; code == MPI_SUCCESS && k < work->partners; k++)
        code = gives ? MPI_Recv(NULL, 0, MPI_BYTE, partner_at(work, k), TAG, work->plan.comm, MPI_STATUS_IGNORE)
                     : MPI_Send(NULL, 0, MPI_BYTE, partner_at(work, k), TAG, work->plan.comm);
    return code;
}

/* One of the messages of threads. If one thread sends, any of the other rank's may receive what comes next. */
static int exchange_part(const work_t *work, int message)
{
    char *give = (char *)work->send + message * work->size_bytes;
    char *take = (char *)work->receive + message * work->size_bytes;
    int tag = work->plan.senders == 1 ? TAG : TAG + message;
    int code = leads(work) ? MPI_Send(give, work->count, work->type, work->partner, tag, COMM) : MPI_SUCCESS;
    if (code == MPI_SUCCESS)
        code = MPI_Recv(take, work->count, work->type, work->partner, tag, COMM, MPI_STATUS_IGNORE);
    if (code == MPI_SUCCESS && !leads(work))
        code = MPI_Send(give, work->count, work->type, work->partner, tag, COMM);
    return code;
}

int exchange_parts(const void *of, int thread)
{
    const work_t *work = of;
    int code = MPI_SUCCESS;
    for (int i = thread; code == MPI_SUCCESS && i < work->messages; i += work->own_threads)
        code = exchange_part(work, i);
    return code;
}

/* Many messages at once. */
static int flood(const work_t *work, bool gives, bool takes)
{
    int count = 0, code = takes ? receive_many(work, &count) : MPI_SUCCESS;
    if (code == MPI_SUCCESS && gives)
        code = send_many(work, &count);
    if (code == MPI_SUCCESS)
        code = MPI_Waitall(count, work->requests, work->statuses);
    return code != MPI_SUCCESS || (gives && takes) ? code : answer(work, gives);
}

/* How many messages a call has in one direction. */
static int messages_in_call(const work_t *work)
{
    return work->plan.operation->shape->directions > 0 ? work->messages : 1;
}

/* Of a message in partitions, all of which this rank has at once: the time is that of the messages alone. */
#if SUITE_HAS_PARTITIONED
static int partitioned_requests(const work_t *work)
{
    int elements = work->count / work->partitions;
    int code = MPI_Psend_init(work->send, work->partitions, elements, work->type, work->partner, TAG, work->plan.comm,
                              MPI_INFO_NULL, &work->requests[1]);
    return code != MPI_SUCCESS ? code
                               : MPI_Precv_init(work->receive, work->partitions, elements, work->type, work->partner,
                                                TAG, work->plan.comm, MPI_INFO_NULL, &work->requests[0]);
}

static int send_partitions(const work_t *work)
{
    int code = MPI_Start(&work->requests[1]);
    for (int i = 0; code == MPI_SUCCESS && i < work->partitions; i++)
        code = MPI_Pready(i, work->requests[1]);
    return code == MPI_SUCCESS ? MPI_Wait(&work->requests[1], MPI_STATUS_IGNORE) : code;
}
#else
static int partitioned_requests(const work_t *work)
{
    (void)work;
    return MPI_ERR_OTHER;
}
#endif

int pair_requests(const work_t *work)
{
    int count = messages_in_call(work), code = MPI_SUCCESS;
    if (work->plan.operation->shape->is_partitioned)
        return partitioned_requests(work);
    for (int i = 0; code == MPI_SUCCESS && i < count; i++)
        code = MPI_Recv_init((char *)work->receive + i * work->size_bytes, work->count, work->type, work->partner, TAG,
                             work->plan.comm, &work->requests[i]);
    for (int i = 0; code == MPI_SUCCESS && i < count; i++)
        code = MPI_Send_init((char *)work->send + i * work->size_bytes, work->count, work->type, work->partner, TAG,
                             work->plan.comm, &work->requests[count + i]);
    return code;
}

static int send_and_receive(const work_t *work)
{
    if (work->send == MPI_IN_PLACE)
        return MPI_Sendrecv_replace(RECEIVE, work->partner, TAG, work->partner, TAG, COMM, MPI_STATUS_IGNORE);
    return MPI_Sendrecv(SEND, work->partner, TAG, FROM, MPI_STATUS_IGNORE);
}

/* Starts and completes persistent requests: those to the partner, or those from it. */
static int pass(const work_t *work, int first, int count)
{
    int code = MPI_Startall(count, work->requests + first);
    return code == MPI_SUCCESS ? MPI_Waitall(count, work->requests + first, work->statuses) : code;
}

static int send_persistent(const work_t *work)
{
    return pass(work, 1, 1);
}

/* As play, with a request for each direction. */
static int play_persistent(const work_t *work, int (*give)(const work_t *work))
{
    int code = leads(work) ? give(work) : MPI_SUCCESS;
    if (code == MPI_SUCCESS)
        code = pass(work, 0, 1);
    return code == MPI_SUCCESS && !leads(work) ? give(work) : code;
}

/* As flood. In both directions all are under way at once. */
static int flood_persistent(const work_t *work, bool gives, bool takes)
{
    int count = work->messages;
    int code = pass(work, takes ? 0 : count, gives && takes ? 2 * count : count);
    return code != MPI_SUCCESS || (gives && takes) ? code : answer(work, gives);
}

#define POINT_TO_POINT(name, exchange)                                   \
    static int exchange_##name(const work_t *work, MPI_Request *request) \
    {                                                                    \
        (void)request;                                                   \
        return work->partner < 0 ? MPI_SUCCESS : (exchange);             \
    }

POINT_TO_POINT(latency, play(work, send_standard))
POINT_TO_POINT(latency_ssend, play(work, send_synchronous))
POINT_TO_POINT(latency_isend, play(work, send_nonblocking))
POINT_TO_POINT(latency_persistent, play_persistent(work, send_persistent))
#if SUITE_HAS_PARTITIONED
#define PARTITIONED_CALL exchange_partitioned_latency
POINT_TO_POINT(partitioned_latency, play_persistent(work, send_partitions))
#else
#define PARTITIONED_CALL NULL
#endif
POINT_TO_POINT(bw_persistent, flood_persistent(work, leads(work), !leads(work)))
POINT_TO_POINT(bibw_persistent, flood_persistent(work, true, true))
POINT_TO_POINT(bw, flood(work, leads(work), !leads(work)))
POINT_TO_POINT(latency_mt, threads_call(work->threads))
POINT_TO_POINT(bw_fan_in, flood(work, !leads(work), leads(work)))
POINT_TO_POINT(bibw, flood(work, true, true))
POINT_TO_POINT(sendrecv, send_and_receive(work))
POINT_TO_POINT(send, leads(work) ? MPI_Send(TO) : MPI_Recv(FROM, MPI_STATUS_IGNORE))

/* What neighbor_alltoall does, as programs do it themselves. */
static int exchange_halo(const work_t *work, MPI_Request *request)
{
    const neighbors_t *neighbors = &work->neighbors;
    int count = 0, code = MPI_SUCCESS;
    (void)request;
    for (int i = 0; code == MPI_SUCCESS && i < neighbors->sources; i++)
        code = MPI_Irecv((char *)work->receive + i * work->size_bytes, work->count, work->type, neighbors->source[i],
                         TAG, COMM, &work->requests[count++]);
    for (int i = 0; code == MPI_SUCCESS && i < neighbors->destinations; i++)
        code = MPI_Isend((char *)work->send + i * work->size_bytes, work->count, work->type, neighbors->destination[i],
                         TAG, COMM, &work->requests[count++]);
    return code == MPI_SUCCESS ? MPI_Waitall(count, work->requests, work->statuses) : code;
}

/* ---- One-sided */

/* Where the memory begins that another rank exposes in this call. base: of all its memory */
static MPI_Aint place_from(const work_t *work, MPI_Aint base)
{
    const shape_t *shape = work->plan.operation->shape;
    bool both_send = shape->reaches_all || (shape->send & AT_PAIRS) == AT_PAIRS;
    bool follows_send = shape->exposes == EXPOSES_RECEIVE && both_send;
    return base + (work->send_memory - work->arena.memory) + (follows_send ? work->arena.send_bytes : 0);
}

static MPI_Aint place_there(const work_t *work)
{
    return place_from(work, work->window.base);
}

/* What follows the place in the arguments of MPI's functions. */
#define THERE(place) work->partner, place, work->count, work->type
#define FETCHED (char *)work->receive + work->size_bytes

static int put(const work_t *work, int64_t before_bytes)
{
    return MPI_Put((char *)work->send + before_bytes, work->count, work->type,
                   THERE(place_there(work) + (MPI_Aint)before_bytes), work->window.win);
}

static int get(const work_t *work, int64_t before_bytes)
{
    return MPI_Get((char *)work->receive + before_bytes, work->count, work->type,
                   THERE(place_there(work) + (MPI_Aint)before_bytes), work->window.win);
}

static int accumulate(const work_t *work, int64_t before_bytes)
{
    (void)before_bytes;
    return MPI_Accumulate(SEND, THERE(place_there(work)), work->op, work->window.win);
}

static int get_accumulate(const work_t *work, int64_t before_bytes)
{
    (void)before_bytes;
    return MPI_Get_accumulate(SEND, FETCHED, work->count, work->type, THERE(place_there(work)), work->op,
                              work->window.win);
}

static int fetch_and_op(const work_t *work, int64_t before_bytes)
{
    (void)before_bytes;
    return MPI_Fetch_and_op(work->send, FETCHED, work->type, work->partner, place_there(work), work->op,
                            work->window.win);
}

static int compare_and_swap(const work_t *work, int64_t before_bytes)
{
    (void)before_bytes;
    return MPI_Compare_and_swap(work->send, work->expected, FETCHED, work->type, work->partner, place_there(work),
                                work->window.win);
}

typedef int (*transfer_t)(const work_t *work, int64_t before_bytes);

/* Accesses of some, as many as go at once. */
static int access_once(const work_t *work, transfer_t transfer, bool is_origin, bool is_target, bool continues)
{
    int count = messages_in_call(work);
    int code = window_begin(&work->window, is_origin, is_target, continues);
    for (int i = 0; is_origin && code == MPI_SUCCESS && i < count; i++)
        code = transfer(work, i * work->size_bytes);
    return code == MPI_SUCCESS ? window_end(&work->window, is_origin, is_target) : code;
}

static int access_partner(const work_t *work, transfer_t transfer)
{
    const operation_t *operation = work->plan.operation;
    bool both = operation->shape->directions == 2;
    int code = access_once(work, transfer, both || leads(work), both || !leads(work), false);
    if (code == MPI_SUCCESS && operation_turns(operation, work->plan.synchronization) == 2)
        code = access_once(work, transfer, !leads(work), leads(work), true);
    return code;
}

POINT_TO_POINT(put, access_partner(work, put))
POINT_TO_POINT(get, access_partner(work, get))
POINT_TO_POINT(accumulate, access_partner(work, accumulate))
POINT_TO_POINT(get_accumulate, access_partner(work, get_accumulate))
POINT_TO_POINT(fetch_and_op, access_partner(work, fetch_and_op))
POINT_TO_POINT(compare_and_swap, access_partner(work, compare_and_swap))

/* A block of this rank, of the buffer that others do not access, and one of another rank's. */
static int access_block(const work_t *work, int block, int target, int block_there)
{
    const MPI_Aint place = place_from(work, work->window.bases[target]) + (MPI_Aint)(block_there * work->size_bytes);
    if (work->plan.operation->shape->exposes == EXPOSES_RECEIVE)
        return MPI_Put((char *)work->send + block * work->size_bytes, work->count, work->type, target, place,
                       work->count, work->type, work->window.win);
    return MPI_Get((char *)work->receive + block * work->size_bytes, work->count, work->type, target, place,
                   work->count, work->type, work->window.win);
}

/* What one puts has its place with the target, and what it gets has it here. Neighbors of grids are both. */
static int access_all(const work_t *work, MPI_Request *request)
{
    const shape_t *shape = work->plan.operation->shape;
    const neighbors_t *neighbors = &work->neighbors;
    bool puts = shape->exposes == EXPOSES_RECEIVE, is_origin = work->window.is_first;
    (void)request;
    int code = window_begin(&work->window, is_origin, true, false);
    for (int i = 0; is_origin && shape->has_neighbors && code == MPI_SUCCESS && i < neighbors->sources; i++)
        code = access_block(work, i, neighbors->source[i], neighbors->place_there[i]);
    for (int i = 1; is_origin && !shape->has_neighbors && code == MPI_SUCCESS && i < work->ranks; i++) {
        int target = (work->rank + i) % work->ranks;
        bool has_place = puts && shape->from == FROM_EACH;
        code = access_block(work, puts ? 0 : target, target, has_place ? work->rank : 0);
    }
    return code == MPI_SUCCESS ? window_end(&work->window, is_origin, true) : code;
}

static int access_new_window(const work_t *work, MPI_Request *request)
{
    MPI_Win win;
    (void)request;
    int code = MPI_Win_create(work->receive, (MPI_Aint)work->size_bytes, 1, MPI_INFO_NULL, COMM, &win);
    if (code == MPI_SUCCESS)
        code = MPI_Win_fence(0, win);
    if (code == MPI_SUCCESS && work->count > 0)
        code = MPI_Put(SEND, work->rank, 0, work->count, work->type, win);
    if (code == MPI_SUCCESS)
        code = MPI_Win_fence(0, win);
    return code == MPI_SUCCESS ? MPI_Win_free(&win) : code;
}

/* ---- Files */

static int access_file(const work_t *work, MPI_Request *request)
{
    (void)request;
    return work->plan.operation->shape->writes
               ? storage_write(&work->storage, &(storage_block_t){SEND, work->size_bytes}, work->plan.sync)
               : storage_read(&work->storage, &(storage_block_t){RECEIVE, work->size_bytes});
}

static int start_access(const work_t *work, MPI_Request *request)
{
    return work->plan.operation->shape->writes
               ? storage_start_write(&work->storage, &(storage_block_t){SEND, work->size_bytes}, request)
               : storage_start_read(&work->storage, &(storage_block_t){RECEIVE, work->size_bytes}, request);
}

static int reopen_file(const work_t *work, MPI_Request *request)
{
    (void)request;
    return storage_reopen(&work->storage);
}

/* ---- The start, which has passed */

static int do_nothing(const work_t *work, MPI_Request *request)
{
    (void)work;
    (void)request;
    return MPI_SUCCESS;
}

/* ---- The list */

#define BLOCKING(name, Name, ...) {#name, "MPI_" #Name, FORM_BLOCKING, &name, call_##name},
#define NONBLOCKING(name, Name, Iname, ...) {"i" #name, "MPI_" #Iname, FORM_NONBLOCKING, &name, start_##name},
#define PERSISTING(name, Name, ...) \
    {#name "_persistent", "MPI_" #Name "_init", FORM_PERSISTENT, &name, PERSISTENT_CALL(name)},

/* A composed one has the shape of the operation that does the same in one call. */
static const operation_t operation_list[] = {
    /* clang-format off */
    EACH_GLOBAL(BLOCKING)
    EACH_GLOBAL(NONBLOCKING)
    EACH_GLOBAL(PERSISTING)
    EACH_NEIGHBORHOOD(BLOCKING)
    EACH_NEIGHBORHOOD(NONBLOCKING)
    EACH_NEIGHBORHOOD(PERSISTING)
    /* clang-format on */
    {"exscan+reduce_local", "MPI_Exscan, MPI_Reduce_local", FORM_COMPOSED, &as_scan, compose_exscan_reduce_local},
    {"gather+bcast", "MPI_Gather, MPI_Bcast", FORM_COMPOSED, &as_allgather, compose_gather_bcast},
    {"gatherv+bcast", "MPI_Gatherv, MPI_Bcast", FORM_COMPOSED, &as_allgather, compose_gatherv_bcast},
    {"reduce+bcast", "MPI_Reduce, MPI_Bcast", FORM_COMPOSED, &as_allreduce, compose_reduce_bcast},
    {"reduce+scatter", "MPI_Reduce, MPI_Scatter", FORM_COMPOSED, &as_reduce_scatter, compose_reduce_scatter},
    {"reduce+scatterv", "MPI_Reduce, MPI_Scatterv", FORM_COMPOSED, &as_reduce_scatter, compose_reduce_scatterv},
    {"reduce_scatter_block+allgather", "MPI_Reduce_scatter_block, MPI_Allgather", FORM_COMPOSED, &as_allreduce,
     compose_reduce_scatter_block_allgather},
    {"reduce_scatter_block+gather", "MPI_Reduce_scatter_block, MPI_Gather", FORM_COMPOSED, &as_reduce,
     compose_reduce_scatter_block_gather},
    {"scatter+allgather", "MPI_Scatter, MPI_Allgather", FORM_COMPOSED, &as_bcast, compose_scatter_allgather},
    {"latency", "MPI_Send", FORM_POINT_TO_POINT, &latency, exchange_latency},
    {"latency_ssend", "MPI_Ssend", FORM_POINT_TO_POINT, &latency, exchange_latency_ssend},
    {"latency_isend", "MPI_Isend", FORM_POINT_TO_POINT, &latency, exchange_latency_isend},
    {"latency_persistent", "MPI_Send_init", FORM_POINT_TO_POINT, &latency_persistent, exchange_latency_persistent},
    {"partitioned_latency", "MPI_Psend_init", FORM_POINT_TO_POINT, &partitioned_latency, PARTITIONED_CALL},
    {"latency_mt", "MPI_Send", FORM_POINT_TO_POINT, &latency_mt, exchange_latency_mt},
    {"barrier_mt", "MPI_Barrier", FORM_BLOCKING, &barrier_mt, call_members},
    {"bcast_mt", "MPI_Bcast", FORM_BLOCKING, &bcast_mt, call_members},
    {"reduce_mt", "MPI_Reduce", FORM_BLOCKING, &reduce_mt, call_members},
    {"allreduce_mt", "MPI_Allreduce", FORM_BLOCKING, &allreduce_mt, call_members},
    {"latency_mp", "MPI_Send", FORM_POINT_TO_POINT, &latency_mp, exchange_latency},
    {"multi_lat", "MPI_Send", FORM_POINT_TO_POINT, &multi_lat, exchange_latency},
    {"bw", "MPI_Isend", FORM_POINT_TO_POINT, &bw, exchange_bw},
    {"bibw", "MPI_Isend", FORM_POINT_TO_POINT, &bibw, exchange_bibw},
    {"bw_persistent", "MPI_Send_init", FORM_POINT_TO_POINT, &bw_persistent, exchange_bw_persistent},
    {"bibw_persistent", "MPI_Send_init", FORM_POINT_TO_POINT, &bibw_persistent, exchange_bibw_persistent},
    {"mbw_mr", "MPI_Isend", FORM_POINT_TO_POINT, &mbw_mr, exchange_bw},
    {"bw_fan_in", "MPI_Isend", FORM_POINT_TO_POINT, &bw_fan_in, exchange_bw_fan_in},
    {"bw_fan_out", "MPI_Isend", FORM_POINT_TO_POINT, &bw_fan_out, exchange_bw},
    {"sendrecv", "MPI_Sendrecv", FORM_POINT_TO_POINT, &sendrecv, exchange_sendrecv},
    {"send", "MPI_Send", FORM_POINT_TO_POINT, &send, exchange_send},
    {"halo", "MPI_Isend", FORM_POINT_TO_POINT, &halo, exchange_halo},
    {"put_latency", "MPI_Put", FORM_ONE_SIDED, &put_latency, exchange_put},
    {"get_latency", "MPI_Get", FORM_ONE_SIDED, &get_latency, exchange_get},
    {"get_multi_lat", "MPI_Get", FORM_ONE_SIDED, &get_latency, exchange_get},
    {"acc_latency", "MPI_Accumulate", FORM_ONE_SIDED, &acc_latency, exchange_accumulate},
    {"get_acc_latency", "MPI_Get_accumulate", FORM_ONE_SIDED, &get_acc_latency, exchange_get_accumulate},
    {"fop_latency", "MPI_Fetch_and_op", FORM_ONE_SIDED, &fop_latency, exchange_fetch_and_op},
    {"cas_latency", "MPI_Compare_and_swap", FORM_ONE_SIDED, &cas_latency, exchange_compare_and_swap},
    {"put_bw", "MPI_Put", FORM_ONE_SIDED, &put_bw, exchange_put},
    {"put_bibw", "MPI_Put", FORM_ONE_SIDED, &put_bibw, exchange_put},
    {"get_bw", "MPI_Get", FORM_ONE_SIDED, &get_bw, exchange_get},
    {"get_mbw", "MPI_Get", FORM_ONE_SIDED, &get_mbw, exchange_get},
    {"get_bibw", "MPI_Get", FORM_ONE_SIDED, &get_bibw, exchange_get},
    {"one_put_all", "MPI_Put", FORM_ONE_SIDED, &one_put_all, access_all},
    {"one_get_all", "MPI_Get", FORM_ONE_SIDED, &one_get_all, access_all},
    {"all_put_all", "MPI_Put", FORM_ONE_SIDED, &all_put_all, access_all},
    {"all_get_all", "MPI_Get", FORM_ONE_SIDED, &all_get_all, access_all},
    {"exchange_put", "MPI_Put", FORM_ONE_SIDED, &put_to_neighbors, access_all},
    {"exchange_get", "MPI_Get", FORM_ONE_SIDED, &get_from_neighbors, access_all},
    {"window", "MPI_Win_create, MPI_Put, MPI_Win_free", FORM_ONE_SIDED, &window, access_new_window},
    {"s_write_indv", "MPI_File_write", FORM_FILE, &alone_indv_write, access_file},
    {"s_read_indv", "MPI_File_read", FORM_FILE, &alone_indv_read, access_file},
    {"s_write_expl", "MPI_File_write_at", FORM_FILE, &alone_expl_write, access_file},
    {"s_read_expl", "MPI_File_read_at", FORM_FILE, &alone_expl_read, access_file},
    {"p_write_indv", "MPI_File_write", FORM_FILE, &all_indv_write, access_file},
    {"p_read_indv", "MPI_File_read", FORM_FILE, &all_indv_read, access_file},
    {"p_write_expl", "MPI_File_write_at", FORM_FILE, &all_expl_write, access_file},
    {"p_read_expl", "MPI_File_read_at", FORM_FILE, &all_expl_read, access_file},
    {"p_write_shared", "MPI_File_write_shared", FORM_FILE, &all_shared_write, access_file},
    {"p_read_shared", "MPI_File_read_shared", FORM_FILE, &all_shared_read, access_file},
    {"p_write_priv", "MPI_File_write", FORM_FILE, &all_priv_write, access_file},
    {"p_read_priv", "MPI_File_read", FORM_FILE, &all_priv_read, access_file},
    {"c_write_indv", "MPI_File_write_all", FORM_FILE, &together_indv_write, access_file},
    {"c_read_indv", "MPI_File_read_all", FORM_FILE, &together_indv_read, access_file},
    {"c_write_expl", "MPI_File_write_at_all", FORM_FILE, &together_expl_write, access_file},
    {"c_read_expl", "MPI_File_read_at_all", FORM_FILE, &together_expl_read, access_file},
    {"c_write_shared", "MPI_File_write_ordered", FORM_FILE, &together_shared_write, access_file},
    {"c_read_shared", "MPI_File_read_ordered", FORM_FILE, &together_shared_read, access_file},
    {"s_iwrite_indv", "MPI_File_iwrite", FORM_FILE, &alone_indv_start_write, start_access},
    {"s_iread_indv", "MPI_File_iread", FORM_FILE, &alone_indv_start_read, start_access},
    {"s_iwrite_expl", "MPI_File_iwrite_at", FORM_FILE, &alone_expl_start_write, start_access},
    {"s_iread_expl", "MPI_File_iread_at", FORM_FILE, &alone_expl_start_read, start_access},
    {"p_iwrite_indv", "MPI_File_iwrite", FORM_FILE, &all_indv_start_write, start_access},
    {"p_iread_indv", "MPI_File_iread", FORM_FILE, &all_indv_start_read, start_access},
    {"p_iwrite_expl", "MPI_File_iwrite_at", FORM_FILE, &all_expl_start_write, start_access},
    {"p_iread_expl", "MPI_File_iread_at", FORM_FILE, &all_expl_start_read, start_access},
    {"p_iwrite_shared", "MPI_File_iwrite_shared", FORM_FILE, &all_shared_start_write, start_access},
    {"p_iread_shared", "MPI_File_iread_shared", FORM_FILE, &all_shared_start_read, start_access},
    {"p_iwrite_priv", "MPI_File_iwrite", FORM_FILE, &all_priv_start_write, start_access},
    {"p_iread_priv", "MPI_File_iread", FORM_FILE, &all_priv_start_read, start_access},
    {"c_iwrite_indv", "MPI_File_iwrite_all", FORM_FILE, &together_indv_start_write, start_access},
    {"c_iread_indv", "MPI_File_iread_all", FORM_FILE, &together_indv_start_read, start_access},
    {"c_iwrite_expl", "MPI_File_iwrite_at_all", FORM_FILE, &together_expl_start_write, start_access},
    {"c_iread_expl", "MPI_File_iread_at_all", FORM_FILE, &together_expl_start_read, start_access},
    {"c_iwrite_shared", "MPI_File_write_ordered_begin", FORM_FILE, &together_shared_start_write, start_access},
    {"c_iread_shared", "MPI_File_read_ordered_begin", FORM_FILE, &together_shared_start_read, start_access},
    {"open_close", "MPI_File_open, MPI_File_close", FORM_FILE, &open_close, reopen_file},
    {"init", "MPI_Init", FORM_STARTUP, &init, do_nothing},
    {"hello", "MPI_Init, MPI_Barrier", FORM_STARTUP, &hello, do_nothing},
    {0},
};

/* Why the MPI library has not what an operation takes, or NULL. */
static const char *absence(const operation_t *operation)
{
#ifdef SMPI_H
    if (operation->shape->has_neighbors)
        return "SimGrid's MPI has no distributed graphs";
    if (operation->form == FORM_STARTUP)
        return "a simulator starts no processes";
    if (operation->form == FORM_FILE)
        return "a simulator has no files";
    if (operation->shape->has_threads)
        return "SimGrid's MPI has no threads";
    if (operation->shape->forks)
        return "a simulator forks no processes";
#endif
    if (operation->call)
        return NULL;
    return operation->shape->is_partitioned
               ? "this MPI library has no partitioned communication (that of MPI-4)"
               : "this MPI library has no persistent collective operations (those of MPI-4)";
}

const operation_t *operation_at(int index)
{
    for (const operation_t *at = operation_list; at->name; at++)
        if (!absence(at) && index-- == 0)
            return at;
    return NULL;
}

int operation_find(const char *name)
{
    for (int i = 0; operation_at(i); i++)
        if (strcmp(operation_at(i)->name, name) == 0)
            return i;
    return -1;
}

const char *operation_absence(const char *name)
{
    int place = names_find(NAMES(operation_list), name);
    return place < 0 ? NULL : absence(&operation_list[place]);
}

bool operation_is_osus(const operation_t *operation)
{
    static const char *const others[] = {"latency_ssend", "latency_isend", "sendrecv", "send",
                                         "halo",          "get_bibw",      "window",   NULL};
    if (names_find(NAMES(others), operation->name) >= 0 || operation->shape->reaches_all || operation->shape->member)
        return false;
    if (operation->form == FORM_ONE_SIDED || operation->form == FORM_STARTUP || operation->form == FORM_POINT_TO_POINT)
        return true;
    return operation->form != FORM_COMPOSED && operation->form != FORM_FILE && !strstr(operation->name, "scan") &&
           !(operation->form == FORM_PERSISTENT && operation->shape->has_neighbors);
}

int operation_turns(const operation_t *operation, synchronization_t synchronization)
{
    bool doubles = operation->form == FORM_ONE_SIDED && synchronization_is_active(synchronization);
    return operation->shape->turns * (doubles ? 2 : 1);
}

/* The least common multiple. */
int operation_thread_messages(int senders, int receivers)
{
    int messages = senders;
    while (messages % receivers != 0)
        messages += senders;
    return messages;
}

bool operation_has_size(const operation_t *operation)
{
    return operation->shape->from != FROM_NOBODY;
}

bool operation_allows_in_place(const operation_t *operation)
{
    return operation->shape->in_place != IN_PLACE_NEVER && operation->shape->in_place != ROOT_SENDS_FROM_RESULT;
}

/* With derived datatypes, MPICH before 4.3 ends the program when these persistent requests are freed. */
static bool breaks_at_layouts(const operation_t *operation)
{
    bool breaks = false;
#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION < 40300000
    static const char *const names[] = {"allgather_persistent", "gather_persistent", "scatter_persistent", NULL};
    breaks = names_find(NAMES(names), operation->name) >= 0;
#else
    (void)operation;
#endif
    return breaks;
}

/* A message of one element has no partitions. */
bool operation_allows_layout(const operation_t *operation)
{
    const shape_t *shape = operation->shape;
    return operation_has_size(operation) && !shape->reduces && !shape->is_partitioned &&
           operation->form != FORM_COMPOSED && operation->form != FORM_ONE_SIDED && operation->form != FORM_FILE &&
           !breaks_at_layouts(operation);
}

/* MPICH 4.0 takes the number of sources for that of destinations when it copies counts, and then waits for ever. */
bool operation_hangs_at_sinks(const operation_t *operation)
{
#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION >= 40000000 && MPICH_NUMVERSION < 40100300
    return strstr(operation->name, "neighbor_alltoallw") != NULL;
#else
    (void)operation;
    return false;
#endif
}

bool operation_is_of_two(const operation_t *operation)
{
    return operation->form == FORM_POINT_TO_POINT && !operation->shape->pairs_all && !operation->shape->has_neighbors;
}

bool operation_keeps_buffers(const operation_t *operation)
{
    return operation->form == FORM_PERSISTENT || operation->shape->keeps_requests;
}

bool operation_has_halves(const operation_t *operation)
{
    return operation->form == FORM_NONBLOCKING || operation->form == FORM_PERSISTENT ||
           operation->shape->access.is_nonblocking;
}

/* ---- Groups */

/* What stands for several operations: those of a form, and others. What takes another start, or is one, is in none. */
enum { GROUP_NEIGHBORHOOD = FORM_ONE_SIDED + 1, GROUP_ALL };

/* In the order of operation_form_t, as far as that goes. */
const char *const operation_groups[] = {"blocking",  "nonblocking",  "persistent", "composed", "point-to-point",
                                        "one-sided", "neighborhood", "all",        NULL};

bool operation_is_in_group(const operation_t *operation, int group)
{
    bool is_neighborhood = operation->shape->has_neighbors;
    if (operation->form > FORM_ONE_SIDED || operation->shape->has_threads || operation->shape->forks)
        return false;
    return group == GROUP_ALL ||
           (group == GROUP_NEIGHBORHOOD ? is_neighborhood : !is_neighborhood && (int)operation->form == group);
}
