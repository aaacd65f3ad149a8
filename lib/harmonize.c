/* SPDX-License-Identifier: BSD-3-Clause */
#include "harmonize.h"

#include "base/units.h"
#include "topology/topology_discover.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LEAST_TOLERANCE_NS = 500, TOLERANCE_READS = 4, SLACK_FLOOR_READS = 4 };

enum {
    SHORTEST_INTERVAL_NS = 100 * 1000 * 1000,      /* between synchronisations */
    SHORTEST_YOUNG_INTERVAL_NS = 20 * 1000 * 1000, /* the same in the first second, while drifts are hardly known */
    MOST_STANDSTILL_NS = 1000 * 1000,              /* global time may stand still for this long, to not go back */
    LEAST_SYNC_PERIODS = 2200                      /* an interval is at least so many synchronisations long: 0.045 % of the time */
};

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

static void parse_label(const mh_comm_state *state, mh_label *label)
{
    char why[MH_ERROR_MESSAGE_SIZE];
    mh_label_parse(state->settings.values[MH_SET_SYNC].text, label, why, sizeof why);
}

static void configure_deadline(mh_comm_state *state)
{
    mh_label label;
    parse_label(state, &label);
    const mh_settings *settings = &state->settings;
    int64_t read_ns = state->clock.base.read_cost_ns;
    int64_t tolerance_ns = TOLERANCE_READS * read_ns > LEAST_TOLERANCE_NS ? TOLERANCE_READS * read_ns : LEAST_TOLERANCE_NS;
    int64_t ceiling_ns = settings->values[MH_SET_SLACK_MAX_NS].number;
    int64_t floor_ns = or_auto(settings, MH_SET_SLACK_MIN_NS, SLACK_FLOOR_READS * read_ns);
    int64_t least_met = settings->values[MH_SET_VALID_FRACTION].number;
    mh_deadline_settings wanted = {.rendezvous_choice = (int)settings->values[MH_SET_RENDEZVOUS].number,
                                   .clocks_agree = mh_label_synchronises(&label),
                                   .tolerance_ns = or_auto(settings, MH_SET_TOLERANCE_NS, tolerance_ns),
                                   .slack_floor_ns = floor_ns < ceiling_ns ? floor_ns : ceiling_ns,
                                   .slack_ceiling_ns = ceiling_ns,
                                   .least_met = least_met == MH_CONFIG_AUTO ? 0 : (double)least_met * MH_CONFIG_BILLIONTH};
    mh_deadline_configure(&state->deadline, &wanted);
}

/* Open the base clock, with one calibration for the processes of a node. Once in the life of a state. */
static int open_clock(mh_comm_state *state, const mh_place *places, mh_error *error)
{
    const mh_channel *channel = &state->channel;
    mh_group node;
    if (mh_topology_group(places, channel->size, channel->rank, 1, 2, &node))
        mh_fail(error, MPI_ERR_NO_MEM, "out of memory on rank %d for the ranks of its node", channel->rank);
    int code = mh_error_agree(error, channel->comm);
    if (code == MPI_SUCCESS)
        code = mh_base_clock_open(&state->clock.base, (int)state->settings.values[MH_SET_CLOCK].number, channel, node.ranks,
                                  node.size, error);
    mh_group_free(&node);
    return code;
}

/* The old plan stays if the new one fails. */
static int make_plan(mh_comm_state *state, const mh_place *places, mh_error *error)
{
    mh_label label;
    mh_sync_plan plan;
    parse_label(state, &label);
    mh_sync_plan_make(&plan, &label, &state->clock.base, places, state->channel.size, state->channel.rank,
                      error);
    int code = mh_error_agree(error, state->channel.comm);
    mh_sync_plan *unused = code == MPI_SUCCESS ? &state->plan : &plan;
    mh_sync_plan_free(unused);
    if (code == MPI_SUCCESS)
        state->plan = plan;
    return code;
}

