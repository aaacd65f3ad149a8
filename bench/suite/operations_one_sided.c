/* SPDX-License-Identifier: BSD-3-Clause */
/* operations_one_sided.c - the one-sided operations. */
#include "bench/suite/operations.h"

/* ---- How data move */

/*
 * The first of each pair is the origin. Buffers lie alike in the memory of both, so an origin knows where those of
 * its partner are.
 */
#define ACCESS(what) .exposes = (what), .pairs_all = true, .min_ranks = 2
#define ACCESS_ONE(what, provider, blocks) \
    .send = AT_PAIRS | ONE, .receive = AT_PAIRS | (blocks), .from = (provider), .turns = 1, ACCESS(what)
#define ACCESS_MANY(what, give, take) \
    .send = (give) | PER_MESSAGE, .receive = (take) | PER_MESSAGE, .from = FROM_PARTNER, ACCESS(what)
SHAPE(put_latency, ACCESS_ONE(EXPOSES_RECEIVE, FROM_PARTNER, ONE))
SHAPE(get_latency, ACCESS_ONE(EXPOSES_SEND, FROM_PARTNER, ONE))
SHAPE(acc_latency, ACCESS_ONE(EXPOSES_RECEIVE, FROM_PAIR, ONE), .reduces = true)
SHAPE(get_acc_latency, ACCESS_ONE(EXPOSES_RECEIVE, FROM_PAIR, WITH_FETCHED), .reduces = true, .fetches = true)
SHAPE(fop_latency, ACCESS_ONE(EXPOSES_RECEIVE, FROM_PAIR, WITH_FETCHED), .reduces = true, .fetches = true,
      .has_one_element = true)
SHAPE(cas_latency, ACCESS_ONE(EXPOSES_RECEIVE, FROM_PARTNER, WITH_FETCHED), .fetches = true, .has_one_element = true,
      .compares = true)
SHAPE(put_bw, ACCESS_MANY(EXPOSES_RECEIVE, AT_LEADERS, AT_FOLLOWERS), .directions = 1)
SHAPE(put_bibw, ACCESS_MANY(EXPOSES_RECEIVE, AT_PAIRS, AT_PAIRS), .directions = 2)
SHAPE(get_bw, ACCESS_MANY(EXPOSES_SEND, AT_FOLLOWERS, AT_LEADERS), .directions = 1)
SHAPE(get_bibw, ACCESS_MANY(EXPOSES_SEND, AT_PAIRS, AT_PAIRS), .directions = 2)
SHAPE(get_mbw, ACCESS_MANY(EXPOSES_SEND, AT_FOLLOWERS, AT_LEADERS), .directions = 1, .has_rate = true)

/* Of several memories, which lie alike: rank 0 accesses those of all others, each rank does, or those of neighbors. */
#define ACCESS_ALL(what, ...) .exposes = (what), .reaches_all = true, .min_ranks = 2, __VA_ARGS__
SHAPE(one_put_all, ACCESS_ALL(EXPOSES_RECEIVE, .send = ONE, .receive = ONE, .from = FROM_ROOT, .is_from_one = true))
SHAPE(one_get_all, ACCESS_ALL(EXPOSES_SEND, .send = ONE, .receive = PER_RANK, .from = FROM_EACH, .is_from_one = true))
SHAPE(all_put_all, ACCESS_ALL(EXPOSES_RECEIVE, .send = ONE, .receive = PER_RANK, .from = FROM_EACH))
SHAPE(all_get_all, ACCESS_ALL(EXPOSES_SEND, .send = ONE, .receive = PER_RANK, .from = FROM_EACH))
SHAPE(put_to_neighbors, ACCESS_ALL(EXPOSES_RECEIVE, NEIGHBOR_ALL_TO_ALL))
SHAPE(get_from_neighbors, ACCESS_ALL(EXPOSES_SEND, NEIGHBOR_ALL_TO_ALL))
/* Each call makes a window, in which a rank accesses its own memory. Open MPI 4 makes none for one rank. */
SHAPE(window, .send = ONE, .receive = ONE, .from = FROM_SELF, .makes_window = true, .min_ranks = 2)

/* ---- Calls */

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

/* ---- The list */

const operation_t one_sided_operations[] = {
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
    {0},
};
