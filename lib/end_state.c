/* SPDX-License-Identifier: BSD-3-Clause */
/* end_state.c - free what a state has, and arrange that MPI calls for this. */
#include "end_state.h"

#include "finalize.h"
#include "keyval.h"
#include "registry.h"
#include "thread_cache.h"
#include "transport/channel.h"

#include <stdlib.h>

/*
 * Free what a state has. More than once does no harm.
 *
 * After a failure inside MPI, operations may still be under way, and messages be left that nobody has received. The
 * communicator is then kept until MPI ends: MPICH would deliver its messages to the next communicator with the same
 * number. That of a session is freed, because it must not outlive the session.
 */
static void end_state(mh_comm_state *state)
{
    mh_thread_cache_drop(state->user_comm);
    if (!state->failed || state->before_world || mh_finalize_has_begun())
        mh_channel_free(&state->channel);
    mh_comm_clock_free(&state->clock);
    mh_history_free(&state->history);
    mh_barrier_close(&state->barrier);
    mh_sites_free(&state->sites);
    mh_keyval_leave(&state->keyval);
}

/* After a failure, the memory is kept for good, as MPI may still write there. */
void mh_comm_state_free(mh_comm_state *state)
{
    if (!state)
        return;
    end_state(state);
    if (state->failed)
        mh_registry_keep(state);
    else
        free(state);
}

void mh_comm_state_give_up(mh_comm_state *state)
{
    state->failed = true;
    mh_barrier_give_up(&state->barrier);
}

static int on_delete(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)keyval;
    (void)extra;
    mh_comm_state_free(mh_registry_remove(comm, value));
    return MPI_SUCCESS;
}

/*
 * Oldest first: processes that share several communicators made them in the same order, so none waits for another. The
 * communicators are not used, because some may no longer exist. Others still have the state as an attribute: that of a
 * session may go on though it was used first after MPI_Init. So the state stays as one that refuses calls.
 */
static void at_finalize(void)
{
    int finalized = 0;
    PMPI_Finalized(&finalized);
    for (mh_comm_state *state; (state = mh_registry_oldest_of_world(finalized)) != NULL;) {
        end_state(state);
        state->failed = true;
    }
    for (mh_comm_state *state = mh_registry_kept(); state; state = state->next)
        mh_channel_free(&state->channel);
    mh_keyval_free_unused();
}

int mh_comm_state_will_end(mh_comm_state *state, mh_error *error)
{
    if (state->keyval != MPI_KEYVAL_INVALID)
        return MPI_SUCCESS;
    int code = mh_finalize_watch(at_finalize, error);
    return code == MPI_SUCCESS ? mh_keyval_use(&state->keyval, on_delete, error) : code;
}

bool mh_comm_state_mpi_ended(void)
{
    int finalized = 0;
    PMPI_Finalized(&finalized);
    bool in_session = mh_keyval_is_used() || (mh_finalize_is_watched() && !mh_finalize_has_begun());
    return finalized ? !in_session : mh_finalize_has_begun();
}
