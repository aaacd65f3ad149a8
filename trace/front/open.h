/* SPDX-License-Identifier: BSD-3-Clause */
/* open.h - the start of MPI in a program, and the back. No MPI library is needed for it. */
#ifndef INTERPOSE_OPEN_H
#define INTERPOSE_OPEN_H

#include <stdint.h>

/* MPI_Init begins, or a session, of which the first process says a line. */
void mh_interpose_note_start(void);
void mh_interpose_note_session(void);

/* MPI_Comm_spawn begins: the root says that nothing is loaded into the processes. */
void mh_interpose_note_spawn(int root, intptr_t comm);

/* Open the back, collectively. NULL: nobody wants it, or a line has said why not. */
const void *mh_interpose_open(void);

#endif
