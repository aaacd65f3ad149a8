/* SPDX-License-Identifier: BSD-3-Clause */
#include "schemes.h"

#include <mpix_harmonize.h>

#include <stddef.h>

static int release_by_barrier(MPI_Comm comm, int *valid)
{
    *valid = 1;
    return MPI_Barrier(comm);
}

static int release_at_once(MPI_Comm comm, int *valid)
{
    (void)comm;
    *valid = 1;
    return MPI_SUCCESS;
}

const struct scheme schemes[SCHEME_COUNT] = {
    [SCHEME_BARRIER] = {"barrier", "MPI_Barrier", "isolated, a synchronisation before each call", release_by_barrier},
    [SCHEME_HARMONIZE] = {"harmonize", "MPIX_Harmonize", "isolated, a synchronisation before each call",
                          MPIX_Harmonize},
    [SCHEME_NONE] = {"none", "no call", "streaming, calls follow each other at once", release_at_once},
};

const char *scheme_name(int index)
{
    return index < SCHEME_COUNT ? schemes[index].name : NULL;
}

const char *releasing_scheme_name(int index)
{
    return index < RELEASING_SCHEMES ? schemes[index].name : NULL;
}
