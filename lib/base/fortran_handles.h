/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fortran_handles.h - convert handles of Fortran, which are integers, to handles of C and back. The standard ABI of
 * MPI 5.0 has other functions for this than earlier versions of MPI. No Fortran compiler or library is needed.
 */
#ifndef BASE_FORTRAN_HANDLES_H
#define BASE_FORTRAN_HANDLES_H

#include <mpi.h>

#if !defined(OPEN_MPI) && defined(MPI_ABI_VERSION) && MPI_ABI_VERSION >= 1 && !defined(MPICH_VERSION)
#define MH_STANDARD_ABI 1
#else
#define MH_STANDARD_ABI 0
#endif

#if MH_STANDARD_ABI
#define mh_comm_of_fortran PMPI_Comm_fromint
#define mh_info_of_fortran PMPI_Info_fromint
#define mh_info_to_fortran PMPI_Info_toint
#else
#define mh_comm_of_fortran PMPI_Comm_f2c
#define mh_info_of_fortran PMPI_Info_f2c
#define mh_info_to_fortran PMPI_Info_c2f
#endif

#endif
