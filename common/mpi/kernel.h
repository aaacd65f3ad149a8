/* SPDX-License-Identifier: BSD-3-Clause */
/* kernel.h - which ranks run under one kernel, what it says, and how it keeps time. */
#ifndef KERNEL_H
#define KERNEL_H

#include "common/mpi/machine_clock.h"
#include "common/mpi/world.h"

enum { KERNEL_WARNING_BYTES = 200, KERNEL_WORD_BYTES = 64 };

/*
 * kernel_split - the part of the world that runs under the same kernel as this rank, since it started. Collective.
 *
 * Processes with the same boot id run under one kernel; containers on one machine have the same. Its communicator is in
 * the order of the ranks; the caller frees it.
 */
world_t kernel_split(const world_t *world);

/* kernel_tick_ns - what counter_rate_ns gives on the first rank under each kernel. Collective over its ranks. */
double kernel_tick_ns(const counter_rate_t *rate, MPI_Comm kernel);

/*
 * kernel_value - from a file of the kernel, what follows a word that begins a line ("" for the first one), and blanks
 * and colons. Returns false, and an empty text, if there is none. Local.
 */
bool kernel_value(const char *path, const char *word, char *text, size_t text_bytes);

/* kernel_clocksource - the kernel's source of time. Returns false, and an empty text, if it does not say. Local. */
bool kernel_clocksource(char name[KERNEL_WORD_BYTES]);

/* kernel_clock_warning - what is wrong with the kernel's source of time, or an empty text. Local. */
void kernel_clock_warning(char text[KERNEL_WARNING_BYTES]);

#endif
