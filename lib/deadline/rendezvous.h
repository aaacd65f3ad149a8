/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rendezvous.h - how processes report their arrival to rank 0 and receive its order.
 *
 * The members of the family are registered in rendezvous.c; rendezvous_private.h is for them alone.
 */
#ifndef MH_RENDEZVOUS_H
#define MH_RENDEZVOUS_H

#include "base/message.h"

#include <stdint.h>

struct mh_rendezvous_kind;

/* What a process asks for with its report; the greatest of all wins. */
typedef enum mh_request {
    MH_REQUEST_RELEASE, /* nothing special */
    MH_REQUEST_SYNC,    /* synchronise the clocks first */
    MH_REQUEST_RESTART, /* the same, and forget what was learnt: a clock was disrupted */
    MH_REQUEST_REFUSE   /* bad argument: nobody is to be released */
} mh_request;

/* Reports are combined field by field: the greatest counts. */
typedef struct mh_report {
    int64_t request;     /* mh_request */
    int64_t need_ns;     /* of the previous call, from its decision until this process was ready to wait */
    int64_t lateness_ns; /* of the previous call, after the deadline */
    int64_t sent_ns;     /* the earliest global time at which this report can have been sent; INT64_MIN: not known */
} mh_report;

typedef enum mh_order_type { MH_ORDER_RELEASE, MH_ORDER_SYNC, MH_ORDER_RESTART, MH_ORDER_REFUSE } mh_order_type;

typedef struct mh_order {
    int32_t type;        /* mh_order_type */
    int32_t rehearse;    /* of a rehearsal: another one follows */
    int64_t decision_ns; /* global time of the decision */
    int64_t slack_ns;    /* the deadline is decision_ns + slack_ns */
} mh_order;

/* Names for the setting: "auto", then the members; NULL past the last. */
const char *mh_rendezvous_choice(int place);

/* The member that a choice (a place in the list above) selects. */
const struct mh_rendezvous_kind *mh_rendezvous_select(int choice);

const char *mh_rendezvous_name(const struct mh_rendezvous_kind *kind);

/* Report; rank 0 receives the greatest of all reports, which says that all have arrived. Collective. */
int mh_rendezvous_report(const struct mh_rendezvous_kind *kind, const mh_channel *channel, const mh_report *mine,
                         mh_report *greatest, mh_error *error);

/* The order of rank 0 to all. Collective. */
int mh_rendezvous_order(const struct mh_rendezvous_kind *kind, const mh_channel *channel, mh_order *order, mh_error *error);

#endif
