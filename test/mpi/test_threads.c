/* SPDX-License-Identifier: BSD-3-Clause */
/* test_threads.c - threads: calls on two communicators at once, and readers beside whatever goes on. */
#include "mpix_test.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

static bool has_thread_multiple(void)
{
    int level;
    MPI_Query_thread(&level);
    if (level < MPI_THREAD_MULTIPLE)
        test_skip("this MPI library does not provide MPI_THREAD_MULTIPLE");
    return level >= MPI_THREAD_MULTIPLE;
}

/* ---- Two threads, two communicators */

typedef struct caller {
    pthread_t thread;
    MPI_Comm comm;
    int calls;
    int failures, null_flags_accepted;
} caller;

static void *keep_calling(void *data)
{
    caller *me = data;
    for (int i = 0; i < me->calls; i++) {
        int flag;
        double time;
        me->failures += MPIX_Harmonize(me->comm, &flag) != MPI_SUCCESS;
        me->failures += MPIX_Global_time(me->comm, &time) != MPI_SUCCESS;
        if (i % 10 == 5)
            me->failures += MPIX_Clock_sync(me->comm) != MPI_SUCCESS;
        if (i % 10 == 7)
            me->null_flags_accepted += MPIX_Harmonize(me->comm, NULL) == MPI_SUCCESS;
    }
    return NULL;
}

static void call_from_two_threads(int calls, bool used_before)
{
    caller callers[2];
    for (int i = 0; i < 2; i++) {
        callers[i] = (caller){.comm = duplicate(MPI_COMM_WORLD), .calls = calls};
        if (used_before)
            harmonize(callers[i].comm);
    }
    pthread_create(&callers[1].thread, NULL, keep_calling, &callers[1]);
    keep_calling(&callers[0]);
    pthread_join(callers[1].thread, NULL);
    for (int i = 0; i < 2; i++) {
        CHECK(callers[i].failures == 0, "%d calls failed in thread %d", callers[i].failures, i);
        CHECK(callers[i].null_flags_accepted == 0, "%d calls with a null flag succeeded in thread %d",
              callers[i].null_flags_accepted, i);
        int64_t counted = info_number(callers[i].comm, "calls");
        CHECK(counted == calls + used_before, "%" PRId64 " calls are counted in thread %d, expected %d", counted, i,
              calls + used_before);
    }
    meet(MPI_COMM_WORLD);
    for (int i = 0; i < 2; i++)
        MPI_Comm_free(&callers[i].comm);
}

void test_threads(void)
{
    if (!has_thread_multiple())
        return;
    call_from_two_threads(times(50, 10), false); /* the first calls of the program, with all that they set up */
    call_from_two_threads(times(200, 20), true);
}

/* ---- Readers */

typedef struct reader {
    pthread_t thread;
    MPI_Comm comm;
    _Atomic bool stop;
    int64_t readings, failures, decreases;
} reader;

static void *keep_reading(void *data)
{
    reader *me = data;
    double last = -1e300, time = 0, earliest = 0, latest = 0;
    do {
        me->failures += MPIX_Global_time(me->comm, &time) != MPI_SUCCESS;
        me->failures += MPIX_Global_time_interval(me->comm, &earliest, &latest) != MPI_SUCCESS;
        me->decreases += time < last || latest < time;
        last = time;
        if (++me->readings % 500 == 0)
            nanosleep(&(struct timespec){0, 200000}, NULL);
    } while (!atomic_load(&me->stop));
    return NULL;
}

/* Calls and synchronisations on the readers' communicator, while others come, are used and go. */
static void stir(MPI_Comm comm)
{
    for (int i = 0; i < times(60, 8); i++) {
        MPI_Comm passing = duplicate(MPI_COMM_WORLD);
        harmonize_times(comm, 3);
        harmonize(passing);
        if (i % 2)
            CHECK_OK(MPIX_Clock_sync(comm));
        MPI_Comm_free(&passing);
    }
}

void test_readers(void)
{
    reader readers[2];
    if (!has_thread_multiple())
        return;
    MPI_Comm comm = duplicate(MPI_COMM_WORLD);
    harmonize(comm);
    for (int i = 0; i < 2; i++) {
        readers[i] = (reader){.comm = comm};
        pthread_create(&readers[i].thread, NULL, keep_reading, &readers[i]);
    }
    stir(comm);
    for (int i = 0; i < 2; i++) {
        atomic_store(&readers[i].stop, true);
        pthread_join(readers[i].thread, NULL);
        CHECK(readers[i].failures == 0, "%" PRId64 " of %" PRId64 " readings failed", readers[i].failures,
              readers[i].readings);
        CHECK(readers[i].decreases == 0, "%" PRId64 " of %" PRId64 " readings decreased", readers[i].decreases,
              readers[i].readings);
    }
    meet(comm);
    MPI_Comm_free(&comm);
}
