/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * work.c - an operation made ready, carried out, and its result compared with what it must be.
 */
#include "bench/suite/operation_private.h"

#include "pure/random.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* No number used in messages has such bytes, so data that was not delivered is found. */
enum { POISON = 0xa5 };

/* ---- What a plan needs */

static int senders_of(const work_plan_t *plan)
{
    return plan->senders > 0 ? plan->senders : USUAL_SENDERS;
}

static int receivers_of(const work_plan_t *plan)
{
    return plan->receivers > 0 ? plan->receivers : USUAL_RECEIVERS;
}

static int messages_of(const work_plan_t *plan)
{
    if (plan->operation->shape->member)
        return receivers_of(plan);
    if (plan->operation->shape->has_threads)
        return operation_thread_messages(senders_of(plan), receivers_of(plan));
    return plan->messages > 0 ? plan->messages : USUAL_MESSAGES;
}

/* The ranks in the middle of fans. */
static int hubs_of(const work_plan_t *plan)
{
    return plan->pairs > 0 ? plan->pairs : 1;
}

static int partner_in_fan(const work_plan_t *plan, int rank, int ranks)
{
    int hubs = hubs_of(plan);
    return rank >= hubs ? rank % hubs : rank + hubs < ranks ? rank + hubs : -1;
}

/* At least 1. */
static int partners_of(const work_plan_t *plan, int rank, int ranks)
{
    int hubs = hubs_of(plan);
    bool has_many = plan->operation->shape->fans && rank < hubs && rank + hubs < ranks;
    return has_many ? (ranks - 1 - rank) / hubs : 1;
}

static int partner_of(const work_plan_t *plan, int rank, int ranks)
{
    if (plan->operation->shape->fans)
        return partner_in_fan(plan, rank, ranks);
    if (plan->pair[1] > 0)
        return rank == plan->pair[0] ? plan->pair[1] : rank == plan->pair[1] ? plan->pair[0] : -1;
    int all = plan->pairs > 0 ? plan->pairs : ranks / 2, pairs = plan->operation->shape->pairs_all ? all : 1;
    return rank < pairs ? rank + pairs : rank < 2 * pairs ? rank - pairs : -1;
}

static neighbors_t neighbors_of(const work_plan_t *plan, int rank, int ranks)
{
    static const neighborhood_t ring = {.kind = NEIGHBORHOOD_GRID, .dimensions = 1, .radius = 1};
    return neighbors_find(plan->neighborhood ? plan->neighborhood : &ring, plan->graph, rank, ranks);
}

/* Those to whom a rank sends, or who send to it. */
static int count_neighbors(const work_plan_t *plan, int rank, int ranks, bool sends)
{
    if (!plan->operation->shape->has_neighbors)
        return 0;
    neighbors_t neighbors = neighbors_of(plan, rank, ranks);
    int count = sends ? neighbors.destinations : neighbors.sources;
    neighbors_free(&neighbors);
    return count;
}

/* The blocks of a buffer that a rank has. */
static int blocks_held(const work_plan_t *plan, int extent, int rank, int ranks, bool is_root)
{
    int64_t of_partners = (int64_t)messages_of(plan) * partners_of(plan, rank, ranks);
    const int blocks[] = {[ONE] = 1,
                          [PER_RANK] = ranks,
                          [PER_SOURCE] = count_neighbors(plan, rank, ranks, false),
                          [PER_MESSAGE] = messages_of(plan),
                          [WITH_FETCHED] = 2,
                          [PER_DESTINATION] = count_neighbors(plan, rank, ranks, true),
                          [PER_MESSAGE_OF_PARTNERS] = of_partners < INT_MAX ? (int)of_partners : INT_MAX};
    int partner = partner_of(plan, rank, ranks);
    bool holds = (extent & ~BLOCKS) == 0 || ((extent & AT_ROOT) != 0 && is_root) ||
                 (partner > rank && (extent & AT_LEADERS) != 0) ||
                 (partner >= 0 && partner < rank && (extent & AT_FOLLOWERS) != 0);
    return holds ? blocks[extent & BLOCKS] : 0;
}

/* Composed calls without a root of their own meet at rank 0. */
static int root_of(const work_plan_t *plan)
{
    return plan->operation->shape->has_root ? plan->root : 0;
}

