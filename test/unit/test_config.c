/* SPDX-License-Identifier: BSD-3-Clause */
/* test_config.c - settings: what each accepts and refuses, with which message, and what the environment does. */
#include "base/error.h"
#include "settings.h"
#include "support.h"

#include <ctype.h>

extern char **environ;

#define PREFIX "MPIX_HARMONIZE_"

static const mh_setting *setting_at(int place)
{
    return &mh_settings_table[place];
}

static void expect_in(const mh_setting *setting, const char *text, const char *message, const char *wanted)
{
    EXPECT(strstr(message, wanted) != NULL, "%s = '%s': the message '%s' does not show '%s'", setting->name, text,
           message, wanted);
}

/* The message says what is allowed: limits, or all names. */
static void expect_allowed(const mh_setting *setting, const char *text, const char *message)
{
    char least[32], most[32];
    snprintf(least, sizeof least, "from %" PRId64, setting->least);
    snprintf(most, sizeof most, "to %" PRId64, setting->most);
    switch (setting->type) {
    case MH_SETTING_INTEGER:
        expect_in(setting, text, message, least);
        expect_in(setting, text, message, most);
        if (setting->allows_auto)
            expect_in(setting, text, message, "auto");
        break;
    case MH_SETTING_FRACTION:
        expect_in(setting, text, message, "a number from 0.");
        break;
    case MH_SETTING_CHOICE:
        for (int i = 0; setting->choice(i); i++)
            expect_in(setting, text, message, setting->choice(i));
        break;
    case MH_SETTING_TEXT:
        break;
    }
}

static void expect_printable(const char *text, const char *message)
{
    for (const char *c = message; *c; c++)
        EXPECT(isprint((unsigned char)*c) || *c == '\t', "'%s': the message is no printable line: '%s'", text, message);
}

static void expect_refused(int place, const char *text)
{
    const mh_setting *setting = setting_at(place);
    mh_setting_value value, before;
    char why[MH_ERROR_MESSAGE_SIZE] = "", shown[40];
    memset(&value, 0x5a, sizeof value);
    before = value;
    EXPECT(mh_setting_parse(setting, text, &value, why, sizeof why) == -1, "%s = '%s' is accepted as '%s'",
           setting->name, text, value.text);
    EXPECT(memcmp(&value, &before, sizeof value) == 0, "%s = '%s' is refused, but changes the value", setting->name,
           text);
    /* As far as it can be shown. */
    snprintf(shown, sizeof shown, "'%.*s", (int)(strcspn(text, "\t\n\a") < 20 ? strcspn(text, "\t\n\a") : 20), text);
    expect_in(setting, text, why, shown);
    expect_in(setting, text, why, "allowed: ");
    expect_allowed(setting, text, why);
    expect_printable(text, why);
}

static mh_setting_value expect_accepted(int place, const char *text)
{
    mh_setting_value value;
    char why[MH_ERROR_MESSAGE_SIZE] = "";
    memset(&value, 0x5a, sizeof value);
    int code = mh_setting_parse(setting_at(place), text, &value, why, sizeof why);
    EXPECT(code == 0, "%s = '%s' is refused: %s", setting_at(place)->name, text, why);
    return value;
}

/* ---- The table */

START_TEST(table_entry_is_complete)
{
    const mh_setting *setting = setting_at(_i);
    EXPECT(setting->name && setting->name[0], "setting %d has no name", _i);
    EXPECT(setting->unit && setting->doc && setting->doc[0], "%s has no unit or no description", setting->name);
    for (const char *c = setting->name; *c; c++)
        EXPECT(islower((unsigned char)*c) || isdigit((unsigned char)*c) || *c == '_',
               "%s: a name is of lower case letters", setting->name);
    for (int other = 0; other < _i; other++)
        EXPECT(strcmp(setting->name, setting_at(other)->name) != 0, "%s is there twice", setting->name);
    for (int i = 0; mh_statistic_name(i); i++)
        EXPECT(strcmp(setting->name, mh_statistic_name(i)) != 0, "%s is a setting and a statistic", setting->name);
    EXPECT(setting->type != MH_SETTING_INTEGER || setting->least < setting->most, "%s has no range", setting->name);
    EXPECT(setting->type != MH_SETTING_INTEGER || setting->unit[0], "%s has no unit", setting->name);
    EXPECT(setting->type != MH_SETTING_CHOICE || (setting->choice && setting->choice(0)), "%s has no choice",
           setting->name);
    EXPECT(setting->type != MH_SETTING_TEXT || setting->check, "%s has no check", setting->name);
}
END_TEST

