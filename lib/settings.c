/* SPDX-License-Identifier: BSD-3-Clause */
/* settings.c - the table of settings, and how they are read from the environment and from info objects. */
#include "settings.h"

#include "pure/text.h"
#include "pure/units.h"
#include "clock/base_clock.h"
#include "release/barrier.h"
#include "sync/sync_label.h"

#include <stdio.h>
#include <string.h>

#define DELAY_MAX_NS (86400 * MH_NS_PER_S)

enum { GIVEN_SIZE = 64 }; /* for the name of any setting, as a variable or as a key */

extern char **environ;

static const char *yield_choice(int index)
{
    static const char *const names[] = {
        [MH_YIELD_AUTO] = "auto", [MH_YIELD_ALWAYS] = "always", [MH_YIELD_NEVER] = "never"};
    return index < (int)(sizeof names / sizeof *names) ? names[index] : NULL;
}

/* clang-format off */
const mh_setting mh_settings_table[MH_SET_COUNT] = {
    [MH_SET_CLOCK] = {
        .unit = "", .default_text = "auto", .type = MH_SETTING_CHOICE, .choice = mh_base_clock_choice},
    [MH_SET_SYNC] = {
        .unit = "", .default_text = "track/skampi/20+prop", .type = MH_SETTING_TEXT,
        .check = mh_label_check},
    [MH_SET_RESYNC_ERROR_NS] = {
        .unit = "nanoseconds", .default_text = "auto", .type = MH_SETTING_INTEGER,
        .allows_auto = 1, .min = 1, .max = 1000000000},
    [MH_SET_RESYNC_INTERVAL_NS] = {
        .unit = "nanoseconds", .default_text = "auto", .type = MH_SETTING_INTEGER,
        .allows_auto = 1, .min = MH_NS_PER_MS, .max = 86400 * MH_NS_PER_S},
    [MH_SET_WANDER_MAX_PPB_PER_S] = {
        .unit = "ppb per second", .default_text = "100", .type = MH_SETTING_INTEGER,
        .min = 1, .max = 1000000},
    [MH_SET_HISTORY] = {
        .unit = "synchronizations", .default_text = "1000", .type = MH_SETTING_INTEGER,
        .min = 2, .max = 1000000},
    [MH_SET_BARRIER] = {
        .unit = "", .default_text = "auto", .type = MH_SETTING_CHOICE, .choice = mh_barrier_choice},
    [MH_SET_TOLERANCE_NS] = {
        .unit = "nanoseconds", .default_text = "auto", .type = MH_SETTING_INTEGER,
        .allows_auto = 1, .min = 1, .max = 1000000000},
    [MH_SET_SLACK_MIN_NS] = {
        .unit = "nanoseconds", .default_text = "auto", .type = MH_SETTING_INTEGER,
        .allows_auto = 1, .min = 1, .max = 10000000000},
    [MH_SET_SLACK_MAX_NS] = {
        .unit = "nanoseconds", .default_text = "100000000", .type = MH_SETTING_INTEGER,
        .min = 1000, .max = 10000000000},
    [MH_SET_VALID_FRACTION] = {
        .unit = "", .default_text = "auto", .type = MH_SETTING_FRACTION,
        .allows_auto = 1, .min = 500000000, .max = 999900000},
    [MH_SET_DELAY_MAX_NS] = {
        .unit = "nanoseconds", .default_text = "10000000000", .type = MH_SETTING_INTEGER,
        .min = 0, .max = DELAY_MAX_NS},
    [MH_SET_YIELD] = {
        .unit = "", .default_text = "auto", .type = MH_SETTING_CHOICE, .choice = yield_choice},
};
/* clang-format on */

/* Set one setting; if the text is not good, return -1 and why, as mh_setting_parse does. */
static int set(mh_settings *settings, int i, const char *text, char *why, size_t why_size)
{
    if (mh_setting_parse(&mh_settings_table[i], text, &settings->values[i], why, why_size))
        return -1;
    return i == MH_SET_SYNC ? mh_label_parse(settings->values[i].text, &settings->sync, why, why_size) : 0;
}

