/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * waits_front.c - what takes the place of find.c and open.c in a program that SimGrid simulates: the recorder is linked
 * into it. Each process has a copy of the program and of all its variables, in one thread of the simulator.
 *
 * Environment: WAITS_TRACE: the folder of the trace; WAITS_PROGRAM: the file of the program.
 */
#define _GNU_SOURCE
#include "trace/shared/choices.h"
#include "trace/front/find.h"
#include "trace/front/open.h"
#include "trace/shared/interposer.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { BUFFER_BYTES = 1 << 24 };

extern const interpose_back mpix_interpose_back;
extern const char __ehdr_start[] __attribute__((visibility("hidden")));

void mh_interpose_note_start(void)
{
}

void mh_interpose_note_session(void)
{
}

void *mh_interpose_find_if_any(interpose_next *next)
{
    if (!next->address)
        next->address = dlsym(RTLD_NEXT, next->symbol);
    return next->address;
}

void *mh_interpose_search(interpose_next *next)
{
    return mh_interpose_find_if_any(next);
}

const void *mh_interpose_open(void)
{
    const char *folder = getenv("WAITS_TRACE");
    mh_choices.records = folder != NULL;
    mh_choices.buffer_bytes = BUFFER_BYTES;
    snprintf(mh_choices.folder, sizeof mh_choices.folder, "%s", folder ? folder : "");
    return folder ? &mpix_interpose_back : NULL;
}

/* Each copy has a file name of its own, and the file is gone: call sites are those of the program that was copied. */
int __real_dladdr(const void *address, Dl_info *found);
int __wrap_dladdr(const void *address, Dl_info *found)
{
    const int status = __real_dladdr(address, found);
    if (status && found->dli_fbase == __ehdr_start)
        found->dli_fname = getenv("WAITS_PROGRAM");
    return status;
}

/* The simulator has Cartesian topologies, but not MPI_Topo_test. */
int PMPI_Topo_test(MPI_Comm comm, int *kind)
{
    int dimensions;
    *kind = PMPI_Cartdim_get(comm, &dimensions) == MPI_SUCCESS ? MPI_CART : MPI_UNDEFINED;
    return MPI_SUCCESS;
}

/* Before MPI_Init and after MPI_Finalize, the simulator would give the time of this machine. */
double simgrid_get_clock(void);
int __real_smpi_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_smpi_clock_gettime(clockid_t clock, struct timespec *now)
{
    int has_begun = 0, has_ended = 0;
    PMPI_Initialized(&has_begun);
    PMPI_Finalized(&has_ended);
    if (has_begun && !has_ended)
        return __real_smpi_clock_gettime(clock, now);
    const double now_s = simgrid_get_clock();
    now->tv_sec = (time_t)now_s;
    now->tv_nsec = (long)(1e9 * (now_s - (double)now->tv_sec));
    return 0;
}

/* A thread has 1,024 keys at most, and no process ends before the thread does. */
int __wrap_pthread_key_create(pthread_key_t *key, void (*ends)(void *))
{
    (void)ends;
    *key = PTHREAD_KEYS_MAX;
    return 0;
}

/* A thread beside those of the simulator is no process of the program, so the recorder has none here. */
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument)
{
    (void)thread;
    (void)attributes;
    (void)run;
    (void)argument;
    return EAGAIN;
}
