/* SPDX-License-Identifier: BSD-3-Clause */
/* recording.c - what all parts of the back know of the recording, their locks, what they say, and memory for them. */
#define _GNU_SOURCE
#include "trace/record/recording.h"

#include "trace/shared/descriptors.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

trace_recording mh_trace = {.from_ns = INT64_MIN,
                            .to_ns = INT64_MAX,
                            .asked_from_ns = INT64_MIN,
                            .asked_to_ns = INT64_MAX,
                            .met_ns = INT64_MAX,
                            .is_listed = true};

static int64_t wanted_from_ns(void)
{
    return mh_trace.is_off ? INT64_MAX : mh_trace.asked_from_ns;
}

static int64_t wanted_to_ns(void)
{
    const int64_t asked_ns = mh_trace.asked_to_ns, met_ns = mh_trace.met_ns;
    return met_ns < asked_ns ? met_ns : asked_ns;
}

/* Several threads may do so at once: the last one that writes looks once more whether that is what is wanted. */
void mh_trace_place_window(void)
{
    do
        mh_trace.from_ns = wanted_from_ns();
    while (mh_trace.from_ns != wanted_from_ns());
    do
        mh_trace.to_ns = wanted_to_ns();
    while (mh_trace.to_ns != wanted_to_ns());
}

/* ---- Locks under which no handler of a signal runs, and no thread is canceled */

/* All but those that a thread causes itself: the kernel ends a program that blocks these. */
static void block_signals(sigset_t *before)
{
    static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};
    sigset_t others;
    sigfillset(&others);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        sigdelset(&others, own[i]);
    pthread_sigmask(SIG_BLOCK, &others, before);
}

static bool take(pthread_mutex_t *mutex, trace_patience patience)
{
    struct timespec until;
    if (patience == TRACE_AT_ANY_TIME)
        return pthread_mutex_lock(mutex) == 0;
    if (patience == TRACE_AT_ONCE)
        return pthread_mutex_trylock(mutex) == 0;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec++;
    return pthread_mutex_timedlock(mutex, &until) == 0;
}

bool mh_trace_lock(trace_lock *lock, trace_patience patience)
{
    int error = errno, cancel_state;
    sigset_t before;
    block_signals(&before);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    if (take(&lock->mutex, patience)) {
        lock->blocked = before;
        lock->cancel_state = cancel_state;
        lock->error = error;
        return true;
    }
    pthread_setcancelstate(cancel_state, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return false;
}

void mh_trace_unlock(trace_lock *lock)
{
    int cancel_state = lock->cancel_state;
    sigset_t before = lock->blocked;
    errno = lock->error;
    pthread_mutex_unlock(&lock->mutex);
    pthread_setcancelstate(cancel_state, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* ---- Messages and memory */

void mh_trace_say(const char *format, ...)
{
    static const char name[] = "mpix_trace: ";
    char text[sizeof mh_choices.folder + 512];
    va_list arguments;
    strcpy(text, name);
    va_start(arguments, format);
    vsnprintf(text + strlen(name), sizeof text - sizeof name, format, arguments);
    va_end(arguments);
    strcat(text, "\n");
    mh_interpose_print_text(text);
}

void *mh_trace_map(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    return memory;
}
