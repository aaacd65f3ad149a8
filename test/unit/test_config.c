/* SPDX-License-Identifier: BSD-3-Clause */
/* test_config.c - settings: what each accepts and refuses, with which message. */
#include "base/error.h"
#include "info.h"
#include "support.h"

#include <ctype.h>

static const mh_setting *setting_at(int place)
{
    return &mh_settings_table[place];
}

static const char *name_of(const mh_setting *setting)
{
    return mh_setting_names[setting - mh_settings_table];
}

static void expect_in(const mh_setting *setting, const char *text, const char *message, const char *wanted)
{
    EXPECT(strstr(message, wanted), "%s = '%s': the message '%s' does not show '%s'", name_of(setting), text, message,
           wanted);
}

/* The message says what is allowed: limits, or all names. */
static void expect_allowed(const mh_setting *setting, const char *text, const char *message)
{
    char least[32], most[32];
    snprintf(least, sizeof least, "from %" PRId64, setting->min);
    snprintf(most, sizeof most, "to %" PRId64, setting->max);
    switch (setting->type) {
    case MH_SETTING_INTEGER:
        expect_in(setting, text, message, least);
        expect_in(setting, text, message, most);
        if (setting->allows_auto)
            expect_in(setting, text, message, "auto");
        break;
    case MH_SETTING_FRACTION:
        expect_in(setting, text, message, "a number from 0.5 to 0.9999, ");
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
           name_of(setting), text, value.text);
    EXPECT(memcmp(&value, &before, sizeof value) == 0, "%s = '%s' is refused, but changes the value", name_of(setting),
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
    EXPECT(code == 0, "%s = '%s' is refused: %s", mh_setting_names[place], text, why);
    return value;
}

/* ---- The table */

START_TEST(table_entry_is_complete)
{
    const mh_setting *setting = setting_at(_i);
    EXPECT(name_of(setting) && name_of(setting)[0], "setting %d has no name", _i);
    EXPECT(setting->unit && setting->doc && setting->doc[0], "%s has no unit or no description", name_of(setting));
    for (const char *c = name_of(setting); *c; c++)
        EXPECT(islower((unsigned char)*c) || isdigit((unsigned char)*c) || *c == '_',
               "%s: a name is of lower case letters", name_of(setting));
    for (int other = 0; other < _i; other++)
        EXPECT(strcmp(name_of(setting), mh_setting_names[other]) != 0, "%s is there twice", name_of(setting));
    EXPECT(!mh_is_statistic(name_of(setting)), "%s is a setting and a statistic", name_of(setting));
    EXPECT(setting->type != MH_SETTING_INTEGER || setting->min < setting->max, "%s has no range", name_of(setting));
    EXPECT(setting->type != MH_SETTING_INTEGER || setting->unit[0], "%s has no unit", name_of(setting));
    EXPECT(setting->type != MH_SETTING_CHOICE || (setting->choice && setting->choice(0)), "%s has no choice",
           name_of(setting));
    EXPECT(setting->type != MH_SETTING_TEXT || setting->check, "%s has no check", name_of(setting));
}
END_TEST

START_TEST(statistics_are_complete)
{
    EXPECT(mh_statistic_at(0), "there are no statistics");
    for (int i = 0; mh_statistic_at(i); i++) {
        const mh_statistic *statistic = mh_statistic_at(i);
        EXPECT(statistic->unit && statistic->doc && statistic->doc[0], "%s has no unit or no description",
               statistic->name);
        int ways = (statistic->text != NULL) + (statistic->number != NULL) + (statistic->field != 0);
        EXPECT(ways == 1, "%s is read in %d ways", statistic->name, ways);
        for (int other = 0; other < i; other++)
            EXPECT(strcmp(statistic->name, mh_statistic_at(other)->name) != 0, "%s is there twice", statistic->name);
    }
}
END_TEST

/* ---- What holds for every setting */

START_TEST(default_is_accepted)
{
    const mh_setting *setting = setting_at(_i);
    mh_setting_value value = expect_accepted(_i, setting->default_text);
    EXPECT(strcmp(value.text, setting->default_text) == 0, "%s: the default '%s' is kept as '%s'", name_of(setting),
           setting->default_text, value.text);
    mh_settings settings;
    mh_settings_default(&settings);
    EXPECT(settings.values[_i].number == value.number && strcmp(settings.values[_i].text, value.text) == 0,
           "%s is '%s' by default instead of '%s'", name_of(setting), settings.values[_i].text, value.text);
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
               name_of(setting), text, value.text);
    }
}
END_TEST

