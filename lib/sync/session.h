/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * session.h - the global clock of the processes of a channel, over its whole life: synchronized, watched for steps,
 * synchronized again.
 */
#ifndef MH_SESSION_H
#define MH_SESSION_H

#include "clock/global_clock.h"
#include "clock/watch.h"
#include "sync/schedule.h"
#include "sync/sync.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct mh_session {
    const mh_channel *channel;
    mh_global_clock clock; /* the estimate of rank 0 defines global time */
    mh_clock_watch watch;  /* over the base clock of this process */
    mh_sync_plan plan;
    mh_schedule schedule;
    int64_t fixed_interval_ns; /* what the user asks for; 0: nothing */
    int64_t target_ns;         /* by which the error may grow until the next synchronization; 0: what is natural */
    int64_t epoch_unix_ns;     /* Unix time of global time zero */
    int64_t disruptions;       /* how often a clock was found wrong, by this process or by a synchronization */
    bool disrupted;            /* found since the last synchronization: the next one starts the clock anew */
} mh_session;

/* session is all zero before. channel must outlive it. */
void mh_session_init(mh_session *session, const mh_channel *channel);

/* Does nothing for a session that is all zero. */
void mh_session_free(mh_session *session);

static inline bool mh_session_has_clock(const mh_session *session)
{
    return session->clock.base.kind;
}

/*
 * Open the base clock, by a place in the list of mh_base_clock_choice, with one calibration for the processes of a
 * node. Once in the life of a session. Collective.
 */
int mh_session_open_clock(mh_session *session, int choice, const mh_place *places, mh_error *error);

/* Plan synchronizations by a label. Collective. The old plan stays if the new one fails. */
int mh_session_plan(mh_session *session, const mh_label *label, const mh_place *places, mh_error *error);

/*
 * Synchronize, by the plan. Collective. restart: forget what was learned before. is_thorough: take some time to narrow
 * bounds that are wide. Both are the same on all processes.
 */
int mh_session_synchronize(mh_session *session, bool restart, bool is_thorough, mh_error *error);

/* Choose anew when to synchronize again, as what the user asks for has changed. Collective. */
int mh_session_reschedule(mh_session *session, mh_error *error);

/*
 * The global time of the next synchronization; INT64_MAX: never. Rank 0 orders it: only its clock says when it is due,
 * so that all do the same.
 */
int64_t mh_session_due_ns(const mh_session *session);

/* The bound of the clock until the next synchronization; MH_TIME_UNKNOWN_NS if it grows with age. */
int64_t mh_session_bound_ns(mh_session *session);

/* If the base clock was stepped since the last look, the next synchronization starts anew. Local. */
void mh_session_look_at_clock(mh_session *session);

/* Nothing is known of the clock until the next synchronization; the estimate stays, as it is the best there is. */
void mh_session_distrust(mh_session *session);

#endif
