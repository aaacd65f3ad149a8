/* SPDX-License-Identifier: BSD-3-Clause */
/* tags.h - the tags of this folder's messages. */
#ifndef MH_RELEASE_TAGS_H
#define MH_RELEASE_TAGS_H

#include "topology/tags.h"

/*
 * The gap is for the tags of sync, which this folder does not include. One tag is enough for all barriers, because each
 * process sends and receives in the same order.
 */
enum { MH_TAG_BARRIER = MH_TOPOLOGY_TAGS_END + 100, MH_TAG_SLOTS };

#endif
