/* SPDX-License-Identifier: BSD-3-Clause */
#include "sync/sync.h"

#include "sync/sync_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const mh_sync_kind *const kinds[] = {&mh_sync_none, &mh_sync_hca3, &mh_sync_hca3o, &mh_sync_prop};

enum { KINDS = sizeof kinds / sizeof *kinds };

const char *mh_sync_name(int place)
{
    return place < KINDS ? kinds[place]->name : NULL;
}

int mh_sync_find(const char *name)
{
    for (int i = 0; i < KINDS; i++)
        if (strcmp(kinds[i]->name, name) == 0)
            return i;
    return -1;
}

bool mh_sync_takes_fit_points(int place)
{
    return kinds[place]->takes_fit_points;
}

bool mh_sync_takes_estimator(int place)
{
    return kinds[place]->takes_estimator;
}

static int get_workspace(mh_sync_workspace *workspace, const mh_label *label)
{
    size_t exchanges = 1, points = 1;
    for (int i = 0; i < label->levels; i++) {
        if ((size_t)label->parts[i].exchanges > exchanges)
            exchanges = (size_t)label->parts[i].exchanges;
        if ((size_t)label->parts[i].fit_points > points)
            points = (size_t)label->parts[i].fit_points;
    }
    workspace->exchanges = malloc(exchanges * sizeof *workspace->exchanges);
    workspace->values = malloc(exchanges * sizeof *workspace->values);
    workspace->points = malloc(points * sizeof *workspace->points);
    workspace->coordinates = malloc(2 * points * sizeof *workspace->coordinates);
    return workspace->exchanges && workspace->values && workspace->points && workspace->coordinates ? 0 : -1;
}

int mh_sync_plan_make(mh_sync_plan *plan, const mh_label *label, const mh_place *places, int count, int rank,
                      mh_error *error)
{
    memset(plan, 0, sizeof *plan);
    plan->levels = label->levels;
    int missing = get_workspace(&plan->workspace, label);
    for (int i = 0; i < label->levels; i++) {
        plan->level[i].how = label->parts[i];
        missing |= mh_topology_group(places, count, rank, i, label->levels, &plan->level[i].group);
    }
    return missing ? mh_fail(error, MPI_ERR_NO_MEM, "out of memory for the groups of %d processes", count) : MPI_SUCCESS;
}

void mh_sync_plan_free(mh_sync_plan *plan)
{
    for (int i = 0; i < plan->levels; i++)
        mh_group_free(&plan->level[i].group);
    free(plan->workspace.exchanges);
    free(plan->workspace.values);
    free(plan->workspace.points);
    free(plan->workspace.coordinates);
    memset(plan, 0, sizeof *plan);
}

int mh_sync_run(mh_sync_plan *plan, const mh_channel *channel, const mh_base_clock *clock, const mh_estimate *reference,
                mh_estimate *estimate, mh_error *error)
{
    *estimate = *reference;
    for (int i = 0; i < plan->levels; i++) {
        mh_sync_run_context context = {channel, clock, &plan->workspace, &plan->level[i], estimate};
        if (plan->level[i].group.size < 2)
            continue;
        int code = kinds[plan->level[i].how.algorithm]->run(&context, error);
        if (code != MPI_SUCCESS)
            return code;
    }
    return MPI_SUCCESS;
}

void mh_sync_forget_sharing(mh_sync_plan *plan)
{
    for (int i = 0; i < plan->levels; i++)
        plan->level[i].sharing = MH_SHARING_UNKNOWN;
}

bool mh_sync_drifts(const mh_sync_plan *plan)
{
    for (int i = 0; i < plan->levels; i++) {
        const mh_level *level = &plan->level[i];
        bool measures = kinds[level->how.algorithm]->takes_estimator;
        if (level->group.size > 1 && (measures || level->sharing == MH_SHARING_REFUTED))
            return true;
    }
    return false;
}

int mh_sync_over_tree(const mh_sync_run_context *context, const mh_pair_protocol *protocol, mh_error *error)
{
    const mh_group *group = &context->level->group;
    int step = 1, code = MPI_SUCCESS;
    while (step < group->size)
        step *= 2;
    for (step /= 2; step > 0 && code == MPI_SUCCESS; step /= 2) {
        int place = group->index % (2 * step);
        if (place == 0 && group->index + step < group->size)
            code = protocol->teach(context, group->ranks[group->index + step], error);
        else if (place == step)
            code = protocol->learn(context, group->ranks[group->index - step], error);
    }
    return code;
}

int mh_sync_send_estimate(const mh_sync_run_context *context, int client_rank, mh_error *error)
{
    return mh_send(context->channel, context->estimate, sizeof *context->estimate, client_rank, MH_TAG_MODEL, error);
}

int mh_sync_send_estimate_now(const mh_sync_run_context *context, int client_rank, mh_error *error)
{
    mh_estimate now = mh_estimate_at(context->estimate, mh_base_clock_now_ns(context->clock));
    return mh_send(context->channel, &now, sizeof now, client_rank, MH_TAG_MODEL, error);
}

int mh_sync_recv_estimate(const mh_sync_run_context *context, int reference_rank, mh_estimate *estimate, mh_error *error)
{
    return mh_recv(context->channel, estimate, sizeof *estimate, reference_rank, MH_TAG_MODEL, error);
}

int mh_sync_measure(const mh_sync_run_context *context, int reference_rank, mh_offset *offset, mh_error *error)
{
    const mh_label_part *how = &context->level->how;
    const mh_sync_workspace *workspace = context->workspace;
    mh_link link = {context->channel, context->clock, reference_rank};
    int code = mh_exchange_measure(&link, workspace->exchanges, how->exchanges, error);
    if (code == MPI_SUCCESS)
        *offset = mh_offset_estimate(how->estimator, workspace->exchanges, how->exchanges, MH_DRIFT_LIMIT, workspace->values);
    return code;
}

int mh_sync_serve(const mh_sync_run_context *context, int client_rank, mh_error *error)
{
    mh_link link = {context->channel, context->clock, client_rank};
    return mh_exchange_serve(&link, &context->estimate->model, context->level->how.exchanges, error);
}

mh_estimate mh_sync_estimate_from(const mh_estimate *reference, const mh_offset *offset, double drift, double drift_bound)
{
    mh_estimate estimate;
    estimate.model = (mh_model){offset->at_ns, offset->offset_ns, drift};
    bool known = reference->bound_ns != MH_TIME_UNKNOWN_NS;
    estimate.bound_ns = known ? reference->bound_ns + offset->bound_ns : MH_TIME_UNKNOWN_NS;
    estimate.drift_bound = fmin(reference->drift_bound + drift_bound, MH_DRIFT_LIMIT + fabs(drift));
    return estimate;
}
