/* SPDX-License-Identifier: BSD-3-Clause */
/* open.h - the start of MPI in a program, and the back. No MPI library is needed for it. */
#ifndef INTERPOSE_OPEN_H
#define INTERPOSE_OPEN_H

/* MPI_Init begins, or a session, of which the first process says a line. */
void mh_interpose_note_start(void);
void mh_interpose_note_session(void);

/* Open the back, collectively. NULL: nobody wants it, or a line has said why not. */
const void *mh_interpose_open(void);

#endif
