/* SPDX-License-Identifier: BSD-3-Clause */
/* sync_private.h - what a sync algorithm is made of, and what several of them use; for sync.c and the members. */
#ifndef MH_SYNC_PRIVATE_H
#define MH_SYNC_PRIVATE_H

#include "pure/units.h"
#include "sync/exchange.h"
#include "sync/offset.h"
#include "sync/sync.h"
#include "transport/tags.h"

/* One run of an algorithm in a group of at least two, of which this process is one. */
typedef struct mh_sync_run_context {
    const mh_channel *channel;
    const mh_base_clock *clock;
    const mh_sync_workspace *workspace;
    mh_level *level;
    bool bursts_may_stop;           /* before the maximum, when more exchanges would hardly narrow the window */
    bool is_thorough;               /* spend some time on narrowing wide bounds */
    mh_rates rates;                 /* of two such clocks */
    mh_tracker *tracker;            /* of this process against its reference */
    bool *disrupted;                /* set if measurements contradict each other: a clock was stepped */
    int64_t *wandered;              /* counts measurements that disprove the limit of wander */
    mh_estimate *relation;          /* to the reference's base clock; kept between two steps of an algorithm */
    mh_estimate *estimate;          /* in: of the reference, on the reference; out: of this process */
    const mh_known_estimate *known; /* for take_up */
} mh_sync_run_context;

typedef struct mh_sync_kind {
    const char *name;
    const char *doc;
    bool takes_fit_points;
    bool takes_estimator;
    bool bursts_may_stop; /* no if a drift is fitted over the duration of the bursts */
    int (*run)(const mh_sync_run_context *context, mh_error *error);
    /* Begin with what is known from an earlier synchronization; NULL: the algorithm keeps nothing between two runs. */
    int (*take_up)(const mh_sync_run_context *context, mh_error *error);
} mh_sync_kind;

extern const mh_sync_kind mh_sync_none;
extern const mh_sync_kind mh_sync_skampi;
extern const mh_sync_kind mh_sync_jk;
extern const mh_sync_kind mh_sync_hca;
extern const mh_sync_kind mh_sync_hca2;
extern const mh_sync_kind mh_sync_hca3;
extern const mh_sync_kind mh_sync_hca3o;
extern const mh_sync_kind mh_sync_track;
extern const mh_sync_kind mh_sync_prop;

/* ---- The pairs of a group and their order (sync_pairs.c) */

/* What a client and its reference do with each other. */
typedef struct mh_pair_protocol {
    int (*learn)(const mh_sync_run_context *context, int reference_rank, mh_error *error);
    int (*teach)(const mh_sync_run_context *context, int client_rank, mh_error *error);
} mh_pair_protocol;

/* A binomial tree from the first of the group outward: each process learns, then teaches. ceil(log2 p) rounds. */
int mh_pairs_outward(const mh_sync_run_context *context, const mh_pair_protocol *protocol, mh_error *error);

/* The same tree from the leaves inward: each process teaches, then learns. ceil(log2 p) rounds. */
int mh_pairs_inward(const mh_sync_run_context *context, const mh_pair_protocol *protocol, mh_error *error);

/*
 * A tree whose pairs take turns (pure/tree.h): in at most MH_TREE_MAX_TURNS rounds, but a process may teach before it
 * learns.
 */
int mh_pairs_in_turns(const mh_sync_run_context *context, const mh_pair_protocol *protocol, mh_error *error);

/* The tree of mh_pairs_in_turns from the first of the group outward: each process learns, then teaches. */
int mh_pairs_by_parents(const mh_sync_run_context *context, const mh_pair_protocol *protocol, mh_error *error);

/* The first of the group teaches all others, one by one. p - 1 rounds. */
int mh_pairs_star(const mh_sync_run_context *context, const mh_pair_protocol *protocol, mh_error *error);

/* ---- What a pair does (sync_steps.c) */

/* The clock that a reference shows to its client: its base clock as it is, or mapped to global time. */
typedef enum mh_shown { MH_SHOWN_BARE, MH_SHOWN_GLOBAL } mh_shown;

/*
 * One burst by the level's estimator: the client's offset to the clock that the reference shows. The client makes at
 * most level->how.exchanges exchanges after the discarded ones, and says when it is done. If a clock was stepped during
 * the burst, context->disrupted is set; the offset is that after the step, or its bound is MH_TIME_UNKNOWN_NS.
 *
 * rate_limit   the rates of the two clocks differ by at most this ratio
 */
int mh_step_measure(const mh_sync_run_context *context, int reference_rank, double rate_limit, mh_offset *offset,
                    mh_error *error);
int mh_step_serve(const mh_sync_run_context *context, int client_rank, mh_shown shown, mh_error *error);

/* Measure, and feed the tracker. */
int mh_step_track(const mh_sync_run_context *context, int reference_rank, mh_error *error);

/*
 * The client estimates its clock against the one that the reference shows, from a line through several offsets
 * (level->how.fit_points). The offset may then be measured once more (level->how.recompute).
 */
int mh_step_learn_line(const mh_sync_run_context *context, int reference_rank, mh_estimate *relation, mh_error *error);
int mh_step_teach_line(const mh_sync_run_context *context, int client_rank, mh_shown shown, mh_error *error);

/* The reference sends its estimate. The client copies it, or composes it with its own relation to the reference. */
int mh_step_send_estimate(const mh_sync_run_context *context, int client_rank, mh_error *error);
int mh_step_copy_estimate(const mh_sync_run_context *context, int reference_rank, mh_error *error);
int mh_step_compose_estimate(const mh_sync_run_context *context, int reference_rank, const mh_estimate *relation,
                             mh_error *error);

/* For take_up: the reference sends what it knows about its clock from an earlier synchronization. */
int mh_step_send_known(const mh_sync_run_context *context, int client_rank, mh_error *error);
int mh_step_recv_known(const mh_sync_run_context *context, int reference_rank, mh_known_estimate *known,
                       mh_error *error);

/*
 * The client estimates its clock against the global time that the reference shows, by an offset or by a line, and adds
 * the error of the reference.
 */
extern const mh_pair_protocol mh_learn_by_offset;
extern const mh_pair_protocol mh_learn_by_line;

/* Whether the level's clock is shared, but with a wide bound, which further bursts may narrow. */
bool mh_level_is_wide(const mh_level *level);

/* The run of hca2, which is also the first part of that of hca. */
int mh_hca2_run(const mh_sync_run_context *context, mh_error *error);

#endif
