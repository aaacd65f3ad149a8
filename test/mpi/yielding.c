/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * yielding.c - lets processes of MPICH over UCX give the processor away while they wait, as those of Open MPI do;
 * run_mpi_tests.sh preloads it where there are more processes than processors.
 *
 * MPICH looks for messages without a pause, so each one would wait there until the scheduler takes the processor from
 * somebody who looks, milliseconds later. Without UCX, nothing calls this function.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

/* So many looks take longer than a message from another processor. */
enum { LOOKS_BEFORE_YIELD = 16 };

/* Of UCX. */
__attribute__((visibility("default"))) unsigned ucp_worker_progress(void *worker)
{
    static unsigned (*progress)(void *);
    static _Thread_local unsigned looks;
    if (!progress)
        *(void **)&progress = dlsym(RTLD_NEXT, "ucp_worker_progress");
    const unsigned events = progress(worker);
    looks = events ? 0 : looks + 1;
    if (looks % LOOKS_BEFORE_YIELD == LOOKS_BEFORE_YIELD - 1)
        syscall(SYS_sched_yield); /* not the function, whose calls tests count */
    return events;
}
