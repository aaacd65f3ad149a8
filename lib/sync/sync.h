/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sync.h - synchronize the clocks of the processes of a communicator, level by level.
 *
 * The members of the family of algorithms are registered in sync.c; sync_private.h is for them alone.
 */
#ifndef MH_SYNC_H
#define MH_SYNC_H

#include "transport/message.h"
#include "clock/base_clock.h"
#include "pure/model.h"
#include "clock/tracker.h"
#include "sync/offset.h"
#include "pure/topology.h"
#include "pure/window.h"

enum { MH_MAX_FIT_POINTS = 10000, MH_MAX_EXCHANGES = 10000 };

/* What is to be done at a level. */
typedef struct mh_label_part {
    int algorithm;  /* index in the family of sync algorithms */
    int fit_points; /* of those that fit a line, else 1 */
    int recompute;  /* whether the offset is measured once more after the fit */
    int estimator;  /* index in the family of offset estimators */
    int exchanges;  /* in a burst */
} mh_label_part;

/* What is to be done at all levels, outermost first. sync_label.h has the text form. */
typedef struct mh_label {
    int levels;
    mh_label_part parts[MH_MAX_LEVELS];
} mh_label;

/* Whether measurements show that the processes of a group share one clock. */
typedef enum mh_sharing { MH_SHARING_UNKNOWN, MH_SHARING_VERIFIED, MH_SHARING_REFUTED } mh_sharing;

/* One level of the hierarchy, as this process sees it. */
typedef struct mh_level {
    mh_label_part how;
    bool trained;       /* tracking: the first, longer synchronization has ended; the same on all of a group */
    mh_group group;     /* its first process is the reference of the others */
    mh_sharing sharing; /* of this process with the reference (on the reference: not used) */
    int bursts;         /* how many have compared the two clocks so far */
    mh_window window;   /* the offsets that all of these bursts allow */
} mh_level;

/* Memory for the largest burst and fit of the plan, allocated in advance so that a synchronization cannot fail. */
typedef struct mh_sync_workspace {
    mh_exchange *exchanges;
    int64_t *values; /* as many as exchanges */
    mh_offset *points;
    double *coordinates; /* two for each point */
} mh_sync_workspace;

typedef struct mh_sync_plan {
    int levels;
    mh_sync_workspace workspace;
    mh_tracker tracker; /* of this process against its reference; it has one at one level only */
    mh_past past;       /* of this process's estimates, if it has a tracker */
    bool has_run;       /* since it was made or discarded all measurements; the same on all processes */
    bool disrupted;     /* the last run found that a clock was stepped */
    int64_t wandered;   /* how often measurements of the last run disproved the limit of wander */
    mh_level level[MH_MAX_LEVELS];
} mh_sync_plan;

/* What a process tells another one about its clock, as of the last synchronization of an earlier communicator. */
typedef struct mh_known_estimate {
    mh_estimate estimate; /* to the global time of that communicator */
    int64_t sharing_rank; /* the process there that has the same clock and measures it */
    mh_window window;     /* of the offset to that process's clock */
} mh_known_estimate;

/* The name of an algorithm by its index in the family; NULL past the last one. */
const char *mh_sync_name(int index);

/* The index of an algorithm by its name (lower case, no hyphens or underscores); -1: there is none. */
int mh_sync_find(const char *name);

/* Whether the algorithm at an index takes fit points, and whether it takes an estimator. */
bool mh_sync_takes_fit_points(int index);
bool mh_sync_takes_estimator(int index);

/* Make the plan for a label. Local. Returns MPI_SUCCESS or MPI_ERR_NO_MEM; mh_sync_plan_free in both cases. */
int mh_sync_plan_make(mh_sync_plan *plan, const mh_label *label, const mh_base_clock *clock, const mh_sites *sites,
                      mh_error *error);

void mh_sync_plan_free(mh_sync_plan *plan);

/*
 * Synchronize. Collective over channel. estimate: in, on rank 0, the estimate that defines global time; out, the
 * estimate of this process. is_thorough: spend some time on narrowing wide bounds. plan->disrupted says afterwards
 * whether this process found that a clock was stepped; no estimate of any process is then valid.
 */
int mh_sync_run(mh_sync_plan *plan, const mh_channel *channel, const mh_base_clock *clock, bool is_thorough,
                mh_estimate *estimate, mh_error *error);

/*
 * Begin with what is known from an earlier synchronization, of which all processes of channel were part: mine is what
 * this one knows. The first synchronization is then like a later one. Collective.
 */
int mh_sync_take_up(mh_sync_plan *plan, const mh_channel *channel, const mh_base_clock *clock,
                    const mh_known_estimate *mine, mh_error *error);

/* Whether all algorithms of the plan keep measurements between two runs, so that mh_sync_take_up has an effect. */
bool mh_sync_keeps(const mh_sync_plan *plan);

/* What is known after mh_sync_run gave an estimate. Returns false if it is of no use for mh_sync_take_up. Local. */
bool mh_sync_pass_on(const mh_sync_plan *plan, const mh_channel *channel, const mh_estimate *estimate,
                     mh_known_estimate *known);

/* Discard all measurements: verify shared clocks again, start tracking again. Local, but all processes must call it. */
void mh_sync_restart(mh_sync_plan *plan);

/* Global time was moved against the clock of rank 0. */
void mh_sync_forget_past(mh_sync_plan *plan);

/*
 * How long after mh_sync_run this process should synchronize again. A tracked clock: when its error will have grown by
 * target_ns. A clock that is not tracked: one second. All clocks of its groups are shared: INT64_MAX, or soon if the
 * bound of one is still wide. Local.
 */
int64_t mh_sync_interval_ns(const mh_sync_plan *plan, int64_t target_ns);

/* By how much the error of a tracked clock may grow by default: a part of the error just after a synchronization. */
int64_t mh_sync_natural_target_ns(const mh_sync_plan *plan);

#endif
