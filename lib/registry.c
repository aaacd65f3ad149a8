/* SPDX-License-Identifier: BSD-3-Clause */
/* registry.c - a list of states for each group of handles, and one of states that are kept. */
#include "registry.h"

#include "thread_cache.h"

#include <pthread.h>

enum { GROUPS = 256 };

static struct {
    pthread_mutex_t lock; /* MPI is not called under it */
    int64_t made;         /* states so far */
    mh_comm_state *first[GROUPS];
    mh_comm_state *kept;
} registry = {.lock = PTHREAD_MUTEX_INITIALIZER};

static mh_comm_state **group_of(MPI_Comm comm)
{
    return &registry.first[mh_handle_hash(comm) % GROUPS];
}

void mh_registry_add(mh_comm_state *state)
{
    mh_comm_state **first = group_of(state->user_comm);
    pthread_mutex_lock(&registry.lock);
    state->number = registry.made++;
    state->next = *first;
    *first = state;
    pthread_mutex_unlock(&registry.lock);
}

/* The link to the state; NULL if there is none. Needs the lock. */
static mh_comm_state **link_to(MPI_Comm comm, const void *value)
{
    for (mh_comm_state **link = group_of(comm); *link; link = &(*link)->next)
        if (*link == value && (*link)->user_comm == comm)
            return link;
    return NULL;
}

bool mh_registry_has(MPI_Comm comm, const void *value)
{
    pthread_mutex_lock(&registry.lock);
    bool has = link_to(comm, value);
    pthread_mutex_unlock(&registry.lock);
    return has;
}

mh_comm_state *mh_registry_remove(MPI_Comm comm, const void *value)
{
    pthread_mutex_lock(&registry.lock);
    mh_comm_state **link = link_to(comm, value), *state = link ? *link : NULL;
    if (state)
        *link = state->next;
    pthread_mutex_unlock(&registry.lock);
    return state;
}

mh_comm_state *mh_registry_oldest_of_world(bool all_ended)
{
    mh_comm_state *oldest = NULL;
    pthread_mutex_lock(&registry.lock);
    for (int i = 0; i < GROUPS; i++)
        for (mh_comm_state *state = registry.first[i]; state; state = state->next)
            if (state->keyval != MPI_KEYVAL_INVALID && (all_ended || !state->before_world) &&
                (!oldest || state->number < oldest->number))
                oldest = state;
    pthread_mutex_unlock(&registry.lock);
    return oldest;
}

void mh_registry_keep(mh_comm_state *state)
{
    pthread_mutex_lock(&registry.lock);
    state->next = registry.kept;
    registry.kept = state;
    pthread_mutex_unlock(&registry.lock);
}

mh_comm_state *mh_registry_kept(void)
{
    return registry.kept;
}
