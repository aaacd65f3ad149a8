/* SPDX-License-Identifier: BSD-3-Clause */
/* refusal.h - end a job before MPI_Init. */
#ifndef INTERPOSE_REFUSAL_H
#define INTERPOSE_REFUSAL_H

/* This process is ended, with this status if its launcher does not end it, and with it all processes of the job. */
_Noreturn void mh_refusal_end_job(int status);

/* Wait for what the first process has to say and for the end of the job, if this is not the first process. */
void mh_refusal_let_first_speak(void);

#endif
