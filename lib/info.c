/* SPDX-License-Identifier: BSD-3-Clause */
/* info.c - the table of statistics, and what set_info and get_info do. */
#include "info.h"

#include "pure/text.h"
#include "pure/units.h"
#include "setup.h"

#include <inttypes.h>
#include <stdio.h>

enum { KEY_SIZE = 64, TEXT_SIZE = MH_STATISTIC_TEXT_SIZE };

static void put_text(char text[TEXT_SIZE], const char *from)
{
    snprintf(text, TEXT_SIZE, "%s", from);
}

static void clock_used(const mh_comm_state *state, char text[TEXT_SIZE])
{
    put_text(text, mh_base_clock_name(&state->clock.global.base));
}

static void clock_reason(const mh_comm_state *state, char text[TEXT_SIZE])
{
    put_text(text, state->clock.global.base.reason);
}

static void clock_status(const mh_comm_state *state, char text[TEXT_SIZE])
{
    put_text(text, atomic_load(&state->clock.global.is_wrong) ? "disrupted" : "synchronized");
}

static void clock_origin(const mh_comm_state *state, char text[TEXT_SIZE])
{
    put_text(text, state->clock.is_shared ? "shared" : "fresh");
}

/* The groups that this process takes part in: "all 4 + node 16, shared clock". */
static void sync_levels(const mh_comm_state *state, char text[TEXT_SIZE])
{
    static const char *const sharing[] = {[MH_SHARING_UNKNOWN] = "",
                                          [MH_SHARING_VERIFIED] = ", shared clock",
                                          [MH_SHARING_REFUTED] = ", clock not shared"};
    const mh_sync_plan *plan = &state->clock.plan;
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < plan->levels && used < TEXT_SIZE; i++) {
        const mh_level *level = &plan->level[i];
        if (level->group.size > 0)
            used += (size_t)snprintf(text + used, TEXT_SIZE - used, "%s%s %d%s", used ? " + " : "", mh_level_name(i),
                                     level->group.size, sharing[level->sharing]);
    }
}

static void barrier_used(const mh_comm_state *state, char text[TEXT_SIZE])
{
    put_text(text, mh_barrier_name(&state->barrier));
}

static void barrier_reason(const mh_comm_state *state, char text[TEXT_SIZE])
{
    put_text(text, state->barrier.reason);
}

static void version(const mh_comm_state *state, char text[TEXT_SIZE])
{
    (void)state;
    put_text(text, PACKAGE_VERSION);
}

static void ignored_environment(const mh_comm_state *state, char text[TEXT_SIZE])
{
    (void)state;
    mh_settings_ignored_environment(text, TEXT_SIZE);
}

static void last_error(const mh_comm_state *state, char text[TEXT_SIZE])
{
    (void)state;
    mh_error_last(text);
}

static int64_t clock_bound_ns(mh_comm_state *state)
{
    return mh_global_clock_read(&state->clock.global).bound_ns;
}

static int64_t clock_age_ns(mh_comm_state *state)
{
    return mh_base_clock_now_ns(&state->clock.global.base) - state->clock.schedule.last_ns;
}

static int64_t oversubscribed(mh_comm_state *state)
{
    return state->oversubscribed;
}

#define FIELD(path) .field = _Generic(((mh_comm_state *)0)->path, int64_t : offsetof(mh_comm_state, path))

