/* SPDX-License-Identifier: BSD-3-Clause */
/* topology_discover.c - discover by hwloc, the kernel and MPI where processes run. */
#define _GNU_SOURCE
#include "topology/topology_discover.h"

#include "base/host.h"
#include "topology/leaders.h"
#include "topology/quota.h"

#include <hwloc.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MASK_WORDS = 64, WORD_BITS = 64 }; /* 4,096 processors in a node */

/* What a process knows about itself. */
typedef struct mh_self {
    mh_place place;
    uint64_t processors[MASK_WORDS]; /* those that it may use */
    mh_quota quota;
} mh_self;

static int depth_index(hwloc_topology_t topology, hwloc_const_cpuset_t set, hwloc_obj_type_t type)
{
    for (hwloc_obj_t object = NULL; (object = hwloc_get_next_obj_by_type(topology, type, object)) != NULL;)
        if (object->cpuset && hwloc_bitmap_isincluded(set, object->cpuset))
            return (int)object->logical_index;
    return -1;
}

static void ask_kernel(mh_self *me)
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

static void ask_hwloc(hwloc_topology_t topology, mh_self *me)
{
    hwloc_bitmap_t set = hwloc_bitmap_alloc();
    if (!set)
        return;
    if (hwloc_get_cpubind(topology, set, HWLOC_CPUBIND_THREAD) != 0)
        hwloc_bitmap_copy(set, hwloc_topology_get_allowed_cpuset(topology));
    hwloc_bitmap_and(set, set, hwloc_topology_get_allowed_cpuset(topology));
    memset(me->processors, 0, sizeof me->processors);
    for (int bit = hwloc_bitmap_next(set, -1); bit >= 0 && bit < MASK_WORDS * WORD_BITS;
         bit = hwloc_bitmap_next(set, bit))
        me->processors[bit / WORD_BITS] |= UINT64_C(1) << bit % WORD_BITS;
    me->place.at[MH_PLACE_PACKAGE] = depth_index(topology, set, HWLOC_OBJ_PACKAGE);
    me->place.at[MH_PLACE_NUMA] = depth_index(topology, set, HWLOC_OBJ_NUMANODE);
    me->place.at[MH_PLACE_CACHE] = depth_index(topology, set, HWLOC_OBJ_L3CACHE);
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

#if HWLOC_API_VERSION >= 0x00020800
/* Otherwise, hwloc also binds the process to each processor in turn, and waits for whatever runs there. */
static const unsigned long only_places = HWLOC_TOPOLOGY_FLAG_DONT_CHANGE_BINDING | HWLOC_TOPOLOGY_FLAG_NO_DISTANCES |
                                         HWLOC_TOPOLOGY_FLAG_NO_MEMATTRS | HWLOC_TOPOLOGY_FLAG_NO_CPUKINDS;
#endif

/* A process that is not bound has package, NUMA node and cache -1, as if -1 were a package, node or cache. */
static mh_self look_at_self(void)
{
    mh_self me = {.place = {{-1, -1, -1}}, .quota = {INT64_MAX, 0}};
    hwloc_topology_t topology;
#ifdef SMPI_H
    return me; /* the machine that runs the simulator has other processors */
#endif
    me.quota = mh_quota_find("");
    ask_kernel(&me);
    if (!shows_processors() || hwloc_topology_init(&topology) != 0)
        return me;
#if HWLOC_API_VERSION >= 0x00020800
    hwloc_topology_set_flags(topology, only_places);
#endif
    hwloc_topology_set_all_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE);
    hwloc_topology_set_type_filter(topology, HWLOC_OBJ_PACKAGE, HWLOC_TYPE_FILTER_KEEP_ALL);
    hwloc_topology_set_type_filter(topology, HWLOC_OBJ_L3CACHE, HWLOC_TYPE_FILTER_KEEP_ALL);
    if (hwloc_topology_load(topology) == 0)
        ask_hwloc(topology, &me);
    hwloc_topology_destroy(topology);
    return me;
}

