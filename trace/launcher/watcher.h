/* SPDX-License-Identifier: BSD-3-Clause */
/* watcher.h - a process that says so if the program ends and no call of MPI_Init was seen. */
#ifndef INTERPOSE_WATCHER_H
#define INTERPOSE_WATCHER_H

/*
 * Of the process that calls this, and will be the program. Sets in mh_choices where it is told of MPI_Init, or that the
 * program could not be executed. It also removes the folder of a trace that is empty.
 */
void mh_watcher_start(void);

#endif