/* The blocks of the buffers that a rank needs, whoever is root from call to call. */
static needs_t find_needs(const work_plan_t *plan, int rank, int ranks)
{
    const shape_t *shape = plan->operation->shape;
    bool is_root = root_of(plan) == rank || root_of(plan) == ROOT_ROTATES;
    needs_t needs = {blocks_held(plan, shape->send, rank, ranks, is_root),
                     blocks_held(plan, shape->receive, rank, ranks, is_root)};
    bool all_send_in_place = plan->in_place && shape->in_place == SEND_IN_PLACE;
    int scratch = blocks_held(plan, shape->scratch, rank, ranks, is_root);
    if (all_send_in_place && needs.send > needs.receive)
        needs.receive = needs.send;
    if (needs.receive < scratch)
        needs.receive = scratch;
    if (all_send_in_place || shape->in_place == ROOT_SENDS_FROM_RESULT)
        needs.send = 0;
    return needs;
}

/* A buffer even of empty messages has an address of its own: MPI libraries compare those of send and receive buffer. */
static int64_t buffer_bytes(int64_t size_bytes, int blocks)
{
    return blocks > 0 && size_bytes == 0 ? 1 : size_bytes * blocks;
}

/* The requests of all messages at once are as many as MPI can count, and the bytes of their buffers fit int64_t. */
static bool fits_fan(const work_plan_t *plan, int64_t block_bytes, int ranks)
{
    int64_t blocks = (int64_t)messages_of(plan) * ranks, bytes;
    return !plan->operation->shape->fans ||
           (blocks <= INT_MAX / 2 && !__builtin_mul_overflow(blocks, block_bytes, &bytes));
}

/* What MPI takes as int: counts, and the displacement of the last block. The bytes of all blocks fit int64_t then. */
static bool fits_int(const shape_t *shape, int64_t max_bytes, int element_bytes, int ranks)
{
    int64_t last_block;
    if (max_bytes / element_bytes > INT_MAX || __builtin_mul_overflow(max_bytes, ranks, &last_block))
        return false;
    if (shape->has_byte_displacements)
        return last_block - max_bytes <= INT_MAX;
    if (shape->counts_all)
        return last_block / element_bytes <= INT_MAX;
    return !shape->has_displacements || (last_block - max_bytes) / element_bytes <= INT_MAX;
}

int64_t work_bytes(const work_plan_t *plan)
{
    const shape_t *shape = plan->operation->shape;
    int rank, ranks;
    MPI_Comm_rank(plan->comm, &rank);
    MPI_Comm_size(plan->comm, &ranks);
    needs_t needs = find_needs(plan, rank, ranks);
    int64_t block_bytes = plan->max_bytes > 0 ? plan->max_bytes : 1; /* as buffer_bytes has it, or more */
    if (shape->from != FROM_NOBODY && !fits_int(shape, plan->max_bytes, plan->element->bytes, ranks))
        return -1;
    if (!fits_fan(plan, block_bytes, ranks))
        return -1;
    return arena_needs(plan->cache, block_bytes * needs.send, block_bytes * needs.receive, plan->cache_bytes);
}

/* ---- Opening */

static void open_neighborhood(work_t *work)
{
    /* Given, because compilers take the constant MPI_UNWEIGHTED of some libraries for an array without elements. */
    int *weights = world_allocate(work->plan.span, work->ranks, sizeof weights[0], "");
    MPI_Comm comm;
    char call[80];

    for (int i = 0; i < work->ranks; i++)
        weights[i] = 1;
    work->neighbors = neighbors_of(&work->plan, work->rank, work->ranks);
    const neighbors_t *neighbors = &work->neighbors;
    snprintf(call, sizeof call, "MPI_Dist_graph_create_adjacent for %s", work->plan.operation->name);
    world_require_code(work->plan.span,
                       MPI_Dist_graph_create_adjacent(work->plan.comm, neighbors->sources, neighbors->source, weights,
                                                      neighbors->destinations, neighbors->destination, weights,
                                                      MPI_INFO_NULL, 0, &comm),
                       call);
    free(weights);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    work->plan.comm = comm;
}

