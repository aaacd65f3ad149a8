/* SPDX-License-Identifier: BSD-3-Clause */
/* memory.c - end a program that has no memory. */
#define _GNU_SOURCE /* program_invocation_short_name */
#include "common/cli/memory.h"

#include "common/cli/options.h"

#include <errno.h>
#include <stdio.h>

const char *memory_hint = "";

void *or_exit(void *pointer)
{
    if (!pointer) {
        fprintf(stderr, "%s: out of memory%s\n", program_invocation_short_name, memory_hint);
        exit(STATUS_FAILED);
    }
    return pointer;
}
