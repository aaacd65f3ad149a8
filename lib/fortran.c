/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fortran.c - the public functions with Fortran's handles, for the modules in bindings/fortran.
 *
 * How a Fortran handle becomes a C handle depends on the MPI library, and only C code can do it with all of them. These
 * functions are here, not in the modules, so that a user needs no C compiler to build a module. They need nothing of
 * Fortran. Handles are int here, whatever the size of MPI_Fint. They call the MPIX_ names, so a tool that wraps these
 * sees Fortran programs too.
 */
#include "mpix_harmonize.h"

#include "base/fortran_handles.h"
#include "end_state.h"

/* Constants of Fortran: in the standard ABI those of C, in Open MPI the first numbers. */
#if MH_STANDARD_ABI
enum { LAST_PREDEFINED = 0x3ff };
#define FORTRAN_COMM_NULL ((int)(intptr_t)MPI_COMM_NULL)
#define FORTRAN_INFO_NULL ((int)(intptr_t)MPI_INFO_NULL)
#else
enum { FORTRAN_INFO_NULL = 0, FORTRAN_COMM_NULL = 2, LAST_PREDEFINED = 2 };
#endif

/*
 * Whether handles can be converted. Open MPI ends a program that does so before MPI_Init or after MPI_Finalize, where
 * the library is to return an error. A program of sessions has communicators of its own only.
 */
static bool can_convert(int comm)
{
#if defined(OPEN_MPI) || MH_STANDARD_ABI
    int initialized = 0, finalized = 0;
    PMPI_Initialized(&initialized);
    PMPI_Finalized(&finalized);
    return (initialized && !finalized) || ((comm < 0 || comm > LAST_PREDEFINED) && !mh_comm_state_mpi_ended());
#else
    (void)comm;
    return true;
#endif
}

/* Where it cannot be converted, another communicator that cannot be used, either. */
static MPI_Comm comm_of(int comm)
{
    if (can_convert(comm))
        return mh_comm_of_fortran(comm);
    return comm == FORTRAN_COMM_NULL ? MPI_COMM_NULL : MPI_COMM_SELF;
}

static MPI_Info info_of(int comm, int info)
{
    return can_convert(comm) ? mh_info_of_fortran(info) : MPI_INFO_NULL;
}

static int info_to(int comm, MPI_Info info)
{
    return can_convert(comm) ? (int)mh_info_to_fortran(info) : FORTRAN_INFO_NULL;
}

/* Exported under a name that no header declares. Its prototype is in bindings/fortran. */
#define FORTRAN_API MPIX_HARMONIZE_API int

/* bindings/declare.sh begins: functions for Fortran's handles */

FORTRAN_API MPIX_Harmonize_f(int comm, int *flag)
{
    return MPIX_Harmonize(comm_of(comm), flag);
}

FORTRAN_API MPIX_Harmonize_delayed_f(int comm, int64_t delay_ns, int *flag)
{
    return MPIX_Harmonize_delayed(comm_of(comm), delay_ns, flag);
}

FORTRAN_API MPIX_Harmonize_instant_f(int comm, int64_t *instant_ns)
{
    return MPIX_Harmonize_instant(comm_of(comm), instant_ns);
}

FORTRAN_API MPIX_Global_time_f(int comm, double *time)
{
    return MPIX_Global_time(comm_of(comm), time);
}

FORTRAN_API MPIX_Global_time_interval_f(int comm, double *earliest, double *latest)
{
    return MPIX_Global_time_interval(comm_of(comm), earliest, latest);
}

FORTRAN_API MPIX_Global_time_ns_f(int comm, int64_t *time_ns, int64_t *bound_ns)
{
    return MPIX_Global_time_ns(comm_of(comm), time_ns, bound_ns);
}

FORTRAN_API MPIX_Global_wait_until_f(int comm, int64_t instant_ns, int *flag)
{
    return MPIX_Global_wait_until(comm_of(comm), instant_ns, flag);
}

FORTRAN_API MPIX_Clock_sync_f(int comm)
{
    return MPIX_Clock_sync(comm_of(comm));
}

FORTRAN_API MPIX_Clock_pair_f(int comm, int clock, int64_t *local_ns, int64_t *time_ns, int64_t *bound_ns)
{
    return MPIX_Clock_pair(comm_of(comm), clock, local_ns, time_ns, bound_ns);
}

FORTRAN_API MPIX_Global_time_of_f(int comm, int clock, int64_t local_ns, int64_t *time_ns, int64_t *bound_ns)
{
    return MPIX_Global_time_of(comm_of(comm), clock, local_ns, time_ns, bound_ns);
}

FORTRAN_API MPIX_Clock_write_f(int comm, const char *path)
{
    return MPIX_Clock_write(comm_of(comm), path);
}

FORTRAN_API MPIX_Harmonize_set_info_f(int comm, int info)
{
    return MPIX_Harmonize_set_info(comm_of(comm), info_of(comm, info));
}

FORTRAN_API MPIX_Harmonize_get_info_f(int comm, int *info_used)
{
    MPI_Info made = MPI_INFO_NULL;
    int code = MPIX_Harmonize_get_info(comm_of(comm), &made);
    *info_used = info_to(comm, made);
    return code;
}
/* bindings/declare.sh ends */
