/* SPDX-License-Identifier: BSD-3-Clause */
/* tags.h - the tags of this folder's messages. */
#ifndef MH_CLOCK_TAGS_H
#define MH_CLOCK_TAGS_H

#include "transport/tags.h"

enum { MH_TAG_CALIBRATION = MH_TRANSPORT_TAGS_END, MH_CLOCK_TAGS_END };

#endif