START_TEST(statistics_have_different_names)
{
    for (int i = 0; mh_statistic_name(i); i++)
        for (int other = 0; other < i; other++)
            EXPECT(strcmp(mh_statistic_name(i), mh_statistic_name(other)) != 0, "%s is there twice",
                   mh_statistic_name(i));
    EXPECT(mh_statistic_name(0) != NULL, "there are no statistics");
}
END_TEST

/* ---- What holds for every setting */

START_TEST(default_is_accepted)
{
    const mh_setting *setting = setting_at(_i);
    mh_setting_value value = expect_accepted(_i, setting->default_text);
    EXPECT(strcmp(value.text, setting->default_text) == 0, "%s: the default '%s' is kept as '%s'", setting->name,
           setting->default_text, value.text);
    mh_settings settings;
    mh_settings_default(&settings);
    EXPECT(settings.values[_i].number == value.number && strcmp(settings.values[_i].text, value.text) == 0,
           "%s is '%s' by default instead of '%s'", setting->name, settings.values[_i].text, value.text);
}
END_TEST

START_TEST(blanks_around_and_case_do_not_matter)
{
    static const char *const around[][2] = {{" ", ""}, {"", " "}, {"  \t", "\t  "}, {"\n", "\r\n"}};
    const mh_setting *setting = setting_at(_i);
    mh_setting_value plain = expect_accepted(_i, setting->default_text);
    for (int i = 0; i < COUNT_OF(around); i++) {
        char text[MH_CONFIG_TEXT_SIZE];
        snprintf(text, sizeof text, "%s%s%s", around[i][0], setting->default_text, around[i][1]);
        for (char *c = text; *c; c++)
            *c = (char)toupper((unsigned char)*c);
        mh_setting_value value = expect_accepted(_i, text);
        EXPECT(value.number == plain.number && strcmp(value.text, plain.text) == 0, "%s: '%s' is kept as '%s'",
               setting->name, text, value.text);
    }
}
END_TEST

START_TEST(values_without_sense_are_refused)
{
    static const char *const texts[] = {"", " ", "\t", "   \t  ", "nonsense", "-", "+", "'", "%s%n", "\"", "0x", "1;2"};
    for (int i = 0; i < COUNT_OF(texts); i++)
        expect_refused(_i, texts[i]);
}
END_TEST

START_TEST(junk_after_a_value_is_refused)
{
    static const char *const junk[] = {"x", " x", ",", "'", ";", "=1", ".", "\\"};
    for (int i = 0; i < COUNT_OF(junk); i++) {
        char text[MH_CONFIG_TEXT_SIZE];
        snprintf(text, sizeof text, "%s%s", setting_at(_i)->default_text, junk[i]);
        expect_refused(_i, text);
    }
}
END_TEST

/* Messages are one line, whatever the value is. */
START_TEST(value_of_two_lines_is_refused_with_one)
{
    expect_refused(_i, "1\n1");
    expect_refused(_i, "auto\nauto");
    expect_refused(_i, "1\a\x1b[31m");
}
END_TEST