/* Find out where processes run, take a base clock and plan the synchronisation. The table of places is not kept. */
static int prepare(mh_comm_state *state, mh_error *error)
{
    const mh_channel *channel = &state->channel;
    mh_place *places = calloc((size_t)channel->size, sizeof *places);
    if (!places)
        mh_fail(error, MPI_ERR_NO_MEM, "out of memory on rank %d for the places of %d processes", channel->rank, channel->size);
    int code = mh_error_agree(error, channel->comm);
    if (code == MPI_SUCCESS)
        code = mh_topology_discover(channel, places, &state->oversubscribed, error);
    configure_waiting(state);
    if (code == MPI_SUCCESS)
        code = mh_settle(channel, error);
    if (code == MPI_SUCCESS && !mh_rendezvous_is_open(&state->rendezvous))
        code = mh_rendezvous_open(&state->rendezvous, channel, places, error);
    if (code == MPI_SUCCESS && !state->clock.base.kind) {
        code = open_clock(state, places, error);
        if (code == MPI_SUCCESS)
            mh_clock_watch_start(&state->watch, &state->clock.base);
    }
    if (code == MPI_SUCCESS)
        code = make_plan(state, places, error);
    free(places);
    if (code != MPI_SUCCESS)
        return code;
    configure_deadline(state);
    state->plan_is_current = true;
    return MPI_SUCCESS;
}

/* Global time begins now, on the clock of rank 0. */
static int begin_epoch(mh_comm_state *state, mh_error *error)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    state->epoch_unix_ns = (int64_t)now.tv_sec * MH_NS_PER_S + now.tv_nsec;
    return mh_bcast(&state->channel, &state->epoch_unix_ns, sizeof state->epoch_unix_ns, 0, error);
}

/* How long until the next synchronisation, when the processes ask for one after wanted_ns. */
static int64_t choose_interval(const mh_comm_state *state, int64_t wanted_ns)
{
    int64_t fixed_ms = state->settings.values[MH_SET_RESYNC_INTERVAL_MS].number;
    if (fixed_ms != MH_CONFIG_AUTO)
        return fixed_ms * MH_NS_PER_MS;
    bool young = state->synced_at_ns - state->first_synced_at_ns < MH_NS_PER_S;
    int64_t least_ns = LEAST_SYNC_PERIODS * state->sync_typical_ns;
    if (young)
        least_ns = SHORTEST_YOUNG_INTERVAL_NS;
    else if (least_ns < SHORTEST_INTERVAL_NS)
        least_ns = SHORTEST_INTERVAL_NS;
    return wanted_ns > least_ns ? wanted_ns : least_ns;
}

/* What later synchronisations take; one in which a process was descheduled changes it by half at most. */
static int64_t typical_duration(int64_t before_ns, int64_t duration_ns)
{
    if (before_ns == 0)
        return duration_ns;
    int64_t most_ns = before_ns + before_ns / 2, least_ns = before_ns / 2;
    return duration_ns > most_ns ? most_ns : duration_ns < least_ns ? least_ns : duration_ns;
}

/* What the processes agree upon after a synchronisation: of each value the greatest of all. */
typedef struct agreement {
    int64_t disrupted; /* a clock was stepped meanwhile */
    int64_t lead_ns;   /* by how much readings of a process may lie ahead of its new estimate */
    int64_t hurry_ns;  /* minus the time until a process wants to synchronise again */
} agreement;

enum { AGREEMENT_FIELDS = 3 };

_Static_assert(sizeof(agreement) == AGREEMENT_FIELDS * sizeof(int64_t), "an agreement is reduced as an array of int64_t");

static int64_t hurry_ns(const mh_comm_state *state)
{
    int64_t target_ns = or_auto(&state->settings, MH_SET_CLOCK_TARGET_NS, mh_sync_natural_target_ns(&state->plan));
    return -mh_sync_interval_ns(&state->plan, target_ns);
}