static void fill_in(work_t *work, const work_plan_t *plan)
{
    const shape_t *shape = plan->operation->shape;
    work->plan = *plan;
    work->plan.reduction = shape->reduces ? plan->reduction : NULL;
    work->plan.root = root_of(plan);
    work->plan.in_place = plan->in_place || shape->in_place == ROOT_SENDS_FROM_RESULT;
    MPI_Comm_rank(plan->comm, &work->rank);
    MPI_Comm_size(plan->comm, &work->ranks);
    work->type = plan->element->type;
    if (shape->reduces)
        work->op = plan->reduction->op;
    work->partner = partner_of(plan, work->rank, work->ranks);
    work->partners = partners_of(plan, work->rank, work->ranks);
    work->stride = shape->fans ? hubs_of(plan) : 0;
    work->messages = messages_of(plan);
    work->plan.senders = senders_of(plan);
    work->plan.receivers = receivers_of(plan);
    if (shape->has_threads && work->partner >= 0)
        work->own_threads = work->rank < work->partner ? work->plan.senders : work->plan.receivers;
    if (shape->member)
        work->own_threads = work->plan.receivers;
    work->needs = find_needs(plan, work->rank, work->ranks);
}

static void allocate(work_t *work)
{
    work->counts = world_allocate(work->plan.span, work->ranks, sizeof work->counts[0], "");
    work->displacements = world_allocate(work->plan.span, work->ranks, sizeof work->displacements[0], "");
    work->addresses = world_allocate(work->plan.span, work->ranks, sizeof work->addresses[0], "");
    work->types = world_allocate(work->plan.span, work->ranks, sizeof work->types[0], "");
    /* To partners and from them; to each neighbor and from it, or one for each root. */
    int64_t at_once = (int64_t)work->messages * work->partners * 2 + (int64_t)work->ranks * 2;
    work->requests = world_allocate(work->plan.span, at_once, sizeof work->requests[0], "");
    work->expected = world_allocate(work->plan.span, 1, sizeof *work->expected, "");
    /* Given, because compilers take MPI_STATUSES_IGNORE of some libraries for an array without elements. */
    work->statuses = world_allocate(work->plan.span, at_once, sizeof work->statuses[0], "");
}

/* Returns the memory for buffers, which the MPI library may have allocated. */
static char *open_window(work_t *work, char *memory)
{
    work->has_window = true;
    const shape_t *shape = work->plan.operation->shape;
    work->window = (window_t){.kind = work->plan.window,
                              .synchronization = work->plan.synchronization,
                              .lock_type = shape->fetches ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED,
                              .reaches_all = shape->reaches_all,
                              .is_first = !shape->is_from_one || work->rank == 0};
    window_open(&work->window, work->plan.span, work->plan.comm, work->partner, memory, work_bytes(&work->plan));
    return work->window.memory;
}

/* All ranks count, also those that have no threads beside the one that calls. */
static void open_threads(work_t *work)
{
    const world_t *span = work->plan.span;
    bool has_processors = world_has_processors(span, work->own_threads > 0 ? work->own_threads : 1);
    if (work->own_threads > 0)
        work->threads = threads_open(span, work->own_threads, has_processors,
                                     work->plan.operation->shape->member ? call_member : exchange_parts, work);
}

static void open_members(work_t *work)
{
    work->members = world_allocate(work->plan.span, work->own_threads, sizeof work->members[0], "");
    for (int i = 0; i < work->own_threads; i++) {
        world_require(work->plan.span, MPI_Comm_dup(work->plan.comm, &work->members[i].plan.comm));
        MPI_Comm_set_errhandler(work->members[i].plan.comm, MPI_ERRORS_RETURN);
    }
}

static void close_members(work_t *work)
{
    for (int i = 0; work->members && i < work->own_threads; i++)
        MPI_Comm_free(&work->members[i].plan.comm);
    free(work->members);
}

/* Whatever the size says, but for the communicator. */
static void set_members(work_t *work)
{
    for (int i = 0; work->members && i < work->own_threads; i++) {
        MPI_Comm comm = work->members[i].plan.comm;
        work->members[i] = *work;
        work->members[i].plan.comm = comm;
    }
}