/* Loading a topology takes milliseconds, so once in the life of a process. */
static const mh_self *this_process(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static int known;
    static mh_self me;
    pthread_mutex_lock(&lock);
    if (!known)
        me = look_at_self();
    known = 1;
    pthread_mutex_unlock(&lock);
    return &me;
}

static void fail_without_memory(const mh_channel *channel, mh_error *error)
{
    mh_fail(error, MPI_ERR_NO_MEM, "out of memory on rank %d for the ranks of a communicator with %d processes",
            channel->rank, channel->size);
}

/* What a process tells the others of its node. */
typedef struct mh_resident {
    uint64_t quota_group;
    int rank;
    mh_place place;
} mh_resident;

/* The number of processors that the node's processes may use, and whether one lacks memory: one operation for both. */
static int unite(MPI_Comm node, const mh_self *me, bool lacks_memory, int *processors, bool *any_lacks, mh_error *error)
{
    uint64_t mine[MASK_WORDS + 1], all[MASK_WORDS + 1];
    memcpy(mine, me->processors, sizeof me->processors);
    mine[MASK_WORDS] = lacks_memory;
    MH_TRY(error, PMPI_Allreduce, (mine, all, MASK_WORDS + 1, MPI_UINT64_T, MPI_BOR, node));
    *any_lacks = all[MASK_WORDS] != 0;
    *processors = 0;
    for (int i = 0; i < MASK_WORDS; i++)
        *processors += __builtin_popcountll(all[i]);
    return MPI_SUCCESS;
}

static int meet(MPI_Comm node, const mh_self *me, int rank, mh_resident *residents, mh_error *error)
{
    mh_resident mine;
    memset(&mine, 0, sizeof mine); /* the padding is sent too */
    mine.quota_group = me->quota.group;
    mine.rank = rank;
    mine.place = me->place;
    MH_TRY(error, PMPI_Allgather, (&mine, sizeof mine, MPI_BYTE, residents, sizeof mine, MPI_BYTE, node));
    return MPI_SUCCESS;
}

/* Returns how many processes of the node share this one's quota. */
static int settle(const mh_resident *residents, mh_sites *sites)
{
    int sharers = 0;
    for (int i = 0; i < sites->node.size; i++) {
        sites->node.ranks[i] = residents[i].rank;
        sites->places[i] = residents[i].place;
        if (residents[i].rank == sites->rank)
            sites->node.index = i;
    }
    for (int i = 0; i < sites->node.size; i++)
        sharers += residents[i].quota_group == residents[sites->node.index].quota_group;
    return sharers;
}

/* What all processes add up. */
typedef struct mh_census {
    int64_t leaders;       /* the first processes of nodes */
    int64_t crowded;       /* processes whose node or quota has fewer processors than processes */
    int64_t out_of_memory; /* processes */
} mh_census;

enum { CENSUS_FIELDS = 3 };

_Static_assert(sizeof(mh_census) == CENSUS_FIELDS * sizeof(int64_t), "a census is added up as an array of int64_t");

static int look_at_node(MPI_Comm node, const mh_self *me, mh_sites *sites, mh_census *mine, mh_error *error)
{
    int processes, processors;
    bool any_lacks;
    MH_TRY(error, PMPI_Comm_size, (node, &processes));
    size_t count = (size_t)processes;
    mh_resident *residents = malloc(count * sizeof *residents);
    sites->node = (mh_group){processes, 0, malloc(count * sizeof *sites->node.ranks)};
    sites->places = malloc(count * sizeof *sites->places);
    mine->out_of_memory = !residents || !sites->node.ranks || !sites->places;
    int code = unite(node, me, mine->out_of_memory, &processors, &any_lacks, error);
    bool all_can = code == MPI_SUCCESS && !any_lacks;
    if (all_can)
        code = meet(node, me, sites->rank, residents, error);
    if (all_can && code == MPI_SUCCESS && sites->node.ranks && sites->places) {
        int sharers = settle(residents, sites);
        mine->crowded = (processors > 0 && processes > processors) || sharers > me->quota.processors;
        mine->leaders = sites->node.index == 0;
    }
    free(residents);
    return code;
}