/* Also of two lines, which are refused with one; and junk after a value. */
START_TEST(values_without_sense_are_refused)
{
    static const char *const texts[] = {"",     " ",  "\t", "   \t  ", "nonsense", "-",          "+",          "'",
                                        "%s%n", "\"", "0x", "1;2",     "1\n1",     "auto\nauto", "1\a\x1b[31m"};
    static const char *const junk[] = {"x", " x", ",", "'", ";", "=1", ".", "\\"};
    static char text[70000];
    static const int lengths[] = {MH_CONFIG_TEXT_SIZE - 1, MH_CONFIG_TEXT_SIZE, MH_CONFIG_TEXT_SIZE + 1, 1000, 69999};
    for (int i = 0; i < COUNT_OF(texts); i++)
        expect_refused(_i, texts[i]);
    for (int i = 0; i < COUNT_OF(junk); i++) {
        snprintf(text, sizeof text, "%s%s", setting_at(_i)->default_text, junk[i]);
        expect_refused(_i, text);
    }
    for (int i = 0; i < COUNT_OF(lengths); i++) {
        memset(text, '9', (size_t)lengths[i]);
        text[lengths[i]] = '\0';
        expect_refused(_i, text);
    }
}
END_TEST

/* Blanks count for the length, wherever they are. */
START_TEST(many_blanks_are_refused)
{
    const char *value = setting_at(_i)->default_text;
    char text[2 * MH_CONFIG_TEXT_SIZE];
    int fit = MH_CONFIG_TEXT_SIZE - 1 - (int)strlen(value);
    snprintf(text, sizeof text, "%*s%s", fit, "", value);
    EXPECT(strcmp(expect_accepted(_i, text).text, value) == 0, "%s: %d blanks change the value", mh_setting_names[_i],
           fit);
    snprintf(text, sizeof text, "%*s%s", fit + 1, "", value);
    expect_refused(_i, text);
    snprintf(text, sizeof text, "%s%*s", value, fit + 1, "");
    expect_refused(_i, text);
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
    {MH_SET_CLOCK, "cntvct", 2, NULL},
    {MH_SET_CLOCK, "monotonic_raw", 3, NULL},
    {MH_SET_CLOCK, "monotonic", 4, NULL},
    {MH_SET_CLOCK, "realtime", 5, NULL},
    {MH_SET_CLOCK, "wtime", 6, NULL},
    {MH_SET_CLOCK, " TSC\t", 1, "tsc"},
    {MH_SET_SYNC, "none", 0, NULL},
    {MH_SET_SYNC, "HCA3/100/SKaMPI-Offset/10 + Prop", 0, "hca3/100/skampi-offset/10 + prop"},
    {MH_SET_BARRIER, "auto", 0, NULL},
    {MH_SET_BARRIER, "Collective", 4, "collective"},
    {MH_SET_RESYNC_INTERVAL_NS, "1000000", 1000000, NULL},
    {MH_SET_RESYNC_INTERVAL_NS, "86400000000000", 86400000000000, NULL},
    {MH_SET_TOLERANCE_NS, "1000000000", 1000000000, NULL},
    {MH_SET_SLACK_MIN_NS, "10000000000", INT64_C(10000000000), NULL},
    {MH_SET_SLACK_MAX_NS, "10000000000", INT64_C(10000000000), NULL},
    {MH_SET_SLACK_MAX_NS, "0001000", 1000, NULL},
    {MH_SET_VALID_FRACTION, "0.5", 500000000, NULL},
    {MH_SET_VALID_FRACTION, "0.9999", 999900000, NULL},
    {MH_SET_VALID_FRACTION, "0.999900000", 999900000, NULL},
    {MH_SET_VALID_FRACTION, "0.500000001", 500000001, NULL},
    {MH_SET_VALID_FRACTION, "AUTO", MH_CONFIG_AUTO, "auto"},
};

START_TEST(good_value_is_accepted)
{
    mh_setting_value value = expect_accepted(good[_i].setting, good[_i].text);
    const char *name = mh_setting_names[good[_i].setting], *kept = good[_i].kept ? good[_i].kept : good[_i].text;
    EXPECT(value.number == good[_i].number, "%s = '%s' is %" PRId64 " instead of %" PRId64, name, good[_i].text,
           value.number, good[_i].number);
    EXPECT(strcmp(value.text, kept) == 0, "%s = '%s' is kept as '%s' instead of '%s'", name, good[_i].text, value.text,
           kept);
}
END_TEST

/* Whatever was on the stack before. */
__attribute__((noinline)) static void dirty_the_stack(void)
{
    volatile char dirt[4096];
    for (size_t i = 0; i < sizeof dirt; i++)
        dirt[i] = 0x5a;
}