void mh_settings_default(mh_settings *settings)
{
    char why[MH_ERROR_MESSAGE_SIZE];
    memset(settings, 0, sizeof *settings);
    for (int i = 0; i < MH_SET_COUNT; i++)
        set(settings, i, mh_settings_table[i].default_text, why, sizeof why);
}

/* A source of settings, and the names under which it gave them. */
typedef struct mh_source {
    const char *kind;
    int bad_value;                        /* the error class */
    bool (*is_ignored)(const char *name); /* for names that are not settings */
    char given[MH_SET_COUNT][GIVEN_SIZE]; /* empty: not given */
} mh_source;

static int apply_value(mh_settings *settings, mh_source *from, int i, const char *given, const char *text,
                       mh_error *error)
{
    const mh_setting_value before = settings->values[i];
    const char *now = settings->values[i].text;
    char why[MH_ERROR_MESSAGE_SIZE];
    if (set(settings, i, text, why, sizeof why))
        return mh_fail(error, from->bad_value, "%s %s: %s", from->kind, given, why);
    if (from->given[i][0] && strcmp(now, before.text) != 0)
        return mh_fail(error, from->bad_value,
                       "%s %s: '%.32s' is not valid; allowed: '%.32s', as %s is the same setting", from->kind, given,
                       now, before.text, from->given[i]);
    snprintf(from->given[i], GIVEN_SIZE, "%s", given);
    return MPI_SUCCESS;
}

/* Check settings that depend on each other. At least one of two that do not fit was given. */
static int check_together(const mh_settings *settings, const mh_source *from, mh_error *error)
{
    const mh_setting_value *min = &settings->values[MH_SET_SLACK_MIN_NS];
    const mh_setting_value *max = &settings->values[MH_SET_SLACK_MAX_NS];
    if (min->number == MH_CONFIG_AUTO || min->number <= max->number)
        return MPI_SUCCESS;
    bool is_min = from->given[MH_SET_SLACK_MIN_NS][0] != '\0';
    return mh_fail(error, from->bad_value,
                   "%s %s: '%s' is not valid; allowed: at %s the value of slack_%s_ns, which is %s", from->kind,
                   from->given[is_min ? MH_SET_SLACK_MIN_NS : MH_SET_SLACK_MAX_NS], is_min ? min->text : max->text,
                   is_min ? "most" : "least", is_min ? "max" : "min", is_min ? max->text : min->text);
}

/* ---- The environment */

/* The setting of an entry of the environment; -1: none. */
static int find_variable(const char *entry, char given[GIVEN_SIZE])
{
    if (!mh_has_prefix(entry, MH_VARIABLE_PREFIX) || !strchr(entry, '='))
        return -1;
    snprintf(given, GIVEN_SIZE, "%.*s", (int)strcspn(entry, "="), entry);
    return mh_setting_find(given + sizeof MH_VARIABLE_PREFIX - 1);
}

int mh_settings_from_environment(mh_settings *settings, mh_error *error)
{
    mh_settings changed;
    mh_source from = {.kind = "environment variable", .bad_value = MPI_ERR_ARG};
    int code = MPI_SUCCESS;
    mh_settings_default(settings);
    mh_settings_default(&changed);
    for (char **entry = environ; entry && *entry && code == MPI_SUCCESS; entry++) {
        char given[GIVEN_SIZE];
        int i = find_variable(*entry, given);
        if (i >= 0)
            code = apply_value(&changed, &from, i, given, strchr(*entry, '=') + 1, error);
    }
    if (code == MPI_SUCCESS)
        code = check_together(&changed, &from, error);
    if (code == MPI_SUCCESS)
        *settings = changed;
    return code;
}

