/* SPDX-License-Identifier: BSD-3-Clause */
/* test_hook.h - a function that tests with simulated clocks add to the sending of messages. */
#ifndef MH_TEST_HOOK_H
#define MH_TEST_HOOK_H

#ifdef MH_WITH_SIMULATED_CLOCK

/* Sleep for the simulated delay of a message from one rank to another, and count the message. Defined by the test. */
void mh_delay_message(int from, int to);

#else

static inline void mh_delay_message(int from, int to)
{
    (void)from;
    (void)to;
}

#endif

#endif
