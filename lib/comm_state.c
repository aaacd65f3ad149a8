/* SPDX-License-Identifier: BSD-3-Clause */
#include "comm_state.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static struct {
    pthread_mutex_t lock;
    _Atomic int keyval;  /* of the states */
    int finalize_keyval; /* of the attribute whose deletion says that MPI ends */
    bool watches_finalize;
    mh_comm_state *first;
} registry = {.lock = PTHREAD_MUTEX_INITIALIZER, .keyval = MPI_KEYVAL_INVALID, .finalize_keyval = MPI_KEYVAL_INVALID};

/* Changes whenever a state is freed: then what threads remember may be stale. */
static _Atomic unsigned generation = 1;

/* SimGrid loads a copy of the program for each simulated process, too many for static thread-local storage. */
#ifdef SMPI_H
#define CHEAP_THREAD_LOCAL
#else
#define CHEAP_THREAD_LOCAL __attribute__((tls_model("initial-exec")))
#endif

/* The communicator that a thread used last, as looking up an attribute costs more than the rest of reading a clock. */
static _Thread_local struct {
    unsigned generation;
    MPI_Comm comm;
    mh_comm_state *state;
} remembered CHEAP_THREAD_LOCAL;

static void insert(mh_comm_state *state)
{
    pthread_mutex_lock(&registry.lock);
    mh_comm_state **link = &registry.first;
    while (*link)
        link = &(*link)->next;
    state->link = link;
    *link = state;
    pthread_mutex_unlock(&registry.lock);
}

static void unlink_state(mh_comm_state *state)
{
    pthread_mutex_lock(&registry.lock);
    *state->link = state->next;
    if (state->next)
        state->next->link = state->link;
    pthread_mutex_unlock(&registry.lock);
}

static void release_memory(mh_comm_state *state)
{
    mh_sync_plan_free(&state->plan);
    mh_rendezvous_close(&state->rendezvous);
    free(state);
}

static int delete_state(MPI_Comm comm, int keyval, void *attribute, void *extra)
{
    mh_comm_state *state = attribute;
    (void)comm;
    (void)keyval;
    (void)extra;
    atomic_fetch_add(&generation, 1);
    unlink_state(state);
    PMPI_Comm_free(&state->channel.comm);
    release_memory(state);
    return MPI_SUCCESS;
}

/* Oldest first: processes that share several communicators made them in the same order, so nobody waits for another. */
static void free_all_states(void)
{
    int finalized = 0;
    PMPI_Finalized(&finalized);
    while (registry.first && !finalized)
        if (PMPI_Comm_delete_attr(registry.first->user_comm, registry.keyval) != MPI_SUCCESS)
            break;
}

static int at_finalize(MPI_Comm comm, int keyval, void *attribute, void *extra)
{
    (void)comm;
    (void)keyval;
    (void)attribute;
    (void)extra;
    free_all_states();
    int states = atomic_exchange(&registry.keyval, MPI_KEYVAL_INVALID);
    if (states != MPI_KEYVAL_INVALID)
        PMPI_Comm_free_keyval(&states);
    if (registry.finalize_keyval != MPI_KEYVAL_INVALID)
        PMPI_Comm_free_keyval(&registry.finalize_keyval);
    registry.watches_finalize = false;
    return MPI_SUCCESS;
}

/*
 * Some MPI libraries skip the callbacks of other communicators at MPI_Finalize; those of MPI_COMM_SELF are always
 * called.
 */
static int watch_finalize(mh_error *error)
{
    int initialized;
    MH_TRY(error, PMPI_Initialized, (&initialized));
    if (!initialized || registry.watches_finalize)
        return MPI_SUCCESS;
    MH_TRY(error, PMPI_Comm_create_keyval, (MPI_COMM_NULL_COPY_FN, at_finalize, &registry.finalize_keyval, NULL));
    MH_TRY(error, PMPI_Comm_set_attr, (MPI_COMM_SELF, registry.finalize_keyval, NULL));
    registry.watches_finalize = true;
    return MPI_SUCCESS;
}

/* A duplicate of a communicator starts fresh: its state is not copied. */
static int make_keyval(mh_error *error)
{
    int keyval;
    if (atomic_load(&registry.keyval) != MPI_KEYVAL_INVALID)
        return MPI_SUCCESS;
    MH_TRY(error, PMPI_Comm_create_keyval, (MPI_COMM_NULL_COPY_FN, delete_state, &keyval, NULL));
    atomic_store(&registry.keyval, keyval);
    return MPI_SUCCESS;
}