/* Rank 0 orders the next synchronisation: only its clock says when it is due, so that all do the same. */
static void schedule(mh_comm_state *state, int64_t greatest_hurry_ns)
{
    mh_model model = mh_global_clock_estimate(&state->clock).model;
    int64_t synced_at_ns = mh_model_apply(&model, state->synced_at_ns);
    state->interval_ns = greatest_hurry_ns == -INT64_MAX ? 0 : choose_interval(state, -greatest_hurry_ns);
    mh_deadline_sync_at(&state->deadline, state->interval_ns == 0 ? INT64_MAX : synced_at_ns + state->interval_ns);
}

/*
 * Correct the estimate for a step of the base clock since the last look, as CLOCK_MONOTONIC measures it; on rank 0 this
 * defines global time. Returns the size of the step; 0: there was none.
 */
static int64_t follow_step(mh_comm_state *state)
{
    int64_t step_ns = mh_clock_watch_look(&state->watch, &state->clock.base);
    if (step_ns == 0)
        return 0;
    state->synced_at_ns += step_ns;
    state->first_synced_at_ns += step_ns;
    if (mh_global_clock_is_set(&state->clock))
        mh_global_clock_follow_step(&state->clock, step_ns);
    return step_ns;
}

/* On rank 0 the estimate that all others are led back to: whatever has happened to its clock, it is exact. */
static mh_estimate reference_of(const mh_comm_state *state, int64_t local_ns)
{
    mh_estimate reference = mh_estimate_exact(local_ns);
    if (mh_global_clock_is_set(&state->clock))
        reference.model = mh_global_clock_estimate(&state->clock).model;
    return reference;
}

static int run_once(mh_comm_state *state, bool is_thorough, mh_estimate *estimate, agreement *all, mh_error *error)
{
    const mh_base_clock *base = &state->clock.base;
    *estimate = reference_of(state, mh_base_clock_now_ns(base));
    int code = mh_sync_run(&state->plan, &state->channel, base, is_thorough, estimate, error);
    if (code != MPI_SUCCESS)
        return code;
    bool is_set = mh_global_clock_is_set(&state->clock), stepped = follow_step(state) != 0;
    agreement mine = {.disrupted = state->plan.disrupted || stepped,
                      .lead_ns = is_set ? mh_global_clock_lead_ns(&state->clock, estimate) : INT64_MIN,
                      .hurry_ns = hurry_ns(state)};
    return mh_allreduce_max(&state->channel, &mine.disrupted, &all->disrupted, AGREEMENT_FIELDS, error);
}

/*
 * If some process has handed out readings far ahead of its new estimate, move global time ahead for all, because it must
 * not go back for one. A small lead passes by itself.
 */
static void lift(mh_estimate *estimate, int64_t lead_ns)
{
    if (lead_ns > MOST_STANDSTILL_NS)
        estimate->model.offset_ns -= lead_ns;
}

/* The time that a synchronisation usually takes is that of one which nothing disturbed and which did not hurry. */
static void note_duration(mh_comm_state *state, int64_t duration_ns, bool is_usual)
{
    state->sync_duration_ns = duration_ns;
    state->sync_total_ns += duration_ns;
    if (state->syncs++ > 0 && is_usual && duration_ns > 0)
        state->sync_typical_ns = typical_duration(state->sync_typical_ns, duration_ns);
}

/* Nothing is known of the clock until the next synchronisation; the estimate stays, as it is the best there is. */
static void distrust_clock(mh_comm_state *state)
{
    mh_estimate estimate = mh_global_clock_estimate(&state->clock);
    estimate.bound_ns = MH_TIME_UNKNOWN_NS;
    mh_global_clock_publish(&state->clock, &estimate);
    state->disrupted = true;
    state->disruptions++;
}

