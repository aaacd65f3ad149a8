/* SPDX-License-Identifier: BSD-3-Clause */
/* rendezvous_private.h - what a rendezvous is made of; for rendezvous.c and the members. */
#ifndef MH_RENDEZVOUS_PRIVATE_H
#define MH_RENDEZVOUS_PRIVATE_H

#include "deadline/rendezvous.h"

/* Of all messages of the family: they come in the order in which each process sends them. */
enum { MH_TAG_MEETING = MH_TAGS_RELEASE };

typedef struct mh_rendezvous_kind {
    const char *name;
    const char *doc;
    bool (*is_available)(const mh_rendezvous *rendezvous); /* NULL: always */
    int (*report)(mh_rendezvous *rendezvous, const mh_report *mine, mh_report *greatest, mh_error *error);
    int (*order)(mh_rendezvous *rendezvous, mh_order *order, mh_error *error); /* NULL: report informs all */
} mh_rendezvous_kind;

extern const mh_rendezvous_kind mh_rendezvous_shm;
extern const mh_rendezvous_kind mh_rendezvous_dissemination;
extern const mh_rendezvous_kind mh_rendezvous_tree;
extern const mh_rendezvous_kind mh_rendezvous_collective;

static inline void mh_raise(int64_t *greatest, int64_t other)
{
    if (other > *greatest)
        *greatest = other;
}

/* Field by field the greater one. */
static inline void mh_report_combine(mh_report *greatest, const mh_report *other)
{
    mh_raise(&greatest->request, other->request);
    mh_raise(&greatest->need_ns, other->need_ns);
    mh_raise(&greatest->sent_ns, other->sent_ns);
    mh_raise(&greatest->arrived_ns, other->arrived_ns);
    mh_raise(&greatest->slack_ns, other->slack_ns);
    mh_raise(&greatest->sync_due_ns, other->sync_due_ns);
    mh_raise(&greatest->rehearse, other->rehearse);
}

/* Gather reports to the root of the tree: report holds this process's own, and then the greatest of its descendants. */
int mh_tree_report(const mh_channel *channel, const mh_tree *tree, mh_report *report, mh_error *error);

/* The root's order to all of the tree. */
int mh_tree_order(const mh_channel *channel, const mh_tree *tree, mh_order *order, mh_error *error);

#endif
