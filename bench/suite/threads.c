/* SPDX-License-Identifier: BSD-3-Clause */
/* threads.c - wake threads, let them begin at once, and wait for the last one. */
#include "bench/suite/threads.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

typedef struct member {
    threads_t *threads;
    int number;
    pthread_t id;
} member_t;

struct threads {
    int count;
    int (*part)(const void *of, int thread);
    const void *of;
    bool has_processors; /* one for each of them, and for those of other ranks */
    member_t *members;   /* but for the calling thread */
    pthread_mutex_t mutex;
    pthread_cond_t woken;
    int64_t wanted; /* for how many calls they were woken; with the mutex */
    atomic_bool ends;
    atomic_int ready, done, code;
    _Atomic int64_t calls; /* begun so far */
};

/* While another thread has to do something. */
static void pause_briefly(const threads_t *threads)
{
    if (!threads->has_processors)
        sched_yield();
}

static void carry_out(threads_t *threads, int number)
{
    int code = threads->part(threads->of, number);
    if (code != MPI_SUCCESS)
        atomic_store(&threads->code, code);
}

/* Sleeps until a call is near. Returns false if there will be none. */
static bool wait_for_waking(threads_t *threads, int64_t call)
{
    pthread_mutex_lock(&threads->mutex);
    while (threads->wanted < call && !atomic_load(&threads->ends))
        pthread_cond_wait(&threads->woken, &threads->mutex);
    pthread_mutex_unlock(&threads->mutex);
    return !atomic_load(&threads->ends);
}

/* Likewise, without sleeping, until it begins. */
static bool wait_for_call(threads_t *threads, int64_t call)
{
    while (atomic_load(&threads->calls) < call && !atomic_load(&threads->ends))
        pause_briefly(threads);
    return !atomic_load(&threads->ends);
}

static void *work_on(void *of)
{
    const member_t *member = of;
    threads_t *threads = member->threads;
    for (int64_t call = 1; wait_for_waking(threads, call); call++) {
        atomic_fetch_add(&threads->ready, 1);
        if (!wait_for_call(threads, call))
            break;
        carry_out(threads, member->number);
        atomic_fetch_add(&threads->done, 1);
    }
    return NULL;
}

threads_t *threads_open(const world_t *span, int count, bool has_processors, int (*part)(const void *of, int thread),
                        const void *of)
{
    threads_t *threads = world_allocate(span, 1, sizeof *threads, "");
    threads->count = count;
    threads->part = part;
    threads->of = of;
    threads->has_processors = has_processors;
    threads->members = world_allocate(span, count, sizeof threads->members[0], "");
    pthread_mutex_init(&threads->mutex, NULL);
    pthread_cond_init(&threads->woken, NULL);
    for (int i = 1; i < count; i++) {
        threads->members[i] = (member_t){.threads = threads, .number = i};
        if (pthread_create(&threads->members[i].id, NULL, work_on, &threads->members[i]) != 0)
            world_abort(span, "the system starts no further thread: give less for --send-threads or --receive-threads");
    }
    return threads;
}

static void wake(threads_t *threads, bool ends)
{
    pthread_mutex_lock(&threads->mutex);
    threads->wanted++;
    atomic_store(&threads->ends, ends);
    pthread_cond_broadcast(&threads->woken);
    pthread_mutex_unlock(&threads->mutex);
}

void threads_wake(threads_t *threads)
{
    /* They are awake if the call for which they were woken was not made. */
    if (threads->wanted > atomic_load(&threads->calls))
        return;
    atomic_store(&threads->ready, 0);
    atomic_store(&threads->done, 0);
    wake(threads, false);
    while (atomic_load(&threads->ready) < threads->count - 1)
        pause_briefly(threads);
}

int threads_call(threads_t *threads)
{
    threads_wake(threads);
    atomic_store(&threads->code, MPI_SUCCESS);
    atomic_fetch_add(&threads->calls, 1);
    carry_out(threads, 0);
    while (atomic_load(&threads->done) < threads->count - 1)
        pause_briefly(threads);
    return atomic_load(&threads->code);
}

void threads_close(threads_t *threads)
{
    if (!threads)
        return;
    wake(threads, true);
    for (int i = 1; i < threads->count; i++)
        pthread_join(threads->members[i].id, NULL);
    pthread_cond_destroy(&threads->woken);
    pthread_mutex_destroy(&threads->mutex);
    free(threads->members);
    free(threads);
}
