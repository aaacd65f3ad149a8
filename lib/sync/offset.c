/* SPDX-License-Identifier: BSD-3-Clause */
#include "sync/offset.h"

#include "sync/offset_private.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

static const mh_offset_kind *const kinds[] = {&mh_offset_skampi, &mh_offset_mean_rtt};

enum { KINDS = sizeof kinds / sizeof *kinds };

const char *mh_offset_name(int place)
{
    return place < KINDS ? kinds[place]->name : NULL;
}

int mh_offset_find(const char *name)
{
    for (int i = 0; i < KINDS; i++)
        if (strcmp(kinds[i]->name, name) == 0)
            return i;
    return -1;
}

bool mh_offset_needs_window_only(int place)
{
    return kinds[place]->needs_window_only;
}

static mh_window window_of(const mh_exchange *exchanges, int count)
{
    mh_window window = {INT64_MIN, INT64_MAX};
    for (int i = 0; i < count; i++) {
        int64_t least_ns = exchanges[i].sent_ns - exchanges[i].remote_ns;
        int64_t most_ns = exchanges[i].received_ns - exchanges[i].remote_ns;
        if (least_ns > window.least_ns)
            window.least_ns = least_ns;
        if (most_ns < window.most_ns)
            window.most_ns = most_ns;
    }
    return window;
}

mh_offset mh_offset_estimate(int place, const mh_exchange *exchanges, int count, double drift_bound, int64_t *workspace)
{
    mh_window window = window_of(exchanges, count);
    int64_t first_ns = exchanges[0].sent_ns, last_ns = exchanges[count - 1].received_ns;
    mh_offset offset;
    offset.at_ns = first_ns + (last_ns - first_ns) / 2;
    offset.offset_ns = kinds[place]->estimate(exchanges, count, window, workspace);
    int64_t below_ns = offset.offset_ns - window.least_ns, above_ns = window.most_ns - offset.offset_ns;
    /* The two limits may come from both ends of the burst, and the clocks drift in between. */
    int64_t drifted_ns = (int64_t)ceil(drift_bound * (double)(last_ns - first_ns) / 2);
    offset.bound_ns = (below_ns > above_ns ? below_ns : above_ns) + drifted_ns;
    /* The limits may cross by as much as the clocks drifted. */
    if (offset.bound_ns < 0)
        offset.bound_ns = 0;
    return offset;
}
