/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * keyval.c - one keyval for all states. It lasts until MPI_Finalize, or in a program of sessions as long as there are
 * states: MPI may start again after the last session, and give the number to the program.
 */
#include "keyval.h"

#include "finalize.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static struct {
    pthread_mutex_t lock; /* of users, so that no state begins to use a keyval that is freed; not held in MPI */
    _Atomic int keyval;
    _Atomic int users;
} shared = {.lock = PTHREAD_MUTEX_INITIALIZER, .keyval = MPI_KEYVAL_INVALID};

int mh_keyval(void)
{
    return shared.keyval;
}

bool mh_keyval_is_used(void)
{
    return shared.users > 0;
}

/* A duplicate of a communicator starts fresh: its state is not copied. */
static int make_keyval(MPI_Comm_delete_attr_function *on_delete, mh_error *error)
{
    int keyval, none = MPI_KEYVAL_INVALID;
    MH_TRY(error, PMPI_Comm_create_keyval, (MPI_COMM_NULL_COPY_FN, on_delete, &keyval, NULL));
    if (!atomic_compare_exchange_strong(&shared.keyval, &none, keyval))
        PMPI_Comm_free_keyval(&keyval); /* another thread was faster */
    return MPI_SUCCESS;
}

/* Without a lock: in these functions, MPI may call a handler of the program, which may call this library or jump. */
int mh_keyval_use(int *mine, MPI_Comm_delete_attr_function *on_delete, mh_error *error)
{
    int code = MPI_SUCCESS;
    if (*mine != MPI_KEYVAL_INVALID)
        return MPI_SUCCESS;
    pthread_mutex_lock(&shared.lock);
    shared.users++;
    pthread_mutex_unlock(&shared.lock);
    if (shared.keyval == MPI_KEYVAL_INVALID)
        code = make_keyval(on_delete, error);
    if (code == MPI_SUCCESS)
        *mine = shared.keyval;
    else
        shared.users--;
    return code;
}

void mh_keyval_leave(int *mine)
{
    if (*mine == MPI_KEYVAL_INVALID)
        return;
    *mine = MPI_KEYVAL_INVALID;
    shared.users--;
    mh_keyval_free_unused();
}

void mh_keyval_free_unused(void)
{
    int unused = MPI_KEYVAL_INVALID;
    pthread_mutex_lock(&shared.lock);
    if (shared.users == 0 && !mh_finalize_is_watched())
        unused = atomic_exchange(&shared.keyval, MPI_KEYVAL_INVALID);
    pthread_mutex_unlock(&shared.lock);
    if (unused == MPI_KEYVAL_INVALID)
        return;
    PMPI_Comm_free_keyval(&unused);
    mh_error_forget_codes();
}

void mh_keyval_lose(int keyval)
{
    if (atomic_compare_exchange_strong(&shared.keyval, &keyval, MPI_KEYVAL_INVALID))
        mh_error_forget_codes();
}
