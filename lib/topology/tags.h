/* SPDX-License-Identifier: BSD-3-Clause */
/* tags.h - the tags of this folder's messages. */
#ifndef MH_TOPOLOGY_TAGS_H
#define MH_TOPOLOGY_TAGS_H

#include "clock/tags.h"

enum { MH_TAG_LEADERS = MH_CLOCK_TAGS_END, MH_TOPOLOGY_TAGS_END };

#endif
