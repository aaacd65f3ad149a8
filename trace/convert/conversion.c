/* SPDX-License-Identifier: BSD-3-Clause */
/* conversion.c - times, host names and bounds for all formats. */
#include "trace/convert/conversion.h"

#include <math.h>

/* A point of a curve differs by this part from the one before. */
#define BOUND_STEP 0.1

int64_t conversion_global_ns(const conversion *job, const trace_location *location, size_t event)
{
    return job->of->start_ns + llround(location->global_ns[event]);
}

bool bound_to_show(const trace_location *location, size_t event, double *last_ns)
{
    const double bound_ns = trace_bound_ns(location->process, location->events[event].time_ns);
    const bool is_known = isfinite(bound_ns), was_known = isfinite(*last_ns);
    if (is_known == was_known && (!is_known || fabs(bound_ns - *last_ns) <= BOUND_STEP * *last_ns))
        return false;
    *last_ns = bound_ns;
    return true;
}
