/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rendezvous.h - how processes report their arrival, to rank 0 and receive its order, or to each other.
 *
 * The members of the family are registered in rendezvous.c; rendezvous_private.h is for them alone.
 */
#ifndef MH_RENDEZVOUS_H
#define MH_RENDEZVOUS_H

#include "transport/message.h"
#include "transport/shared_memory.h"
#include "topology/tree.h"

#include <stdbool.h>
#include <stdint.h>

struct mh_rendezvous_kind;

/* What a process asks for with its report; the greatest of all wins. */
typedef enum mh_request {
    MH_REQUEST_RELEASE, /* nothing special */
    MH_REQUEST_RESTART, /* synchronise the clocks first, and forget what was learnt: a clock was disrupted */
    MH_REQUEST_REFUSE   /* bad argument: nobody is to be released */
} mh_request;

/*
 * Reports are combined field by field: the greatest counts. What rank 0 alone says is INT64_MIN in the reports of
 * others.
 */
typedef struct mh_report {
    int64_t request;     /* mh_request */
    int64_t need_ns;     /* of the previous call, from its decision until this process was ready to wait */
    int64_t sent_ns;     /* the earliest global time at which this report can have been sent; INT64_MIN: not known */
    int64_t arrived_ns;  /* the most likely one */
    int64_t slack_ns;    /* rank 0: what to use in this round */
    int64_t sync_due_ns; /* rank 0: global time from which on the clocks are to be synchronised */
    int64_t rehearse;    /* rank 0: of a rehearsal, whether another one follows */
} mh_report;

/* In the order in which they override each other. */
typedef enum mh_order_type { MH_ORDER_RELEASE, MH_ORDER_SYNC, MH_ORDER_RESTART, MH_ORDER_REFUSE } mh_order_type;

typedef struct mh_order {
    int32_t type;        /* mh_order_type */
    int32_t rehearse;    /* of a rehearsal: another one follows */
    int64_t decision_ns; /* global time by which all have arrived */
    int64_t given_ns;    /* the earliest at which that can have been known; INT64_MIN: not known */
    int64_t slack_ns;    /* the deadline is decision_ns + slack_ns */
} mh_order;

/* What a communicator has for its processes to meet. */
typedef struct mh_rendezvous {
    const mh_channel *channel;
    const struct mh_rendezvous_kind *kind; /* in use */
    char reason[112];                      /* why it is */
    mh_tree all;
    mh_tree leaders;  /* the first processes of nodes */
    mh_tree node;          /* the neighbours within the node */
    int node_index, node_size;
    mh_shared_memory slots;   /* of the processes of the node */
    char no_slots[64];        /* why there are none */
    uint64_t round;           /* in shared memory */
    bool waited_long;         /* in this round, for somebody on the node */
} mh_rendezvous;

/* Names for the setting: "auto", then the members; NULL past the last. */
const char *mh_rendezvous_choice(int place);

/*
 * Make what all members need; none is chosen yet. Collective. places are those of all ranks. Errors are those of MPI,
 * and MPI_ERR_NO_MEM, and leave it closed; memory that cannot be shared is none.
 */
int mh_rendezvous_open(mh_rendezvous *rendezvous, const mh_channel *channel, const mh_place *places, mh_error *error);

/* Local. Does nothing where nothing was opened. */
void mh_rendezvous_close(mh_rendezvous *rendezvous);

/* This process takes no further part: as far as memory is shared, end the waits of others with an error. Local. */
void mh_rendezvous_give_up(const mh_rendezvous *rendezvous);

bool mh_rendezvous_is_open(const mh_rendezvous *rendezvous);

/* Whether the member at a place of the list above (not auto) can be used. The same on all processes. */
bool mh_rendezvous_is_available(const mh_rendezvous *rendezvous, int choice);

/* Whether with the member at a place of the list above (not auto) each process gives itself the order. */
bool mh_rendezvous_decides_alone(int choice);

/* Use the member at a place of the list above (not auto), which must be available. Local. */
void mh_rendezvous_use(mh_rendezvous *rendezvous, int choice, const char *reason);

const char *mh_rendezvous_name(const mh_rendezvous *rendezvous);

/* Whether all processes receive the greatest report, and so can give themselves the same order. */
bool mh_rendezvous_informs_all(const mh_rendezvous *rendezvous);

/* Report; rank 0, or everybody, receives the greatest of all reports, which says that all have arrived. Collective. */
int mh_rendezvous_report(mh_rendezvous *rendezvous, const mh_report *mine, mh_report *greatest, mh_error *error);

/* The order of rank 0 to all; where all are informed, they have it already. Collective. */
int mh_rendezvous_order(mh_rendezvous *rendezvous, mh_order *order, mh_error *error);

#endif