work_t *work_open(const work_plan_t *plan, char *memory)
{
    work_t *work = world_allocate(plan->span, 1, sizeof *work, "");
    fill_in(work, plan);
    allocate(work);
    if (plan->operation->shape->has_neighbors)
        open_neighborhood(work);
    if (plan->operation->shape->exposes != EXPOSES_NOTHING)
        memory = open_window(work, memory);
    if (plan->operation->form == FORM_FILE &&
        !storage_open(&work->storage, plan->span, plan->path, &plan->operation->shape->access))
        world_abort(plan->span, "the file cannot be made any more");
    if (plan->operation->shape->member)
        open_members(work);
    if (plan->operation->shape->has_threads)
        open_threads(work);
    if (plan->operation->shape->forks && work->partner >= 0)
        work->forks = forks_open(plan->span, work->rank < work->partner ? work->plan.senders : work->plan.receivers);
    work->arena = arena_open(memory, plan->cache, buffer_bytes(plan->max_bytes, work->needs.send),
                             buffer_bytes(plan->max_bytes, work->needs.receive), plan->cache_bytes);
    return work;
}

static void free_requests(work_t *work)
{
    for (int i = 0; i < work->request_count; i++)
        MPI_Request_free(&work->requests[i]);
    work->request_count = 0;
}

static void free_type(work_t *work)
{
    if (work->has_layout)
        MPI_Type_free(&work->type);
    work->has_layout = false;
}

void work_close(work_t *work)
{
    free_requests(work);
    free_type(work);
    threads_close(work->threads);
    close_members(work);
    forks_close(&work->forks);
    storage_close(&work->storage);
    if (work->has_window)
        window_close(&work->window);
    if (work->plan.operation->shape->has_neighbors)
        MPI_Comm_free(&work->plan.comm);
    neighbors_free(&work->neighbors);
    free(work->counts);
    free(work->displacements);
    free(work->addresses);
    free(work->types);
    free(work->requests);
    free(work->statuses);
    free(work->expected);
    free(work);
}

/* ---- Where data lie */

static int block_count(const work_t *work, int extent)
{
    return blocks_held(&work->plan, extent, work->rank, work->ranks, work->rank == work->root);
}

/* Whether a block of this rank gets what an origin gave or took. The first of a pair is always an origin. */
static bool is_accessed(const work_t *work, int block)
{
    const shape_t *shape = work->plan.operation->shape;
    bool is_elsewhere = shape->from == FROM_EACH ? block != work->rank : work->rank != work->root;
    if (shape->reaches_all && shape->has_neighbors)
        return true;
    if (shape->reaches_all)
        return is_elsewhere && (!shape->is_from_one || shape->from != FROM_EACH || work->rank == 0);
    bool is_taken = shape->exposes == EXPOSES_SEND || (shape->fetches && block == 1);
    bool both = shape->directions == 2 || operation_turns(work->plan.operation, work->plan.synchronization) == 2;
    return both || work->window.is_first == is_taken;
}

/* Of a block that one of a pair gives the other, what it is by its values: any thread may receive those of one. */
static int place_in_pair(const work_t *work, int block)
{
    const shape_t *shape = work->plan.operation->shape;
    if (shape->fetches || (shape->has_threads && !shape->member && work->plan.senders == 1))
        return 0;
    return shape->fans ? block % work->messages : block;
}

/* Whose values this rank contributes: if ranks share a pointer, nobody knows which rank's block is where. */
static int giver_of(const work_t *work)
{
    const storage_access_t *access = &work->plan.operation->shape->access;
    return access->pointer == BY_SHARED_POINTER && !access->is_collective ? 0 : work->rank;
}

origin_t work_origin(const work_t *work, int block)
{
    const shape_t *shape = work->plan.operation->shape;
    const neighbors_t *neighbors = &work->neighbors;
    bool is_nearby = block < neighbors->sources;
    int place = shape->to_own   ? work->rank
                : shape->member ? block
                                : 0,
        neighbor = is_nearby ? neighbors->source[block] : -1;
    int place_there = is_nearby && shape->to_own ? neighbors->place_there[block] : 0;
    int first = work->rank < work->partner ? work->rank : work->partner;
    int partner = work->partner + block / work->messages * work->stride;
    int giver = giver_of(work);
    const origin_t origins[] = {
        [FROM_NOBODY] = {0, -1, 0},
        [FROM_EACH] = {block, block, place},
        [FROM_ROOT] = {work->root, work->root, place},
        [FROM_ALL] = {0, work->ranks - 1, place},
        [FROM_THOSE_UP_TO_OWN] = {0, work->rank, place},
        [FROM_THOSE_BEFORE_OWN] = {0, work->rank - 1, place},
        [FROM_NEIGHBOR] = {neighbor, neighbor, place_there},
        [FROM_PARTNER] = {partner, partner, place_in_pair(work, block)},
        [FROM_SELF] = {giver, giver, 0},
        [FROM_PAIR] = {first, work->rank + work->partner - first, 0, abs(work->partner - work->rank)},
    };
    if (work->has_window && !is_accessed(work, block))
        return origins[FROM_NOBODY];
    return origins[shape->fetches && block == 1 ? FROM_PARTNER : shape->from];
}

