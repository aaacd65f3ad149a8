/* SPDX-License-Identifier: BSD-3-Clause */
/* session.c - a session, and a communicator of all processes that it knows. */
#include "bench/suite/session.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#if SUITE_HAS_SESSIONS

/* Who waits for longer wonders. Of many ranks, some say so. */
enum { PATIENCE_S = 4, SPEAKERS = 2 };

static MPI_Session session;

static void wonder(int number)
{
    static const char text[] =
        "mpix_osu: still waiting for ranks in MPI_Comm_create_from_group: -I has to stand on the "
        "command line of each\n";
    (void)number;
    (void)!write(STDERR_FILENO, text, strlen(text));
}

static MPI_Comm begin(bool has_threads)
{
    MPI_Info info = MPI_INFO_NULL;
    MPI_Group all;
    MPI_Comm comm;
    int rank;
    if (has_threads) {
        MPI_Info_create(&info);
        MPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE");
    }
    MPI_Session_init(info, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &all);
    MPI_Group_rank(all, &rank);
    if (rank < SPEAKERS) {
        signal(SIGALRM, wonder);
        alarm(PATIENCE_S);
    }
    MPI_Comm_create_from_group(all, "mpix_osu", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    alarm(0);
    signal(SIGALRM, SIG_DFL);
    MPI_Group_free(&all);
    if (has_threads)
        MPI_Info_free(&info);
    return comm;
}

static void end(void)
{
    MPI_Session_finalize(&session);
}

static const world_session_t own = {begin, end};
const world_session_t *const suite_session = &own;

#else

const world_session_t *const suite_session = NULL;

#endif
