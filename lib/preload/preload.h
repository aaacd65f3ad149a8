/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * preload.h - between the two halves of the preload. No MPI here.
 *
 * The front, libmpix_harmonize_preload.so, is what LD_PRELOAD names. It knows no MPI library, so it does no harm in a
 * shell, a child or any other program: it defines the names that MPI programs call and passes their arguments on. After
 * MPI_Init it opens the back, preload-FLAVOR.so, which is compiled and linked with the MPI library of that flavor.
 *
 * A communicator is an int in one MPI library and a pointer in the other. The front takes both as a pointer, because
 * either one arrives in the same register. Integers of Fortran are ints.
 */
#ifndef PRELOAD_PRELOAD_H
#define PRELOAD_PRELOAD_H

#include <stdbool.h>

#define PRELOAD_BACK_NAME "mpix_preload_back"

/* What the back does. Where it answers false, the call goes on to the real function. */
typedef struct {
    void (*begin)(void);                            /* after MPI_Init; collective over the world */
    void (*end)(void);                              /* before MPI_Finalize; collective over the world */
    bool (*barrier)(void *comm, int *code);         /* code: what MPI_Barrier returns */
    bool (*barrier_fortran)(int comm, int *code);   /* the same for a handle of Fortran */
    void (*after_collective)(void *comm, int code); /* after a collective call that MPI did; code: what it returned */
    void (*after_collective_fortran)(int comm, int code);
    bool (*wtime)(double *seconds);                    /* false: the program's MPI_Wtime is not replaced */
    bool (*is_wtime_keyval)(int keyval, bool fortran); /* MPI_WTIME_IS_GLOBAL, if it is to be true */
} preload_back;

#endif
