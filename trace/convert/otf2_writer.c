/* SPDX-License-Identifier: BSD-3-Clause */
/* otf2_writer.c - what all parts of the OTF2 output share: the first error, and the numbers of locations. */
#include "trace/convert/otf2_private.h"

bool otf2_check(otf2_writer *to, OTF2_ErrorCode code)
{
    if (to->error == OTF2_SUCCESS)
        to->error = code;
    return code == OTF2_SUCCESS;
}

size_t otf2_location_count(const trace_process *process)
{
    return process->location_count > 0 ? process->location_count : 1;
}

OTF2_LocationRef otf2_location_ref(const trace_process *process, int rank, size_t i)
{
    uint64_t thread = i < process->location_count ? (uint64_t)process->locations[i].thread : 0;
    return thread << 32 | (uint32_t)rank;
}
