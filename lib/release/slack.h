/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * slack.h - the slack: the time from the decision on a deadline to the deadline. Pure; no MPI.
 *
 * The controller keeps the recent distribution of needs. The need of a call is the time from the decision until the
 * last process is ready to wait. The controller chooses the slack that yields the most valid releases in a given time:
 * long enough for most calls, but not for the tail. A longer period makes a miss more expensive, so the slack grows. A
 * change of the needs takes effect within a few hundred calls, in both directions. doc/slack.md explains the choice.
 */
#ifndef MH_SLACK_H
#define MH_SLACK_H

#include <stdbool.h>
#include <stdint.h>

enum {
    MH_SLACK_OCTAVES = 36,         /* needs from 1 ns to minutes */
    MH_SLACK_BINS_PER_OCTAVE = 16, /* so a slack is at most 1/16 too long */
    MH_SLACK_BINS = MH_SLACK_OCTAVES * MH_SLACK_BINS_PER_OCTAVE,
    MH_SLACK_WORDS = MH_SLACK_BINS / 64
};

/* What one call tells. */
typedef struct mh_slack_call {
    int64_t need_ns; /* the maximum need of all processes; negative counts as zero */
    /* The period without the slack and the longest delay: from the last deadline of a process to the next decision. */
    int64_t overhead_ns;
    int64_t slack_ns; /* of this call; 0: it did not wait */
    int64_t delay_ns; /* the longest delay */
    int64_t late_ns;  /* a process was ready for its deadline, was then interrupted, and left so late; 0: none */
} mh_slack_call;

/* Some calls; their needs, counted by bins. */
typedef struct mh_slack_counts {
    int64_t calls;
    int64_t met_calls, late_calls;     /* whose needs were met, and those of them that are late */
    double waited_ns, late_ns;         /* sums over these: of slacks with delays, and of what was late */
    double delay_ns;                   /* sum over those whose needs were met */
    uint64_t occupied[MH_SLACK_WORDS]; /* a bit for each bin that is not empty */
    uint32_t bins[MH_SLACK_BINS];
} mh_slack_counts;

/* A search for the best slack, from the longest need downward, a few bins in each call. */
typedef struct mh_slack_search {
    int bin;        /* this bin and all above it have been examined */
    int64_t misses; /* calls whose needs are in these bins */
    /* All slacks of a search are compared with the same overhead and the same odds of interruptions during a wait. */
    int64_t overhead_ns;
    double late_odds_per_ns; /* the odds that a process leaves late, for each nanosecond of the wait */
    double mean_delay_ns;    /* of the calls whose needs were met */
    double mean_late_ns;     /* by which the late calls were late */
    double best;             /* the value of the best slack so far */
    int64_t best_ns;
} mh_slack_search;

typedef struct mh_slack {
    int64_t floor_ns;
    int64_t ceiling_ns;
    double min_valid;          /* see mh_slack_aim */
    int64_t slack_ns;          /* what to use now */
    int64_t overhead_ns;       /* typical period without its slack and delay */
    int64_t calls;             /* learned from so far */
    int64_t forget_every;      /* calls: the memory covers one to two times this number */
    mh_slack_search search;    /* sets slack_ns when it ends, and begins again */
    mh_slack_counts counts[2]; /* of recent and of older calls */
    int recent;                /* the index of the histogram of recent calls; when full, the other one starts anew */
} mh_slack;

/* Start without data: the slack is the ceiling until the first needs are known. 0 < floor_ns <= ceiling_ns. */
void mh_slack_init(mh_slack *slack, int64_t floor_ns, int64_t ceiling_ns);

/* Change the limits and keep the data. */
void mh_slack_limit(mh_slack *slack, int64_t floor_ns, int64_t ceiling_ns);

/*
 * Change the minimum fraction of calls that all processes leave in time: from 0 to less than 1. If no slack yields this
 * fraction, the slack with the highest fraction is chosen.
 */
void mh_slack_aim(mh_slack *slack, double min_valid);

void mh_slack_learn(mh_slack *slack, const mh_slack_call *call);

#endif