/* Make the estimate that of the global clock. */
static void take(mh_comm_state *state, mh_estimate *estimate, const agreement *all)
{
    lift(estimate, all->lead_ns);
    mh_global_clock_publish(&state->clock, estimate);
    state->disrupted = false;
    int64_t bound_ns = mh_estimate_grows(estimate) ? MH_TIME_UNKNOWN_NS : mh_global_clock_read(&state->clock).bound_ns;
    mh_deadline_trust_clock(&state->deadline, bound_ns);
}

/*
 * A synchronisation during which a clock is stepped is of no use: it is repeated, but not for ever. If the last one is
 * disturbed too, its estimates are not taken unless there are no others.
 */
static int run_undisturbed(mh_comm_state *state, bool is_thorough, agreement *all, mh_error *error)
{
    enum { MOST_RUNS = 3 };
    bool is_first = !mh_global_clock_is_set(&state->clock);
    mh_estimate estimate;
    for (int run = 1; run <= MOST_RUNS; run++) {
        int64_t first_ns = mh_base_clock_now_ns(&state->clock.base);
        int code = run_once(state, is_thorough && run == 1, &estimate, all, error);
        if (code != MPI_SUCCESS)
            return code;
        state->synced_at_ns = mh_base_clock_now_ns(&state->clock.base);
        if (!all->disrupted) {
            take(state, &estimate, all);
            note_duration(state, state->synced_at_ns - first_ns, run == 1 && !is_thorough && !is_first);
            return MPI_SUCCESS;
        }
        state->disruptions++;
        mh_sync_restart(&state->plan);
    }
    if (is_first)
        mh_global_clock_publish(&state->clock, &estimate);
    distrust_clock(state);
    return MPI_SUCCESS;
}

/* restart: forget what was learnt before; the same on all processes. */
static int synchronise(mh_comm_state *state, bool restart, bool is_thorough, mh_error *error)
{
    agreement all;
    int code = state->plan_is_current ? MPI_SUCCESS : prepare(state, error);
    bool is_first = !mh_global_clock_is_set(&state->clock);
    if (code == MPI_SUCCESS && is_first)
        code = begin_epoch(state, error);
    if (code != MPI_SUCCESS)
        return code;
    if (restart) {
        state->disruptions += !state->disrupted; /* else counted when it was found */
        mh_sync_restart(&state->plan);
    }
    code = run_undisturbed(state, is_thorough, &all, error);
    if (code != MPI_SUCCESS)
        return code;
    if (is_first)
        state->first_synced_at_ns = state->synced_at_ns;
    schedule(state, all.hurry_ns);
    return MPI_SUCCESS;
}

/* Somebody has read the global clock between a step and its correction: time would stand still for as long. */
static bool stands_still(mh_comm_state *state)
{
    mh_estimate estimate = mh_global_clock_estimate(&state->clock);
    return mh_global_clock_lead_ns(&state->clock, &estimate) > MOST_STANDSTILL_NS;
}

/* If the base clock was stepped, the next synchronisation starts anew. */
static void look_at_clock(mh_comm_state *state)
{
    if (mh_global_clock_is_set(&state->clock) && (follow_step(state) != 0 || stands_still(state)))
        distrust_clock(state);
}

int mh_clock_sync(mh_comm_state *state, mh_error *error)
{
    int64_t all_fine;
    look_at_clock(state);
    int code = mh_allreduce_and(&state->channel, !state->disrupted, &all_fine, error);
    return code == MPI_SUCCESS ? synchronise(state, !all_fine, true, error) : code;
}

/* Before the first release, and after a change of the algorithm: all processes know that this is due. */
static int get_ready(mh_comm_state *state, mh_error *error)
{
    int code = MPI_SUCCESS;
    if (!mh_global_clock_is_set(&state->clock) || !state->plan_is_current)
        code = mh_clock_sync(state, error);
    return code == MPI_SUCCESS ? mh_deadline_rehearse(&state->deadline, error) : code;
}

