/* SPDX-License-Identifier: BSD-3-Clause */
/* topology_discover.c - discover by hwloc, the kernel and MPI where processes run. */
#define _GNU_SOURCE
#include "topology/topology_discover.h"

#include "topology/quota.h"

#include <hwloc.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

enum { MASK_WORDS = 64, WORD_BITS = 64 }; /* 4,096 processors in a node */

/* What a process knows about itself. */
typedef struct self {
    int package;
    int numa;
    uint64_t processors[MASK_WORDS]; /* those that it may use */
    mh_quota quota;
} self;

static int depth_index(hwloc_topology_t topology, hwloc_const_cpuset_t set, hwloc_obj_type_t type)
{
    for (hwloc_obj_t object = NULL; (object = hwloc_get_next_obj_by_type(topology, type, object)) != NULL;)
        if (object->cpuset && hwloc_bitmap_isincluded(set, object->cpuset))
            return (int)object->logical_index;
    return -1;
}

static void ask_hwloc(hwloc_topology_t topology, self *me)
{
    hwloc_bitmap_t set = hwloc_bitmap_alloc();
    if (!set)
        return;
    if (hwloc_get_cpubind(topology, set, HWLOC_CPUBIND_THREAD) != 0)
        hwloc_bitmap_copy(set, hwloc_topology_get_allowed_cpuset(topology));
    hwloc_bitmap_and(set, set, hwloc_topology_get_allowed_cpuset(topology));
    for (int bit = hwloc_bitmap_next(set, -1); bit >= 0 && bit < MASK_WORDS * WORD_BITS;
         bit = hwloc_bitmap_next(set, bit))
        me->processors[bit / WORD_BITS] |= UINT64_C(1) << bit % WORD_BITS;
    me->package = depth_index(topology, set, HWLOC_OBJ_PACKAGE);
    me->numa = depth_index(topology, set, HWLOC_OBJ_NUMANODE);
    hwloc_bitmap_free(set);
}

/* If Linux does not show its processors, hwloc prints to standard error and finds nothing. */
static bool shows_processors(void)
{
#ifdef __linux__
    return access("/sys/devices/system/cpu/cpu0/topology", R_OK) == 0 ||
           access("/sys/bus/cpu/devices/cpu0/topology", R_OK) == 0;
#else
    return true;
#endif
}

static void ask_kernel(self *me)
{
#ifdef __linux__
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return;
    for (int bit = 0; bit < CPU_SETSIZE; bit++)
        if (CPU_ISSET(bit, &set))
            me->processors[bit / WORD_BITS] |= UINT64_C(1) << bit % WORD_BITS;
#else
    (void)me;
#endif
}

/* A process that is not bound has package and NUMA node -1, as if -1 were a package or node. */
static self look_at_self(void)
{
    self me = {.package = -1, .numa = -1, .quota = {INT64_MAX, 0}};
    hwloc_topology_t topology;
#ifdef SMPI_H
    return me; /* the machine that runs the simulator has other processors */
#endif
    me.quota = mh_quota_find("");
    if (!shows_processors()) {
        ask_kernel(&me);
        return me;
    }
    if (hwloc_topology_init(&topology) != 0)
        return me;
    hwloc_topology_set_all_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE);
    hwloc_topology_set_type_filter(topology, HWLOC_OBJ_PACKAGE, HWLOC_TYPE_FILTER_KEEP_ALL);
    if (hwloc_topology_load(topology) == 0)
        ask_hwloc(topology, &me);
    hwloc_topology_destroy(topology);
    return me;
}

/* Loading a topology takes milliseconds, so once in the life of a process. */
static const self *this_process(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static int known;
    static self me;
    pthread_mutex_lock(&lock);
    if (!known)
        me = look_at_self();
    known = 1;
    pthread_mutex_unlock(&lock);
    return &me;
}

static int exceeds_masks(MPI_Comm node, const self *me, int processes, bool *exceeds, mh_error *error)
{
    uint64_t processors[MASK_WORDS];
    MH_TRY(error, PMPI_Allreduce, (me->processors, processors, MASK_WORDS, MPI_UINT64_T, MPI_BOR, node));
    int count = 0;
    for (int i = 0; i < MASK_WORDS; i++)
        count += __builtin_popcountll(processors[i]);
    *exceeds = count > 0 && processes > count;
    return MPI_SUCCESS;
}

static int count_sharers(MPI_Comm node, const self *me, uint64_t *groups, int processes, int *sharers, mh_error *error)
{
    MH_TRY(error, PMPI_Allgather, (&me->quota.group, 1, MPI_UINT64_T, groups, 1, MPI_UINT64_T, node));
    for (int i = 0; i < processes; i++)
        *sharers += groups[i] == me->quota.group;
    return MPI_SUCCESS;
}

/* Whether more processes share this one's quota than it allows. Out of memory: false. */
static int exceeds_quota(MPI_Comm node, const self *me, int processes, bool *exceeds, mh_error *error)
{
    uint64_t *groups = malloc((size_t)processes * sizeof *groups);
    int all_have = groups != NULL, sharers = 0;
    int code = PMPI_Allreduce(MPI_IN_PLACE, &all_have, 1, MPI_INT, MPI_LAND, node);
    code = mh_check_mpi(error, code, "PMPI_Allreduce");
    if (code == MPI_SUCCESS && groups && all_have)
        code = count_sharers(node, me, groups, processes, &sharers, error);
    free(groups);
    *exceeds = sharers > me->quota.processors;
    return code;
}

static int more_processes_than_processors(MPI_Comm node, const self *me, int processes, int *oversubscribed,
                                          mh_error *error)
{
    bool by_masks = false, by_quota = false;
    int code = exceeds_masks(node, me, processes, &by_masks, error);
    if (code == MPI_SUCCESS)
        code = exceeds_quota(node, me, processes, &by_quota, error);
    *oversubscribed = by_masks || by_quota;
    return code;
}

/* The number of a node is the lowest of its ranks. */
static int look_at_node(MPI_Comm node, int rank, const self *me, mh_place *place, int *oversubscribed, mh_error *error)
{
    int processes;
    place->at[MH_PLACE_NODE] = rank;
    place->at[MH_PLACE_PACKAGE] = me->package;
    place->at[MH_PLACE_NUMA] = me->numa;
    MH_TRY(error, PMPI_Comm_size, (node, &processes));
    MH_TRY(error, PMPI_Bcast, (&place->at[MH_PLACE_NODE], 1, MPI_INT, 0, node));
    return more_processes_than_processors(node, me, processes, oversubscribed, error);
}

int mh_topology_discover(const mh_channel *channel, mh_place *places, bool *oversubscribed, mh_error *error)
{
    MPI_Comm node;
    mh_place place;
    int crowded = 0, any_crowded;
    const self *me = this_process();
    MH_TRY(error, PMPI_Comm_split_type, (channel->comm, MPI_COMM_TYPE_SHARED, channel->rank, MPI_INFO_NULL, &node));
    int code = look_at_node(node, channel->rank, me, &place, &crowded, error);
    PMPI_Comm_free(&node);
    if (code != MPI_SUCCESS)
        return code;
    MH_TRY(error, PMPI_Allreduce, (&crowded, &any_crowded, 1, MPI_INT, MPI_MAX, channel->comm));
    *oversubscribed = any_crowded != 0;
    return mh_allgather(channel, &place, sizeof place, places, error);
}
