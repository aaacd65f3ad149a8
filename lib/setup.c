/* SPDX-License-Identifier: BSD-3-Clause */
/* setup.c - apply settings to a state: topology, clock and rounds. */
#include "setup.h"

#include "base/units.h"
#include "sync/sync_label.h"
#include "topology/topology_discover.h"
#include "topology/tree.h"
#include "transport/warm_up.h"

#include <stdlib.h>
#include <string.h>

enum { MIN_TOLERANCE_NS = 500, TOLERANCE_READS = 4, SLACK_FLOOR_READS = 4 };

static int64_t or_auto(const mh_settings *settings, int setting, int64_t automatic)
{
    int64_t number = settings->values[setting].number;
    return number == MH_CONFIG_AUTO ? automatic : number;
}

static void configure_waiting(mh_comm_state *state)
{
    int64_t choice = state->settings.values[MH_SET_YIELD].number;
    state->channel.yields = choice == MH_YIELD_AUTO ? state->oversubscribed : choice == MH_YIELD_ALWAYS;
}

static mh_label label_of(const mh_settings *settings)
{
    mh_label label;
    char why[MH_ERROR_MESSAGE_SIZE];
    mh_label_parse(settings->values[MH_SET_SYNC].text, &label, why, sizeof why);
    return label;
}

static void configure_clock(mh_comm_state *state)
{
    const mh_settings *settings = &state->settings;
    state->clock.fixed_interval_ns = or_auto(settings, MH_SET_RESYNC_INTERVAL_NS, 0);
    state->clock.target_ns = or_auto(settings, MH_SET_RESYNC_ERROR_NS, 0);
}

static void configure_rounds(mh_comm_state *state)
{
    const mh_settings *settings = &state->settings;
    mh_label label = label_of(settings);
    int64_t read_ns = state->clock.global.base.read_cost_ns, tolerance_ns = TOLERANCE_READS * read_ns;
    if (tolerance_ns < MIN_TOLERANCE_NS)
        tolerance_ns = MIN_TOLERANCE_NS;
    int64_t ceiling_ns = settings->values[MH_SET_SLACK_MAX_NS].number;
    int64_t floor_ns = or_auto(settings, MH_SET_SLACK_MIN_NS, SLACK_FLOOR_READS * read_ns);
    int64_t min_met = or_auto(settings, MH_SET_VALID_FRACTION, 0);
    mh_rounds_settings wanted = {.barrier_choice = (int)settings->values[MH_SET_BARRIER].number,
                                 .clocks_agree = mh_label_synchronizes(&label),
                                 .tolerance_ns = or_auto(settings, MH_SET_TOLERANCE_NS, tolerance_ns),
                                 .slack_floor_ns = floor_ns < ceiling_ns ? floor_ns : ceiling_ns,
                                 .slack_ceiling_ns = ceiling_ns,
                                 .min_met = (double)min_met * MH_CONFIG_BILLIONTH};
    mh_rounds_configure(&state->rounds, &wanted);
}

/* Warm up along the kind of tree that synchronization uses. */
static int warm_up(const mh_channel *channel, mh_error *error)
{
    mh_tree tree = mh_tree_binomial(channel->rank, channel->size);
    if (tree.parent >= 0)
        tree.child[tree.children++] = tree.parent;
    return mh_warm_up(channel, tree.child, tree.children, error);
}

static int set_up_at(mh_comm_state *state, const mh_place *places, mh_error *error)
{
    mh_comm_clock *clock = &state->clock;
    mh_label label = label_of(&state->settings);
    int clock_choice = (int)state->settings.values[MH_SET_CLOCK].number;
    int code = warm_up(&state->channel, error);
    if (code == MPI_SUCCESS && !mh_barrier_is_open(&state->barrier))
        code = mh_barrier_open(&state->barrier, &state->channel, places, error);
    if (code == MPI_SUCCESS && !mh_comm_clock_is_open(clock))
        code = mh_comm_clock_open(clock, clock_choice, places, error);
    return code == MPI_SUCCESS ? mh_comm_clock_plan(clock, &label, places, error) : code;
}

/* The table of places is not kept. */
int mh_setup(mh_comm_state *state, mh_error *error)
{
    const mh_channel *channel = &state->channel;
    mh_place *places = calloc((size_t)channel->size, sizeof *places);
    if (!places)
        mh_fail(error, MPI_ERR_NO_MEM, "out of memory on rank %d for the places of %d processes", channel->rank,
                channel->size);
    int code = mh_error_agree(error, channel->comm);
    if (code == MPI_SUCCESS)
        code = mh_topology_discover(channel, places, &state->oversubscribed, error);
    configure_waiting(state);
    if (code == MPI_SUCCESS)
        code = set_up_at(state, places, error);
    free(places);
    if (code != MPI_SUCCESS)
        return code;
    configure_clock(state);
    configure_rounds(state);
    state->plan_is_current = true;
    return MPI_SUCCESS;
}

int mh_setup_change(mh_comm_state *state, const mh_settings *settings, mh_error *error)
{
    if (strcmp(settings->values[MH_SET_SYNC].text, state->settings.values[MH_SET_SYNC].text) != 0)
        state->plan_is_current = false;
    state->settings = *settings;
    if (mh_comm_clock_is_open(&state->clock)) {
        configure_waiting(state);
        configure_clock(state);
        configure_rounds(state);
    }
    if (!mh_global_clock_is_set(&state->clock.global))
        return MPI_SUCCESS;
    int code = mh_comm_clock_reschedule(&state->clock, error);
    if (code == MPI_SUCCESS)
        mh_rounds_sync_at(&state->rounds, mh_comm_clock_due_ns(&state->clock));
    return code;
}
