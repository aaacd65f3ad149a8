/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kernel.h - which ranks run under one kernel, and how that kernel keeps time.
 */
#ifndef KERNEL_H
#define KERNEL_H

#include "world.h"

enum { KERNEL_WARNING_BYTES = 200, KERNEL_WORD_BYTES = 64 };

/*
 * kernel_split - the ranks that run under the same kernel as this one, since it started. Collective.
 *
 * Told by the kernel's boot id, which containers on one machine have in common.
 *
 * comm   out: theirs, in the order of their ranks; the caller frees it
 *
 * Returns false on all ranks if out of memory on one, of which rank 0 has told.
 */
bool kernel_split(const world_t *world, MPI_Comm *comm);

/* kernel_clocksource - the kernel's source of time. Returns false, and an empty text, where it does not say. Local. */
bool kernel_clocksource(char name[KERNEL_WORD_BYTES]);

/*
 * kernel_clock_warning - what is wrong with the kernel's source of time, or an empty text. Local.
 *
 * text   out, KERNEL_WARNING_BYTES
 */
void kernel_clock_warning(char *text);

#endif /* KERNEL_H */