static int ensure_keyvals(mh_error *error)
{
    pthread_mutex_lock(&registry.lock);
    int code = watch_finalize(error);
    if (code == MPI_SUCCESS)
        code = make_keyval(error);
    pthread_mutex_unlock(&registry.lock);
    return code;
}

static mh_comm_state *remember(MPI_Comm comm, mh_comm_state *state, unsigned seen)
{
    remembered.comm = comm;
    remembered.state = state;
    remembered.generation = seen;
    return state;
}

mh_comm_state *mh_comm_state_remembered(MPI_Comm comm)
{
    unsigned now = atomic_load_explicit(&generation, memory_order_acquire);
    return remembered.generation == now && remembered.comm == comm ? remembered.state : NULL;
}

mh_comm_state *mh_comm_state_find(MPI_Comm comm)
{
    unsigned seen = atomic_load_explicit(&generation, memory_order_acquire);
    int keyval = atomic_load(&registry.keyval), found = 0;
    void *state = NULL;
    if (keyval == MPI_KEYVAL_INVALID || PMPI_Comm_get_attr(comm, keyval, &state, &found) != MPI_SUCCESS || !found)
        return NULL;
    return remember(comm, state, seen);
}

/*
 * The private communicator: MPI_Comm_dup would call the copy callbacks of the user's attributes, and MPI_Comm_create of
 * MPICH 4.0 crashes where MPI is known by sessions alone.
 */
static int make_channel(MPI_Comm comm, mh_channel *channel, mh_error *error)
{
    int rank;
    MH_TRY(error, PMPI_Comm_rank, (comm, &rank));
    MH_TRY(error, PMPI_Comm_split, (comm, 0, rank, &channel->comm));
    MH_TRY(error, PMPI_Comm_set_errhandler, (channel->comm, MPI_ERRORS_RETURN));
    MH_TRY(error, PMPI_Comm_set_name, (channel->comm, "libmpix_harmonize"));
    MH_TRY(error, PMPI_Comm_rank, (channel->comm, &channel->rank));
    MH_TRY(error, PMPI_Comm_size, (channel->comm, &channel->size));
    return MPI_SUCCESS;
}

/* What can fail in one process alone, so that all agree on it before anything else. */
static int fill_state(mh_comm_state *state, const mh_channel *channel, mh_error *error)
{
    mh_settings settings;
    mh_settings_default(&settings);
    if (!state)
        mh_fail(error, MPI_ERR_NO_MEM, "out of memory on rank %d for the state of a communicator", channel->rank);
    else if (ensure_keyvals(error) == MPI_SUCCESS)
        mh_settings_from_environment(&settings, error);
    int code = mh_settings_agree(&settings, MPI_ERR_ARG, channel->comm, error);
    if (code != MPI_SUCCESS)
        return code;
    state->channel = *channel;
    state->settings = settings;
    mh_global_clock_init(&state->clock);
    mh_deadline_init(&state->deadline, &state->channel, &state->clock, &state->rendezvous);
    return MPI_SUCCESS;
}

static int make_state(MPI_Comm comm, mh_comm_state **made, mh_error *error)
{
    mh_channel channel = {MPI_COMM_NULL, 0, 0, false};
    mh_comm_state *state = calloc(1, sizeof *state);
    int code = make_channel(comm, &channel, error);
    if (code == MPI_SUCCESS)
        code = fill_state(state, &channel, error);
    if (code != MPI_SUCCESS) {
        if (channel.comm != MPI_COMM_NULL)
            PMPI_Comm_free(&channel.comm);
        free(state);
        return code;
    }
    state->user_comm = comm;
    insert(state);
    code = mh_check_mpi(error, PMPI_Comm_set_attr(comm, registry.keyval, state), "MPI_Comm_set_attr");
    if (code != MPI_SUCCESS) {
        delete_state(comm, registry.keyval, state, NULL);
        return code;
    }
    *made = state;
    return MPI_SUCCESS;
}

int mh_comm_state_get(MPI_Comm comm, mh_comm_state **state, mh_error *error)
{
    *state = mh_comm_state_find(comm);
    return *state ? MPI_SUCCESS : make_state(comm, state, error);
}
