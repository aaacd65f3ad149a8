/* SPDX-License-Identifier: BSD-3-Clause */
/* session.c - a session, and a communicator of all processes that it knows. */
#include "bench/suite/session.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if SUITE_HAS_SESSIONS

/* Who waits for longer wonders, and then ends, as ranks that begin otherwise never come. Of many ranks, some say so. */
enum { PATIENCE_S = 4, LIMIT_S = 60, SPEAKERS = 2 };

static MPI_Session session;
static int own_rank;

static void say(const char *text)
{
    if (own_rank < SPEAKERS)
        (void)!write(STDERR_FILENO, text, strlen(text));
}

static void give_up(int number)
{
    (void)number;
    say("mpix_osu: no communicator of all ranks after 60 s: -I has to stand on the command line of each\n");
    _exit(STATUS_FAILED);
}

static void wonder(int number)
{
    (void)number;
    say("mpix_osu: still waiting for ranks in MPI_Comm_create_from_group: -I has to stand on the command line of "
        "each\n");
    signal(SIGALRM, give_up);
    alarm(LIMIT_S - PATIENCE_S);
}

static MPI_Comm begin(bool has_threads)
{
    MPI_Info info = MPI_INFO_NULL;
    MPI_Group all;
    MPI_Comm comm = MPI_COMM_NULL;
    if (has_threads) {
        MPI_Info_create(&info);
        MPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE");
    }
    MPI_Session_init(info, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &all);
    MPI_Group_rank(all, &own_rank);
    signal(SIGALRM, wonder);
    alarm(PATIENCE_S);
    int code = MPI_Comm_create_from_group(all, "mpix_osu", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
    alarm(0);
    if (code != MPI_SUCCESS || comm == MPI_COMM_NULL) { /* Open MPI 5 asks the launcher, even for one process */
        say("mpix_osu: MPI_Comm_create_from_group failed: -I may need a launcher, such as mpiexec -n 1\n");
        exit(STATUS_FAILED);
    }
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

static const world_session_t own = {"MPI_Session_init, MPI_Comm_create_from_group", begin, end};
const world_session_t *const suite_session = &own;

#else

const world_session_t *const suite_session = NULL;

#endif
