/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * thread_cache.h - the states of the communicators that a thread used last. Looking up an attribute takes longer than
 * the rest of reading a clock.
 */
#ifndef MH_THREAD_CACHE_H
#define MH_THREAD_CACHE_H

#include <mpi.h>
#include <stdint.h>

struct mh_comm_state;

/* Handles are small numbers or addresses. */
static inline unsigned mh_handle_hash(MPI_Comm comm)
{
    uintptr_t handle = (uintptr_t)comm;
    return (unsigned)(handle ^ handle >> 4 ^ handle >> 8);
}

/* The state of comm if this thread used comm recently, else NULL. Local, any thread, any time, any comm; fast. */
struct mh_comm_state *mh_comm_state_remembered(MPI_Comm comm);

/* To be read before a state is looked up that mh_thread_cache_add then adds. */
unsigned mh_thread_cache_generation(MPI_Comm comm);

/* Let this thread remember a state, unless it has ended since the generation was read. */
void mh_thread_cache_add(MPI_Comm comm, struct mh_comm_state *state, unsigned generation);

/* The state of comm ends: no thread finds it any more. Another communicator may get the handle. */
void mh_thread_cache_drop(MPI_Comm comm);

#endif
