/* SPDX-License-Identifier: BSD-3-Clause */
/* regions.c - the regions of the program, which MPI_Pcontrol enters and leaves: numbers and names. */
#include "interpose/record/regions.h"

#include "interpose/record/file.h"
#include "interpose/record/recording.h"

#include <stdio.h>

/* Regions are counted as they are found in a table, where their levels lead. */
enum { FIRST_LEVEL = 3, REGION_BITS = 13, REGIONS = 1 << REGION_BITS, TRIES = 64 };
static _Atomic uint32_t levels[REGIONS]; /* of the regions; 0: there is none */
static bool is_named[REGIONS];

/* Returns REGIONS if there are too many. */
static unsigned find_region(uint32_t level)
{
    unsigned first = level * UINT32_C(0x9e3779b1) >> (32 - REGION_BITS);
    for (unsigned i = 0; i < TRIES; i++) {
        unsigned number = (first + i) % REGIONS;
        uint32_t found = atomic_load_explicit(&levels[number], memory_order_relaxed);
        if (found == 0 && atomic_compare_exchange_strong(&levels[number], &found, level))
            return number;
        if (found == level)
            return number;
    }
    return REGIONS;
}

uint16_t mh_trace_region_id(uint32_t level)
{
    unsigned number = level < FIRST_LEVEL ? REGIONS : find_region(level);
    return number < REGIONS ? (uint16_t)(mh_trace.first_region_id + number) : 0;
}

void mh_trace_write_regions(void)
{
    for (unsigned number = 0; number < REGIONS; number++) {
        uint32_t level = atomic_load_explicit(&levels[number], memory_order_relaxed);
        char name[32];
        if (level == 0 || is_named[number])
            continue;
        snprintf(name, sizeof name, "region %u", level);
        mh_trace_write_name(mh_trace.first_region_id + number, name);
        is_named[number] = true;
    }
}
