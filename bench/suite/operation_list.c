/* SPDX-License-Identifier: BSD-3-Clause */
/* operation_list.c - all operations: which the MPI library has, and what they allow. */
#include "bench/suite/operations.h"

#include <stddef.h>
#include <string.h>

/* ---- The start, which has passed */

SHAPE(init, .send = 0)
SHAPE(hello, .send = 0, .meets = true)

static int do_nothing(const work_t *work, MPI_Request *request)
{
    (void)work;
    (void)request;
    return MPI_SUCCESS;
}

static const operation_t startup_operations[] = {
    {"init", "MPI_Init", FORM_STARTUP, &init, do_nothing},
    {"hello", "MPI_Init, MPI_Barrier", FORM_STARTUP, &hello, do_nothing},
    {0},
};

/* ---- All */

static const operation_t *const lists[] = {collective_operations, pair_operations,    one_sided_operations,
                                           file_operations,       startup_operations, NULL};

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
    for (const operation_t *const *list = lists; *list; list++)
        for (const operation_t *at = *list; at->name; at++)
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
    for (const operation_t *const *list = lists; *list; list++) {
        int place = names_find(NAMES(*list), name);
        if (place >= 0)
            return absence(&(*list)[place]);
    }
    return NULL;
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
