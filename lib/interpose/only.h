/* SPDX-License-Identifier: BSD-3-Clause */
/* only.h - which functions a pattern of mpix_trace --only means. */
#ifndef TRACE_ONLY_H
#define TRACE_ONLY_H

#include <fnmatch.h>
#include <stdbool.h>
#include <string.h>

/* FNM_CASEFOLD takes _GNU_SOURCE. */
static inline bool trace_fits(const char *pattern, const char *function)
{
    return fnmatch(pattern, function, FNM_CASEFOLD) == 0 ||
           fnmatch(pattern, function + strlen("MPI_"), FNM_CASEFOLD) == 0;
}

#endif