START_TEST(overlong_value_is_refused)
{
    static char text[70000];
    static const int lengths[] = {MH_CONFIG_TEXT_SIZE - 1, MH_CONFIG_TEXT_SIZE, MH_CONFIG_TEXT_SIZE + 1, 1000, 69999};
    for (int i = 0; i < COUNT_OF(lengths); i++) {
        memset(text, '9', (size_t)lengths[i]);
        text[lengths[i]] = '\0';
        expect_refused(_i, text);
    }
    /* Blanks around do not count. */
    memset(text, ' ', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    memcpy(text + 1000, setting_at(_i)->default_text, strlen(setting_at(_i)->default_text));
    expect_accepted(_i, text);
}
END_TEST

/* ---- Values of single settings */

static const struct {
    int setting;
    const char *text;
    int64_t number;
    const char *kept; /* NULL: as given */
} good[] = {
    {MH_SET_CLOCK, "auto", 0, NULL},
    {MH_SET_CLOCK, "tsc", 1, NULL},
    {MH_SET_CLOCK, "monotonic_raw", 2, NULL},
    {MH_SET_CLOCK, "monotonic", 3, NULL},
    {MH_SET_CLOCK, "realtime", 4, NULL},
    {MH_SET_CLOCK, "wtime", 5, NULL},
    {MH_SET_CLOCK, " TSC\t", 1, "tsc"},
    {MH_SET_SYNC, "none", 0, NULL},
    {MH_SET_SYNC, "HCA3/100/SKaMPI-Offset/10 + Prop", 0, "hca3/100/skampi-offset/10 + prop"},
    {MH_SET_RESYNC_INTERVAL_MS, "auto", MH_CONFIG_AUTO, NULL},
    {MH_SET_CLOCK_TARGET_NS, "auto", MH_CONFIG_AUTO, NULL},
    {MH_SET_CLOCK_TARGET_NS, "1", 1, NULL},
    {MH_SET_RESYNC_INTERVAL_MS, "1", 1, NULL},
    {MH_SET_RESYNC_INTERVAL_MS, "86400000", 86400000, NULL},
    {MH_SET_RENDEZVOUS, "auto", 0, NULL},
    {MH_SET_RENDEZVOUS, "Collective", 4, "collective"},
    {MH_SET_TOLERANCE_NS, "auto", MH_CONFIG_AUTO, NULL},
    {MH_SET_TOLERANCE_NS, "AUTO", MH_CONFIG_AUTO, "auto"},
    {MH_SET_TOLERANCE_NS, "1", 1, NULL},
    {MH_SET_TOLERANCE_NS, "1000000000", 1000000000, NULL},
    {MH_SET_SLACK_MIN_NS, "auto", MH_CONFIG_AUTO, NULL},
    {MH_SET_SLACK_MIN_NS, "10000000000", INT64_C(10000000000), NULL},
    {MH_SET_SLACK_MAX_NS, "1000", 1000, NULL},
    {MH_SET_SLACK_MAX_NS, "10000000000", INT64_C(10000000000), NULL},
};

START_TEST(good_value_is_accepted)
{
    mh_setting_value value = expect_accepted(good[_i].setting, good[_i].text);
    const char *name = setting_at(good[_i].setting)->name, *kept = good[_i].kept ? good[_i].kept : good[_i].text;
    EXPECT(value.number == good[_i].number, "%s = '%s' is %" PRId64 " instead of %" PRId64, name, good[_i].text,
           value.number, good[_i].number);
    EXPECT(strcmp(value.text, kept) == 0, "%s = '%s' is kept as '%s' instead of '%s'", name, good[_i].text, value.text,
           kept);
}
END_TEST

static const struct {
    int setting;
    const char *text;
} bad[] = {
    {MH_SET_CLOCK, "hpet"},
    {MH_SET_CLOCK, "ts"},
    {MH_SET_CLOCK, "tsc2"},
    {MH_SET_CLOCK, "monotonic raw"},
    {MH_SET_CLOCK, "1"},
    {MH_SET_SYNC, "auto"},
    {MH_SET_SYNC, "hca3/1"},
    {MH_SET_SYNC, "hca3/0/skampi/10"},
    {MH_SET_SYNC, "hca3/100/skampi/10+"},
    {MH_SET_SYNC, "prop/3"},
    {MH_SET_RESYNC_INTERVAL_MS, "0"},
    {MH_SET_RESYNC_INTERVAL_MS, "-1"},
    {MH_SET_RESYNC_INTERVAL_MS, "86400001"},
    {MH_SET_RESYNC_INTERVAL_MS, "1.5"},
    {MH_SET_RENDEZVOUS, "tree2"},
    {MH_SET_RENDEZVOUS, "0"},
    {MH_SET_TOLERANCE_NS, "0"},
    {MH_SET_TOLERANCE_NS, "-1"},
    {MH_SET_TOLERANCE_NS, "1000000001"},
    {MH_SET_TOLERANCE_NS, "1e3"},
    {MH_SET_TOLERANCE_NS, "0x10"},
    {MH_SET_TOLERANCE_NS, "--5"},
    {MH_SET_TOLERANCE_NS, "1 0"},
    {MH_SET_TOLERANCE_NS, "500ns"},
    {MH_SET_TOLERANCE_NS, "automatic"},
    {MH_SET_TOLERANCE_NS, "9223372036854775807"},
    {MH_SET_TOLERANCE_NS, "9223372036854775808"},
    {MH_SET_TOLERANCE_NS, "-9223372036854775808"},
    {MH_SET_TOLERANCE_NS, "18446744073709551617"},
    {MH_SET_SLACK_MIN_NS, "0"},
    {MH_SET_SLACK_MIN_NS, "10000000001"},
    {MH_SET_SLACK_MAX_NS, "auto"},
    {MH_SET_SLACK_MAX_NS, "999"},
    {MH_SET_SLACK_MAX_NS, "10000000001"},
};

START_TEST(bad_value_is_refused)
{
    expect_refused(bad[_i].setting, bad[_i].text);
}
END_TEST

START_TEST(limits_of_integers_hold)
{
    const mh_setting *setting = setting_at(_i);
    if (setting->type != MH_SETTING_INTEGER)
        return;
    const struct {
        int64_t number;
        bool is_good;
    } edges[] = {
        {setting->least, true}, {setting->least - 1, false}, {setting->most, true}, {setting->most + 1, false}};
    for (int i = 0; i < COUNT_OF(edges); i++) {
        char text[32];
        snprintf(text, sizeof text, "%" PRId64, edges[i].number);
        if (edges[i].is_good)
            EXPECT(expect_accepted(_i, text).number == edges[i].number, "%s = '%s' is taken for another number",
                   setting->name, text);
        else
            expect_refused(_i, text);
    }
    EXPECT(setting->allows_auto || strcmp(setting->default_text, "auto") != 0, "%s is auto by default", setting->name);
}
END_TEST

/* ---- The environment */

/* Checks run in one process where they do not fork. */
static void forget_environment(void)
{
    for (char **entry = environ; entry && *entry;) {
        char name[256];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(*entry, "="), *entry);
        if (strncmp(name, PREFIX, sizeof PREFIX - 1) == 0 && strlen(name) < sizeof name - 1) {
            unsetenv(name);
            entry = environ;
        } else
            entry++;
    }
}

