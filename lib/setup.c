/* SPDX-License-Identifier: BSD-3-Clause */
/* setup.c - apply settings to a state: topology, clock and rounds. */
#include "setup.h"

#include "memo.h"
#include "pure/units.h"
#include "sync/sync_label.h"
#include "topology/topology_discover.h"
#include "pure/tree.h"
#include "transport/warm_up.h"

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

static double wander_max(const mh_settings *settings)
{
    return (double)settings->values[MH_SET_WANDER_MAX_PPB_PER_S].number * MH_PPB;
}

static void configure_clock(mh_comm_state *state)
{
    const mh_settings *settings = &state->settings;
    mh_comm_clock_configure(
        &state->clock, &(mh_comm_clock_settings){.fixed_interval_ns = or_auto(settings, MH_SET_RESYNC_INTERVAL_NS, 0),
                                                 .target_ns = or_auto(settings, MH_SET_RESYNC_ERROR_NS, 0),
                                                 .wander = wander_max(settings)});
}

static void configure_rounds(mh_comm_state *state)
{
    const mh_settings *settings = &state->settings;
    int64_t read_ns = state->clock.global.base.read_cost_ns, tolerance_ns = TOLERANCE_READS * read_ns;
    if (tolerance_ns < MIN_TOLERANCE_NS)
        tolerance_ns = MIN_TOLERANCE_NS;
    int64_t ceiling_ns = settings->values[MH_SET_SLACK_MAX_NS].number;
    int64_t floor_ns = or_auto(settings, MH_SET_SLACK_MIN_NS, SLACK_FLOOR_READS * read_ns);
    int64_t min_valid = or_auto(settings, MH_SET_VALID_FRACTION, 0);
    mh_rounds_settings wanted = {.barrier_choice = (int)settings->values[MH_SET_BARRIER].number,
                                 .clocks_agree = mh_label_synchronizes(&settings->sync),
                                 .tolerance_ns = or_auto(settings, MH_SET_TOLERANCE_NS, tolerance_ns),
                                 .slack_floor_ns = floor_ns < ceiling_ns ? floor_ns : ceiling_ns,
                                 .slack_ceiling_ns = ceiling_ns,
                                 .min_valid = (double)min_valid * MH_CONFIG_BILLIONTH};
    mh_rounds_configure(&state->rounds, &wanted);
}

/*
 * Warm up along the trees of synchronization between nodes. A pair of both gets two messages. Within a node, MPI
 * libraries use memory, which is always warm.
 */
static int warm_up(const mh_channel *channel, const mh_sites *sites, mh_error *error)
{
    mh_tree tree = mh_tree_binomial(channel->rank, channel->size);
    mh_turns turns = mh_turns_of_group(&sites->leaders);
    int far[MH_WARM_UP_MAX_NEIGHBORS], count = 0;
    if (tree.parent >= 0)
        tree.child[tree.children++] = tree.parent;
    for (int i = 0; i < tree.children; i++)
        if (!mh_group_has(&sites->node, tree.child[i]))
            far[count++] = tree.child[i];
    for (int i = 0; i < MH_TREE_MAX_TURNS; i++)
        if (turns.partner[i] >= 0)
            far[count++] = turns.partner[i];
    return count > 0 ? mh_warm_up(channel, far, count, error) : MPI_SUCCESS;
}

static int find_sites(mh_comm_state *state, mh_error *error)
{
    if (state->sites.size > 0)
        return MPI_SUCCESS;
    int code = mh_topology_discover(&state->channel, &state->sites, &state->oversubscribed, error);
    if (code != MPI_SUCCESS)
        mh_sites_free(&state->sites);
    return code;
}

/* With what all processes remember of an earlier communicator, if there is one. */
static int open_clock(mh_comm_state *state, mh_error *error)
{
    const mh_sites *sites = &state->sites;
    const mh_memo_query query = {.channel = &state->channel,
                                 .clock_choice = (int)state->settings.values[MH_SET_CLOCK].number,
                                 .wander = wander_max(&state->settings),
                                 .is_one_node = sites->node.size == state->channel.size};
    mh_origin origin;
    int code = mh_memo_find(&mh_memo_of_process, &query, &origin, error);
    if (code == MPI_SUCCESS)
        code = mh_comm_clock_open(&state->clock, query.clock_choice, &origin.clock, sites, error);
    state->rounds.fastest_before = origin.fastest;
    return code == MPI_SUCCESS && !origin.has_same_ranks ? warm_up(&state->channel, sites, error) : code;
}

int mh_setup(mh_comm_state *state, mh_error *error)
{
    int code = find_sites(state, error);
    configure_waiting(state);
    if (code == MPI_SUCCESS && !mh_comm_clock_is_open(&state->clock))
        code = open_clock(state, error);
    if (code == MPI_SUCCESS && !mh_barrier_is_open(&state->barrier))
        code = mh_barrier_open(&state->barrier, &state->channel, &state->sites, error);
    if (code == MPI_SUCCESS)
        code = mh_comm_clock_plan(&state->clock, &state->settings.sync, &state->sites, error);
    if (code != MPI_SUCCESS)
        return code;
    configure_clock(state);
    configure_rounds(state);
    state->plan_is_current = true;
    return MPI_SUCCESS;
}

int mh_setup_change(mh_comm_state *state, const mh_settings *settings, mh_error *error)
{
    bool is_looser = wander_max(settings) > wander_max(&state->settings);
    if (is_looser || strcmp(settings->values[MH_SET_SYNC].text, state->settings.values[MH_SET_SYNC].text) != 0)
        state->plan_is_current = false;
    state->settings = *settings;
    if (mh_comm_clock_is_open(&state->clock)) {
        configure_waiting(state);
        configure_clock(state);
        mh_history_limit(&state->history, &state->clock);
        configure_rounds(state);
    }
    if (!mh_global_clock_is_set(&state->clock.global))
        return MPI_SUCCESS;
    if (is_looser)
        mh_comm_clock_forget_bound(&state->clock);
    int code = mh_comm_clock_reschedule(&state->clock, error);
    if (code == MPI_SUCCESS)
        mh_rounds_sync_at(&state->rounds, state->clock.due_ns);
    return code;
}
