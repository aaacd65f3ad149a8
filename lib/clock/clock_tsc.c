/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * clock_tsc.c - the time stamp counter of x86 processors, if it is invariant and the kernel uses it as its own
 * clocksource. It is read without a system call and has the rate of the hardware.
 */
#include "clock/counter.h"

#include <stdio.h>

#if MH_COUNTER_IS_TSC

#include <cpuid.h>

/* On a virtual machine, the hypervisor answers, which takes long. So the processor is asked once. */
static int has_invariant_counter(void)
{
    enum { NOT_ASKED, NO, YES };
    static _Atomic int answer;
    unsigned a, b, c, d;
    if (answer != NOT_ASKED)
        return answer == YES;
    int has_rdtscp = __get_cpuid(0x80000001u, &a, &b, &c, &d) && (d & (1u << 27));
    int invariant = __get_cpuid(0x80000007u, &a, &b, &c, &d) && (d & (1u << 8));
    answer = has_rdtscp && invariant ? YES : NO;
    return answer == YES;
}

static int tsc_probe(char *why, size_t why_size)
{
    if (has_invariant_counter())
        return mh_counter_probe("tsc", why, why_size);
    snprintf(why, why_size, "the processor has no invariant time stamp counter, or no rdtscp to read it");
    return -1;
}

#else

static int tsc_probe(char *why, size_t why_size)
{
    snprintf(why, why_size, "%s", MH_PROCESSOR_IS_X86 ? MH_COUNTER_LEFT_OUT : "this is not an x86 processor");
    return -1;
}

#endif

const mh_clock_kind mh_clock_tsc = {
    .name = "tsc",
    .doc = "the time stamp counter of x86: the hardware's own rate, read without a system call",
    .is_raw = true,
    .is_foreign = !MH_PROCESSOR_IS_X86,
    .probe = tsc_probe,
    .now_ns = mh_counter_now_ns,
    .glance_ns = mh_counter_glance_ns,
    .wait_until = mh_counter_wait_until,
    .calibrate = mh_counter_calibrate,
};
