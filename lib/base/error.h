/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * error.h - errors with a message, and how they reach the user.
 *
 * Inside the library a function that can fail returns an MPI error class or code (MPI_SUCCESS is 0) and describes the
 * failure in an mh_error. Only the outermost layer raises it.
 */
#ifndef MH_ERROR_H
#define MH_ERROR_H

#include <mpi.h>

/* Open MPI's MPI_MAX_ERROR_STRING is 256; a longer message would be cut there and not here. */
#define MH_ERROR_MESSAGE_SIZE 256

typedef struct mh_error {
    int code; /* MPI error class or code; MPI_SUCCESS where nothing failed */
    char message[MH_ERROR_MESSAGE_SIZE];
} mh_error;

/* Describe a failure; returns code. The first description stays: later ones are consequences. */
int mh_fail(mh_error *error, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Check what an MPI function returned; a failure is described with the function's name. Returns code. */
int mh_check_mpi(mh_error *error, int code, const char *function);

/*
 * Make error, which processes may have or not, the same on all processes of comm: that of the lowest rank that has one.
 * Collective. Returns its code.
 */
int mh_error_agree(mh_error *error, MPI_Comm comm);

/*
 * Raise error on comm: remember its message, call the error handler of comm (not for MPI_COMM_NULL) with a code that
 * carries class and message, and return that code if the handler returns. MPI must be active unless comm is
 * MPI_COMM_NULL.
 */
int mh_error_raise(MPI_Comm comm, const mh_error *error);

/* Remember the message of an error that is not raised. */
void mh_error_remember(const mh_error *error);

/* Copy the message of the last error of this process, or an empty text, into text. */
void mh_error_last(char text[MH_ERROR_MESSAGE_SIZE]);

/* Call an MPI function inside a function that returns codes: MH_TRY(error, PMPI_Barrier, (comm)); */
#define MH_TRY(error, function, arguments)                                   \
    do {                                                                     \
        int mh_code_ = mh_check_mpi(error, function arguments, #function);   \
        if (mh_code_ != MPI_SUCCESS)                                         \
            return mh_code_;                                                 \
    } while (0)

#endif
