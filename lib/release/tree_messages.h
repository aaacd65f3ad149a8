/* SPDX-License-Identifier: BSD-3-Clause */
/* tree_messages.h - arrivals and releases along a tree of messages, for barrier algorithms with such a tree. */
#ifndef MH_TREE_MESSAGES_H
#define MH_TREE_MESSAGES_H

#include "release/arrival.h"
#include "pure/tree.h"
#include "transport/message.h"

/* Arrivals to the root. arrival: in, of this process; out, combined with those of its descendants. */
int mh_tree_arrive(const mh_channel *channel, const mh_tree *tree, mh_arrival *arrival, mh_error *error);

/* The release of the root to all processes of the tree. */
int mh_tree_release(const mh_channel *channel, const mh_tree *tree, mh_release *release, mh_error *error);

#endif
