/* SPDX-License-Identifier: BSD-3-Clause */
#include "suite/operation.h"

#include "suite/operation_private.h"

#include <stddef.h>
#include <string.h>

/* Why the MPI library has not what an operation takes, or NULL. */
static const char *absence(const operation_t *operation)
{
#ifdef SMPI_H
    if (operation->shape->has_neighbors)
        return "SimGrid's MPI has no distributed graphs";
#endif
    return operation->call == NULL ? "this MPI library has no persistent collective operations (those of MPI-4)" : NULL;
}

const operation_t *operation_at(int index)
{
    for (const operation_t *const *at = operation_list; *at != NULL; at++)
        if (absence(*at) == NULL && index-- == 0)
            return *at;
    return NULL;
}

const char *operation_name(int index)
{
    const operation_t *operation = operation_at(index);
    return operation != NULL ? operation->name : NULL;
}

const char *operation_absence(const char *name)
{
    for (const operation_t *const *at = operation_list; *at != NULL; at++)
        if (strcmp((*at)->name, name) == 0)
            return absence(*at);
    return NULL;
}

bool operation_has_size(const operation_t *operation)
{
    return operation->shape->from != FROM_NOBODY;
}

bool operation_allows_in_place(const operation_t *operation)
{
    return operation->shape->in_place != IN_PLACE_NEVER && operation->shape->in_place != ROOT_SENDS_FROM_RESULT;
}

const char *cache_mode_name(int index)
{
    static const char *const names[] = {"warm", "rotate", "cold"};
    return index >= 0 && index <= CACHE_COLD ? names[index] : NULL;
}
