/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * datatypes.h - what MPI calls the elements and reductions.
 */
#ifndef DATATYPES_H
#define DATATYPES_H

#include <mpi.h>

/* datatype_handle, reduction_handle - of an index that datatype_name and reduction_name (operation.h) know. */
MPI_Datatype datatype_handle(int index);
MPI_Op reduction_handle(int index);

#endif /* DATATYPES_H */
