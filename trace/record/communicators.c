/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * communicators.c - which communicators and windows there are, and what world ranks they have.
 *
 * A communicator that is made by a call which waits gets a context that its processes agree upon: the largest of what
 * they propose, and nothing is ever proposed twice. This reduction is of the call in the trace, as all that take part
 * wait in it, also where the MPI library does not wait. The context of another communicator, which is found when it is
 * used, is computed from what all its processes know.
 */
#include "trace/record/communicators.h"

#include "trace/back/twin.h"
#include "trace/record/calls.h"
#include "trace/record/clock.h"
#include "trace/record/file.h"
#include "trace/record/table.h"

#include <stdlib.h>
#include <string.h>

enum { BUCKET_BITS = 10, SELF_ID = 1, MAX_IDS = TRACE_NO_COMM };
/* Contexts that are not agreed upon are above those that are. */
static const uint32_t computed = UINT32_C(1) << 31;

static trace_table table = TRACE_TABLE(BUCKET_BITS);
static trace_known_comm known[TRACE_SLOTS(BUCKET_BITS)];
static trace_known_comm world, self = {.id = SELF_ID, .size = 1};
static trace_known_comm unknown = {.id = TRACE_NO_COMM, .size = 1};
static MPI_Group world_group;
static int freed_key; /* an attribute of communicators that are known */

static _Atomic uint64_t proposals;   /* of contexts by this process */
static trace_lock lock = TRACE_LOCK; /* of what follows, to be changed */
static _Atomic uint32_t id_count = SELF_ID + 1;
static _Atomic uint64_t without_id;

static uint64_t key_of(MPI_Comm comm)
{
    return (uint64_t)(uintptr_t)comm << 2 | 3;
}

static uint64_t key_of_window(MPI_Win window)
{
    return (uint64_t)(uintptr_t)window << 2 | 1;
}

static uint64_t key_of_file(MPI_File file)
{
    return (uint64_t)(uintptr_t)file << 2 | 2;
}

static bool is_comm(uint64_t key)
{
    return (key & 3) == 3;
}

/* The world ranks of a communicator, of the remote group if it has one. NULL if there is no memory. */
static int *world_ranks(MPI_Comm comm, bool is_inter, int *size)
{
    MPI_Group group;
    if (is_inter)
        PMPI_Comm_remote_group(comm, &group);
    else
        PMPI_Comm_group(comm, &group);
    int *ranks = mh_interpose_ranks(group, world_group, size);
    PMPI_Group_free(&group);
    for (int i = 0; ranks && i < *size; i++)
        if (ranks[i] == MPI_UNDEFINED)
            ranks[i] = -1;
    return ranks;
}

/* Of a dimension, there are two neighbors: before and after. */
static void list_cartesian_neighbors(MPI_Comm handle, int dimensions, int *neighbors)
{
    for (int i = 0; i < dimensions; i++)
        PMPI_Cart_shift(handle, i, 1, &neighbors[(size_t)2 * i], &neighbors[(size_t)2 * i + 1]);
}

static void count_neighbors(trace_known_comm *comm, MPI_Comm handle, int kind)
{
    int dimensions = 0, is_weighted;
    if (kind == MPI_CART && PMPI_Cartdim_get(handle, &dimensions) == MPI_SUCCESS)
        comm->sources = comm->targets = 2 * dimensions;
    else if (kind == MPI_GRAPH && PMPI_Graph_neighbors_count(handle, comm->rank, &comm->sources) == MPI_SUCCESS)
        comm->targets = comm->sources;
    else if (kind == MPI_DIST_GRAPH)
        PMPI_Dist_graph_neighbors_count(handle, &comm->sources, &comm->targets, &is_weighted);
}

/* Room for sources, weights, targets and weights, in this order. Open MPI writes weights where none are wanted. */
static void list_distributed_neighbors(const trace_known_comm *comm, MPI_Comm handle, int *room)
{
    int *targets = room + (size_t)2 * comm->sources;
    PMPI_Dist_graph_neighbors(handle, comm->sources, room, room + comm->sources, comm->targets, targets,
                              targets + comm->targets);
}

/* Counts them, and returns those from which this process gets something; to be freed. NULL: there is no topology. */
static int *find_neighbors(trace_known_comm *comm, MPI_Comm handle)
{
    int kind = MPI_UNDEFINED;
    PMPI_Topo_test(handle, &kind);
    count_neighbors(comm, handle, kind);
    const size_t room = (size_t)(comm->sources + comm->targets) * 2 + 1;
    int *neighbors = kind != MPI_UNDEFINED ? calloc(room, sizeof *neighbors) : NULL;
    if (!neighbors)
        return NULL;
    if (kind == MPI_CART)
        list_cartesian_neighbors(handle, comm->sources / 2, neighbors);
    else if (kind == MPI_GRAPH)
        PMPI_Graph_neighbors(handle, comm->rank, comm->sources, neighbors);
    else
        list_distributed_neighbors(comm, handle, neighbors);
    for (int i = 0; i < comm->sources; i++) {
        if (neighbors[i] >= 0)
            continue;
        neighbors[i] = -1;
        comm->missing |= kind == MPI_CART && i < TRACE_MAX_MISSING ? UINT64_C(1) << i : 0;
    }
    return neighbors;
}