static bool sends_in_place(const work_t *work)
{
    in_place_t in_place = work->plan.operation->shape->in_place;
    if (!work->plan.in_place)
        return false;
    return in_place == SEND_IN_PLACE ||
           ((in_place == ROOT_SENDS_IN_PLACE || in_place == ROOT_SENDS_FROM_RESULT) && work->rank == work->root);
}

static bool receives_in_place(const work_t *work)
{
    return work->plan.in_place && work->plan.operation->shape->in_place == ROOT_RECEIVES_IN_PLACE &&
           work->rank == work->root;
}

/* Where this rank's contribution is. */
static char *contribution(const work_t *work)
{
    if (!sends_in_place(work))
        return work->send_memory;
    return work->receive_memory +
           (work->plan.operation->shape->in_place_at_own_block ? work->rank * work->size_bytes : 0);
}

char *work_result(const work_t *work, int *blocks)
{
    *blocks = block_count(work, work->plan.operation->shape->receive);
    return receives_in_place(work) ? work->send_memory + work->rank * work->size_bytes : work->receive_memory;
}

static void choose_buffers(work_t *work, int64_t number)
{
    bool rotates = work->plan.root == ROOT_ROTATES;
    work->root = rotates ? (int)(number % work->ranks) : work->plan.root;
    work->request = &work->requests[work->request_count > 1 ? work->root : 0];
    arena_slot(&work->arena, work->calls++, &work->send_memory, &work->receive_memory);
    work->send = sends_in_place(work) ? MPI_IN_PLACE : work->send_memory;
    work->receive = receives_in_place(work) ? MPI_IN_PLACE : work->receive_memory;
}

void work_prepare(work_t *work, int64_t number)
{
    choose_buffers(work, number);
    if (work->threads)
        threads_wake(work->threads);
    if (work->storage.is_open)
        world_require_code(work->plan.span, storage_seek(&work->storage, work->size_bytes), "MPI_File_seek");
}

/* ---- Sizes */

/* One for each root. */
static void make_requests(work_t *work)
{
    int roots = work->plan.root == ROOT_ROTATES ? work->ranks : 1;
    for (int i = 0; i < roots; i++) {
        choose_buffers(work, i);
        world_require_code(work->plan.span, work->plan.operation->call(work, &work->requests[i]),
                           work->plan.operation->function);
        work->request_count++;
    }
}

/* As many equal ones as can be; of a message without elements, one. */
static void set_partitions(work_t *work)
{
    work->partitions = work->plan.partitions > 0 ? work->plan.partitions : USUAL_PARTITIONS;
    while (work->count == 0 ? work->partitions > 1 : work->count % work->partitions != 0)
        work->partitions--;
}

static void make_pair_requests(work_t *work)
{
    world_require_code(work->plan.span, pair_requests(work), work->plan.operation->function);
    work->request_count = 2 * (work->plan.operation->shape->directions > 0 ? work->messages : 1);
}

/* The first parts have an element more if not all can be equal. */
static void set_part(work_t *work, int rank)
{
    int part = work->count / work->ranks, longer = work->count % work->ranks;
    work->counts[rank] = part + (rank < longer);
    work->displacements[rank] = rank * part + (rank < longer ? rank : longer);
}

/* At most as long as the size says, and the same on all ranks. */
static void set_uneven_block(work_t *work, int rank)
{
    work->counts[rank] = (int)(random_fraction_of(work->plan.uneven_seed, work->count, rank) * (work->count + 1));
    work->displacements[rank] = rank > 0 ? work->displacements[rank - 1] + work->counts[rank - 1] : 0;
}

