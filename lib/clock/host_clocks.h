/* SPDX-License-Identifier: BSD-3-Clause */
/* host_clocks.h - the clocks of a host that programs take timestamps by, as clock_gettime numbers them. */
#ifndef MH_HOST_CLOCKS_H
#define MH_HOST_CLOCKS_H

#include "mpix_clock_reader.h"

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* For messages. */
#define MH_HOST_CLOCK_NAMES "CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_MONOTONIC_RAW, CLOCK_BOOTTIME, CLOCK_TAI"

/* Which one a number of clock_gettime means, if this system has it. Returns whether there is one. */
bool mh_host_clock_find(int64_t posix, mpix_clock_id *id);

/* Whether this system has one. */
bool mh_host_clock_is_there(mpix_clock_id id);

/* The number of one that was found. */
clockid_t mh_host_clock_posix(mpix_clock_id id);

#endif
