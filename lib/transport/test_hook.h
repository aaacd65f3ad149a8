/* SPDX-License-Identifier: BSD-3-Clause */
/* test_hook.h - where tests with simulated clocks take part in the sending of messages. */
#ifndef MH_TEST_HOOK_H
#define MH_TEST_HOOK_H

#ifdef MH_WITH_SIMULATED_CLOCK

/* Sleep for as long as a message from one rank to another is delayed; it is counted. The test has this function. */
void mh_delay_message(int from, int to);

#else

static inline void mh_delay_message(int from, int to)
{
    (void)from;
    (void)to;
}

#endif

#endif