typedef struct variable {
    const char *name, *value;
} variable;

static int read_environment(const variable *variables, int count, mh_settings *settings, mh_error *error)
{
    memset(error, 0, sizeof *error);
    forget_environment();
    for (int i = 0; i < count && variables[i].name; i++)
        setenv(variables[i].name, variables[i].value, 1);
    int code = mh_settings_from_environment(settings, error);
    forget_environment();
    return code;
}

static void expect_defaults_except(const mh_settings *settings, int place)
{
    for (int i = 0; i < MH_SET_COUNT; i++)
        EXPECT(i == place || strcmp(settings->values[i].text, setting_at(i)->default_text) == 0,
               "%s is '%s' instead of its default", setting_at(i)->name, settings->values[i].text);
}

static const struct {
    variable variable;
    int setting;
    const char *text;
} heard[] = {
    {{PREFIX "CLOCK", "monotonic"}, MH_SET_CLOCK, "monotonic"},
    {{PREFIX "SYNC", "none"}, MH_SET_SYNC, "none"},
    {{PREFIX "RESYNC_INTERVAL_MS", " 20 "}, MH_SET_RESYNC_INTERVAL_MS, "20"},
    {{PREFIX "RENDEZVOUS", "collective"}, MH_SET_RENDEZVOUS, "collective"},
    {{PREFIX "TOLERANCE_NS", "AUTO"}, MH_SET_TOLERANCE_NS, "auto"},
    {{PREFIX "SLACK_MIN_NS", "123"}, MH_SET_SLACK_MIN_NS, "123"},
    {{PREFIX "SLACK_MAX_NS", "1234567"}, MH_SET_SLACK_MAX_NS, "1234567"},
    {{PREFIX "tolerance_ns", "5"}, MH_SET_TOLERANCE_NS, "5"},
    /* Not of this library. */
    {{"MPIX_HARMONIZER", "x"}, -1, NULL},
    {{"MPIX_HARMONIZE", "x"}, -1, NULL},
    {{"XMPIX_HARMONIZE_CLOCK", "x"}, -1, NULL},
};

START_TEST(environment_is_heard)
{
    mh_settings settings;
    mh_error error;
    int code = read_environment(&heard[_i].variable, 1, &settings, &error);
    EXPECT(code == MPI_SUCCESS && error.code == MPI_SUCCESS, "%s is refused: %s", heard[_i].variable.name,
           error.message);
    expect_defaults_except(&settings, heard[_i].setting);
    if (heard[_i].setting >= 0)
        EXPECT(strcmp(settings.values[heard[_i].setting].text, heard[_i].text) == 0, "%s = '%s' is heard as '%s'",
               heard[_i].variable.name, heard[_i].variable.value, settings.values[heard[_i].setting].text);
}
END_TEST

