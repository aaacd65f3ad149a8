/* SPDX-License-Identifier: BSD-3-Clause */
/* meet.h - what the fronts of a job ask each other in MPI_Init. */
#ifndef INTERPOSE_MEET_H
#define INTERPOSE_MEET_H

#include <stdbool.h>

/* The job is ended, with a line, if a process has no front. */
void mh_interpose_meet(void);

/* Whether something is on all processes. */
bool mh_interpose_is_on_all(bool is_here);

#endif
