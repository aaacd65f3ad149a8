/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pulse.h - what makes the trace of a program readable that is ended from outside, in which nothing runs then: a thread
 * that writes, several times a second, what each thread of the program is doing.
 */
#ifndef RECORD_PULSE_H
#define RECORD_PULSE_H

void mh_trace_start_pulse(void);
void mh_trace_stop_pulse(void);

/* Once. Without waiting for others who write. */
void mh_trace_beat(void);

#endif
