/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * injection.c - the program's own functions for shared memory, which can fail, and its own clock_gettime, through which
 * the library reads its clocks: with it, the processes of one machine can have clocks as different as those of several
 * machines.
 * CLOCK_MONOTONIC stays as it is, for the MPI library's timers and as the truth.
 */
#define _GNU_SOURCE
#include "mpix_test.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

typedef int clock_function(clockid_t, struct timespec *);

static struct {
    _Atomic bool active;
    int64_t raw_origin_ns, realtime_origin_ns; /* from which the drift counts, on the clock itself */
    _Atomic int64_t offset_ns;
    double drift;
} injected;

void *find_real(const char *name)
{
    void *function = dlsym(RTLD_NEXT, name);
    if (!function)
        abort();
    return function;
}

static clock_function *system_clock(void)
{
    static _Atomic(clock_function *) found;
    clock_function *function = atomic_load_explicit(&found, memory_order_relaxed);
    if (!function)
        atomic_store(&found, function = REAL(clock_gettime));
    return function;
}

static int64_t to_ns(const struct timespec *time)
{
    return (int64_t)time->tv_sec * NS_PER_S + time->tv_nsec;
}

static int64_t system_ns(clockid_t id)
{
    struct timespec now;
    system_clock()(id, &now);
    return to_ns(&now);
}

/* How far the time namespace of this process shifts CLOCK_MONOTONIC; 0 where there is none. */
static int64_t read_namespace_offset_ns(void)
{
    long long seconds = 0, rest = 0;
    FILE *file = fopen("/proc/self/timens_offsets", "r");
    if (!file)
        return 0;
    if (fscanf(file, "monotonic %lld %lld", &seconds, &rest) != 2)
        seconds = rest = 0;
    fclose(file);
    return seconds * NS_PER_S + rest;
}

static int64_t namespace_offset_ns;

__attribute__((constructor)) static void look_at_namespace(void)
{
    namespace_offset_ns = read_namespace_offset_ns();
}

int64_t true_ns(void)
{
    return system_ns(CLOCK_MONOTONIC) - namespace_offset_ns;
}

static _Atomic int64_t last_raw_ns;

int64_t last_raw_reading_ns(void)
{
    return atomic_load_explicit(&last_raw_ns, memory_order_relaxed);
}

static _Atomic int64_t slow_readings_left;

int64_t slow_readings(int64_t count)
{
    return atomic_exchange(&slow_readings_left, count);
}

static _Atomic int64_t readings_left, pending_step_ns;

int64_t step_after_readings(int64_t nth, int64_t step_ns)
{
    atomic_store(&pending_step_ns, step_ns);
    return atomic_exchange(&readings_left, nth);
}

static void count_reading(void)
{
    if (atomic_load_explicit(&readings_left, memory_order_relaxed) > 0 && atomic_fetch_sub(&readings_left, 1) == 1)
        inject_step(atomic_load(&pending_step_ns));
}

static struct {
    MPI_Comm comm; /* MPI_COMM_NULL: no step is to come */
    int64_t released_ns, step_ns;
} release_step = {.comm = MPI_COMM_NULL};

bool step_after_release(MPI_Comm comm, int64_t step_ns)
{
    bool is_to_come = release_step.comm != MPI_COMM_NULL;
    release_step.step_ns = step_ns;
    if (comm != MPI_COMM_NULL)
        CHECK_OK(MPIX_Harmonize_instant(comm, &release_step.released_ns));
    release_step.comm = comm;
    return is_to_come;
}

/* Which reads no clock. */
static void look_for_release(void)
{
    int64_t released_ns = release_step.released_ns;
    if (release_step.comm == MPI_COMM_NULL || MPIX_Harmonize_instant(release_step.comm, &released_ns) != MPI_SUCCESS ||
        released_ns == release_step.released_ns)
        return;
    release_step.comm = MPI_COMM_NULL;
    inject_step(release_step.step_ns);
}

static void be_slow(void)
{
    enum { SLOW_NS = 20 * 1000 };
    if (atomic_load_explicit(&slow_readings_left, memory_order_relaxed) <= 0)
        return;
    atomic_fetch_sub(&slow_readings_left, 1);
    for (int64_t end_ns = system_ns(CLOCK_MONOTONIC) + SLOW_NS; system_ns(CLOCK_MONOTONIC) < end_ns;)
        ;
}