#define MOST_VARIABLES 2
#define NAMES_LONGER_THAN_THAT                                                                                         \
    PREFIX "A_NAME_THAT_IS_SO_LONG_THAT_IT_DOES_NOT_FIT_INTO_A_MESSAGE_OF_ONE_LINE_TOGETHER_WITH_WHAT_IS_ALLOWED_"     \
           "AS_NOBODY_WOULD_EVER_NAME_A_SETTING_SO_AND_YET_SOMEBODY_WILL_BY_A_MISTAKE_OF_THE_CLIPBOARD_"

static const struct {
    const char *name;
    variable variables[MOST_VARIABLES];
    const char *shown[4]; /* in the message */
} refused[] = {
    {"unknown", {{PREFIX "FOO", "1"}}, {PREFIX "FOO", "allowed: ", "tolerance_ns", "slack_max_ns"}},
    {"unknown and empty", {{PREFIX "FOO", ""}}, {PREFIX "FOO", "allowed: "}},
    {"nameless", {{PREFIX, "1"}}, {PREFIX, "allowed: "}},
    {"almost known", {{PREFIX "TOLERANCE", "1"}}, {PREFIX "TOLERANCE", "tolerance_ns"}},
    {"more than known", {{PREFIX "TOLERANCE_NSS", "1"}}, {PREFIX "TOLERANCE_NSS", "tolerance_ns"}},
    {"long", {{NAMES_LONGER_THAN_THAT, "1"}}, {PREFIX "A_NAME_THAT_IS_SO_LONG", "allowed: ", "slack_max_ns"}},
    {"a statistic", {{PREFIX "CALLS", "1"}}, {PREFIX "CALLS", "allowed: "}},
    {"bad clock", {{PREFIX "CLOCK", "sundial"}}, {PREFIX "CLOCK", "'sundial'", "monotonic_raw", "wtime"}},
    {"bad label", {{PREFIX "SYNC", "ntp/100"}}, {PREFIX "SYNC", "'ntp/100'", "hca3o", "meanrtt"}},
    {"bad long label",
     {{PREFIX "SYNC", "hca3/100/skampi/10+hca3/100/skampi/10+ntp"}},
     {PREFIX "SYNC", "'hca3/100", "hca3o", "meanrtt"}},
    {"bad interval",
     {{PREFIX "RESYNC_INTERVAL_MS", "-5"}},
     {PREFIX "RESYNC_INTERVAL_MS", "'-5'", "from 1 to 86400000", "milliseconds"}},
    {"empty", {{PREFIX "TOLERANCE_NS", ""}}, {PREFIX "TOLERANCE_NS", "''", "auto", "from 1 to 1000000000"}},
    {"blank", {{PREFIX "TOLERANCE_NS", "  "}}, {PREFIX "TOLERANCE_NS", "'  '", "auto", "from 1 to 1000000000"}},
    {"least above most",
     {{PREFIX "SLACK_MIN_NS", "2000"}, {PREFIX "SLACK_MAX_NS", "1999"}},
     {"slack_min_ns", "'2000'", "slack_max_ns", "1999"}},
    {"least above the default most",
     {{PREFIX "SLACK_MIN_NS", "100000001"}},
     {"slack_min_ns", "'100000001'", "slack_max_ns", "100000000"}},
    {"one good, one bad",
     {{PREFIX "CLOCK", "monotonic"}, {PREFIX "TOLERANCE_NS", "x"}},
     {PREFIX "TOLERANCE_NS", "'x'"}},
    {"one bad, one good",
     {{PREFIX "TOLERANCE_NS", "x"}, {PREFIX "CLOCK", "monotonic"}},
     {PREFIX "TOLERANCE_NS", "'x'"}},
};

START_TEST(bad_environment_is_refused)
{
    mh_settings settings;
    mh_error error;
    memset(&settings, 0x5a, sizeof settings);
    int code = read_environment(refused[_i].variables, MOST_VARIABLES, &settings, &error);
    EXPECT(code == MPI_ERR_ARG && error.code == MPI_ERR_ARG,
           "%s: the code is %d, of the error %d, instead of MPI_ERR_ARG", refused[_i].name, code, error.code);
    expect_defaults_except(&settings, -1);
    for (int i = 0; i < COUNT_OF(refused[_i].shown) && refused[_i].shown[i]; i++)
        EXPECT(strstr(error.message, refused[_i].shown[i]) != NULL, "%s: the message '%s' does not show '%s'",
               refused[_i].name, error.message, refused[_i].shown[i]);
    expect_printable(refused[_i].name, error.message);
}
END_TEST

