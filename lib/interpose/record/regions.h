/* SPDX-License-Identifier: BSD-3-Clause */
/* regions.h - the regions of the program by number. */
#ifndef RECORD_REGIONS_H
#define RECORD_REGIONS_H

#include <stdint.h>

/* The id of the region of a level, or 0: it is too low, or there are too many. */
uint16_t mh_trace_region_id(uint32_t level);

/* Under the lock of the flush: names of the regions that were entered since the last time. */
void mh_trace_write_regions(void);

#endif
