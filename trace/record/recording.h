/* SPDX-License-Identifier: BSD-3-Clause */
/* recording.h - what all parts of the back know of the recording, and need for it. */
#ifndef RECORD_RECORDING_H
#define RECORD_RECORDING_H

#include "clock/base_clock.h"
#include "trace/back/twin.h"

#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* What few events need, out of the way of the others. */
#define TRACE_RARE __attribute__((noinline, cold))

typedef struct {
    int rank, size;
    int listed_count; /* ranks whose calls are recorded */
    pid_t pid;
    mh_base_clock clock;
    _Atomic int64_t from_ns, to_ns;             /* by the local clock: what is before and after is not recorded */
    _Atomic int64_t asked_from_ns, asked_to_ns; /* these two, but for MPI_Pcontrol and the limit */
    _Atomic int64_t met_ns;                     /* when the limit of the trace was met; INT64_MAX: it is not */
    bool is_listed;                             /* by --only-ranks; if not, its calls are not recorded */
    bool counts_messages;                       /* those that it leaves out, for it may record others */
    _Atomic bool is_off;                        /* by MPI_Pcontrol: then from_ns is never reached */
    const bool *is_wanted;                      /* by id of the function */
    uint16_t clock_id, flush_id, unrecorded_id, first_region_id;
} trace_recording;
extern trace_recording mh_trace;

/* What is recorded, after one of these has changed: what is asked for, is_off, met_ns. */
void mh_trace_place_window(void);

static inline int64_t mh_trace_now_ns(void)
{
    return mh_base_clock_now_ns(&mh_trace.clock);
}

/* A line on standard error. */
void mh_trace_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * While a lock is held, no handler runs of a signal that comes from elsewhere: it may call MPI, and come here again.
 * Nor is the thread canceled. errno stays as it was.
 */
typedef struct {
    pthread_mutex_t mutex;
    sigset_t blocked; /* this and the others: before */
    int cancel_state, error;
} trace_lock;
#define TRACE_LOCK                         \
    {                                      \
        .mutex = PTHREAD_MUTEX_INITIALIZER \
    }

/* At the end of a program, the thread that holds the lock may no longer exist. */
typedef enum { TRACE_AT_ONCE, TRACE_IN_A_SECOND, TRACE_AT_ANY_TIME } trace_patience;

/* Returns whether it is held. */
bool mh_trace_lock(trace_lock *lock, trace_patience patience);
void mh_trace_unlock(trace_lock *lock);

/* Zeros that take no memory until they are used; NULL if there is no room. */
void *mh_trace_map(size_t bytes);

#endif