static const struct {
    const char *name;
    variable variables[MOST_VARIABLES];
} together[] = {
    {"nothing", {{NULL, NULL}}},
    {"least is most", {{PREFIX "SLACK_MIN_NS", "2000"}, {PREFIX "SLACK_MAX_NS", "2000"}}},
    {"automatic least, small most", {{PREFIX "SLACK_MIN_NS", "auto"}, {PREFIX "SLACK_MAX_NS", "1000"}}},
    {"great least and most", {{PREFIX "SLACK_MIN_NS", "10000000000"}, {PREFIX "SLACK_MAX_NS", "10000000000"}}},
};

START_TEST(limits_that_agree_are_accepted)
{
    mh_settings settings;
    mh_error error;
    int code = read_environment(together[_i].variables, MOST_VARIABLES, &settings, &error);
    EXPECT(code == MPI_SUCCESS, "%s: refused: %s", together[_i].name, error.message);
}
END_TEST

/* A failure that is already described stays. */
START_TEST(first_description_of_a_failure_stays)
{
    mh_error error = {MPI_SUCCESS, ""};
    EXPECT(mh_fail(&error, MPI_ERR_ARG, "first %d", 1) == MPI_ERR_ARG, "the code is not returned");
    EXPECT(mh_fail(&error, MPI_ERR_OTHER, "second") == MPI_ERR_OTHER, "the code of the second is not returned");
    EXPECT(error.code == MPI_ERR_ARG && strcmp(error.message, "first 1") == 0,
           "the second took the place of the first: '%s'", error.message);
    char long_text[2 * MH_ERROR_MESSAGE_SIZE];
    memset(long_text, 'x', sizeof long_text - 1);
    long_text[sizeof long_text - 1] = '\0';
    error.code = MPI_SUCCESS;
    mh_fail(&error, MPI_ERR_ARG, "%s", long_text);
    EXPECT(strlen(error.message) == MH_ERROR_MESSAGE_SIZE - 1, "a long message is cut to %zu letters",
           strlen(error.message));
}
END_TEST

START_TEST(last_error_is_remembered)
{
    char text[MH_ERROR_MESSAGE_SIZE];
    mh_error error = {MPI_ERR_ARG, "what went wrong"};
    mh_error_remember(&error);
    mh_error_last(text);
    EXPECT(strcmp(text, error.message) == 0, "the last error is '%s' instead of '%s'", text, error.message);
}
END_TEST

static void add(TCase *tests)
{
    tcase_add_loop_test(tests, table_entry_is_complete, 0, MH_SET_COUNT);
    tcase_add_test(tests, statistics_have_different_names);
    tcase_add_loop_test(tests, default_is_accepted, 0, MH_SET_COUNT);
    tcase_add_loop_test(tests, blanks_around_and_case_do_not_matter, 0, MH_SET_COUNT);
    tcase_add_loop_test(tests, values_without_sense_are_refused, 0, MH_SET_COUNT);
    tcase_add_loop_test(tests, junk_after_a_value_is_refused, 0, MH_SET_COUNT);
    tcase_add_loop_test(tests, value_of_two_lines_is_refused_with_one, 0, MH_SET_COUNT);
    tcase_add_loop_test(tests, overlong_value_is_refused, 0, MH_SET_COUNT);
    tcase_add_loop_test(tests, limits_of_integers_hold, 0, MH_SET_COUNT);
    tcase_add_loop_test(tests, good_value_is_accepted, 0, COUNT_OF(good));
    tcase_add_loop_test(tests, bad_value_is_refused, 0, COUNT_OF(bad));
    tcase_add_loop_test(tests, environment_is_heard, 0, COUNT_OF(heard));
    tcase_add_loop_test(tests, bad_environment_is_refused, 0, COUNT_OF(refused));
    tcase_add_loop_test(tests, limits_that_agree_are_accepted, 0, COUNT_OF(together));
    tcase_add_test(tests, first_description_of_a_failure_stays);
    tcase_add_test(tests, last_error_is_remembered);
}

int main(void)
{
    return run_suite("config", add);
}
