/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * make_state.c - the state of a communicator is its attribute. All processes make it together and attach it, or none
 * does.
 */
#include "make_state.h"

#include "base/quiet.h"
#include "end_state.h"
#include "keyval.h"
#include "registry.h"
#include "thread_cache.h"
#include "transport/channel.h"

#include <stdlib.h>

/* A state that can be freed and asked, but has neither a private communicator nor agreed settings yet. */
static mh_comm_state *new_state(MPI_Comm comm)
{
    int initialized = 1;
    mh_comm_state *state = calloc(1, sizeof *state);
    if (!state)
        return NULL;
    PMPI_Initialized(&initialized);
    state->user_comm = comm;
    state->channel.comm = MPI_COMM_NULL;
    state->before_world = !initialized;
    state->keyval = MPI_KEYVAL_INVALID;
    mh_settings_default(&state->settings);
    mh_comm_clock_init(&state->clock, &state->channel);
    mh_history_init(&state->history);
    mh_rounds_init(&state->rounds, &state->channel, &state->clock.global, &state->barrier);
    return state;
}

/* The steps that can fail on one process only, and agreement on their errors. */
static int agree_on_settings(mh_comm_state *state, const mh_channel *channel, mh_error *error)
{
    mh_settings settings;
    mh_settings_default(&settings);
    if (!state)
        mh_fail(error, MPI_ERR_NO_MEM, "out of memory on rank %d for the state of a communicator", channel->rank);
    else if (error->code == MPI_SUCCESS && mh_comm_state_will_end(state, error) == MPI_SUCCESS)
        mh_settings_from_environment(&settings, error);
    int code = mh_settings_agree(&settings, MPI_ERR_ARG, channel->comm, error);
    if (code == MPI_SUCCESS && state)
        state->settings = settings;
    return code;
}

static bool attach(mh_comm_state *state, mh_error *error)
{
    mh_registry_add(state);
    return mh_check_mpi(error, PMPI_Comm_set_attr(state->user_comm, state->keyval, state), "MPI_Comm_set_attr") ==
           MPI_SUCCESS;
}

/* Free a state that is inserted. If its communicator does not let go of it, it stays as one that refuses calls. */
static void detach(mh_comm_state *state, bool attached)
{
    MPI_Comm comm = state->user_comm;
    if (!attached)
        mh_comm_state_free(mh_registry_remove(comm, state));
    else if (PMPI_Comm_delete_attr(comm, state->keyval) != MPI_SUCCESS)
        state->failed = true;
}

/*
 * Attach the state on all processes, or on none; but if processes do not know of each other, one that failed keeps its
 * state, by which it refuses later calls: others may go on. keeps: on this process.
 */
static int attach_on_all(mh_comm_state *state, bool *keeps, mh_error *error)
{
    bool attached = attach(state, error);
    int code = mh_error_agree(error, state->channel.comm);
    state->failed = code != MPI_SUCCESS && error->alone;
    *keeps = code == MPI_SUCCESS || (attached && state->failed);
    if (!*keeps)
        detach(state, attached);
    return code;
}

/* The same after a failure before. Returns whether the state is attached; else it is freed. */
static bool keep_failed(mh_comm_state *state)
{
    mh_error ignored = MH_NO_ERROR;
    state->failed = true;
    if (mh_comm_state_will_end(state, &ignored) != MPI_SUCCESS) {
        mh_comm_state_free(state);
        return false;
    }
    bool attached = attach(state, &ignored);
    if (!attached)
        detach(state, false);
    return attached;
}

/* made: NULL if there is no state; after an error, one that refuses later calls. */
static int make_state(MPI_Comm comm, mh_comm_state **made, mh_error *error)
{
    mh_comm_state *state = new_state(comm);
    mh_channel channel = {.comm = MPI_COMM_NULL, .room = state ? &state->room : NULL};
    bool keeps = false;
    int code = mh_channel_make(&channel, comm, error);
    if (code == MPI_SUCCESS)
        code = agree_on_settings(state, &channel, error);
    if (state)
        state->channel = channel;
    else
        mh_channel_free(&channel);
    if (code == MPI_SUCCESS)
        code = attach_on_all(state, &keeps, error);
    else if (state && error->alone)
        keeps = keep_failed(state);
    else
        mh_comm_state_free(state);
    *made = keeps ? state : NULL;
    return code;
}

int mh_comm_state_find(MPI_Comm comm, mh_comm_state **state, mh_error *error)
{
    unsigned seen = mh_thread_cache_generation(comm);
    int keyval = mh_keyval(), found = 0;
    void *attribute = NULL;
    *state = NULL;
    if (keyval != MPI_KEYVAL_INVALID)
        MH_TRY_USER(error, PMPI_Comm_get_attr, (comm, keyval, &attribute, &found));
    if (!found)
        return MPI_SUCCESS;
    if (!mh_registry_has(comm, attribute)) {
        mh_keyval_lose(keyval);
        return MPI_SUCCESS;
    }
    *state = attribute;
    mh_thread_cache_add(comm, *state, seen);
    return MPI_SUCCESS;
}

int mh_comm_state_get(MPI_Comm comm, mh_comm_state **state, mh_error *error)
{
    unsigned seen = mh_thread_cache_generation(comm);
    int code = mh_comm_state_find(comm, state, error);
    if (code != MPI_SUCCESS || *state)
        return code;
    mh_quiet quiet = mh_quiet_begin(comm, error);
    code = make_state(comm, state, error);
    mh_quiet_end(&quiet);
    if (*state)
        mh_thread_cache_add(comm, *state, seen);
    return code;
}
