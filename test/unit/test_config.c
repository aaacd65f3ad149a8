/* SPDX-License-Identifier: BSD-3-Clause */
/* test_config.c - settings: what each accepts and refuses, with which message. */
#include "base/error.h"
#include "info.h"
#include "support.h"

#include <ctype.h>

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
    const mh_setting *setting = &mh_settings_table[place];
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

/* Whatever was on the stack before. */
__attribute__((noinline)) static void dirty_the_stack(void)
{
    volatile char dirt[4096];
    for (size_t i = 0; i < sizeof dirt; i++)
        dirt[i] = 0x5a;
}

/* All of the value is sent to other processes: nothing of it is left as it was. */
static mh_setting_value expect_accepted(int place, const char *text)
{
    mh_setting_value value;
    char why[MH_ERROR_MESSAGE_SIZE] = "";
    memset(&value, 0x5a, sizeof value);
    dirty_the_stack();
    int code = mh_setting_parse(&mh_settings_table[place], text, &value, why, sizeof why);
    EXPECT(code == 0, "%s = '%s' is refused: %s", mh_setting_names[place], text, why);
    for (size_t i = strlen(value.text); i < sizeof value.text; i++)
        EXPECT(value.text[i] == 0, "%s: byte %zu behind the text is %#x", mh_setting_names[place], i, value.text[i]);
    return value;
}

/* ---- The table */

