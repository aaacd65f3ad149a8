/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wrapper_test.c - what a tool sees: it wraps MPIX_Harmonize and counts the user's calls, and it wraps MPI functions
 * and counts none that come from the library. Sub-test profiling of mpix_test runs this program.
 */
#include "mpix_test.h"
#undef MPIX_Harmonize

#include <inttypes.h>

static int harmonize_calls; /* of MPIX_Harmonize, through the wrapper */
static int mpi_calls;       /* of MPI functions by their plain names */

int MPIX_Harmonize(MPI_Comm comm, int *flag)
{
    harmonize_calls++;
    return PMPIX_Harmonize(comm, flag);
}

/* As P##name pastes names, a function is MPI_X here and PMPI_X in the MPI library. */
#define COUNT(name, parameters, arguments) \
    int name parameters                    \
    {                                      \
        mpi_calls++;                       \
        return P##name arguments;          \
    }

COUNT(MPI_Barrier, (MPI_Comm c), (c))
COUNT(MPI_Bcast, (void *b, int n, MPI_Datatype t, int r, MPI_Comm c), (b, n, t, r, c))
COUNT(MPI_Ibcast, (void *b, int n, MPI_Datatype t, int r, MPI_Comm c, MPI_Request *q), (b, n, t, r, c, q))
COUNT(MPI_Reduce, (const void *s, void *r, int n, MPI_Datatype t, MPI_Op o, int k, MPI_Comm c), (s, r, n, t, o, k, c))
COUNT(MPI_Ireduce, (const void *s, void *r, int n, MPI_Datatype t, MPI_Op o, int k, MPI_Comm c, MPI_Request *q),
      (s, r, n, t, o, k, c, q))
COUNT(MPI_Allreduce, (const void *s, void *r, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c), (s, r, n, t, o, c))
COUNT(MPI_Iallreduce, (const void *s, void *r, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c, MPI_Request *q),
      (s, r, n, t, o, c, q))
COUNT(MPI_Allgather, (const void *s, int n, MPI_Datatype t, void *r, int m, MPI_Datatype u, MPI_Comm c),
      (s, n, t, r, m, u, c))
COUNT(MPI_Iallgather,
      (const void *s, int n, MPI_Datatype t, void *r, int m, MPI_Datatype u, MPI_Comm c, MPI_Request *q),
      (s, n, t, r, m, u, c, q))
COUNT(MPI_Send, (const void *b, int n, MPI_Datatype t, int p, int g, MPI_Comm c), (b, n, t, p, g, c))
COUNT(MPI_Isend, (const void *b, int n, MPI_Datatype t, int p, int g, MPI_Comm c, MPI_Request *q),
      (b, n, t, p, g, c, q))
COUNT(MPI_Recv, (void *b, int n, MPI_Datatype t, int p, int g, MPI_Comm c, MPI_Status *s), (b, n, t, p, g, c, s))
COUNT(MPI_Irecv, (void *b, int n, MPI_Datatype t, int p, int g, MPI_Comm c, MPI_Request *q), (b, n, t, p, g, c, q))
COUNT(MPI_Iprobe, (int p, int g, MPI_Comm c, int *f, MPI_Status *s), (p, g, c, f, s))
COUNT(MPI_Test, (MPI_Request * q, int *f, MPI_Status *s), (q, f, s))
COUNT(MPI_Wait, (MPI_Request * q, MPI_Status *s), (q, s))
COUNT(MPI_Comm_dup, (MPI_Comm c, MPI_Comm *d), (c, d))
COUNT(MPI_Comm_create, (MPI_Comm c, MPI_Group g, MPI_Comm *d), (c, g, d))
COUNT(MPI_Comm_split, (MPI_Comm c, int l, int k, MPI_Comm *d), (c, l, k, d))
COUNT(MPI_Comm_split_type, (MPI_Comm c, int t, int k, MPI_Info i, MPI_Comm *d), (c, t, k, i, d))
COUNT(MPI_Comm_free, (MPI_Comm * c), (c))
COUNT(MPI_Comm_group, (MPI_Comm c, MPI_Group *g), (c, g))
COUNT(MPI_Group_free, (MPI_Group * g), (g))
COUNT(MPI_Comm_rank, (MPI_Comm c, int *r), (c, r))
COUNT(MPI_Comm_size, (MPI_Comm c, int *n), (c, n))
COUNT(MPI_Comm_test_inter, (MPI_Comm c, int *f), (c, f))
COUNT(MPI_Comm_set_name, (MPI_Comm c, const char *n), (c, n))
COUNT(MPI_Comm_set_errhandler, (MPI_Comm c, MPI_Errhandler h), (c, h))
COUNT(MPI_Comm_get_errhandler, (MPI_Comm c, MPI_Errhandler *h), (c, h))
COUNT(MPI_Comm_call_errhandler, (MPI_Comm c, int e), (c, e))
COUNT(MPI_Comm_get_attr, (MPI_Comm c, int k, void *a, int *f), (c, k, a, f))
COUNT(MPI_Comm_set_attr, (MPI_Comm c, int k, void *a), (c, k, a))
COUNT(MPI_Comm_delete_attr, (MPI_Comm c, int k), (c, k))
COUNT(MPI_Comm_create_keyval, (MPI_Comm_copy_attr_function * c, MPI_Comm_delete_attr_function *d, int *k, void *x),
      (c, d, k, x))
