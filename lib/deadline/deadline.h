/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * deadline.h - one round of a harmonised barrier: report, order, wait, judge.
 *
 * Rank 0 knows that all have arrived when it has the reports. It then sets a deadline a slack ahead on the global clock;
 * each process converts it to its base clock once, waits, and judges after the wait how late it was. What a round needed and
 * how late processes were travels with the next round's reports. After Schuchart, Hunold and Bosilca, EuroMPI 2023, where the
 * slack only grows and the flag is set before the wait.
 */
#ifndef MH_DEADLINE_H
#define MH_DEADLINE_H

#include "base/message.h"
#include "clock/global_clock.h"
#include "deadline/rendezvous.h"
#include "deadline/slack.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct mh_deadline {
    const mh_channel *channel;
    mh_global_clock *clock;
    mh_rendezvous *rendezvous;
    int rendezvous_choice; /* a place in the list of mh_rendezvous_choice */
    mh_slack slack;       /* kept on rank 0 */
    int64_t decided_ns;   /* rank 0: global time of the last decision to release; INT64_MIN: none to compare with */
    int64_t sync_due_ns;  /* rank 0: global time from which on it orders a synchronisation */
    int64_t tolerance_ns;
    mh_report report;     /* for the next round */
    bool stamps;          /* reports say when they were sent: this process's clock is not that of rank 0 */
    bool rehearsed;
    int64_t calls;
    int64_t misses;       /* calls that this process left late */
    int64_t slack_ns;     /* of the last order */
} mh_deadline;

typedef struct mh_deadline_settings {
    int rendezvous_choice;
    int64_t tolerance_ns;
    int64_t slack_floor_ns;
    int64_t slack_ceiling_ns;
    double least_met; /* see mh_slack_aim */
} mh_deadline_settings;

/* channel, clock and rendezvous must outlive deadline. */
void mh_deadline_init(mh_deadline *deadline, const mh_channel *channel, mh_global_clock *clock, mh_rendezvous *rendezvous);

/* Set how processes meet, and limits; what is known of needs is kept while they meet in the same way. */
void mh_deadline_configure(mh_deadline *deadline, const mh_deadline_settings *settings);

/*
 * Learn what a call needs before the first one, from rounds without a wait: at the first call, processes arrive seconds
 * apart, and nothing learnt from that would hold. Where the choice is "auto", the rendezvous whose rounds are the quickest is
 * found in the same way before. Collective; does nothing where this has been done for the present choice. rendezvous must be
 * open.
 */
int mh_deadline_rehearse(mh_deadline *deadline, mh_error *error);

/* Report, with a request, and receive the order. Collective. */
int mh_deadline_meet(mh_deadline *deadline, mh_request request, mh_order *order, mh_error *error);

typedef enum mh_exit {
    MH_EXIT_IN_TIME,   /* left within the tolerance of the deadline */
    MH_EXIT_LATE,      /* left later than that */
    MH_EXIT_DISRUPTED  /* the deadline is farther away than the slack allows: the clock is wrong; did not wait */
} mh_exit;

/* Wait for the deadline of an order to release. Local. */
mh_exit mh_deadline_wait(mh_deadline *deadline, const mh_order *order);

/*
 * After a synchronisation: from global time due_ns on, rank 0 orders the next one. The time since the last decision says
 * nothing about calls. Local.
 */
void mh_deadline_sync_at(mh_deadline *deadline, int64_t due_ns);

#endif
