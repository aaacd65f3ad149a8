/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Helps MPICH over UCX's TCP transport on hosts that share the cores of one machine; mpiexec_hosts.sh preloads it.
 *
 * Finalizing: MPI_Finalize of MPICH before 4.2 hangs now and then. It closes the connections, for which each peer must
 * acknowledge what it was sent, and then waits for all processes in a barrier of the process manager, in which it
 * acknowledges nothing more. So a process that is first to be done can leave its peers waiting for ever; often, where
 * ranks share a core. Here a barrier of MPI comes first: in it, whatever is still queued goes out. After it nothing
 * needs to be acknowledged, and connections may end with the process. A program that knows MPI by sessions only does
 * without the first barrier.
 *
 * Yielding: MPICH polls for messages without a pause, so where ranks outnumber cores, each message waits until the
 * scheduler takes the core from some poller, milliseconds later. With MH_HOSTS_YIELD=1 in the environment, a rank that
 * found nothing lets others run.
 */
#include <mpi.h>
#include <sched.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/epoll.h>

void *ucp_disconnect_nb(void *endpoint);

static int yield_when_idle;

__attribute__((constructor)) static void look_at_environment(void)
{
    const char *value = getenv("MH_HOSTS_YIELD");
    yield_when_idle = value && *value == '1';
}

/* Of UCX. The null pointer means: closed. */
void *ucp_disconnect_nb(void *endpoint)
{
    (void)endpoint;
    return NULL;
}

int MPI_Finalize(void)
{
    PMPI_Barrier(MPI_COMM_WORLD);
    return PMPI_Finalize();
}

/* UCX looks for messages with this one. */
int epoll_wait(int fd, struct epoll_event *events, int max_events, int timeout_ms)
{
    int count = epoll_pwait(fd, events, max_events, timeout_ms, NULL);
    if (yield_when_idle && timeout_ms == 0 && count == 0)
        sched_yield();
    return count;
}