static void write_neighbors(const trace_known_comm *comm, int *neighbors)
{
    uint32_t id = comm->id;
    struct iovec parts[] = {{&id, sizeof id}, {neighbors, (size_t)comm->sources * sizeof *neighbors}};
    if (neighbors)
        mh_trace_write(TRACE_BLOCK_NEIGHBORS, 0, parts, 2);
}

/* Without memory, there is none. */
static void write_definition(const trace_known_comm *comm, const int *ranks)
{
    trace_comm head = {.id = comm->id, .context = comm->context, .size = comm->size, .is_inter = comm->is_inter};
    trace_range *ranges = malloc((size_t)(comm->size / 2 + 1) * sizeof *ranges);
    size_t count = 0;
    if (!ranks || !ranges) {
        free(ranges);
        return;
    }
    for (int32_t next = 0; next < comm->size; next += ranges[count++].count)
        ranges[count] = trace_first_range(ranks + next, comm->size - next);
    struct iovec parts[] = {{&head, sizeof head}, {ranges, count * sizeof *ranges}};
    mh_trace_write(TRACE_BLOCK_COMM, 0, parts, 2);
    free(ranges);
}

/* MPI uses the handle of a communicator again that has been freed; it may have been freed where nobody looked. */
static void forget(uint64_t key)
{
    int64_t slot = mh_trace_find(&table, key);
    if (slot >= 0)
        mh_trace_remove(&table, slot);
}

/* MPI calls it when a communicator is freed, wherever that is. */
static int forget_freed(MPI_Comm handle, int key, void *value, void *extra)
{
    (void)key, (void)value, (void)extra;
    forget(key_of(handle));
    return MPI_SUCCESS;
}

/* like: itself, or another one of the same processes, if it is not to be used. &unknown if there is no room. */
static trace_known_comm *add(uint64_t key, MPI_Comm like, bool is_inter, uint32_t context, const int *ranks, int size)
{
    forget(key);
    /* Programs may make a window or open a file in each step, which is not to take all ids. */
    const uint32_t limit = is_comm(key) ? MAX_IDS : MAX_IDS / 2;
    int64_t slot = ranks && id_count < limit ? mh_trace_reserve(&table, key) : TRACE_ABSENT;
    if (slot < 0) {
        atomic_fetch_add(&without_id, 1);
        return &unknown;
    }
    trace_known_comm *comm = &known[slot];
    *comm = (trace_known_comm){.id = id_count++, .is_inter = is_inter, .size = size, .context = context};
    PMPI_Comm_rank(like, &comm->rank);
    int *neighbors = is_inter || !is_comm(key) ? NULL : find_neighbors(comm, like);
    write_definition(comm, ranks);
    write_neighbors(comm, neighbors);
    free(neighbors);
    mh_trace_publish(&table, slot, key);
    if (key == key_of(like))
        PMPI_Comm_set_attr(like, freed_key, NULL);
    return comm;
}

static uint32_t mix(uint32_t hash, uint32_t number)
{
    return (hash ^ number) * UINT32_C(16777619);
}

/* Of communicators that were made where this was not seen: by the ranks. */
static uint32_t compute_context(const int *ranks, int size)
{
    uint32_t hash = UINT32_C(2166136261);
    for (int i = 0; ranks && i < size; i++)
        hash = mix(hash, (uint32_t)ranks[i]);
    return hash | computed;
}

static trace_known_comm *discover(MPI_Comm handle)
{
    int is_inter = 0, size;
    trace_known_comm *found = &unknown;
    /* Where there was no room, it is not looked for in each call. Before the lock is held: the error handler of the
       program may jump. */
    if (handle == MPI_COMM_NULL || without_id > 0 || PMPI_Comm_test_inter(handle, &is_inter) != MPI_SUCCESS)
        return found;
    mh_trace_lock(&lock, TRACE_AT_ANY_TIME);
    int64_t slot = mh_trace_find(&table, key_of(handle));
    if (slot >= 0) {
        found = &known[slot];
    } else {
        int *ranks = world_ranks(handle, is_inter, &size);
        found = add(key_of(handle), handle, is_inter, compute_context(ranks, size), ranks, size);
        free(ranks);
    }
    mh_trace_unlock(&lock);
    return found;
}

trace_known_comm *mh_trace_comm(MPI_Comm comm)
{
    if (comm == MPI_COMM_WORLD)
        return &world;
    if (comm == MPI_COMM_SELF)
        return &self;
    int64_t slot = mh_trace_find(&table, key_of(comm));
    return slot >= 0 ? &known[slot] : discover(comm);
}

bool mh_trace_is_known(MPI_Comm comm)
{
    return comm == MPI_COMM_WORLD || comm == MPI_COMM_SELF || mh_trace_find(&table, key_of(comm)) >= 0;
}

