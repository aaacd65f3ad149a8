/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * release.h - one round of a harmonized barrier: arrive, decide, accept the release.
 *
 * Rank 0 receives the arrivals of all processes and sends the release; or each process receives them and computes the
 * same release. The deadline is a slack ahead on the global clock. Each process converts it to its base clock once.
 * The caller waits, and judges after the wait how late it is. The next arrivals report the need of a round. After
 * Schuchart, Hunold and Bosilca, EuroMPI 2023, where the slack only grows and the flag is set before the wait.
 */
#ifndef MH_RELEASE_H
#define MH_RELEASE_H

#include "clock/global_clock.h"
#include "release/barrier.h"
#include "release/slack.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* The rounds of a communicator: what is kept from one to the next. */
typedef struct mh_rounds {
    const mh_channel *channel;
    mh_global_clock *clock;
    mh_barrier *barrier;
    int barrier_choice; /* an index into the list of mh_barrier_choice */
    bool clocks_agree;  /* the clocks of all processes are synchronized */
    mh_slack slack;     /* kept on rank 0 */
    int64_t decided_ns; /* rank 0: global time of the last decision to release; INT64_MIN: none since the last sync */
    mh_slack_call last_call;      /* rank 0: to be learned in the next round; overhead_ns is INT64_MIN: nothing */
    _Atomic int64_t tolerance_ns; /* any thread that waits for an instant reads it */
    int64_t sync_due_ns;          /* global time of the next synchronization */
    mh_arrival arrival;           /* for the next round */
    int64_t stamp_margin_ns;      /* how far this process's clock may be ahead; unknown: computed in each call */
    bool rehearsed;
    int fastest_before; /* the fastest barrier of an earlier communicator that is like this one; 0: not known */
    int fastest;        /* that of this one, as an index into the same list; 0: not known */
    bool yielded;       /* processes yielded while it was found */
    int64_t calls;
    int64_t misses;             /* calls that this process did not leave in time */
    int64_t slack_ns;           /* of the last release */
    int64_t delay_ns;           /* of this process after that release */
    _Atomic int64_t instant_ns; /* its common instant, on the global clock; unknown: none yet. Any thread may read it */
    int64_t lateness_ns;        /* of the last call; if the clock was wrong, the minimum of its error */
} mh_rounds;

typedef struct mh_rounds_settings {
    int barrier_choice;
    bool clocks_agree; /* the clocks of all processes are synchronized; the same on all processes */
    int64_t tolerance_ns;
    int64_t slack_floor_ns;
    int64_t slack_ceiling_ns;
    double min_valid; /* see mh_slack_aim */
} mh_rounds_settings;

/* channel, clock and barrier must outlive rounds. */
void mh_rounds_init(mh_rounds *rounds, const mh_channel *channel, mh_global_clock *clock, mh_barrier *barrier);

/* Set the barrier algorithm and limits. The recorded needs are kept if the algorithm stays the same. */
void mh_rounds_configure(mh_rounds *rounds, const mh_rounds_settings *settings);

/*
 * Measure needs before the first call, by rounds without a wait: in the first call itself, processes arrive seconds
 * apart, so its need says nothing about later calls. If the choice is "auto", such rounds also find the fastest barrier
 * algorithm, unless that of an earlier communicator is known. Collective; does nothing if this has been done for the
 * present choice. barrier must be open.
 */
int mh_rounds_rehearse(mh_rounds *rounds, mh_error *error);

/*
 * Report that this process arrived when its base clock read local_ns, and what it asks for; receive the release. done:
 * the order of the previous round of the same call, MH_ORDER_RELEASE in the first round. The new order is higher or a
 * release, so that a call ends however long its rounds take. Collective.
 */
int mh_rounds_arrive(mh_rounds *rounds, int64_t local_ns, mh_order asked, mh_order done, mh_release *release,
                     mh_error *error);

/* A release as its process sees it, by its base clock. */
typedef struct mh_accepted {
    int64_t at_ns;       /* when the release was received */
    int64_t deadline_ns; /* when this process is to leave */
    int64_t early_ns;    /* if not 0, the clock is wrong: so long before its decision was the release received */
} mh_accepted;

/*
 * Accept a release whose order is MH_ORDER_RELEASE. The deadline is delay_ns after the common instant. Local.
 */
mh_accepted mh_rounds_accept(mh_rounds *rounds, const mh_release *release, int64_t delay_ns);

/*
 * Note how late this process leaves; if its clock is wrong, by how much at least. is_rehearsal: it does not leave yet.
 * Returns whether it is in time. Local.
 */
static inline bool mh_rounds_leave(mh_rounds *rounds, int64_t lateness_ns, bool is_wrong, bool is_rehearsal)
{
    bool is_in_time = !is_wrong && lateness_ns <= rounds->tolerance_ns;
    rounds->lateness_ns = lateness_ns;
    rounds->misses += !is_in_time && !is_rehearsal;
    return is_in_time;
}

/* Whether a process that waits yields. */
static inline bool mh_rounds_yield(const mh_rounds *rounds)
{
    return rounds->channel->yields || rounds->barrier->slots.waited_long;
}

/*
 * After a synchronization: the next one is ordered at global time due_ns, the same on all processes. The time since the
 * last decision contains the synchronization, so it is not learned from. Local.
 */
void mh_rounds_sync_at(mh_rounds *rounds, int64_t due_ns);

/*
 * After a synchronization: bound_ns is the bound of the clock until the next one, or unknown if it grows with age.
 * Local.
 */
void mh_rounds_trust_clock(mh_rounds *rounds, int64_t bound_ns);

#endif