__attribute__((visibility("default"))) int clock_gettime(clockid_t id, struct timespec *time)
{
    int status = system_clock()(id, time);
    if (status == 0 && id == CLOCK_MONOTONIC_RAW) {
        atomic_store_explicit(&last_raw_ns, to_ns(time), memory_order_relaxed);
        be_slow();
    }
    bool affected = id == CLOCK_MONOTONIC_RAW || id == CLOCK_REALTIME;
    if (affected) {
        count_reading();
        look_for_release();
    }
    if (status != 0 || !affected || !atomic_load_explicit(&injected.active, memory_order_acquire))
        return status;
    int64_t now_ns = to_ns(time);
    int64_t elapsed_ns = now_ns - (id == CLOCK_REALTIME ? injected.realtime_origin_ns : injected.raw_origin_ns);
    int64_t shown_ns = now_ns + atomic_load(&injected.offset_ns) + (int64_t)(injected.drift * (double)elapsed_ns);
    int64_t seconds = shown_ns / NS_PER_S, rest = shown_ns % NS_PER_S;
    time->tv_sec = (time_t)(rest < 0 ? seconds - 1 : seconds);
    time->tv_nsec = (long)(rest < 0 ? rest + NS_PER_S : rest);
    return 0;
}

void inject_clock(int64_t offset_ns, double drift)
{
    injected.raw_origin_ns = system_ns(CLOCK_MONOTONIC_RAW);
    injected.realtime_origin_ns = system_ns(CLOCK_REALTIME);
    injected.drift = drift;
    atomic_store(&injected.offset_ns, offset_ns);
    atomic_store(&injected.active, true);
}

void inject_step(int64_t step_ns)
{
    atomic_fetch_add(&injected.offset_ns, step_ns);
    atomic_store(&injected.active, true);
}

static struct {
    int left; /* naps until the one with the step; 0: none */
    pthread_t thread;
    int64_t step_ns, took_ns;
} nap_step;

int64_t step_in_nap(int nth, int64_t step_ns)
{
    int64_t took_ns = nap_step.took_ns;
    nap_step.thread = pthread_self();
    nap_step.step_ns = step_ns;
    nap_step.took_ns = INT64_MAX;
    nap_step.left = nth;
    return took_ns;
}

__attribute__((visibility("default"))) int nanosleep(const struct timespec *time, struct timespec *left)
{
    bool steps = nap_step.left > 0 && pthread_equal(nap_step.thread, pthread_self()) && --nap_step.left == 0;
    int64_t began_ns = true_ns();
    if (steps)
        inject_step(nap_step.step_ns);
    int status = REAL(nanosleep)(time, left);
    if (steps)
        nap_step.took_ns = true_ns() - began_ns;
    return status;
}

/* ---- The processor */

static _Atomic int64_t yield_count;

int64_t yields(void)
{
    return atomic_load(&yield_count);
}

__attribute__((visibility("default"))) int sched_yield(void)
{
    atomic_fetch_add(&yield_count, 1);
    return REAL(sched_yield)();
}

/* ---- Shared memory */

static _Atomic bool names_refused, descriptors_refused;
static char last_name[NAME_MAX + 1]; /* that this process has created */

void refuse_shared_memory(bool by_descriptor, bool by_name)
{
    atomic_store(&descriptors_refused, by_descriptor);
    atomic_store(&names_refused, by_name);
}

__attribute__((visibility("default"))) int shm_open(const char *name, int flags, mode_t mode)
{
    if (atomic_load(&names_refused)) {
        errno = EACCES;
        return -1;
    }
    int file = REAL(shm_open)(name, flags, mode);
    if (file >= 0 && flags & O_CREAT)
        snprintf(last_name, sizeof last_name, "%s", name);
    return file;
}

bool leaves_shared_memory(void)
{
    int file = last_name[0] ? shm_open(last_name, O_RDONLY, 0) : -1;
    if (file >= 0)
        close(file);
    return file >= 0;
}

static _Atomic int64_t step_of_memory_ns;

int64_t step_at_shared_memory(int64_t step_ns)
{
    return atomic_exchange(&step_of_memory_ns, step_ns);
}

__attribute__((visibility("default"))) int memfd_create(const char *name, unsigned flags)
{
    int64_t step_ns = atomic_exchange(&step_of_memory_ns, 0);
    if (step_ns != 0)
        inject_step(step_ns);
    if (atomic_load(&descriptors_refused)) {
        errno = EACCES;
        return -1;
    }
    return REAL(memfd_create)(name, flags);
}

/* Of descriptors of other processes, as in another PID namespace. */
__attribute__((visibility("default"))) ssize_t readlink(const char *path, char *target, size_t size)
{
    bool is_descriptor = strncmp(path, "/proc/", 6) == 0 && strstr(path, "/fd/");
    if (atomic_load(&descriptors_refused) && is_descriptor) {
        errno = ENOENT;
        return -1;
    }
    return REAL(readlink)(path, target, size);
}