static void set_blocks(work_t *work)
{
    const shape_t *shape = work->plan.operation->shape;
    for (int i = 0; i < work->ranks; i++) {
        work->counts[i] = work->count;
        work->types[i] = work->type;
        work->addresses[i] = (MPI_Aint)(i * work->size_bytes);
        if (shape->has_displacements)
            work->displacements[i] = i * work->count;
        if (shape->has_byte_displacements)
            work->displacements[i] = (int)(i * work->size_bytes);
        if (shape->has_parts)
            set_part(work, i);
        if (work->plan.uneven_seed != 0)
            set_uneven_block(work, i);
    }
}

/* What is sent at once. */
static void set_type(work_t *work)
{
    const work_plan_t *plan = &work->plan;
    work->elements = (int)(work->size_bytes / plan->element->bytes);
    work->count = work->elements;
    work->type = plan->element->type;
    if (!plan->layout || plan->layout->kind == LAYOUT_PLAIN || work->elements == 0)
        return;
    work->count = layout_data(plan->layout, plan->blocks, work->elements) > 0;
    /* MPICH 4.3 divides by the size of a type. */
    int code = work->count > 0 ? layout_type(plan->layout, plan->blocks, work->elements, plan->element->type,
                                             plan->element->bytes, &work->type)
                               : MPI_Type_dup(plan->element->type, &work->type);
    world_require_code(plan->span, code, "MPI_Type_commit");
    work->has_layout = true;
}

int64_t work_data_bytes(const work_t *work)
{
    const work_plan_t *plan = &work->plan;
    return work->has_layout ? layout_data(plan->layout, plan->blocks, work->elements) * plan->element->bytes
                            : work->size_bytes;
}

/* Where reads find it. */
static storage_block_t stored_block(const work_t *work, char *memory)
{
    return (storage_block_t){memory, work->count, work->type, work->size_bytes};
}

static int fill_file(const work_t *work)
{
    storage_block_t block = stored_block(work, work->send_memory);
    int code = storage_put(&work->storage, &block);
    return code == MPI_SUCCESS ? storage_rewind(&work->storage) : code;
}

void work_set_size(work_t *work, int64_t size_bytes)
{
    free_requests(work);
    free_type(work);
    work->size_bytes = work->plan.operation->shape->from == FROM_NOBODY ? 0
                       : work->plan.operation->shape->has_one_element   ? work->plan.element->bytes
                                                                        : size_bytes;
    set_type(work);
    set_blocks(work);
    set_partitions(work);
    arena_set_size(&work->arena, buffer_bytes(work->size_bytes, work->needs.send),
                   buffer_bytes(work->size_bytes, work->needs.receive));
    if (work->plan.operation->form == FORM_PERSISTENT)
        make_requests(work);
    choose_buffers(work, 0);
    set_members(work);
    if (work->plan.operation->shape->keeps_requests && work->partner >= 0)
        make_pair_requests(work);
    if (work->plan.operation->form == FORM_FILE)
        world_require_code(work->plan.span, fill_file(work), "MPI_File_write_at");
}

int work_start(work_t *work)
{
    work->is_tested = false;
    if (work->plan.operation->form == FORM_PERSISTENT)
        return MPI_Start(work->request);
    return work->plan.operation->call(work, work->request);
}

/* An access of a file is complete when all is moved, and synced. */
static int finish_access(work_t *work)
{
    bool writes = work->plan.operation->shape->writes;
    bool waits = *work->request != MPI_REQUEST_NULL, splits = storage_splits(&work->storage);
    const storage_block_t block = stored_block(work, writes ? work->send_memory : work->receive_memory);
    int code = waits    ? MPI_Wait(work->request, work->statuses)
               : splits ? storage_end(&work->storage, block.memory, writes, work->statuses)
                        : MPI_SUCCESS;
    if (code != MPI_SUCCESS)
        return code;
    return storage_finish(&work->storage, &block, waits || splits || work->is_tested ? work->statuses : NULL,
                          writes ? work->plan.sync : NOT_SYNCED);
}

int work_finish(work_t *work)
{
    return work->plan.operation->form == FORM_FILE ? finish_access(work) : MPI_Wait(work->request, MPI_STATUS_IGNORE);
}

int work_test(work_t *work)
{
    int done = 0, code = MPI_SUCCESS;
    if (work->plan.operation->form != FORM_FILE)
        return MPI_Test(work->request, &done, MPI_STATUS_IGNORE);
    if (*work->request != MPI_REQUEST_NULL)
        code = MPI_Test(work->request, &done, work->statuses);
    work->is_tested |= done != 0;
    return code;
}