COUNT(MPI_Comm_free_keyval, (int *k), (k))
COUNT(MPI_Info_create, (MPI_Info * i), (i))
COUNT(MPI_Info_free, (MPI_Info * i), (i))
COUNT(MPI_Info_set, (MPI_Info i, const char *k, const char *v), (i, k, v))
COUNT(MPI_Info_get_nkeys, (MPI_Info i, int *n), (i, n))
COUNT(MPI_Info_get_nthkey, (MPI_Info i, int n, char *k), (i, n, k))
COUNT(MPI_Initialized, (int *f), (f))
COUNT(MPI_Finalized, (int *f), (f))
COUNT(MPI_Get_library_version, (char *v, int *n), (v, n))
COUNT(MPI_Error_class, (int e, int *c), (e, c))
COUNT(MPI_Error_string, (int e, char *s, int *n), (e, s, n))
COUNT(MPI_Add_error_class, (int *c), (c))
COUNT(MPI_Add_error_code, (int c, int *e), (c, e))
COUNT(MPI_Add_error_string, (int e, const char *s), (e, s))

double MPI_Wtime(void)
{
    mpi_calls++;
    return PMPI_Wtime();
}

/* ---- The tests */

#define CHECK_QUIET(call, expected_class)                                               \
    do {                                                                                \
        int before_ = mpi_calls, code_ = call, calls_ = mpi_calls - before_;            \
        CHECK_CLASS(code_, expected_class, #call);                                      \
        CHECK(calls_ == 0, "%s: a tool sees %d calls of MPI functions", #call, calls_); \
    } while (0)

/* Everything that the library does: setting up, every algorithm and estimator, all functions. */
static void check_calls_of_mpi(const char *label, const char *clock)
{
    int flag;
    double time;
    int64_t time_ns;
    MPI_Info info = MPI_INFO_NULL;
    MPI_Comm comm = duplicate(MPI_COMM_WORLD);
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpix_harmonize_sync", label);
    MPI_Info_set(info, "mpix_harmonize_clock", clock);
    CHECK_QUIET(MPIX_Harmonize_set_info(comm, info), MPI_SUCCESS);
    MPI_Info_free(&info);
    CHECK_QUIET(MPIX_Global_time(comm, &time), MPI_ERR_OTHER);
    for (int i = 0; i < 5; i++)
        CHECK_QUIET(MPIX_Harmonize(comm, &flag), MPI_SUCCESS);
    CHECK_QUIET(MPIX_Clock_sync(comm), MPI_SUCCESS);
    CHECK_QUIET(MPIX_Global_time(comm, &time), MPI_SUCCESS);
    CHECK_QUIET(MPIX_Global_time_interval(comm, &time, &time), MPI_SUCCESS);
    CHECK_QUIET(MPIX_Global_time_ns(comm, &time_ns, &time_ns), MPI_SUCCESS);
    CHECK_QUIET(MPIX_Harmonize_delayed(comm, my_rank, &flag), MPI_SUCCESS);
    CHECK_QUIET(MPIX_Harmonize_instant(comm, &time_ns), MPI_SUCCESS);
    CHECK_QUIET(MPIX_Global_wait_until(comm, time_ns, &flag), MPI_SUCCESS);
    CHECK_QUIET(MPIX_Harmonize(comm, my_rank == ranks - 1 ? NULL : &flag), MPI_ERR_ARG);
    CHECK_QUIET(MPIX_Harmonize_delayed(comm, my_rank == 0 ? -1 : 0, &flag), MPI_ERR_ARG);
    CHECK_QUIET(MPIX_Harmonize_get_info(comm, &info), MPI_SUCCESS);
    MPI_Info_free(&info);
    int before = mpi_calls;
    MPI_Comm_free(&comm);
    CHECK(mpi_calls - before == 1, "MPI_Comm_free: a tool sees %d calls of MPI functions, expected 1",
          mpi_calls - before);
}

static void check_calls_of_library(void)
{
    int before = harmonize_calls, calls = times(100, 20);
    harmonize_times(MPI_COMM_WORLD, calls);
    CHECK(harmonize_calls - before == calls, "the wrapper saw %d calls, expected %d", harmonize_calls - before, calls);
    int64_t counted = info_number(MPI_COMM_WORLD, "calls");
    CHECK(counted == calls, "the library counts %" PRId64 " calls, expected %d", counted, calls);
}

int main(void)
{
    start_mpi(MPI_THREAD_SINGLE);
    check_calls_of_library();
    check_calls_of_mpi("hca3/10/skampi/5+prop", "wtime");
    check_calls_of_mpi("hca3o/meanrtt/5", "monotonic");
    check_calls_of_mpi("hca3/10/skampi/5", "auto");
    check_calls_of_mpi("none", "realtime");
    return conclude();
}
