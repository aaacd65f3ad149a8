/* SPDX-License-Identifier: BSD-3-Clause */
/* offset.c - the list of offset estimators, and the bound that all of them have. */
#include "sync/offset.h"

#include "sync/offset_private.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

static const mh_offset_kind *const kinds[] = {&mh_offset_skampi, &mh_offset_mean_rtt};

enum { KINDS = sizeof kinds / sizeof *kinds };

const char *mh_offset_name(int index)
{
    return index < KINDS ? kinds[index]->name : NULL;
}

int mh_offset_find(const char *name)
{
    for (int i = 0; i < KINDS; i++)
        if (strcmp(kinds[i]->name, name) == 0)
            return i;
    return -1;
}

bool mh_offset_needs_window_only(int index)
{
    return kinds[index]->needs_window_only;
}

static mh_window window_of(const mh_exchange *exchanges, int count)
{
    mh_window window = mh_window_unknown();
    for (int i = 0; i < count; i++)
        mh_window_narrow(&window, exchanges[i].sent_ns, exchanges[i].remote_ns, exchanges[i].received_ns);
    return window;
}

mh_offset mh_offset_estimate(int index, const mh_exchange *exchanges, int count, double drift_bound, int64_t *workspace)
{
    mh_window window = window_of(exchanges, count);
    int64_t first_ns = exchanges[0].sent_ns, span_ns = exchanges[count - 1].received_ns - first_ns;
    int64_t offset_ns = kinds[index]->estimate(exchanges, count, window, workspace);
    /* The two limits may come from opposite ends of the burst, and the clocks drift in between. */
    int64_t drifted_ns = (int64_t)ceil(drift_bound * (double)span_ns / 2);
    window.min_ns -= drifted_ns;
    window.max_ns += drifted_ns;
    return (mh_offset){first_ns + span_ns / 2, offset_ns, mh_window_bound_ns(window, offset_ns)};
}
