/* SPDX-License-Identifier: BSD-3-Clause */
#include "settings.h"

#include "clock/base_clock.h"
#include "deadline/rendezvous.h"
#include "sync/label.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define ENVIRONMENT_PREFIX "MPIX_HARMONIZE_"

extern char **environ;

static const char *yield_choice(int place)
{
    static const char *const names[] = {[MH_YIELD_AUTO] = "auto", [MH_YIELD_ALWAYS] = "always", [MH_YIELD_NEVER] = "never"};
    return place < (int)(sizeof names / sizeof *names) ? names[place] : NULL;
}

const mh_setting mh_settings_table[MH_SET_COUNT] = {
    [MH_SET_CLOCK] = {.name = "clock", .unit = "", .default_text = "auto", .type = MH_SETTING_CHOICE,
                      .choice = mh_base_clock_choice,
                      .doc = "The base clock of each process; auto takes the first one that all processes can use."},
    [MH_SET_SYNC] = {.name = "sync", .unit = "", .default_text = "track/skampi/20+prop", .type = MH_SETTING_TEXT,
                     .check = mh_label_check,
                     .doc = "How clocks are synchronised: ALGORITHM[/FIT POINTS][/ESTIMATOR[/EXCHANGES]], one for each "
                            "level of the machine, outermost first, joined by +."},
    [MH_SET_CLOCK_TARGET_NS] = {.name = "clock_target_ns", .unit = "nanoseconds", .default_text = "auto",
                                .type = MH_SETTING_INTEGER, .allows_auto = 1, .least = 1, .most = 1000000000,
                                .doc = "The clocks are synchronised again when the predicted error of a tracked clock has grown by "
                                       "this, but not so often that it would take more than 0.05 % of the time; auto is half of what "
                                       "the error is just after a synchronisation, at most 100 ns."},
    [MH_SET_RESYNC_INTERVAL_MS] = {.name = "resync_interval_ms", .unit = "milliseconds", .default_text = "auto",
                                   .type = MH_SETTING_INTEGER, .allows_auto = 1, .least = 1, .most = 86400000,
                                   .doc = "MPIX_Harmonize synchronises the clocks again when the last synchronisation is "
                                          "older than this, but never where prop has verified that all share one clock; auto follows "
                                          "clock_target_ns for tracked clocks, and is 1000 for others, or more where a "
                                          "synchronisation would else take more than 0.05 % of the time."},
    [MH_SET_RENDEZVOUS] = {.name = "rendezvous", .unit = "", .default_text = "auto", .type = MH_SETTING_CHOICE,
                           .choice = mh_rendezvous_choice,
                           .doc = "How processes report their arrival and receive the deadline."},
    [MH_SET_TOLERANCE_NS] = {.name = "tolerance_ns", .unit = "nanoseconds", .default_text = "auto",
                             .type = MH_SETTING_INTEGER, .allows_auto = 1, .least = 1, .most = 1000000000,
                             .doc = "The flag is 1 for a process that leaves at most this long after the deadline; auto is "
                                    "the larger of 500 ns and four reads of the base clock."},
    [MH_SET_SLACK_MIN_NS] = {.name = "slack_min_ns", .unit = "nanoseconds", .default_text = "auto",
                             .type = MH_SETTING_INTEGER, .allows_auto = 1, .least = 1, .most = 10000000000,
                             .doc = "The least slack, which is the time from the choice of a deadline to the deadline; auto "
                                    "is four reads of the base clock."},
    [MH_SET_SLACK_MAX_NS] = {.name = "slack_max_ns", .unit = "nanoseconds", .default_text = "100000000",
                             .type = MH_SETTING_INTEGER, .least = 1000, .most = 10000000000,
                             .doc = "The greatest slack."},
    [MH_SET_VALID_FRACTION] = {.name = "valid_fraction", .unit = "", .default_text = "auto", .type = MH_SETTING_FRACTION,
                               .allows_auto = 1, .least = 500000000, .most = 999900000,
                               .doc = "The slack is long enough for at least this part of the calls to release all processes in "
                                      "time; auto takes what yields the most valid calls in a given time."},
    [MH_SET_YIELD] = {.name = "yield", .unit = "", .default_text = "auto", .type = MH_SETTING_CHOICE, .choice = yield_choice,
                      .doc = "Whether a process that waits gives its processor away; auto: where a node has more processes than "
                             "processors that they may use."},
};

