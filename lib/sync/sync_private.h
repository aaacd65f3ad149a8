/* SPDX-License-Identifier: BSD-3-Clause */
/* sync_private.h - what a sync algorithm is made of, and what several of them use; for sync.c and the members. */
#ifndef MH_SYNC_PRIVATE_H
#define MH_SYNC_PRIVATE_H

#include "base/units.h"
#include "sync/exchange.h"
#include "sync/offset.h"
#include "sync/sync.h"

/*
 * How much the rates of two clocks may differ where it has not been measured: the kernel corrects rates by at most 500 ppm
 * (adjtimex), and crystals are far better than that.
 */
#define MH_DRIFT_LIMIT (500 * MH_PPM)

/* One run of an algorithm in a group of at least two, of which this process is one. */
typedef struct mh_sync_run_context {
    const mh_channel *channel;
    const mh_base_clock *clock;
    const mh_sync_workspace *workspace;
    mh_level *level;
    mh_estimate *estimate; /* in: of the reference, on the reference; out: of this process */
} mh_sync_run_context;

typedef struct mh_sync_kind {
    const char *name;
    const char *doc;
    bool takes_fit_points;
    bool takes_estimator;
    int (*run)(const mh_sync_run_context *context, mh_error *error);
} mh_sync_kind;

extern const mh_sync_kind mh_sync_none;
extern const mh_sync_kind mh_sync_prop;
extern const mh_sync_kind mh_sync_hca3;
extern const mh_sync_kind mh_sync_hca3o;

/* What a client and its reference do in a tree of pairs: the client learns its estimate from the reference's. */
typedef struct mh_pair_protocol {
    int (*learn)(const mh_sync_run_context *context, int reference_rank, mh_error *error);
    int (*teach)(const mh_sync_run_context *context, int client_rank, mh_error *error);
} mh_pair_protocol;

/*
 * Run a protocol over the pairs of a binomial tree whose root is the first of the group, outward from it: each process
 * learns once, before it teaches. ceil(log2 p) rounds.
 */
int mh_sync_over_tree(const mh_sync_run_context *context, const mh_pair_protocol *protocol, mh_error *error);

/* The reference's estimate, sent to the client as it is, or as it stands now; the client receives it. */
int mh_sync_send_estimate(const mh_sync_run_context *context, int client_rank, mh_error *error);
int mh_sync_send_estimate_now(const mh_sync_run_context *context, int client_rank, mh_error *error);
int mh_sync_recv_estimate(const mh_sync_run_context *context, int reference_rank, mh_estimate *estimate, mh_error *error);

/*
 * One burst by the level's estimator: the client's offset to the reference's global time. Both sides make
 * level->how.exchanges exchanges after the discarded ones.
 */
int mh_sync_measure(const mh_sync_run_context *context, int reference_rank, mh_offset *offset, mh_error *error);
int mh_sync_serve(const mh_sync_run_context *context, int client_rank, mh_error *error);

/*
 * The client's estimate from its offset to a reference whose own estimate was reference, with the drift found (or 0) and the
 * bound on how far that is off.
 */
mh_estimate mh_sync_estimate_from(const mh_estimate *reference, const mh_offset *offset, double drift, double drift_bound);

#endif
