/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * deadline.h - one round of a harmonised barrier: report, order, wait, judge.
 *
 * Who has the reports knows that all have arrived: rank 0, which then gives the order, or each process, which gives
 * itself the same one. The deadline is a slack ahead on the global clock; each process converts it to its base clock
 * once, waits, and judges after the wait how late it was. What a round needed travels with the next round's reports.
 * After Schuchart, Hunold and Bosilca, EuroMPI 2023, where the slack only grows and the flag is set before the wait.
 */
#ifndef MH_DEADLINE_H
#define MH_DEADLINE_H

#include "transport/message.h"
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
    bool clocks_agree;    /* no process is left with a clock of its own */
    mh_slack slack;       /* kept on rank 0 */
    int64_t decided_ns;   /* rank 0: global time of the last decision to release; INT64_MIN: none to compare with */
    int64_t tolerance_ns;
    mh_report report;     /* for the next round */
    int64_t stamp_margin_ns; /* by which this process's clock may be ahead; unknown: it has to be worked out each time */
    bool rehearsed;
    int64_t calls;
    int64_t misses;       /* calls that this process left late */
    int64_t slack_ns;     /* of the last order */
    int64_t lateness_ns;  /* of the last call: after the deadline; where the clock was wrong, by how much at least */
} mh_deadline;

typedef struct mh_deadline_settings {
    int rendezvous_choice;
    bool clocks_agree; /* whether all are synchronised at all; the same on all processes */
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
 * apart, and nothing learnt from that would hold. Where the choice is "auto", the rendezvous whose rounds are the
 * quickest is found in the same way before. Collective; does nothing where this has been done for the present choice.
 * rendezvous must be open.
 */
int mh_deadline_rehearse(mh_deadline *deadline, mh_error *error);

/*
 * Report that this process arrived when its base clock read local_ns, with a request, and receive the order. done: the order of the round before in the same call, if there was
 * one, else MH_ORDER_RELEASE; the same or a lesser one does not come again, so that a call ends however long its rounds
 * take. Collective.
 */
int mh_deadline_meet(mh_deadline *deadline, int64_t local_ns, mh_request request, mh_order_type done, mh_order *order,
                     mh_error *error);

typedef enum mh_exit {
    MH_EXIT_IN_TIME,   /* left within the tolerance of the deadline */
    MH_EXIT_LATE,      /* left later than that */
    MH_EXIT_DISRUPTED  /* the order came before it was given, or the clock was set back in the wait, which then ended: it is wrong */
} mh_exit;

/* Wait for the deadline of an order to release. Local. */
mh_exit mh_deadline_wait(mh_deadline *deadline, const mh_order *order);

/*
 * After a synchronisation: from global time due_ns on, of which rank 0's counts, the next one is ordered. The time
 * since the last decision says nothing about calls. Local.
 */
void mh_deadline_sync_at(mh_deadline *deadline, int64_t due_ns);

/*
 * After a synchronisation: bound_ns is that of the clock until the next one, or unknown where it grows with age. Local.
 */
void mh_deadline_trust_clock(mh_deadline *deadline, int64_t bound_ns);

#endif