static mh_request what_to_ask_for(const mh_comm_state *state, bool refuses)
{
    if (refuses)
        return MH_REQUEST_REFUSE;
    return state->disrupted ? MH_REQUEST_RESTART : MH_REQUEST_RELEASE;
}

static void leave(mh_comm_state *state, const mh_order *order, int *flag)
{
    mh_exit left = mh_deadline_wait(&state->deadline, order);
    /* Nobody knows when a clock that can be set was set: perhaps during the wait. */
    if (left == MH_EXIT_DISRUPTED)
        distrust_clock(state);
    else if (state->clock.base.may_be_set)
        look_at_clock(state);
    *flag = left == MH_EXIT_IN_TIME && !state->disrupted;
}

int mh_harmonize(mh_comm_state *state, bool refuses, int *flag, mh_error *error)
{
    mh_order order = {.type = MH_ORDER_RELEASE};
    int code = MPI_SUCCESS;
    if (!state->deadline.rehearsed || !state->plan_is_current)
        code = get_ready(state, error);
    while (code == MPI_SUCCESS) {
        int64_t local_ns = mh_base_clock_now_ns(&state->clock.base);
        if (mh_clock_watch_is_due(&state->watch, local_ns))
            look_at_clock(state);
        code = mh_deadline_meet(&state->deadline, local_ns, what_to_ask_for(state, refuses), order.type, &order, error);
        if (code != MPI_SUCCESS)
            break;
        if (order.type == MH_ORDER_RELEASE) {
            leave(state, &order, flag);
            return MPI_SUCCESS;
        }
        if (order.type == MH_ORDER_REFUSE)
            return mh_fail(error, MPI_ERR_ARG,
                           "MPIX_Harmonize: flag is a null pointer on at least one process; allowed: the address of an int");
        code = synchronise(state, order.type == MH_ORDER_RESTART, false, error);
    }
    return code;
}

int mh_change_settings(mh_comm_state *state, MPI_Info info, mh_error *error)
{
    mh_settings changed = state->settings;
    mh_settings_from_info(&changed, info, error);
    if (error->code == MPI_SUCCESS && state->clock.base.kind &&
        changed.values[MH_SET_CLOCK].number != state->settings.values[MH_SET_CLOCK].number)
        mh_fail(error, MPI_ERR_INFO_VALUE, "setting " MH_INFO_PREFIX "clock: '%s' is not valid; allowed: %s, as the clock is in use",
                changed.values[MH_SET_CLOCK].text, state->settings.values[MH_SET_CLOCK].text);
    int code = mh_settings_agree(&changed, MPI_ERR_INFO_VALUE, state->channel.comm, error);
    if (code != MPI_SUCCESS)
        return code;
    if (strcmp(changed.values[MH_SET_SYNC].text, state->settings.values[MH_SET_SYNC].text) != 0)
        state->plan_is_current = false;
    state->settings = changed;
    if (state->clock.base.kind) {
        configure_waiting(state);
        configure_deadline(state);
    }
    if (!mh_global_clock_is_set(&state->clock))
        return MPI_SUCCESS;
    int64_t mine_ns = hurry_ns(state), greatest_ns;
    code = mh_allreduce_max(&state->channel, &mine_ns, &greatest_ns, 1, error);
    if (code == MPI_SUCCESS)
        schedule(state, greatest_ns);
    return code;
}

static int put_text(MPI_Info info, const char *name, const char *text, mh_error *error)
{
    char key[64];
    snprintf(key, sizeof key, MH_INFO_PREFIX "%s", name);
    /* An empty value is not allowed in an info object. */
    MH_TRY(error, PMPI_Info_set, (info, key, text[0] ? text : "none"));
    return MPI_SUCCESS;
}

static int put_number(MPI_Info info, const char *name, int64_t number, mh_error *error)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, number);
    return put_text(info, name, number == MH_TIME_UNKNOWN_NS ? "unknown" : text, error);
}

