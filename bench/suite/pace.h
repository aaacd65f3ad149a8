/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pace.h - how far ahead starting times are set, learned from what batches of calls needed. No MPI.
 *
 * Each batch gives one figure, a quantile over its calls. The lead follows the median of the last nine figures. So
 * neither a disturbed call nor a disturbed batch has an effect, and a lasting change has its effect within a few
 * batches.
 */
#ifndef PACE_H
#define PACE_H

#include <stdbool.h>
#include <stdint.h>

enum { PACE_BATCHES = 9 };

typedef struct pace {
    int64_t recent_ns[PACE_BATCHES];
    int64_t count; /* of batches so far */
} pace_t;

/* pace_learn - take in the figure of a batch. */
void pace_learn(pace_t *pace, int64_t need_ns);

/* pace_typical - the median of the last batches' figures; 0 if there are none. */
int64_t pace_typical(const pace_t *pace);

/* What the calls of a batch took, from a start to being ready for the next: the largest of all ranks' figures. */
typedef struct cycles {
    int64_t usual_ns; /* three of four calls took no more */
    int64_t max_ns;
} cycles_t;

/*
 * window_next - the length of the next batch's windows.
 *
 * If more than a quarter of a batch is invalid, windows grow (as SKaMPI's do), unless they are already 1.5 times the
 * usual cycle. In this case an interruption is the cause: it spoils all calls that fall into it, whatever the length.
 * Windows shrink while no call needs all of them, and quickly if they are far too long.
 *
 * length_ns   so far, 0 for none
 * calls       of the batch
 * invalid     of these
 */
int64_t window_next(int64_t length_ns, const cycles_t *cycles, int64_t calls, int64_t invalid);

#endif