/* All of it is sent to other processes. */
START_TEST(nothing_is_left_uninitialized)
{
    mh_setting_value value;
    char why[MH_ERROR_MESSAGE_SIZE];
    dirty_the_stack();
    int code = mh_setting_parse(setting_at(_i), setting_at(_i)->default_text, &value, why, sizeof why);
    EXPECT(code == 0, "%s", why);
    for (size_t i = strlen(value.text); i < sizeof value.text; i++)
        EXPECT(value.text[i] == 0, "%s: byte %zu behind the text is %#x", mh_setting_names[_i], i, value.text[i]);
}
END_TEST

static const struct {
    int setting;
    const char *texts[20];
} bad[] = {
    {MH_SET_CLOCK, {"hpet", "ts", "tsc2", "monotonic raw", "1"}},
    {MH_SET_BARRIER, {"tree2", "0"}},
    {MH_SET_SYNC, {"auto", "hca3/1", "hca3/0/skampi/10", "hca3/100/skampi/10+", "prop/3", "hca3/+100", "hca3/0x10"}},
    {MH_SET_RESYNC_INTERVAL_NS, {"-1", "999999", "86400000000001", "1000000.5"}},
    {MH_SET_TOLERANCE_NS, {"-1", "1e3", "0x10", "--5", "1 0", "500ns", "automatic", "+5", "5,0", "1'000", "1.000"}},
    {MH_SET_TOLERANCE_NS, {"9223372036854775807", "9223372036854775808", "-9223372036854775808"}},
    {MH_SET_TOLERANCE_NS, {"18446744073709551617", "0", "1000000001"}},
    {MH_SET_SLACK_MIN_NS, {"0", "10000000001"}},
    {MH_SET_SLACK_MAX_NS, {"999", "10000000001"}},
    {MH_SET_VALID_FRACTION,
     {"0.99990000000000000000001", "0.9990000000", "0.9999000001", "0.999900001", "0.499999999"}},
    {MH_SET_VALID_FRACTION, {"+0.9", "-0.9", "0,9", "9e-1", "9.0e-1", "0x0.9p0", ".9", "0.", "1", "nan", "inf"}},
    {MH_SET_VALID_FRACTION, {"18446744073709551616.9"}},
};

START_TEST(bad_value_is_refused)
{
    for (int i = 0; i < COUNT_OF(bad[_i].texts) && bad[_i].texts[i]; i++)
        expect_refused(bad[_i].setting, bad[_i].texts[i]);
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
    } edges[] = {{setting->min, true}, {setting->min - 1, false}, {setting->max, true}, {setting->max + 1, false}};
    for (int i = 0; i < COUNT_OF(edges); i++) {
        char text[32];
        snprintf(text, sizeof text, "%" PRId64, edges[i].number);
        if (edges[i].is_good)
            EXPECT(expect_accepted(_i, text).number == edges[i].number, "%s = '%s' is taken for another number",
                   name_of(setting), text);
        else
            expect_refused(_i, text);
    }
    if (setting->allows_auto)
        EXPECT(expect_accepted(_i, "auto").number == MH_CONFIG_AUTO, "%s = 'auto' is a number", name_of(setting));
    else
        expect_refused(_i, "auto");
}
END_TEST

/* A failure that is already described stays. */
START_TEST(first_description_of_a_failure_stays)
{
    mh_error error = MH_NO_ERROR;
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
    mh_error error = {.code = MPI_ERR_ARG, .message = "what went wrong"};
    mh_error_remember(&error);
    mh_error_last(text);
    EXPECT(strcmp(text, error.message) == 0, "the last error is '%s' instead of '%s'", text, error.message);
}
END_TEST

static void add(TCase *tests)
{
    tcase_add_loop_test(tests, table_entry_is_complete, 0, MH_SET_COUNT);
    tcase_add_test(tests, statistics_are_complete);
    tcase_add_loop_test(tests, default_is_accepted, 0, MH_SET_COUNT);
    tcase_add_loop_test(tests, blanks_around_and_case_do_not_matter, 0, MH_SET_COUNT);
    tcase_add_loop_test(tests, values_without_sense_are_refused, 0, MH_SET_COUNT);
    tcase_add_loop_test(tests, many_blanks_are_refused, 0, MH_SET_COUNT);
    tcase_add_loop_test(tests, limits_of_integers_hold, 0, MH_SET_COUNT);
    tcase_add_loop_test(tests, good_value_is_accepted, 0, COUNT_OF(good));
    tcase_add_loop_test(tests, nothing_is_left_uninitialized, 0, MH_SET_COUNT);
    tcase_add_loop_test(tests, bad_value_is_refused, 0, COUNT_OF(bad));
    tcase_add_test(tests, first_description_of_a_failure_stays);
    tcase_add_test(tests, last_error_is_remembered);
}

SUITE(config, add)