static int find_leaders(const mh_channel *channel, int count, mh_sites *sites, mh_error *error)
{
    mh_leader_tree tree;
    bool is_leader = sites->node.index == 0;
    int code = mh_leaders_count(channel, is_leader, &tree, error);
    if (code != MPI_SUCCESS)
        return code;
    int *ranks = tree.leaders > 0 ? malloc((size_t)count * sizeof *ranks) : NULL;
    if (tree.leaders > 0 && !ranks)
        fail_without_memory(channel, error);
    code = mh_error_agree(error, channel->comm);
    if (code == MPI_SUCCESS)
        code = mh_leaders_list(channel, &tree, count, ranks, error);
    if (code != MPI_SUCCESS || !is_leader || !ranks) {
        free(ranks);
        return code;
    }
    sites->leaders.ranks = ranks;
    while (ranks[sites->leaders.index] != channel->rank)
        sites->leaders.index++;
    return MPI_SUCCESS;
}

/* On one node, and with one process on each, the ranks of the first processes are known. */
static int look_beyond(const mh_channel *channel, const mh_census *mine, mh_sites *sites, bool *oversubscribed,
                       mh_error *error)
{
    mh_census all;
    MH_TRY(error, PMPI_Allreduce, (mine, &all, CENSUS_FIELDS, MPI_INT64_T, MPI_SUM, channel->comm));
    if (mine->out_of_memory)
        fail_without_memory(channel, error);
    if (all.out_of_memory)
        return mh_error_agree(error, channel->comm);
    *oversubscribed = all.crowded > 0;
    int count = (int)all.leaders;
    sites->leaders = (mh_group){mine->leaders ? count : 0, 0, NULL};
    if (count > 1 && count < channel->size)
        return find_leaders(channel, count, sites, error);
    sites->leaders.index = mine->leaders ? channel->rank : 0;
    return MPI_SUCCESS;
}

static int look_around(const mh_channel *channel, MPI_Comm node, mh_sites *sites, bool *oversubscribed, mh_error *error)
{
    mh_census mine = {0, 0, 0};
    *sites = (mh_sites){.rank = channel->rank, .size = channel->size};
    int code = look_at_node(node, this_process(), sites, &mine, error);
    PMPI_Comm_free(&node);
    return code != MPI_SUCCESS ? code : look_beyond(channel, &mine, sites, oversubscribed, error);
}

#ifdef SMPI_H
#define HAS_HOSTS 0 /* all run on the machine that runs the simulator */
#else
#define HAS_HOSTS 1
#endif

/* A color has 31 bits, in which two of 50,000 hosts may well agree. So both halves of the hash are used. */
static int split_by_host(const mh_channel *channel, MPI_Comm *node, mh_error *error)
{
    MPI_Comm some;
    uint64_t hash = mh_hash_host();
    MH_TRY(error, PMPI_Comm_split, (channel->comm, (int)(hash & INT_MAX), channel->rank, &some));
    int code =
        mh_check_mpi(error, PMPI_Comm_split(some, (int)(hash >> 32 & INT_MAX), channel->rank, node), "MPI_Comm_split");
    PMPI_Comm_free(&some);
    return code;
}

/*
 * MPI libraries that share no memory themselves, such as MPICH 5 with UCX, take each process for alone on its node.
 * Then the hosts tell. Memory that cannot be shared there is found out later. All processes know if all are leaders.
 */
int mh_topology_discover(const mh_channel *channel, mh_sites *sites, bool *oversubscribed, mh_error *error)
{
    MPI_Comm node;
    int rank = channel->rank, size = channel->size;
    *sites = (mh_sites){0};
    MH_TRY(error, PMPI_Comm_split_type, (channel->comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node));
    int code = look_around(channel, node, sites, oversubscribed, error);
    if (code != MPI_SUCCESS || !HAS_HOSTS || size == 1 || sites->leaders.size < size)
        return code;
    mh_sites_free(sites);
    code = split_by_host(channel, &node, error);
    return code != MPI_SUCCESS ? code : look_around(channel, node, sites, oversubscribed, error);
}
