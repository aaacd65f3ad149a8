/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * finalize.c - an attribute of MPI_COMM_SELF. Some MPI libraries skip the callbacks of other communicators at
 * MPI_Finalize; those of MPI_COMM_SELF are always called.
 */
#include "finalize.h"

#include <stdatomic.h>
#include <stddef.h>

static _Atomic bool is_watched, has_begun;
static void (*_Atomic what_to_call)(void);

static int at_finalize(MPI_Comm comm, int keyval, void *attribute, void *extra)
{
    (void)comm;
    (void)keyval;
    (void)attribute;
    (void)extra;
    has_begun = true;
    is_watched = false;
    what_to_call();
    return MPI_SUCCESS;
}

/* The attribute keeps its keyval. If two threads come here at once, there are two attributes. */
int mh_finalize_watch(void (*at_end)(void), mh_error *error)
{
    int initialized, finalized, keyval;
    MH_TRY(error, PMPI_Initialized, (&initialized));
    MH_TRY(error, PMPI_Finalized, (&finalized));
    if (!initialized || finalized || is_watched)
        return MPI_SUCCESS;
    what_to_call = at_end;
    MH_TRY(error, PMPI_Comm_create_keyval, (MPI_COMM_NULL_COPY_FN, at_finalize, &keyval, NULL));
    int code = mh_check_mpi(error, PMPI_Comm_set_attr(MPI_COMM_SELF, keyval, NULL), "MPI_Comm_set_attr");
    PMPI_Comm_free_keyval(&keyval);
    is_watched = code == MPI_SUCCESS;
    return code;
}

bool mh_finalize_is_watched(void)
{
    return is_watched;
}

bool mh_finalize_has_begun(void)
{
    return has_begun;
}
