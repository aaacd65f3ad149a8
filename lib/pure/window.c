/* SPDX-License-Identifier: BSD-3-Clause */
/* window.c - arithmetic on windows. */
#include "pure/window.h"

#include "pure/units.h"

#include <math.h>

mh_window mh_window_unknown(void)
{
    return (mh_window){-MH_TIME_UNKNOWN_NS, MH_TIME_UNKNOWN_NS};
}

mh_window mh_window_of_offset(const mh_offset *offset)
{
    return (mh_window){offset->offset_ns - offset->bound_ns, offset->offset_ns + offset->bound_ns};
}

mh_window mh_window_intersect(mh_window a, mh_window b)
{
    return (mh_window){a.min_ns > b.min_ns ? a.min_ns : b.min_ns, a.max_ns < b.max_ns ? a.max_ns : b.max_ns};
}

int64_t mh_window_middle_ns(mh_window window)
{
    return window.min_ns + (window.max_ns - window.min_ns) / 2;
}

int64_t mh_window_bound_ns(mh_window window, int64_t offset_ns)
{
    int64_t below_ns = offset_ns - window.min_ns, above_ns = window.max_ns - offset_ns;
    int64_t bound_ns = below_ns > above_ns ? below_ns : above_ns;
    return bound_ns > 0 ? bound_ns : 0;
}

bool mh_window_excludes(mh_window window, int64_t offset_ns, int64_t doubt_ns)
{
    return window.min_ns > offset_ns + doubt_ns || window.max_ns < offset_ns - doubt_ns;
}

bool mh_window_is_inverted(mh_window window, double rate_limit, int64_t span_ns, int64_t doubt_ns)
{
    if (window.min_ns <= window.max_ns)
        return false;
    double crossed_ns = (double)((uint64_t)window.min_ns - (uint64_t)window.max_ns);
    return crossed_ns > rate_limit * fabs((double)span_ns) + (double)doubt_ns;
}
