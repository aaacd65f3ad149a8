/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * slack.h - how far ahead of the decision the deadline is set. Pure; no MPI.
 *
 * The controller keeps the recent distribution of what calls needed (from the decision to the last process's readiness
 * to wait) and takes the slack that yields the most valid releases in a given time: long enough for most calls, not for
 * the tail, and the longer the longer a period is, as then a miss costs more. A burst is forgotten within a few hundred
 * calls, in both directions. doc/slack.md derives it.
 */
#ifndef MH_SLACK_H
#define MH_SLACK_H

#include <stdint.h>

enum {
    MH_SLACK_OCTAVES = 36,         /* needs from 1 ns to minutes */
    MH_SLACK_BINS_PER_OCTAVE = 16, /* so a slack is at most 1/16 longer than it must be */
    MH_SLACK_BINS = MH_SLACK_OCTAVES * MH_SLACK_BINS_PER_OCTAVE,
    MH_SLACK_WORDS = MH_SLACK_BINS / 64
};

/* Needs of some calls, counted by bins. */
typedef struct mh_slack_counts {
    int64_t calls;
    uint64_t occupied[MH_SLACK_WORDS]; /* a bit for each bin that is not empty */
    uint32_t bins[MH_SLACK_BINS];
} mh_slack_counts;

typedef struct mh_slack {
    int64_t floor_ns;
    int64_t ceiling_ns;
    double min_met;       /* the fraction of calls whose need must be met, whatever that costs; 0: what is best */
    int64_t slack_ns;     /* what to use now */
    int64_t overhead_ns;  /* typical time of a period beside the slack: from a release to the next decision */
    int64_t calls;        /* learned from so far */
    int64_t forget_every; /* so many calls: what is remembered is this to twice this */
    mh_slack_counts recent, older; /* older: forgotten when recent takes its place */
} mh_slack;

/* Start with no experience: the slack is the ceiling until the first needs are known. 0 < floor_ns <= ceiling_ns. */
void mh_slack_init(mh_slack *slack, int64_t floor_ns, int64_t ceiling_ns);

/* Change the limits and keep the experience. */
void mh_slack_limit(mh_slack *slack, int64_t floor_ns, int64_t ceiling_ns);

/* Change the fraction of calls whose need must be met: from 0 to less than 1. */
void mh_slack_aim(mh_slack *slack, double min_met);

/*
 * Learn from a call: need_ns is what it needed (the greatest of all processes; negative counts as zero), overhead_ns
 * the rest of the time until the next decision: what a period takes beside the slack.
 */
void mh_slack_learn(mh_slack *slack, int64_t need_ns, int64_t overhead_ns);

#endif
