/* SPDX-License-Identifier: BSD-3-Clause */
/* harmonize.h - how the replacement of barriers and of MPI_Wtime begins and ends. */
#ifndef HARMONIZE_HARMONIZE_H
#define HARMONIZE_HARMONIZE_H

#include <stdbool.h>

/* After MPI_Init, collectively over the world. Returns false, the same on all processes, if nothing is replaced. */
bool mh_preload_begin(void);

/* Before MPI_Finalize, collectively over the world. */
void mh_preload_end(void);

#endif