int work_call(work_t *work)
{
    int code = work_start(work);
    return code == MPI_SUCCESS && operation_has_halves(work->plan.operation) ? work_finish(work) : code;
}

int work_leave(const work_t *work)
{
    bool waits = work->has_window && !synchronization_is_active(work->plan.synchronization);
    return waits ? window_meet(&work->window) : storage_rewind(&work->storage);
}

int work_settle(const work_t *work)
{
    return work->has_window ? window_settle(&work->window) : MPI_SUCCESS;
}

/* ---- Validation */

/* The memory of a slot. */
static void set_memory(work_t *work, int byte)
{
    memset(work->send_memory, byte, (size_t)(work->size_bytes * work->needs.send));
    memset(work->receive_memory, byte, (size_t)(work->size_bytes * work->needs.receive));
}

/* Of the block for a rank. */
static int elements_of(const work_t *work, int rank)
{
    return work->plan.uneven_seed != 0 ? work->counts[rank] : work->elements;
}

static void contribute(work_t *work, const values_t *values)
{
    char *at = contribution(work);
    int blocks = block_count(work, work->plan.operation->shape->send);
    for (int i = 0; i < blocks; i++) {
        int64_t before_bytes = work->plan.uneven_seed != 0 ? (int64_t)work->displacements[i] * work->plan.element->bytes
                                                           : i * work->size_bytes;
        int place = work->plan.operation->shape->has_threads ? place_in_pair(work, i) : i;
        values_fill(values, giver_of(work), place, at + before_bytes, elements_of(work, i));
    }
}

/* What is in the memory that others change, before they do. */
static void expose(work_t *work, const values_t *values)
{
    const shape_t *shape = work->plan.operation->shape;
    if (work->partner < 0 || (!shape->fetches && shape->from != FROM_PAIR))
        return;
    values_fill(values, work->rank, 0, work->receive_memory, work->elements);
    if (shape->compares)
        values_fill(values, work->partner, 0, work->expected, 1);
}

/* Nothing is known of gaps. */
static int64_t compare_block(const work_t *work, const values_t *values, origin_t origin, const char *at)
{
    int elements = elements_of(work, work->rank);
    number_pair_t block;
    int64_t wrong = 0, number = 0;
    if (!work->has_layout)
        return values_wrong(values, &origin, at, elements);
    while (layout_block(work->plan.layout, work->plan.blocks, elements, &number, &block)) {
        origin.index = block.first;
        wrong += values_wrong(values, &origin, at + (int64_t)block.first * work->plan.element->bytes, block.second);
    }
    return wrong;
}

static int64_t compare(work_t *work, const values_t *values)
{
    int blocks;
    const char *at = work_result(work, &blocks);
    int64_t wrong = 0;
    for (int i = 0; i < blocks; i++)
        wrong += compare_block(work, values, work_origin(work, i), at + i * work->size_bytes);
    return wrong;
}

/* What was written, as the result. */
static int read_again(const work_t *work)
{
    storage_block_t block = stored_block(work, work->receive_memory);
    return storage_get(&work->storage, &block);
}

/* An access of a file. */
static int call_and_read_again(work_t *work)
{
    bool writes = work->plan.operation->shape->writes;
    int code = writes ? MPI_SUCCESS : fill_file(work);
    if (code == MPI_SUCCESS)
        code = work_call(work);
    if (code == MPI_SUCCESS && writes)
        code = read_again(work);
    return code == MPI_SUCCESS ? storage_rewind(&work->storage) : code;
}

int work_check(work_t *work, int64_t number, int64_t *wrong)
{
    values_t values = {work->plan.element, work->plan.reduction, work->ranks, number};
    work_prepare(work, number);
    set_memory(work, POISON);
    contribute(work, &values);
    expose(work, &values);
    int code = work_settle(work);
    if (code == MPI_SUCCESS)
        code = work->plan.operation->form == FORM_FILE ? call_and_read_again(work) : work_call(work);
    if (code == MPI_SUCCESS)
        code = work_settle(work);
    *wrong = compare(work, &values);
    set_memory(work, 0);
    *work->expected = 0;
    return code == MPI_SUCCESS ? work_settle(work) : code;
}
