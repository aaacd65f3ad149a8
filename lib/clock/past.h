/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * past.h - what the measurements of two clocks prove about their offset and drift now. Pure; no MPI.
 *
 * A measurement proves that the offset was within a window at its time, for any delays of its messages. Two windows
 * prove that the mean drift between them was within an interval. The drift changes by at most a stated limit
 * (mh_rates), so windows of the past confine both the present drift and the present offset. An old window is a long
 * lever, but the drift may have wandered since; of each age, the narrowest window is kept.
 */
#ifndef MH_PAST_H
#define MH_PAST_H

#include "pure/model.h"

#include <stdbool.h>
#include <stdint.h>

enum { MH_PAST_SPANS = 5 };

/* An offset with such a bound may be anywhere, and takes part in nothing. */
#define MH_PAST_USELESS_NS INT64_C(1000000000000000)

/* At this local time, the true offset was within. */
typedef struct mh_past_window {
    int64_t at_ns;
    int64_t min_ns, max_ns;
} mh_past_window;

/* The narrowest windows of the present and of the previous stretch of time of a certain length. */
typedef struct mh_past_span {
    int64_t began_ns; /* local time; the present stretch */
    mh_past_window older, newer;
    bool has_older, has_newer;
} mh_past_span;

/* A drift that is known from elsewhere: at this local time it was within, and later it may have wandered. */
typedef struct mh_past_drift {
    bool is_known;
    int64_t at_ns;
    double min, max;
} mh_past_drift;

/* All zero at first. */
typedef struct mh_past {
    bool has_last;
    mh_past_window last;
    mh_past_span spans[MH_PAST_SPANS];
    mh_past_drift prior;
} mh_past;

/* Begin with one window, at which the drift is known to be within an interval; NULL: it is not known. */
void mh_past_begin(mh_past *past, const mh_past_window *window, const mh_past_drift *prior);

/*
 * Add a window that is not older than the last one. Returns false if it contradicts those of the past, as the clocks
 * have then wandered by more than the limit: only the new one remains.
 */
bool mh_past_add(mh_past *past, const mh_past_window *window, mh_rates rates);

/* The estimate at the last window that is nearest to what is likely. */
mh_estimate mh_past_estimate(const mh_past *past, mh_rates rates, mh_model likely);

/*
 * Add what an estimate says, which is not older than the last window, and narrow its bounds by all windows. Nothing
 * happens if its bound is useless or unknown. Returns false if it contradicts them, as mh_past_add does.
 */
bool mh_past_confine(mh_past *past, mh_rates rates, mh_estimate *estimate);

#endif