LOOP_TEST(table_entry_is_complete, MH_SET_COUNT)
{
    const mh_setting *setting = &mh_settings_table[_i];
    EXPECT(name_of(setting) && name_of(setting)[0], "setting %d has no name", _i);
    EXPECT(setting->unit, "%s has no unit", name_of(setting));
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

TEST(statistics_are_complete)
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

/* ---- What holds for every setting */

LOOP_TEST(default_is_accepted, MH_SET_COUNT)
{
    const mh_setting *setting = &mh_settings_table[_i];
    mh_setting_value value = expect_accepted(_i, setting->default_text);
    ck_assert_str_eq(value.text, setting->default_text);
    mh_settings settings;
    mh_settings_default(&settings);
    ck_assert_int_eq(settings.values[_i].number, value.number);
    ck_assert_str_eq(settings.values[_i].text, value.text);
}

LOOP_TEST(blanks_around_and_case_do_not_matter, MH_SET_COUNT)
{
    static const char *const around[][2] = {{" ", ""}, {"", " "}, {"  \t", "\t  "}, {"\n", "\r\n"}};
    const mh_setting *setting = &mh_settings_table[_i];
    mh_setting_value plain = expect_accepted(_i, setting->default_text);
    for (int i = 0; i < COUNT_OF(around); i++) {
        char text[MH_CONFIG_TEXT_SIZE];
        snprintf(text, sizeof text, "%s%s%s", around[i][0], setting->default_text, around[i][1]);
        for (char *c = text; *c; c++)
            *c = (char)toupper((unsigned char)*c);
        mh_setting_value value = expect_accepted(_i, text);
        ck_assert_int_eq(value.number, plain.number);
        ck_assert_str_eq(value.text, plain.text);
    }
}

/* Also of two lines, which are refused with one; and junk after a value. */
LOOP_TEST(values_without_sense_are_refused, MH_SET_COUNT)
{
    static const char *const texts[] = {"",     " ",  "\t", "   \t  ", "nonsense", "-",          "+",          "'",
                                        "%s%n", "\"", "0x", "1;2",     "1\n1",     "auto\nauto", "1\a\x1b[31m"};
    static const char *const junk[] = {"x", " x", ",", "'", ";", "=1", ".", "\\"};
    static char text[70000];
    static const int lengths[] = {MH_CONFIG_TEXT_SIZE - 1, MH_CONFIG_TEXT_SIZE, MH_CONFIG_TEXT_SIZE + 1, 1000, 69999};
    for (int i = 0; i < COUNT_OF(texts); i++)
        expect_refused(_i, texts[i]);
    for (int i = 0; i < COUNT_OF(junk); i++) {
        snprintf(text, sizeof text, "%s%s", mh_settings_table[_i].default_text, junk[i]);
        expect_refused(_i, text);
    }
    for (int i = 0; i < COUNT_OF(lengths); i++) {
        memset(text, '9', (size_t)lengths[i]);
        text[lengths[i]] = '\0';
        expect_refused(_i, text);
    }
}

/* Blanks count for the length, wherever they are. */
LOOP_TEST(many_blanks_are_refused, MH_SET_COUNT)
{
    const char *value = mh_settings_table[_i].default_text;
    char text[2 * MH_CONFIG_TEXT_SIZE];
    int fit = MH_CONFIG_TEXT_SIZE - 1 - (int)strlen(value);
    snprintf(text, sizeof text, "%*s%s", fit, "", value);
    ck_assert_str_eq(expect_accepted(_i, text).text, value);
    snprintf(text, sizeof text, "%*s%s", fit + 1, "", value);
    expect_refused(_i, text);
    snprintf(text, sizeof text, "%s%*s", value, fit + 1, "");
    expect_refused(_i, text);
}

/* ---- Values of single settings */

static const struct {
    int setting;
    const char *text;
    int64_t number;
    const char *kept; /* NULL: as given */
} good[] = {
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

LOOP_TEST(good_value_is_accepted, COUNT_OF(good))
{
    mh_setting_value value = expect_accepted(good[_i].setting, good[_i].text);
    ck_assert_int_eq(value.number, good[_i].number);
    ck_assert_str_eq(value.text, good[_i].kept ? good[_i].kept : good[_i].text);
}

LOOP_TEST(each_choice_is_accepted, MH_SET_COUNT)
{
    const mh_setting *setting = &mh_settings_table[_i];
    for (int i = 0; setting->choice && setting->choice(i); i++) {
        mh_setting_value value = expect_accepted(_i, setting->choice(i));
        ck_assert_int_eq(value.number, i);
        ck_assert_str_eq(value.text, setting->choice(i));
    }
}

static const struct {
    int setting;
    const char *texts[20];
} bad[] = {
    {MH_SET_CLOCK, {"hpet", "ts", "tsc2", "monotonic raw", "1"}},
    {MH_SET_BARRIER, {"tree2", "0"}},
    {MH_SET_SYNC, {"auto", "hca3/1", "hca3/0/skampi/10", "hca3/100/skampi/10+", "prop/3", "hca3/+100", "hca3/0x10"}},
    {MH_SET_RESYNC_INTERVAL_NS, {"999999", "86400000000001"}},
    {MH_SET_TOLERANCE_NS, {"0", "1000000001", "--5", "1 0", "500ns", "automatic", "5,0", "18446744073709551617"}},
    {MH_SET_SLACK_MIN_NS, {"0", "10000000001"}},
    {MH_SET_SLACK_MAX_NS, {"999", "10000000001"}},
    {MH_SET_VALID_FRACTION, {"0.9999000001", "0.999900001", "0.499999999", "0,9", "1", "18446744073709551616.9"}},
};

LOOP_TEST(bad_value_is_refused, COUNT_OF(bad))
{
    for (int i = 0; i < COUNT_OF(bad[_i].texts) && bad[_i].texts[i]; i++)
        expect_refused(bad[_i].setting, bad[_i].texts[i]);
}

LOOP_TEST(limits_of_integers_hold, MH_SET_COUNT)
{
    const mh_setting *setting = &mh_settings_table[_i];
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
            ck_assert_int_eq(expect_accepted(_i, text).number, edges[i].number);
        else
            expect_refused(_i, text);
    }
    if (setting->allows_auto)
        ck_assert_int_eq(expect_accepted(_i, "auto").number, MH_CONFIG_AUTO);
    else
        expect_refused(_i, "auto");
}

/* A failure that is already described stays. */
TEST(first_description_of_a_failure_stays)
{
    mh_error error = MH_NO_ERROR;
    ck_assert_int_eq(mh_fail(&error, MPI_ERR_ARG, "first %d", 1), MPI_ERR_ARG);
    ck_assert_int_eq(mh_fail(&error, MPI_ERR_OTHER, "second"), MPI_ERR_OTHER);
    ck_assert_int_eq(error.code, MPI_ERR_ARG);
    ck_assert_str_eq(error.message, "first 1");
    char long_text[2 * MH_ERROR_MESSAGE_SIZE];
    memset(long_text, 'x', sizeof long_text - 1);
    long_text[sizeof long_text - 1] = '\0';
    error.code = MPI_SUCCESS;
    mh_fail(&error, MPI_ERR_ARG, "%s", long_text);
    ck_assert_uint_eq(strlen(error.message), MH_ERROR_MESSAGE_SIZE - 1);
}

TEST(last_error_is_remembered)
{
    char text[MH_ERROR_MESSAGE_SIZE];
    mh_error error = {.code = MPI_ERR_ARG, .message = "what went wrong"};
    ck_assert_int_eq(mh_error_raise(MPI_COMM_NULL, &error), MPI_ERR_ARG);
    mh_error_last(text);
    ck_assert_str_eq(text, error.message);
}
