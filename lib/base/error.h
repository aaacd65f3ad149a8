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
#include <stdbool.h>

/* Open MPI's MPI_MAX_ERROR_STRING is 256; a longer message would be cut there and not here. */
#define MH_ERROR_MESSAGE_SIZE 256

typedef struct mh_error {
    int code;    /* MPI error class or code; MPI_SUCCESS if nothing failed */
    bool alone;  /* an MPI function failed here, and other processes may not know */
    bool raised; /* MPI has called the error handler of the user's communicator already */
    char message[MH_ERROR_MESSAGE_SIZE];
} mh_error;

#define MH_NO_ERROR         \
    {                       \
        .code = MPI_SUCCESS \
    }

/* As an initializer with MH_NO_ERROR, but does not write the whole message. */
static inline void mh_error_clear(mh_error *error)
{
    error->code = MPI_SUCCESS;
    error->alone = error->raised = false;
}

/* Describe a failure; returns code. The first description stays: later ones are consequences. */
int mh_fail(mh_error *error, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/*
 * Check the result of an MPI function. A failure is described in one line with the function's name, and marked as one
 * that other processes may not know of. Returns code.
 */
int mh_check_mpi(mh_error *error, int code, const char *function);

/* The same for a function called on the user's communicator: MPI itself has raised a failure there. */
int mh_check_user_mpi(mh_error *error, int code, const char *function);

/*
 * Agree on an error that some processes of comm may have: all get the error of the lowest rank that has one.
 * Collective. Returns its code.
 */
int mh_error_agree(mh_error *error, MPI_Comm comm);

/*
 * Raise error on comm: remember its message, call the error handler of comm (not for MPI_COMM_NULL, nor if MPI has
 * called it already) with a code that carries class and message, and return that code if the handler returns. MPI must
 * be active unless comm is MPI_COMM_NULL.
 */
int mh_error_raise(MPI_Comm comm, const mh_error *error);

/* MPI may have started again since codes were made for errors. */
void mh_error_forget_codes(void);

/* Copy the message of the last error of this process, or an empty text, into text. */
void mh_error_last(char text[MH_ERROR_MESSAGE_SIZE]);

/* Call an MPI function inside a function that returns codes: MH_TRY(error, PMPI_Barrier, (comm)); */
#define MH_TRY(error, function, arguments)                                 \
    do {                                                                   \
        int mh_code_ = mh_check_mpi(error, function arguments, #function); \
        if (mh_code_ != MPI_SUCCESS)                                       \
            return mh_code_;                                               \
    } while (0)

/* The same on the user's communicator. */
#define MH_TRY_USER(error, function, arguments)                                 \
    do {                                                                        \
        int mh_code_ = mh_check_user_mpi(error, function arguments, #function); \
        if (mh_code_ != MPI_SUCCESS)                                            \
            return mh_code_;                                                    \
    } while (0)

#endif
