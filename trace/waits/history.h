/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * history.h - what two lanes did before one waited for the other, since they last met: since one depended on the other,
 * or both took part in an operation in which at least one of them depended on both. What the late one did longer is why
 * it was late.
 */
#ifndef TRACE_HISTORY_H
#define TRACE_HISTORY_H

#include "trace/waits/usual.h"
#include "trace/waits/waits.h"

/*
 * What a lane does between two times: it computes before a call, is in the call, or waits in it. If the recorder's own
 * calls cut a computation, its last piece is compared for all of it, and the earlier pieces only get their shares.
 */
typedef enum { PART_BEFORE, PART_IN, PART_WAIT, PART_PIECE } history_kind;

typedef struct {
    history_kind kind;
    size_t call;
    size_t from, to;    /* places; of a call both its own */
    int64_t ns;         /* of PART_BEFORE with its earlier pieces */
    int64_t excess_ns;  /* by how much it is longer than the same of the other lane */
    int64_t whole_ns;   /* of PART_BEFORE this with the excess of its earlier pieces, or 0 */
    int64_t unusual_ns; /* of a part in no pair, by how much it is longer than usual */
    size_t order;       /* from the last */
    size_t next;        /* in the first part of its kind and places: how many of these are paired */
    bool is_paired;
} history_part;

typedef struct {
    size_t count;
    history_part *list; /* the last one first */
} history_lane;

/* What the search for a meeting has seen of a gathering. */
typedef struct {
    size_t search; /* the number of the search that saw it */
    int64_t enter_ns;
    bool is_late;    /* on the late lane */
    bool is_waiting; /* the call depends on it */
} history_meeting;

typedef struct {
    const graph *of;
    const graph_waits *waits;
    history_lane late, waiting;
    int64_t excess_ns;         /* of all parts of the late lane */
    bool is_unexplained;       /* no part is longer: what has the excess is not late by it */
    history_meeting *meetings; /* by gathering */
    size_t searches;
    usual usual;
} history;

void history_begin(history *past, const graph *of, const graph_waits *waits);
void history_end(history *past);

/*
 * The history of a wait. Parts of both lanes with the same places are paired, from the last one on, and then those that
 * are left, whatever their places: of these, which have no more excess than they are longer together, what is longer
 * than usual comes first. If no part is longer, the last computation before the late call has all of the excess.
 */
void history_find(history *past, size_t wait);

#endif