static const char *const statistic_names[] = {
    "base_clock", "base_clock_reason", "base_clock_read_ns", "bound_ns",  "calls",      "clock_age_ns", "clock_status", "disruptions", "interval_ns",
    "epoch_unix_ns", "last_error",     "lateness_ns",        "levels",    "misses",     "need_ns",
    "oversubscribed",
    "rendezvous_reason", "rendezvous_used", "slack_ns",     "syncs",              "sync_duration_ns", "sync_total_ns", "tolerance_used_ns", "version",
};

const char *mh_statistic_name(int place)
{
    int count = (int)(sizeof statistic_names / sizeof *statistic_names);
    return place < count ? statistic_names[place] : NULL;
}

void mh_settings_default(mh_settings *settings)
{
    char why[MH_ERROR_MESSAGE_SIZE];
    memset(settings, 0, sizeof *settings);
    for (int i = 0; i < MH_SET_COUNT; i++)
        mh_setting_parse(&mh_settings_table[i], mh_settings_table[i].default_text, &settings->values[i], why, sizeof why);
}

static int find_setting(const char *name)
{
    for (int i = 0; i < MH_SET_COUNT; i++)
        if (strcasecmp(name, mh_settings_table[i].name) == 0)
            return i;
    return -1;
}

static int is_statistic(const char *name)
{
    for (int i = 0; mh_statistic_name(i); i++)
        if (strcasecmp(name, mh_statistic_name(i)) == 0)
            return 1;
    return 0;
}

static void list_names(char *text, size_t size)
{
    size_t used = 0;
    for (int i = 0; i < MH_SET_COUNT && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "", mh_settings_table[i].name);
}

/* Settings that only make sense together. */
static int check_together(const mh_settings *settings, int code, mh_error *error)
{
    int64_t least = settings->values[MH_SET_SLACK_MIN_NS].number, most = settings->values[MH_SET_SLACK_MAX_NS].number;
    if (least != MH_CONFIG_AUTO && least > most)
        return mh_fail(error, code,
                       "setting slack_min_ns: '%s' is not valid; allowed: at most the value of slack_max_ns, which is %s",
                       settings->values[MH_SET_SLACK_MIN_NS].text, settings->values[MH_SET_SLACK_MAX_NS].text);
    return MPI_SUCCESS;
}

static int apply_environment_variable(mh_settings *settings, const char *entry, mh_error *error)
{
    char name[64], why[MH_ERROR_MESSAGE_SIZE];
    const char *equals = strchr(entry, '=');
    const char *suffix = entry + sizeof ENVIRONMENT_PREFIX - 1;
    snprintf(name, sizeof name, "%.*s", (int)(equals - suffix), suffix);
    int i = find_setting(name);
    if (i < 0) {
        list_names(why, sizeof why);
        return mh_fail(error, MPI_ERR_ARG, "environment variable " ENVIRONMENT_PREFIX "%s: no such setting; allowed: %s", name,
                       why);
    }
    if (mh_setting_parse(&mh_settings_table[i], equals + 1, &settings->values[i], why, sizeof why))
        return mh_fail(error, MPI_ERR_ARG, "environment variable " ENVIRONMENT_PREFIX "%s: %s", name, why);
    return MPI_SUCCESS;
}

