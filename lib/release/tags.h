/* SPDX-License-Identifier: BSD-3-Clause */
/* tags.h - the tags of this folder's messages. */
#ifndef MH_RELEASE_TAGS_H
#define MH_RELEASE_TAGS_H

#include "transport/message.h"

/* One suffices for barriers: each process sends and receives in the same order. */
enum { MH_TAG_BARRIER = MH_TAGS_RELEASE, MH_TAG_SLOTS };

#endif
