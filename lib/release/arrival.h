/* SPDX-License-Identifier: BSD-3-Clause */
/* arrival.h - the arrival that a process reports, and the release that it receives. Pure; no MPI. */
#ifndef MH_ARRIVAL_H
#define MH_ARRIVAL_H

#include <stdint.h>

/*
 * What a process asks for with its arrival, and what all are told to do: the highest that a process asks for, or that
 * the clocks make necessary.
 */
typedef enum mh_order {
    MH_ORDER_RELEASE,         /* wait for the deadline, and leave */
    MH_ORDER_SYNC,            /* synchronize the clocks first */
    MH_ORDER_RESTART,         /* likewise, and discard measurements: a clock was found wrong */
    MH_ORDER_REHEARSE,        /* in rehearsals: another one follows */
    MH_ORDER_NO_FLAG,         /* a null pointer instead of the flag's address: release no process */
    MH_ORDER_NO_FLAG_DELAYED, /* the same in MPIX_Harmonize_delayed */
    MH_ORDER_BAD_DELAY        /* a delay out of range: likewise */
} mh_order;

/* Arrivals are combined by the maximum of each field. */
typedef struct mh_arrival {
    int64_t order;      /* mh_order: what this process asks for */
    int64_t need_ns;    /* of the previous call: from its decision until this process was ready to wait */
    int64_t delay_ns;   /* of this process in the previous call */
    int64_t late_ns;    /* of the previous call, see mh_slack_call */
    int64_t sent_ns;    /* the earliest global time at which this may have been sent; INT64_MIN: unknown */
    int64_t arrived_ns; /* the estimated global time at which this was sent */
    int64_t slack_ns;   /* rank 0: what to use in this round; INT64_MIN on other processes */
} mh_arrival;

enum { MH_ARRIVAL_FIELDS = 7 };

_Static_assert(sizeof(mh_arrival) == MH_ARRIVAL_FIELDS * sizeof(int64_t),
               "an arrival is reduced as an array of int64_t");

typedef struct mh_release {
    int64_t order;       /* mh_order */
    int64_t decision_ns; /* global time by which all have arrived */
    int64_t given_ns;    /* the earliest global time at which this may have been decided; INT64_MIN: unknown */
    int64_t slack_ns;    /* the deadline is decision_ns + slack_ns */
} mh_release;

static inline void mh_raise(int64_t *max, int64_t other)
{
    if (other > *max)
        *max = other;
}

static inline void mh_arrival_combine(mh_arrival *all, const mh_arrival *other)
{
    mh_raise(&all->order, other->order);
    mh_raise(&all->need_ns, other->need_ns);
    mh_raise(&all->delay_ns, other->delay_ns);
    mh_raise(&all->late_ns, other->late_ns);
    mh_raise(&all->sent_ns, other->sent_ns);
    mh_raise(&all->arrived_ns, other->arrived_ns);
    mh_raise(&all->slack_ns, other->slack_ns);
}

#endif
