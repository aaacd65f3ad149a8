/* SPDX-License-Identifier: BSD-3-Clause */
/* fresh_number.c - from the time of day, the process and a count. */
#include "base/fresh_number.h"

#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

uint64_t mh_fresh_number(void)
{
    static atomic_uint_least64_t calls;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t number = (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
    number = (number ^ (uint64_t)getpid() << 40) + atomic_fetch_add(&calls, 1) * UINT64_C(0x9e3779b97f4a7c15);
    return number ? number : 1;
}
