/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * comm_clock.h - the global clock of a communicator over its whole life: synchronized, watched for steps, synchronized
 * again.
 */
#ifndef MH_COMM_CLOCK_H
#define MH_COMM_CLOCK_H

#include "clock/global_clock.h"
#include "clock/watch.h"
#include "sync/schedule.h"
#include "sync/sync.h"

#include <stdbool.h>
#include <stdint.h>

/* A clock as of its last synchronization, with which the clock of a further communicator can begin. */
typedef struct mh_known_clock {
    uint64_t id;        /* 0: none */
    int64_t generation; /* counts its synchronizations */
    mh_base_clock base;
    mh_clock_watch watch;
    int64_t synced_ns; /* the end of the last synchronization, by the base clock */
    mh_known_estimate known;
    int rank, size;   /* of this process, and of the communicator */
    bool is_one_node; /* all processes of the communicator ran on one node */
    double wander;    /* the limit for which the bounds hold */
} mh_known_clock;

typedef struct mh_comm_clock_settings {
    int64_t fixed_interval_ns; /* between synchronizations; 0: auto */
    int64_t target_ns;         /* by how much the error may grow until the next synchronization; 0: auto */
    double wander;             /* the limit for which the bounds hold */
} mh_comm_clock_settings;

typedef struct mh_comm_clock {
    const mh_channel *channel;
    mh_known_clock origin;  /* the earlier clock that this one begins with; its id is 0 if there is none */
    bool is_shared;         /* it began with what the origin knew, and the first synchronization confirmed that */
    bool is_one_node;       /* all processes run on one node */
    uint64_t id;            /* the same on all processes; no other clock has it */
    mh_global_clock global; /* the estimate of rank 0 defines global time */
    mh_clock_watch watch;   /* over the base clock of this process */
    mh_sync_plan plan;
    mh_schedule schedule;
    mh_comm_clock_settings settings;
    int64_t due_ns;        /* global time of the next synchronization, the same on all processes; INT64_MAX: never */
    int64_t epoch_unix_ns; /* Unix time of global time zero */
    int64_t zero_ns;       /* rank 0: the base clock then; later steps of it are added */
    _Atomic int64_t disruptions; /* how often a clock was found wrong, by this process or by a synchronization */
    bool disrupted;              /* found since the last synchronization: the next one discards all measurements */
    _Atomic int64_t moves;       /* how often global time was moved ahead for all; before this is published */
    int64_t wandered;            /* how often measurements of this process disproved the limit of wander */
    mh_covariance errors;        /* of the published estimate, as of errors_at_ns */
    int64_t errors_at_ns;
} mh_comm_clock;

/* What a process knows of its clock at one moment. */
typedef struct mh_clock_record {
    int64_t local_ns;             /* by the base clock */
    int64_t global_less_local_ns; /* by the estimate */
    int64_t global_less_local_ps; /* 0 to 999: what the nanoseconds leave out */
    double deviation_ns;          /* standard deviation of this by the tracker; 0 if the clock is not tracked */
    int64_t bound_ns;             /* MH_TIME_UNKNOWN_NS: not known */
} mh_clock_record;

/* clock is all zero before. channel must outlive it. */
void mh_comm_clock_init(mh_comm_clock *clock, const mh_channel *channel);

/* Does nothing for a clock that is all zero. */
void mh_comm_clock_free(mh_comm_clock *clock);

static inline bool mh_comm_clock_is_open(const mh_comm_clock *clock)
{
    return clock->global.base.kind;
}

/*
 * Open the base clock, by an index into the list of mh_base_clock_choice, with one calibration for the processes of a
 * node. If origin is an earlier clock of all processes, this clock begins with it. Once in the life of a clock.
 * Collective.
 */
int mh_comm_clock_open(mh_comm_clock *clock, int choice, const mh_known_clock *origin, const mh_sites *sites,
                       mh_error *error);

/*
 * What further communicators can begin with. Returns false if it is of no use for that. The clock must be synchronized
 * and not disrupted. Local.
 */
bool mh_comm_clock_pass_on(const mh_comm_clock *clock, mh_known_clock *known);

/* Plan synchronizations by a label. Collective. The old plan stays if the new one fails. */
int mh_comm_clock_plan(mh_comm_clock *clock, const mh_label *label, const mh_sites *sites, mh_error *error);

/* The next synchronization uses these settings. Local. */
void mh_comm_clock_configure(mh_comm_clock *clock, const mh_comm_clock_settings *settings);

/*
 * Synchronize by the plan. Collective. restart: discard all earlier measurements. is_thorough: spend some time on
 * narrowing wide bounds. Both are the same on all processes.
 */
int mh_comm_clock_synchronize(mh_comm_clock *clock, bool restart, bool is_thorough, mh_error *error);

/* Choose the time of the next synchronization again, after settings have changed. Collective. */
int mh_comm_clock_reschedule(mh_comm_clock *clock, mh_error *error);

/* The bound of the clock until the next synchronization; MH_TIME_UNKNOWN_NS if it grows with age. */
int64_t mh_comm_clock_bound_ns(mh_comm_clock *clock);

/* Read the base clock, and state what is known of it now. For the thread that synchronizes. The clock must be set. */
mh_clock_record mh_comm_clock_record(const mh_comm_clock *clock);

/*
 * Detect a step of the base clock since the last look, or take note that a wait found the clock wrong; the next
 * synchronization then discards all measurements. Local.
 */
void mh_comm_clock_look(mh_comm_clock *clock);

/*
 * The bound is unknown until the next synchronization, unless it cannot grow: it relied on less wander than is allowed
 * now. The clock must be set. Local.
 */
void mh_comm_clock_forget_bound(mh_comm_clock *clock);

/* A clock is wrong. The bound is unknown until the next synchronization. The estimate remains, as none is better. */
void mh_comm_clock_distrust(mh_comm_clock *clock);

#endif
