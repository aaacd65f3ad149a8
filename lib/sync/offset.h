/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * offset.h - offset estimators: from a burst of exchanges to the client's offset. Pure; no MPI.
 *
 * The members of the family are registered in offset.c. Each estimate carries the window of the burst as its bound.
 */
#ifndef MH_OFFSET_H
#define MH_OFFSET_H

#include "pure/model.h"
#include "pure/window.h"

#include <stdbool.h>
#include <stdint.h>

/* One round trip: the client sent at sent_ns, the reference stamped remote_ns, the client received at received_ns. */
typedef struct mh_exchange {
    int64_t sent_ns;     /* client's local time */
    int64_t remote_ns;   /* reference's global time */
    int64_t received_ns; /* client's local time */
} mh_exchange;

/* The index of an estimator in the family by its name (lower case, no hyphens or underscores); -1: there is none. */
int mh_offset_find(const char *name);

/* The name of the estimator at an index; NULL past the last one. */
const char *mh_offset_name(int index);

/* Whether the estimator at an index ignores exchanges that do not narrow the window. */
bool mh_offset_needs_window_only(int index);

/*
 * Estimate the offset in the middle of a burst from count > 0 exchanges, none of which contradicts another one.
 * drift_bound (a ratio) is how much the two clocks' rates may differ. workspace holds at least count values.
 */
mh_offset mh_offset_estimate(int index, const mh_exchange *exchanges, int count, double drift_bound,
                             int64_t *workspace);

#endif
