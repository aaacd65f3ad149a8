/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fuzz_settings.c - settings from the environment and from an info object, whose entries are the lines NAME=VALUE of
 * the input. What is accepted is accepted again in its canonical form; what is refused leaves the settings unchanged.
 */
#include "fuzz.h"
#include "info.h"

#include <stdbool.h>
#include <string.h>

extern char **environ;

enum { MAX_ENTRIES = 16 };

static char *entries[MAX_ENTRIES + 1];

/* These take the place of the MPI library's functions, so that no MPI has to be started. */

int PMPI_Info_get_nkeys(MPI_Info info, int *count)
{
    (void)info;
    for (*count = 0; entries[*count];)
        ++*count;
    return MPI_SUCCESS;
}

int PMPI_Info_get_nthkey(MPI_Info info, int n, char *key)
{
    (void)info;
    snprintf(key, MPI_MAX_INFO_KEY + 1, "%.*s", (int)strcspn(entries[n], "="), entries[n]);
    return MPI_SUCCESS;
}

int PMPI_Info_get(MPI_Info info, const char *key, int length, char *value, int *found)
{
    (void)info;
    *found = 0;
    for (int i = 0; entries[i] && !*found; i++) {
        size_t key_length = strcspn(entries[i], "=");
        if (key_length != strlen(key) || strncmp(entries[i], key, key_length) != 0)
            continue;
        snprintf(value, (size_t)length + 1, "%s", entries[i][key_length] ? entries[i] + key_length + 1 : "");
        *found = 1;
    }
    return MPI_SUCCESS;
}

static void split(char *text)
{
    int count = 0;
    for (char *line = text; line && count < MAX_ENTRIES; count++) {
        entries[count] = line;
        line = strchr(line, '\n');
        if (line)
            *line++ = '\0';
    }
    entries[count] = NULL;
}

/* Each setting has a value of its table that parses to itself. */
static void check_settings(const mh_settings *settings)
{
    char why[MH_ERROR_MESSAGE_SIZE];
    for (int i = 0; i < MH_SET_COUNT; i++) {
        const mh_setting *setting = &mh_settings_table[i];
        const mh_setting_value *value = &settings->values[i];
        mh_setting_value again;
        FUZZ_REQUIRE(mh_setting_parse(setting, value->text, &again, why, sizeof why) == 0);
        FUZZ_REQUIRE(again.number == value->number && strcmp(again.text, value->text) == 0);
        bool is_number = setting->type == MH_SETTING_INTEGER || setting->type == MH_SETTING_FRACTION;
        bool is_auto = setting->allows_auto && value->number == MH_CONFIG_AUTO;
        FUZZ_REQUIRE(!is_number || is_auto || (value->number >= setting->min && value->number <= setting->max));
    }
}

/* What is refused is explained in a line, and leaves the settings as they are by default. */
static void check_outcome(int code, const mh_settings *settings, const mh_error *error)
{
    mh_settings defaults;
    mh_settings_default(&defaults);
    check_settings(settings);
    if (code == MPI_SUCCESS)
        return;
    FUZZ_REQUIRE(error->code != MPI_SUCCESS && error->message[0]);
    FUZZ_REQUIRE(strlen(error->message) < sizeof error->message);
    FUZZ_REQUIRE(!strchr(error->message, '\n'));
    for (int i = 0; i < MH_SET_COUNT; i++)
        FUZZ_REQUIRE(strcmp(settings->values[i].text, defaults.values[i].text) == 0);
}

static void try_entries(void)
{
    char **own = environ;
    mh_settings settings;
    mh_error error = {.code = MPI_SUCCESS};
    environ = entries;
    int code = mh_settings_from_environment(&settings, &error);
    environ = own;
    check_outcome(code, &settings, &error);

    mh_settings_default(&settings);
    mh_error_clear(&error);
    code = mh_settings_from_info(&settings, MPI_INFO_ENV, mh_is_statistic, &error); /* any but the null handle */
    check_outcome(code, &settings, &error);
}

/* The whole input as the value of each setting, without names. */
static void try_values(const char *text)
{
    for (int i = 0; i < MH_SET_COUNT; i++) {
        char why[MH_ERROR_MESSAGE_SIZE] = "";
        mh_setting_value value;
        if (mh_setting_parse(&mh_settings_table[i], text, &value, why, sizeof why) != 0)
            FUZZ_REQUIRE(why[0] && strlen(why) < sizeof why);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);
    try_values(text);
    split(text);
    try_entries();
    free(text);
    return 0;
}