uint32_t mh_trace_comm_id(uintptr_t handle)
{
    const MPI_Comm comm = (MPI_Comm)handle;
    return handle != 0 && mh_trace_is_known(comm) ? mh_trace_comm(comm)->id : TRACE_NO_COMM;
}

uint64_t mh_trace_count_unknown_comms(void)
{
    return atomic_load(&without_id);
}

void mh_trace_open_comms(void)
{
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget_freed, &freed_key, NULL);
    PMPI_Comm_group(MPI_COMM_WORLD, &world_group);
    world.rank = mh_trace.rank;
    world.size = mh_trace.size;
    self.context = computed;
}

void mh_trace_write_first_comms(void)
{
    int size, *all = world_ranks(MPI_COMM_WORLD, false, &size);
    write_definition(&world, all);
    write_definition(&self, &mh_trace.rank);
    free(all);
}

/* ---- New ones */

/* Another number for each call on each process, until there are no more. */
static uint32_t propose_context(void)
{
    uint64_t number = atomic_fetch_add(&proposals, 1) * (uint64_t)mh_trace.size + (uint64_t)mh_trace.rank;
    return (uint32_t)(number % (computed - 1)) + 1;
}

/* Collective over the new communicator. In an intercommunicator, a reduction gives what the other group has. */
static uint32_t agree_on_context(MPI_Comm comm, bool is_inter)
{
    uint32_t mine = propose_context(), max = 0, other_max = 0;
    PMPI_Allreduce(&mine, &max, 1, MPI_UINT32_T, MPI_MAX, comm);
    if (is_inter)
        PMPI_Allreduce(&max, &other_max, 1, MPI_UINT32_T, MPI_MAX, comm);
    return other_max > max ? other_max : max;
}

static void add_under_lock(uint64_t key, MPI_Comm like, bool is_inter, uint32_t context)
{
    int size;
    mh_trace_lock(&lock, TRACE_AT_ANY_TIME);
    int *ranks = world_ranks(like, is_inter, &size);
    add(key, like, is_inter, context, ranks, size);
    free(ranks);
    mh_trace_unlock(&lock);
}

/* Two threads may make communicators at once, so the lock is not held while processes wait for each other. */
void mh_trace_make_comm(int result, MPI_Comm comm)
{
    int is_inter = 0;
    if (result != MPI_SUCCESS || comm == MPI_COMM_NULL)
        return;
    PMPI_Comm_test_inter(comm, &is_inter);
    if (mh_interpose_is_foreign(comm))
        forget(key_of(comm));
    else
        add_under_lock(key_of(comm), comm, is_inter, agree_on_context(comm, is_inter));
}

/* It is not to be used before its request is complete; but its processes are those of the parent. */
void mh_trace_imake_comm(int result, MPI_Comm parent, MPI_Comm comm)
{
    if (result != MPI_SUCCESS || comm == MPI_COMM_NULL)
        return;
    trace_known_comm *its_parent = mh_trace_comm(parent);
    if (its_parent == &unknown)
        return;
    uint32_t number = atomic_fetch_add(&its_parent->duplicates, 1) + 1;
    uint32_t context = mix(mix(UINT32_C(2166136261), its_parent->context), number) | computed;
    add_under_lock(key_of(comm), parent, its_parent->is_inter, context);
}

void mh_trace_drop_comm(MPI_Comm comm)
{
    forget(key_of(comm));
}

/* ---- Windows and files */

void mh_trace_make_win(int result, MPI_Comm comm, MPI_Win window)
{
    if (result == MPI_SUCCESS && window != MPI_WIN_NULL && !mh_interpose_is_foreign(comm))
        add_under_lock(key_of_window(window), comm, false, agree_on_context(comm, false));
}

void mh_trace_make_file(int result, MPI_Comm comm, MPI_File file)
{
    if (result == MPI_SUCCESS && file != MPI_FILE_NULL && !mh_interpose_is_foreign(comm))
        add_under_lock(key_of_file(file), comm, false, agree_on_context(comm, false));
}

static trace_known_comm *find_or_unknown(uint64_t key)
{
    int64_t slot = mh_trace_find(&table, key);
    return slot >= 0 ? &known[slot] : &unknown;
}

trace_known_comm *mh_trace_window(MPI_Win window)
{
    return find_or_unknown(key_of_window(window));
}

trace_known_comm *mh_trace_file(MPI_File file)
{
    return find_or_unknown(key_of_file(file));
}

/* What is recorded afterwards, when MPI has freed the handle. */
static void drop(trace_call *call, uint64_t key)
{
    trace_known_comm *its = find_or_unknown(key);
    call->started.comm = its->id;
    call->started.starts = atomic_fetch_add(&its->operations, 1) + 1;
    forget(key);
}

void mh_trace_drop_win(trace_call *call, MPI_Win window)
{
    drop(call, key_of_window(window));
}

void mh_trace_drop_file(trace_call *call, MPI_File file)
{
    drop(call, key_of_file(file));
}
