/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * meet.c - what the fronts of a job ask each other in MPI_Init, before their backs call collective functions.
 *
 * A process may have no front: it was started without the tool, or what loads the front was removed. It would never
 * take part, and the others would wait for ever. So each front sends a message to the next rank, and waits for that of
 * the rank before for some minutes: in MPI_Init, processes have waited for each other already, but another tool or a
 * debugger may hold a process back. Nobody waits so long for a process that is seen to have no front. However many
 * have none, one that has a front comes after one that has none.
 */
#define _GNU_SOURCE
#include "trace/front/meet.h"

#include "trace/front/find.h"
#include "trace/front/without.h"
#include "trace/shared/choices.h"
#include "trace/shared/descriptors.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <mpi.h>
#include <time.h>
#include <unistd.h>

static void *find(const char *symbol)
{
    interpose_next next = {.symbol = symbol};
    return mh_interpose_find_if_any(&next);
}
#define MPI(name) ((__typeof__(&PMPI_##name))find("PMPI_" #name))

/* In Open MPI, handles are addresses of variables, which a linked program may have in itself: RTLD_NEXT misses them. */
#ifdef OPEN_MPI
static void *find_variable(const char *name)
{
    void *address = dlsym(RTLD_DEFAULT, name);
    return address ? address : find(name);
}
#define HANDLE(name, type, variable) ((type)find_variable(variable))
#else
#define HANDLE(name, type, variable) (name)
#endif
#define WORLD HANDLE(MPI_COMM_WORLD, MPI_Comm, "ompi_mpi_comm_world")
#define BYTE HANDLE(MPI_BYTE, MPI_Datatype, "ompi_mpi_byte")

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

typedef enum { ALL_CAME, ONE_IS_LATE, ONE_IS_WITHOUT } meeting;

/* While the job is stopped, little of the time passes. */
static meeting await_both(MPI_Request requests[2], int done[2], const int ranks[2], int own)
{
    static const double line_s = 10, longest_step_s = 1;
    static const struct timespec pause = {.tv_nsec = 50000};
    double last_s = seconds(), waited_s = 0, look_s = 2;
    bool is_said = false;
    for (;;) {
        for (int i = 0; i < 2; i++)
            if (!done[i])
                MPI(Test)(&requests[i], &done[i], MPI_STATUS_IGNORE);
        if (done[0] && done[1])
            return ALL_CAME;
        if (waited_s > (double)mh_choices.meet_s)
            return ONE_IS_LATE;
        if (waited_s > look_s) {
            look_s *= 2;
            if (mh_interpose_is_without(ranks[done[0]], own))
                return ONE_IS_WITHOUT;
        }
        if (!is_said && waited_s > line_s) {
            is_said = true;
            mh_interpose_print("%s: waits for rank %d, which may run without %s: start all processes of the job with "
                               "it\n",
                               mh_choices_name(), ranks[done[0]], mh_choices_name());
        }
        nanosleep(&pause, NULL);
        const double now_s = seconds(), step_s = now_s - last_s;
        waited_s += step_s < longest_step_s ? step_s : longest_step_s;
        last_s = now_s;
    }
}

void mh_interpose_meet(void)
{
    enum { TAG = 28657, STATUS = 2 }; /* a tag that each MPI library has, and few programs */
    MPI_Request requests[2];
    int size = 1, rank = 0, done[2] = {0};
    MPI(Comm_size)(WORLD, &size);
    MPI(Comm_rank)(WORLD, &rank);
    const int ranks[2] = {(rank + size - 1) % size, (rank + 1) % size};
    if (size == 1)
        return;
    MPI(Irecv)(NULL, 0, BYTE, ranks[0], TAG, WORLD, &requests[0]);
    MPI(Isend)(NULL, 0, BYTE, ranks[1], TAG, WORLD, &requests[1]);
    const meeting how = await_both(requests, done, ranks, rank);
    if (how == ALL_CAME)
        return;
    if (how == ONE_IS_WITHOUT)
        mh_interpose_print("%s: rank %d runs without %s: start all processes of the job with it\n", mh_choices_name(),
                           ranks[done[0]], mh_choices_name());
    else
        mh_interpose_print("%s: rank %d did not come within %" PRId64 " s: start all processes of the job with %s "
                           "(MPIX_MEET_S=SECONDS waits longer)\n",
                           mh_choices_name(), ranks[done[0]], mh_choices.meet_s, mh_choices_name());
    if (mh_choices.records)
        rmdir(mh_choices.folder); /* if it is empty */
    sleep(1);                     /* a launcher may lose what is said just before */
    MPI(Abort)(WORLD, STATUS);
}

/* Collective over the world: a file may be missing on one node only. */
bool mh_interpose_is_on_all(bool is_here)
{
    int mine = is_here, all = 0;
    return MPI(Allreduce)(&mine, &all, 1, HANDLE(MPI_INT, MPI_Datatype, "ompi_mpi_int"),
                          HANDLE(MPI_MIN, MPI_Op, "ompi_mpi_op_min"), WORLD) == MPI_SUCCESS &&
           all;
}
