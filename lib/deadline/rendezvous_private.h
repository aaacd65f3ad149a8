/* SPDX-License-Identifier: BSD-3-Clause */
/* rendezvous_private.h - what a rendezvous is made of; for rendezvous.c and the members. */
#ifndef MH_RENDEZVOUS_PRIVATE_H
#define MH_RENDEZVOUS_PRIVATE_H

#include "deadline/rendezvous.h"

typedef struct mh_rendezvous_kind {
    const char *name;
    const char *doc;
    int (*report)(const mh_channel *channel, const mh_report *mine, mh_report *greatest, mh_error *error);
    int (*order)(const mh_channel *channel, mh_order *order, mh_error *error);
} mh_rendezvous_kind;

extern const mh_rendezvous_kind mh_rendezvous_collective;

#endif
