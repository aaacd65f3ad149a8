/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * slack.h - how far ahead of the decision the deadline is set. Pure; no MPI.
 *
 * The controller keeps the recent distribution of what calls needed (from the decision to the last process's readiness to
 * wait) and takes the slack that yields the most valid releases in a given time: long enough for most calls, not for the
 * tail. A burst is forgotten within a few hundred calls, in both directions.
 */
#ifndef MH_SLACK_H
#define MH_SLACK_H

#include <stdint.h>

enum {
    MH_SLACK_OCTAVES = 36,         /* needs from 1 ns to minutes */
    MH_SLACK_BINS_PER_OCTAVE = 16, /* so a slack is at most 1/16 longer than it must be */
    MH_SLACK_BINS = MH_SLACK_OCTAVES * MH_SLACK_BINS_PER_OCTAVE
};

typedef struct mh_slack {
    int64_t floor_ns;
    int64_t ceiling_ns;
    int64_t slack_ns;     /* what to use now */
    int64_t overhead_ns;  /* typical time of a period beside the slack: from a release to the next decision */
    int64_t calls;        /* learnt from so far */
    uint32_t counts[MH_SLACK_BINS];
    uint32_t older[MH_SLACK_BINS]; /* of the period before: forgotten at its end */
} mh_slack;

/* Start with no experience: the slack is the ceiling until the first needs are known. 0 < floor_ns <= ceiling_ns. */
void mh_slack_init(mh_slack *slack, int64_t floor_ns, int64_t ceiling_ns);

/* Change the limits and keep the experience. */
void mh_slack_limit(mh_slack *slack, int64_t floor_ns, int64_t ceiling_ns);

/*
 * Learn from a call: need_ns is what it needed (the greatest of all processes; negative counts as zero), overhead_ns the
 * rest of the time until the next decision: what a period takes beside the slack.
 */
void mh_slack_learn(mh_slack *slack, int64_t need_ns, int64_t overhead_ns);

#endif
