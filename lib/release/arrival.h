/* SPDX-License-Identifier: BSD-3-Clause */
/* arrival.h - the arrival that a process reports, and the release that it receives. Pure; no MPI. */
#ifndef MH_ARRIVAL_H
#define MH_ARRIVAL_H

#include <stdint.h>

/* What a process requests with its arrival. The maximum of all requests counts. */
typedef enum mh_request {
    MH_REQUEST_RELEASE,         /* nothing special */
    MH_REQUEST_RESTART,         /* synchronize the clocks first, and discard measurements: a clock was found wrong */
    MH_REQUEST_NO_FLAG,         /* a null pointer instead of the flag's address: release no process */
    MH_REQUEST_NO_FLAG_DELAYED, /* the same in MPIX_Harmonize_delayed */
    MH_REQUEST_BAD_DELAY        /* a delay out of range: likewise */
} mh_request;

/* Delays are shorter than this, so a delay and a request fit into one number. */
#define MH_DELAY_LIMIT_NS (INT64_C(1) << 48)

/*
 * Arrivals are combined by the maximum of each field. Fields that only rank 0 sets are INT64_MIN in the arrivals of
 * other processes.
 */
typedef struct mh_arrival {
    int64_t request;     /* see mh_arrival_ask */
    int64_t need_ns;     /* of the previous call: from its decision until this process was ready to wait */
    int64_t sent_ns;     /* the earliest global time at which this may have been sent; INT64_MIN: unknown */
    int64_t arrived_ns;  /* the estimated global time at which this was sent */
    int64_t slack_ns;    /* rank 0: what to use in this round */
    int64_t sync_due_ns; /* rank 0: global time of the next synchronization */
    /* Rehearsal: rank 0: whether another one follows. Call: late_ns of the previous one, see mh_slack_call. */
    int64_t rehearse_or_late;
} mh_arrival;

enum { MH_ARRIVAL_FIELDS = 7 };

_Static_assert(sizeof(mh_arrival) == MH_ARRIVAL_FIELDS * sizeof(int64_t),
               "an arrival is reduced as an array of int64_t");

/* In the order in which they override each other. */
typedef enum mh_order {
    MH_ORDER_RELEASE,
    MH_ORDER_SYNC,
    MH_ORDER_RESTART,
    MH_ORDER_NO_FLAG, /* a process has a bad argument: none is released. From here on as in requests */
    MH_ORDER_NO_FLAG_DELAYED,
    MH_ORDER_BAD_DELAY
} mh_order;

typedef struct mh_release {
    int32_t order;       /* mh_order */
    int32_t rehearse;    /* in a rehearsal: whether another one follows; unused in a call */
    int64_t decision_ns; /* global time by which all have arrived */
    int64_t given_ns;    /* the earliest global time at which this may have been decided; INT64_MIN: unknown */
    int64_t slack_ns;    /* the deadline is decision_ns + slack_ns */
} mh_release;

/*
 * A request, with this process's delay in the previous call. If no process requests anything special, the maximum of
 * all has the longest delay. It must come in one transfer with the rest, so it has no field of its own.
 */
static inline void mh_arrival_ask(mh_arrival *arrival, mh_request request, int64_t last_delay_ns)
{
    arrival->request = (int64_t)request * MH_DELAY_LIMIT_NS + last_delay_ns;
}

static inline mh_request mh_arrival_request(const mh_arrival *arrival)
{
    return (mh_request)(arrival->request / MH_DELAY_LIMIT_NS);
}

static inline int64_t mh_arrival_last_delay_ns(const mh_arrival *arrival)
{
    return arrival->request % MH_DELAY_LIMIT_NS;
}

static inline void mh_raise(int64_t *max, int64_t other)
{
    if (other > *max)
        *max = other;
}

static inline void mh_arrival_combine(mh_arrival *all, const mh_arrival *other)
{
    mh_raise(&all->request, other->request);
    mh_raise(&all->need_ns, other->need_ns);
    mh_raise(&all->sent_ns, other->sent_ns);
    mh_raise(&all->arrived_ns, other->arrived_ns);
    mh_raise(&all->slack_ns, other->slack_ns);
    mh_raise(&all->sync_due_ns, other->sync_due_ns);
    mh_raise(&all->rehearse_or_late, other->rehearse_or_late);
}

#endif
