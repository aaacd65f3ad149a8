/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * release.h - one round of a harmonized barrier: arrive, decide, wait, judge.
 *
 * Who has the arrivals of all knows that all are there: rank 0, which then gives the release, or each process, which
 * gives itself the same one. The deadline is a slack ahead on the global clock; each process converts it to its base
 * clock once, waits, and judges after the wait how late it was. What a round needed travels with the next arrivals.
 * After Schuchart, Hunold and Bosilca, EuroMPI 2023, where the slack only grows and the flag is set before the wait.
 */
#ifndef MH_RELEASE_H
#define MH_RELEASE_H

#include "clock/global_clock.h"
#include "release/barrier.h"
#include "release/slack.h"

#include <stdbool.h>
#include <stdint.h>

/* The rounds of a communicator: what is kept from one to the next. */
typedef struct mh_rounds {
    const mh_channel *channel;
    mh_global_clock *clock;
    mh_barrier *barrier;
    int barrier_choice; /* an index into the list of mh_barrier_choice */
    bool clocks_agree;  /* no process is left with a clock of its own */
    mh_slack slack;     /* kept on rank 0 */
    int64_t decided_ns; /* rank 0: global time of the last decision to release; INT64_MIN: none to compare with */
    int64_t tolerance_ns;
    mh_arrival arrival;      /* for the next round */
    int64_t stamp_margin_ns; /* by which this process's clock may be ahead; unknown: worked out each time */
    bool rehearsed;
    int64_t calls;
    int64_t misses;      /* calls that this process did not leave in time */
    int64_t slack_ns;    /* of the last release */
    int64_t lateness_ns; /* of the last call: after the deadline; if the clock was wrong, by how much at least */
} mh_rounds;

typedef struct mh_rounds_settings {
    int barrier_choice;
    bool clocks_agree; /* whether all are synchronized at all; the same on all processes */
    int64_t tolerance_ns;
    int64_t slack_floor_ns;
    int64_t slack_ceiling_ns;
    double min_met; /* see mh_slack_aim */
} mh_rounds_settings;

/* channel, clock and barrier must outlive rounds. */
void mh_rounds_init(mh_rounds *rounds, const mh_channel *channel, mh_global_clock *clock, mh_barrier *barrier);

/* Set the barrier algorithm, and limits; what is known of needs is kept while the algorithm stays. */
void mh_rounds_configure(mh_rounds *rounds, const mh_rounds_settings *settings);

/*
 * Learn what a call needs before the first one, from rounds without a wait: at the first call, processes arrive seconds
 * apart, and nothing learned from that would hold. If the choice is "auto", the barrier algorithm whose rounds are
 * the quickest is found in the same way before. Collective; does nothing if this has been done for the present choice.
 * barrier must be open.
 */
int mh_rounds_rehearse(mh_rounds *rounds, mh_error *error);

/*
 * Say that this process arrived when its base clock read local_ns, with a request, and receive the release. done: the
 * order of the round before in the same call, if there was one, else MH_ORDER_RELEASE; the same or a lesser one does
 * not come again, so that a call ends however long its rounds take. Collective.
 */
int mh_rounds_arrive(mh_rounds *rounds, int64_t local_ns, mh_request request, mh_order done, mh_release *release,
                     mh_error *error);

typedef enum mh_exit {
    MH_EXIT_IN_TIME, /* left within the tolerance of the deadline */
    MH_EXIT_LATE,    /* left later than that */
    /* The clock is wrong: the release came before it was given, or the clock was set back, which ended the wait. */
    MH_EXIT_DISRUPTED
} mh_exit;

/* Wait for the deadline of a release whose order is MH_ORDER_RELEASE. Local. */
mh_exit mh_rounds_leave(mh_rounds *rounds, const mh_release *release);

/*
 * After a synchronization: from global time due_ns on, of which rank 0's counts, the next one is ordered. The time
 * since the last decision says nothing about calls. Local.
 */
void mh_rounds_sync_at(mh_rounds *rounds, int64_t due_ns);

/*
 * After a synchronization: bound_ns is that of the clock until the next one, or unknown if it grows with age. Local.
 */
void mh_rounds_trust_clock(mh_rounds *rounds, int64_t bound_ns);

#endif
