/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * clock_cntvct.c - the virtual count of the generic timer of 64-bit ARM processors, if the kernel uses this timer as
 * its own clocksource. The architecture promises one rate, one count for all processors, and a register that states
 * the rate.
 */
#include "clock/counter.h"

#include <stdio.h>

static int cntvct_probe(char *why, size_t why_size)
{
    if (MH_COUNTER_IS_CNTVCT)
        return mh_counter_probe("arch_sys_counter", why, why_size);
    snprintf(why, why_size, "%s", MH_PROCESSOR_IS_ARM64 ? MH_COUNTER_LEFT_OUT : "this is not a 64-bit ARM processor");
    return -1;
}

const mh_clock_kind mh_clock_cntvct = {
    .name = "cntvct",
    .doc = "the generic timer of 64-bit ARM: the hardware's own rate, read without a system call",
    .is_raw = true,
    .is_foreign = !MH_PROCESSOR_IS_ARM64,
    .probe = cntvct_probe,
    .now_ns = mh_counter_now_ns,
    .glance_ns = mh_counter_glance_ns,
    .wait_until = mh_counter_wait_until,
    .calibrate = mh_counter_calibrate,
};
