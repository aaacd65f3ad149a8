/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * causes.h - what made processes wait. A wait is charged to all by which the late process took longer than the process
 * that waits, since they last met (history.h), in proportion: to its computation between two calls, to its calls, and
 * to its own earlier waits, which pass their share on in the same way. What is charged is what was waited, to the
 * nanosecond.
 *
 * After D. Boehme and others, "Identifying the root causes of wait states in large-scale parallel applications", 2016.
 */
#ifndef TRACE_CAUSES_H
#define TRACE_CAUSES_H

#include "trace/waits/waits.h"

/* What a rank does: it computes between two calls, or it is in a call beside waits. */
typedef struct {
    int rank;
    bool is_call;
    size_t from, to; /* places; of a call both its own; GRAPH_NONE: where the run begins, or ends */
} cause_key;

typedef struct {
    cause_key key;
    int64_t charged_ns; /* the waits of all others, added up */
    int64_t direct_ns;  /* of these, of those that waited for this rank itself, not for one that waited for it */
    int64_t late_ns;    /* by how much it took longer than with those that waited, all instances together */
    double bound_ns;    /* by how much charged_ns may be wrong */
    int64_t instances;  /* how often it took longer */
    int64_t path_ns;    /* how much of the critical path it is */
    bool may_wait;      /* of some of these calls, the trace does not tell whether they wait themselves */
    int64_t worst_ns;   /* the greatest charge of one instance, and when that was */
    int64_t worst_begin_ns, worst_end_ns;
    size_t worst_lane, worst_call; /* the last piece of the computation is before this call */
    bool is_replayed;              /* what follows is known: */
    int64_t without_ns;            /* the run time without what is taken away: */
    int64_t taken_ns;              /* by how much it took longer than with the others, all instances together */
    bool has_peers;                /* other ranks compute between the same places */
} cause;

typedef struct {
    size_t count;
    cause *list;       /* in the order in which they were found */
    keys numbers;      /* of causes in the list */
    int64_t waited_ns; /* by all */
} causes;

/* Charge all waits, and name the causes in the calls of the graph. */
void causes_find(causes *found, graph *of, const graph_waits *waits);
void causes_free(causes *found);

/* The index of the cause with a key, which is added if it is new. */
size_t causes_at(causes *known, const cause_key *key);

/* The key of the computation before a call, of what is after the last one, and of a call. */
cause_key cause_before(const graph *of, size_t lane, size_t call);
cause_key cause_in(const graph *of, size_t lane, size_t call);

/*
 * Add to each cause its part of the critical path: what the run would have to be shorter at to be shorter. From the end
 * of the run it goes back in time; where a process waited it goes on at the process that was waited for. It is as long
 * as the run.
 */
void path_add(causes *to, const graph *of, const graph_waits *waits);

/*
 * The waits that are charged to the worst instance of a cause, for its rank or one that waited for it, in the order in
 * which they end, no later than `until_ns`; to be freed.
 *
 * count   out: how many there are
 */
size_t *chain_find(const graph *of, const graph_waits *waits, const cause *cause, int64_t until_ns, size_t *count);

#endif
