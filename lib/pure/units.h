/* SPDX-License-Identifier: BSD-3-Clause */
/* units.h - units of time and rate as the whole library uses them: int64_t nanoseconds, ratios as double. */
#ifndef MH_UNITS_H
#define MH_UNITS_H

#include <stdint.h>

#define MH_PS_PER_NS INT64_C(1000)
#define MH_NS_PER_US INT64_C(1000)
#define MH_NS_PER_MS INT64_C(1000000)
#define MH_NS_PER_S INT64_C(1000000000)
#define MH_S_PER_NS 1e-9
#define MH_PPM 1e-6
#define MH_PPB 1e-9

/* A bound of this length says that nothing is known. */
#define MH_TIME_UNKNOWN_NS INT64_MAX

#endif
