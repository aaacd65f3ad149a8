/* SPDX-License-Identifier: BSD-3-Clause */
/* without.h - whether a process of the job, on this host, has no front. No MPI library is needed for it. */
#ifndef INTERPOSE_WITHOUT_H
#define INTERPOSE_WITHOUT_H

#include <stdbool.h>

/* Whether the process with a rank is known to use MPI without the front. own: the rank of this process. */
bool mh_interpose_is_without(int rank, int own);

#endif