static const mh_statistic statistics[] = {
    {"version", "No unit", "The version of the library.", true, .text = version},
    {"last_error", "No unit", "The message of the last error of this process, whatever its communicator.", true,
     .text = last_error},
    {"ignored_environment", "No unit",
     "The environment variables of this process that begin with MPIX_HARMONIZE_ but name no setting, and are not those "
     "of software modules.",
     true, .text = ignored_environment},
    {"clock_used", "No unit", "The base clock in use.", .text = clock_used},
    {"clock_reason", "No unit", "Why this base clock is in use.", .text = clock_reason},
    {"clock_read_cost_ns", "Nanoseconds", "The time that one reading of the base clock takes on this process.",
     FIELD(clock.global.base.read_cost_ns)},
    {"clock_bound_ns", "Nanoseconds", "The bound of the global clock on this process at the time of this call.",
     .number = clock_bound_ns},
    {"clock_age_ns", "Nanoseconds", "The time since the end of the last synchronization on this process.",
     .number = clock_age_ns},
    {"clock_status", "No unit", "Whether the clock of this process is synchronized, or was found wrong.",
     .text = clock_status},
    {"clock_disruptions", "A count", "How often this process, or a synchronization, found a clock wrong.",
     FIELD(clock.disruptions)},
    {"wander_exceeded", "A count",
     "How often this process found that clocks had wandered by more than mpix_harmonize_wander_max_ppb_per_s.",
     FIELD(clock.wandered)},
    {"clock_origin", "No unit",
     "Whether the clock began with what an earlier communicator of the same processes knew, or with nothing.",
     .text = clock_origin},
    {"clock_epoch_unix_ns", "Nanoseconds since 1970-01-01 00:00 UTC",
     "The time of day on rank 0's node when global time was zero.", FIELD(clock.epoch_unix_ns)},
    {"resync_used_ns", "Nanoseconds", "The time from the last synchronization to the next one.",
     FIELD(clock.schedule.interval_ns)},
    {"sync_levels", "No unit", "The levels of the synchronization as this process sees them.", .text = sync_levels},
    {"sync_duration_ns", "Nanoseconds", "The duration of the last synchronization on this process, by its base clock.",
     FIELD(clock.schedule.duration_ns)},
    {"sync_total_ns", "Nanoseconds", "The duration of all synchronizations so far on this process.",
     FIELD(clock.schedule.total_ns)},
    {"syncs", "A count", "Synchronizations of comm so far.", FIELD(clock.schedule.count)},
    {"calls", "A count", "Calls of MPIX_Harmonize(3) on comm so far.", FIELD(rounds.calls)},
    {"calls_late", "A count", "Calls that this process did not leave in time.", FIELD(rounds.misses)},
    {"lateness_ns", "Nanoseconds", "The time from the deadline until this process left the last call.",
     FIELD(rounds.lateness_ns)},
    {"slack_needed_ns", "Nanoseconds", "The slack that this process needed in the last call.",
     FIELD(rounds.arrival.need_ns)},
    {"slack_used_ns", "Nanoseconds", "The slack of the last call.", FIELD(rounds.slack_ns)},
    {"tolerance_used_ns", "Nanoseconds", "The tolerance in force on this process.", FIELD(rounds.tolerance_ns)},
    {"barrier_used", "No unit", "The barrier algorithm in use.", .text = barrier_used},
    {"barrier_reason", "No unit", "Why this barrier algorithm is in use.", .text = barrier_reason},
    {"oversubscribed", "1 or 0", "Whether some node has more processes of comm than processors that they may use.",
     .number = oversubscribed},
};

enum { STATISTICS = sizeof statistics / sizeof *statistics };

const mh_statistic *mh_statistic_at(int index)
{
    return index < STATISTICS ? &statistics[index] : NULL;
}

bool mh_is_statistic(const char *name)
{
    for (int i = 0; i < STATISTICS; i++)
        if (mh_same_name(name, statistics[i].name))
            return true;
    return false;
}

static void describe(const mh_statistic *statistic, mh_comm_state *state, char text[TEXT_SIZE])
{
    int64_t number = MH_TIME_UNKNOWN_NS;
    if (statistic->text) {
        statistic->text(state, text);
        return;
    }
    if (statistic->number)
        number = statistic->number(state);
    else if (state)
        number = *(const int64_t *)((const char *)state + statistic->field);
    if (number == MH_TIME_UNKNOWN_NS)
        put_text(text, "unknown");
    else
        snprintf(text, TEXT_SIZE, "%" PRId64, number);
}

static int put_statistic(const mh_statistic *statistic, mh_comm_state *state, MPI_Info info, mh_error *error)
{
    char key[KEY_SIZE], text[TEXT_SIZE];
    snprintf(key, sizeof key, MH_INFO_PREFIX "%s", statistic->name);
    describe(statistic, state, text);
    /* An empty value is not allowed in an info object. */
    MH_TRY(error, PMPI_Info_set, (info, key, text[0] ? text : "none"));
    return MPI_SUCCESS;
}

int mh_info_get(mh_comm_state *state, const mh_settings *settings, MPI_Info info, mh_error *error)
{
    bool is_set = state && mh_global_clock_is_set(&state->clock.global);
    int code = mh_settings_to_info(settings, info, error);
    for (int i = 0; i < STATISTICS && code == MPI_SUCCESS; i++)
        if (is_set || statistics[i].is_always_there)
            code = put_statistic(&statistics[i], state, info, error);
    return code;
}

int mh_info_set(mh_comm_state *state, MPI_Info info, mh_error *error)
{
    mh_settings changed = state->settings;
    int code = mh_settings_from_info(&changed, info, mh_is_statistic, error);
    const mh_setting_value *now = &state->settings.values[MH_SET_CLOCK], *next = &changed.values[MH_SET_CLOCK];
    if (code == MPI_SUCCESS && mh_comm_clock_is_open(&state->clock) && next->number != now->number)
        mh_fail(error, MPI_ERR_INFO_VALUE,
                "setting " MH_INFO_PREFIX "clock: '%s' is not valid; allowed: %s, as the clock is in use", next->text,
                now->text);
    code = mh_settings_agree(&changed, MPI_ERR_INFO_VALUE, state->channel.comm, error);
    return code == MPI_SUCCESS ? mh_setup_change(state, &changed, error) : code;
}
