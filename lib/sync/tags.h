/* SPDX-License-Identifier: BSD-3-Clause */
/* tags.h - the tags of this folder's messages. */
#ifndef MH_SYNC_TAGS_H
#define MH_SYNC_TAGS_H

#include "topology/tags.h"

enum { MH_TAG_EXCHANGE = MH_TOPOLOGY_TAGS_END, MH_TAG_ESTIMATE, MH_TAG_IDENTITY, MH_SYNC_TAGS_END };

#endif