/* Append the name of an entry. Returns the new length of text, or size if the name does not fit. */
static size_t append_name(char *text, size_t size, size_t used, const char *entry)
{
    static const char more[] = "...";
    size_t length = strcspn(entry, "="), needed = used + (used ? 2 : 0) + length;
    if (needed + sizeof more > size) {
        snprintf(text + used, size - used, "%s", more);
        return size;
    }
    snprintf(text + used, size - used, "%s%.*s", used ? ", " : "", (int)length, entry);
    for (char *c = text + used; *c; c++)
        if (mh_is_control(*c))
            *c = ' ';
    return needed;
}

void mh_settings_ignored_environment(char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (char **entry = environ; entry && *entry && used < size; entry++)
        if (mh_variable_is_unknown(*entry))
            used = append_name(text, size, used, *entry);
}

/* ---- Info objects */

static int apply_key(mh_settings *settings, mh_source *from, const char *key, const char *value, mh_error *error)
{
    char names[MH_ERROR_MESSAGE_SIZE];
    size_t used = 0;
    const char *name = key + sizeof MH_INFO_PREFIX - 1;
    int i = mh_setting_find(name);
    if (i >= 0)
        return apply_value(settings, from, i, key, value, error);
    if (from->is_ignored(name))
        return MPI_SUCCESS;
    for (i = 0; i < MH_SET_COUNT && used < sizeof names; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", mh_setting_names[i]);
    return mh_fail(error, MPI_ERR_INFO_KEY, "info key %.60s: no such setting; allowed: " MH_INFO_PREFIX "... %s", key,
                   names);
}

static int apply_nth_key(mh_settings *settings, mh_source *from, MPI_Info info, int n, mh_error *error)
{
    char key[MPI_MAX_INFO_KEY + 1], value[MPI_MAX_INFO_VAL + 1];
    int found;
    MH_TRY(error, PMPI_Info_get_nthkey, (info, n, key));
    if (!mh_has_prefix(key, MH_INFO_PREFIX))
        return MPI_SUCCESS;
    MH_TRY(error, PMPI_Info_get, (info, key, MPI_MAX_INFO_VAL, value, &found));
    return found ? apply_key(settings, from, key, value, error) : MPI_SUCCESS;
}

int mh_settings_from_info(mh_settings *settings, MPI_Info info, bool (*is_ignored)(const char *name), mh_error *error)
{
    if (info == MPI_INFO_NULL)
        return MPI_SUCCESS;
    mh_settings changed = *settings;
    mh_source from = {.kind = "info key", .bad_value = MPI_ERR_INFO_VALUE, .is_ignored = is_ignored};
    int keys = 0, code = MPI_SUCCESS;
    MH_TRY(error, PMPI_Info_get_nkeys, (info, &keys));
    for (int n = 0; n < keys && code == MPI_SUCCESS; n++)
        code = apply_nth_key(&changed, &from, info, n, error);
    if (code == MPI_SUCCESS)
        code = check_together(&changed, &from, error);
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
    mh_setting_value first[MH_SET_COUNT];
    memcpy(first, settings->values, sizeof first);
    MH_TRY(error, PMPI_Comm_rank, (comm, &rank));
    MH_TRY(error, PMPI_Bcast, (first, sizeof first, MPI_BYTE, 0, comm));
    for (int i = 0; i < MH_SET_COUNT; i++)
        if (strcmp(first[i].text, settings->values[i].text) != 0)
            mh_fail(error, difference_code,
                    "setting " MH_INFO_PREFIX
                    "%s: '%.48s' on rank %d but '%.48s' on rank 0; allowed: the same on all processes",
                    mh_setting_names[i], settings->values[i].text, rank, first[i].text);
    return mh_error_agree(error, comm);
}

int mh_settings_to_info(const mh_settings *settings, MPI_Info info, mh_error *error)
{
    for (int i = 0; i < MH_SET_COUNT; i++) {
        char key[64];
        snprintf(key, sizeof key, MH_INFO_PREFIX "%s", mh_setting_names[i]);
        MH_TRY(error, PMPI_Info_set, (info, key, settings->values[i].text));
    }
    return MPI_SUCCESS;
}
