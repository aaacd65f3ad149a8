/* SPDX-License-Identifier: BSD-3-Clause */
/* offset_private.h - what an offset estimator is made of; for offset.c and the members. */
#ifndef MH_OFFSET_PRIVATE_H
#define MH_OFFSET_PRIVATE_H

#include "sync/offset.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct mh_offset_kind {
    const char *name;
    const char *doc;
    bool needs_window_only; /* of a burst */
    /* The offset, nanoseconds. */
    int64_t (*estimate)(const mh_exchange *exchanges, int count, mh_window window, int64_t *workspace);
} mh_offset_kind;

extern const mh_offset_kind mh_offset_skampi;
extern const mh_offset_kind mh_offset_mean_rtt;

#endif
