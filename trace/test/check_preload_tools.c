/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tools that come after the preload in LD_PRELOAD, for the tests of mpix_preload: shared objects that take the place of
 * a function for the preload and the program alike. The macro that is defined says which one.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static inline int get_rank(void)
{
    const char *rank = getenv("PMI_RANK");
    rank = rank ? rank : getenv("OMPI_COMM_WORLD_RANK");
    return rank ? atoi(rank) : -1;
}

#ifdef TOOL_WTIME
/* The plain clocks of the processes are 100 s apart. */
double PMPI_Wtime(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9 + 100 * get_rank();
}
double MPI_Wtime(void)
{
    return PMPI_Wtime();
}
#endif

#ifdef TOOL_DRIFT
/* From 0.3 s after its first reading on, the raw clock of the second process runs 1 % fast. */
static const long long ns_per_s = 1000000000, plain_ns = 300000000;
int clock_gettime(clockid_t id, struct timespec *time)
{
    static int (*next)(clockid_t, struct timespec *);
    static long long start_ns;
    if (!next)
        next = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int code = next(id, time);
    if (id != CLOCK_MONOTONIC_RAW || get_rank() != 1)
        return code;
    long long ns = time->tv_sec * ns_per_s + time->tv_nsec;
    if (start_ns == 0)
        start_ns = ns + plain_ns;
    if (ns > start_ns)
        ns += (ns - start_ns) / 100;
    time->tv_sec = ns / ns_per_s;
    time->tv_nsec = ns % ns_per_s;
    return code;
}
#endif

#ifdef TOOL_INIT
/* An ordinary tool. Its own barriers come before the clock of the preload stands, and after the report. */
int MPI_Init(int *argc, char ***argv)
{
    fputs("tool: begin\n", stderr);
    int code = PMPI_Init(argc, argv);
    return code == MPI_SUCCESS ? MPI_Barrier(MPI_COMM_WORLD) : code;
}
int MPI_Finalize(void)
{
    fputs("tool: end\n", stderr);
    MPI_Barrier(MPI_COMM_WORLD);
    return PMPI_Finalize();
}
#endif

#ifdef TOOL_SLOW
/* The second process is the last one by far. */
int MPI_Init(int *argc, char ***argv)
{
    struct timespec pause = {.tv_sec = 12};
    int code = PMPI_Init(argc, argv);
    if (get_rank() == 1)
        nanosleep(&pause, NULL);
    return code;
}
#endif

#ifdef TOOL_LATE
/* The second process leaves each plain barrier 1 ms late. */
int MPI_Barrier(MPI_Comm comm)
{
    struct timespec pause = {.tv_nsec = 1000000};
    int code = PMPI_Barrier(comm);
    if (get_rank() == 1)
        nanosleep(&pause, NULL);
    return code;
}
#endif

#ifdef TOOL_SPLIT
/* On the second process, the call that the environment variable counts fails: after it was made, as others wait. */
int PMPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *split)
{
    static int calls;
    const char *failing = getenv("CHECK_FAILING_SPLIT");
    int (*next)(MPI_Comm, int, int, MPI_Comm *) =
        (int (*)(MPI_Comm, int, int, MPI_Comm *))dlsym(RTLD_NEXT, "PMPI_Comm_split");
    int code = next(comm, color, key, split);
    if (get_rank() != 1 || !failing || ++calls != atoi(failing))
        return code;
    fputs("tool: fails\n", stderr);
    *split = MPI_COMM_NULL;
    return MPI_ERR_OTHER;
}
#endif

#ifdef TOOL_BCAST
/* One of the broadcasts of the library, which are short, fails on each process. */
int PMPI_Bcast(void *data, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    static int calls;
    enum { LONGEST = 64, FAILING = 150 };
    int (*next)(void *, int, MPI_Datatype, int, MPI_Comm) =
        (int (*)(void *, int, MPI_Datatype, int, MPI_Comm))dlsym(RTLD_NEXT, "PMPI_Bcast");
    int code = next(data, count, type, root, comm);
    return type == MPI_BYTE && count <= LONGEST && ++calls == FAILING ? MPI_ERR_OTHER : code;
}
#endif
