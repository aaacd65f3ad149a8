/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * count_locks.c - how many locks of threads the library takes in calls and readings of the clock. Once a communicator
 * is set up, it takes none, also with MPI_THREAD_MULTIPLE. So a lower level costs nothing that could be saved.
 *
 * The linker puts a function of this file in the place of pthread_mutex_lock, for the library's objects alone.
 */
#include <mpix_harmonize.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

enum { FIRST_CALLS = 1, CALLS = 1000 };

static _Atomic int64_t locks;

int __real_pthread_mutex_lock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
    locks++;
    return __real_pthread_mutex_lock(mutex);
}

/* Each synchronization notes the clock for later communicators, under a lock. */
static int synchronize_once(MPI_Comm comm)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpix_harmonize_resync_interval_ns", "86400000000000");
    int code = MPIX_Harmonize_set_info(comm, info);
    MPI_Info_free(&info);
    return code;
}

/* The locks that the calls take, or -1 if a call fails. */
static int64_t count(MPI_Comm comm, int calls)
{
    int64_t before = locks, time_ns, bound_ns;
    int flag, code = MPI_SUCCESS;
    double time, earliest, latest;
    for (int i = 0; i < calls && code == MPI_SUCCESS; i++) {
        code |= i % 2 ? MPIX_Harmonize(comm, &flag) : MPIX_Harmonize_delayed(comm, 1000, &flag);
        code |= MPIX_Harmonize_instant(comm, &time_ns);
        code |= MPIX_Global_time(comm, &time);
        code |= MPIX_Global_time_ns(comm, &time_ns, &bound_ns);
        code |= MPIX_Global_time_interval(comm, &earliest, &latest);
    }
    return code == MPI_SUCCESS ? locks - before : -1;
}

int main(int argc, char **argv)
{
    int level, rank, code;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    code = synchronize_once(MPI_COMM_WORLD);
    int64_t first = count(MPI_COMM_WORLD, FIRST_CALLS), later = count(MPI_COMM_WORLD, CALLS);
    printf("rank %d, thread level %d: %d calls with four readings each take %lld locks, expected 0\n", rank, level,
           (int)CALLS, (long long)later);
    printf("rank %d: the first takes %lld, expected at least 1\n", rank, (long long)first);
    MPI_Finalize();
    return code != MPI_SUCCESS || first < 1 || later != 0;
}
