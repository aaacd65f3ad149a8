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

/* Exported under a name that no header declares. Its prototype is in bindings/fortran. */
#define FORTRAN_API MPIX_HARMONIZE_API int

FORTRAN_API MPIX_Harmonize_f(int comm, int *flag)
{
    return MPIX_Harmonize(PMPI_Comm_f2c(comm), flag);
}

FORTRAN_API MPIX_Harmonize_delayed_f(int comm, int64_t delay_ns, int *flag)
{
    return MPIX_Harmonize_delayed(PMPI_Comm_f2c(comm), delay_ns, flag);
}

FORTRAN_API MPIX_Harmonize_instant_f(int comm, int64_t *instant_ns)
{
    return MPIX_Harmonize_instant(PMPI_Comm_f2c(comm), instant_ns);
}

FORTRAN_API MPIX_Global_time_f(int comm, double *time)
{
    return MPIX_Global_time(PMPI_Comm_f2c(comm), time);
}

FORTRAN_API MPIX_Global_time_interval_f(int comm, double *earliest, double *latest)
{
    return MPIX_Global_time_interval(PMPI_Comm_f2c(comm), earliest, latest);
}

FORTRAN_API MPIX_Global_time_ns_f(int comm, int64_t *time_ns, int64_t *bound_ns)
{
    return MPIX_Global_time_ns(PMPI_Comm_f2c(comm), time_ns, bound_ns);
}

FORTRAN_API MPIX_Global_wait_until_f(int comm, int64_t instant_ns, int *flag)
{
    return MPIX_Global_wait_until(PMPI_Comm_f2c(comm), instant_ns, flag);
}

FORTRAN_API MPIX_Clock_sync_f(int comm)
{
    return MPIX_Clock_sync(PMPI_Comm_f2c(comm));
}

FORTRAN_API MPIX_Harmonize_set_info_f(int comm, int info)
{
    return MPIX_Harmonize_set_info(PMPI_Comm_f2c(comm), PMPI_Info_f2c(info));
}

FORTRAN_API MPIX_Harmonize_get_info_f(int comm, int *info_used)
{
    MPI_Info info = MPI_INFO_NULL;
    int code = MPIX_Harmonize_get_info(PMPI_Comm_f2c(comm), &info);
    *info_used = (int)PMPI_Info_c2f(info);
    return code;
}