int mh_settings_from_environment(mh_settings *settings, mh_error *error)
{
    mh_settings changed;
    mh_settings_default(settings);
    mh_settings_default(&changed);
    for (char **entry = environ; entry && *entry; entry++) {
        if (strncmp(*entry, ENVIRONMENT_PREFIX, sizeof ENVIRONMENT_PREFIX - 1) != 0 || !strchr(*entry, '='))
            continue;
        int code = apply_environment_variable(&changed, *entry, error);
        if (code != MPI_SUCCESS)
            return code;
    }
    int code = check_together(&changed, MPI_ERR_ARG, error);
    if (code == MPI_SUCCESS)
        *settings = changed;
    return code;
}

static int apply_key(mh_settings *settings, const char *key, const char *value, mh_error *error)
{
    char text[MH_ERROR_MESSAGE_SIZE];
    const char *name = key + sizeof MH_INFO_PREFIX - 1;
    int i = find_setting(name);
    if (i >= 0) {
        if (mh_setting_parse(&mh_settings_table[i], value, &settings->values[i], text, sizeof text))
            return mh_fail(error, MPI_ERR_INFO_VALUE, "setting %s: %s", key, text);
    } else if (!is_statistic(name)) {
        list_names(text, sizeof text);
        return mh_fail(error, MPI_ERR_INFO_KEY, "setting %.60s: no such setting; allowed: " MH_INFO_PREFIX "... %s", key,
                       text);
    }
    return MPI_SUCCESS;
}

static int apply_nth_key(mh_settings *settings, MPI_Info info, int n, mh_error *error)
{
    char key[MPI_MAX_INFO_KEY + 1], value[MPI_MAX_INFO_VAL + 1];
    int found;
    MH_TRY(error, PMPI_Info_get_nthkey, (info, n, key));
    if (strncasecmp(key, MH_INFO_PREFIX, sizeof MH_INFO_PREFIX - 1) != 0)
        return MPI_SUCCESS;
    MH_TRY(error, PMPI_Info_get, (info, key, MPI_MAX_INFO_VAL, value, &found));
    return found ? apply_key(settings, key, value, error) : MPI_SUCCESS;
}

int mh_settings_from_info(mh_settings *settings, MPI_Info info, mh_error *error)
{
    if (info == MPI_INFO_NULL)
        return MPI_SUCCESS;
    mh_settings changed = *settings;
    int keys = 0;
    MH_TRY(error, PMPI_Info_get_nkeys, (info, &keys));
    for (int n = 0; n < keys; n++) {
        int code = apply_nth_key(&changed, info, n, error);
        if (code != MPI_SUCCESS)
            return code;
    }
    int code = check_together(&changed, MPI_ERR_INFO_VALUE, error);
    if (code == MPI_SUCCESS)
        *settings = changed;
    return code;
}

int mh_settings_agree(const mh_settings *settings, int difference_code, MPI_Comm comm, mh_error *error)
{
    int code = mh_error_agree(error, comm);
    if (code != MPI_SUCCESS)
        return code;
    int rank;
    mh_settings first = *settings;
    MH_TRY(error, PMPI_Comm_rank, (comm, &rank));
    MH_TRY(error, PMPI_Bcast, (&first, sizeof first, MPI_BYTE, 0, comm));
    for (int i = 0; i < MH_SET_COUNT; i++)
        if (strcmp(first.values[i].text, settings->values[i].text) != 0)
            mh_fail(error, difference_code,
                    "setting %s: '%.48s' on rank %d but '%.48s' on rank 0; allowed: the same on all processes",
                    mh_settings_table[i].name, settings->values[i].text, rank, first.values[i].text);
    return mh_error_agree(error, comm);
}

int mh_settings_to_info(const mh_settings *settings, MPI_Info info, mh_error *error)
{
    for (int i = 0; i < MH_SET_COUNT; i++) {
        char key[64];
        snprintf(key, sizeof key, MH_INFO_PREFIX "%s", mh_settings_table[i].name);
        MH_TRY(error, PMPI_Info_set, (info, key, settings->values[i].text));
    }
    return MPI_SUCCESS;
}