/* The groups that this process takes part in: "all 4 + node 16, shared clock". */
static void describe_levels(const mh_sync_plan *plan, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < plan->levels && used < size; i++) {
        const mh_level *level = &plan->level[i];
        if (level->group.size == 0)
            continue;
        const char *sharing = level->sharing == MH_SHARING_VERIFIED  ? ", shared clock"
                              : level->sharing == MH_SHARING_REFUTED ? ", clock not shared"
                                                                     : "";
        used += (size_t)snprintf(text + used, size - used, "%s%s %d%s", used ? " + " : "", mh_level_name(i), level->group.size,
                                 sharing);
    }
}

static int report_calls(const mh_comm_state *state, MPI_Info info, mh_error *error)
{
    const mh_deadline *deadline = &state->deadline;
    const struct {
        const char *name;
        int64_t number;
    } numbers[] = {
        {"calls", deadline->calls},
        {"misses", deadline->misses},
        {"lateness_ns", deadline->lateness_ns},
        {"need_ns", deadline->report.need_ns},
        {"slack_ns", deadline->slack_ns},
        {"tolerance_used_ns", deadline->tolerance_ns},
        {"oversubscribed", state->oversubscribed},
    };
    const mh_rendezvous *rendezvous = deadline->rendezvous;
    int code = put_text(info, "rendezvous_used", rendezvous->kind ? mh_rendezvous_name(rendezvous) : "", error);
    if (code == MPI_SUCCESS)
        code = put_text(info, "rendezvous_reason", rendezvous->reason, error);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers && code == MPI_SUCCESS; i++)
        code = put_number(info, numbers[i].name, numbers[i].number, error);
    return code;
}

static int report_clock(mh_comm_state *state, MPI_Info info, mh_error *error)
{
    const mh_base_clock *base = &state->clock.base;
    char levels[160];
    describe_levels(&state->plan, levels, sizeof levels);
    const struct {
        const char *name;
        int64_t number;
    } numbers[] = {
        {"base_clock_read_ns", base->read_cost_ns},
        {"bound_ns", mh_global_clock_read(&state->clock).bound_ns},
        {"disruptions", state->disruptions},
        {"interval_ns", state->interval_ns},
        {"clock_age_ns", mh_base_clock_now_ns(base) - state->synced_at_ns},
        {"epoch_unix_ns", state->epoch_unix_ns},
        {"syncs", state->syncs},
        {"sync_duration_ns", state->sync_duration_ns},
        {"sync_total_ns", state->sync_total_ns},
    };
    int code = put_text(info, "base_clock", mh_base_clock_name(base), error);
    if (code == MPI_SUCCESS)
        code = put_text(info, "base_clock_reason", base->reason, error);
    if (code == MPI_SUCCESS)
        code = put_text(info, "clock_status", state->disrupted ? "disrupted" : "synchronised", error);
    if (code == MPI_SUCCESS)
        code = put_text(info, "levels", levels, error);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers && code == MPI_SUCCESS; i++)
        code = put_number(info, numbers[i].name, numbers[i].number, error);
    return code;
}

int mh_report_statistics(mh_comm_state *state, MPI_Info info, mh_error *error)
{
    char last[MH_ERROR_MESSAGE_SIZE], ignored[MH_ERROR_MESSAGE_SIZE];
    mh_error_last(last);
    mh_settings_ignored_environment(ignored, sizeof ignored);
    int code = put_text(info, "version", PACKAGE_VERSION, error);
    if (code == MPI_SUCCESS)
        code = put_text(info, "last_error", last, error);
    if (code == MPI_SUCCESS)
        code = put_text(info, "ignored_environment", ignored, error);
    if (code == MPI_SUCCESS && state && mh_global_clock_is_set(&state->clock))
        code = report_clock(state, info, error);
    if (code == MPI_SUCCESS && state && mh_global_clock_is_set(&state->clock))
        code = report_calls(state, info, error);
    return code;
}
