/* SPDX-License-Identifier: BSD-3-Clause */
/* lock.h - locks under which no handler of a signal runs. */
#ifndef RECORD_LOCK_H
#define RECORD_LOCK_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

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

/* Call it with a lock held if a file was too large: the signal, which the kernel sends too, would end most programs. */
void mh_trace_take_file_signal(void);

#endif
