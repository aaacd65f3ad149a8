/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_text.c - letters and numbers of settings, in the locale that the environment names: check_environment.sh runs
 * this suite with a decimal comma and in Turkish, whose small I has no dot.
 */
#include "base/error.h"
#include "pure/text.h"
#include "settings.h"
#include "support.h"

#include <locale.h>

START_TEST(characters_are_those_of_ascii)
{
    for (int i = 0; i < 256; i++) {
        char c = (char)i;
        bool upper = i >= 'A' && i <= 'Z', lower = i >= 'a' && i <= 'z';
        EXPECT(mh_is_letter(c) == (upper || lower), "character %d is %s letter", i, upper || lower ? "no" : "a");
        EXPECT(mh_is_digit(c) == (i >= '0' && i <= '9'), "character %d as a digit", i);
        EXPECT(mh_is_blank(c) == (i > 0 && strchr(" \t\n\v\f\r", i)), "character %d as a blank", i);
        EXPECT(mh_is_control(c) == (i < 32 || i == 127), "character %d as a control character", i);
        EXPECT(mh_to_lower(c) == (upper ? (char)(i + 32) : c), "character %d in lower case is %d", i, mh_to_lower(c));
    }
}
END_TEST

START_TEST(names_are_compared_without_case)
{
    EXPECT(mh_same_name("YIELD", "yield") && mh_same_name("yield", "YiElD") && mh_same_name("", ""), "equal names");
    EXPECT(!mh_same_name("yield", "yiel") && !mh_same_name("yiel", "yield") && !mh_same_name("", "y"), "beginnings");
    EXPECT(!mh_same_name("yield", "y_eld") && !mh_same_name("@", "`") && !mh_same_name("[", "{"), "different names");
    EXPECT(mh_has_prefix("MPIX_i", "mpix_I") && mh_has_prefix("x", "") && !mh_has_prefix("mpi", "mpix"), "prefixes");
}
END_TEST

static const struct {
    const char *text;
    int64_t number; /* -1: refused */
} whole[] = {
    {"0", 0},
    {"7", 7},
    {"007", 7},
    {"1234567890", 1234567890},
    {"9223372036854775807", INT64_MAX},
    {"9223372036854775808", -1},
    {"92233720368547758070", -1},
    {"99999999999999999999999", -1},
    {"", -1},
    {" 1", -1},
    {"1 ", -1},
    {"+1", -1},
    {"-1", -1},
    {"1.0", -1},
    {"1,0", -1},
    {"0x1", -1},
    {"1e3", -1},
    {"1.000", -1},
    {"a", -1},
};

START_TEST(whole_number_is_parsed)
{
    int64_t number = -1;
    int code = mh_parse_whole(whole[_i].text, &number);
    EXPECT(number == whole[_i].number && code == (number < 0 ? -1 : 0), "'%s' is %" PRId64 ", code %d", whole[_i].text,
           number, code);
}
END_TEST

static const struct {
    const char *text;
    int64_t billionths; /* -1: refused */
    const char *shortest;
} fractions[] = {
    {"0", 0, "0"},
    {"1", 1000000000, "1"},
    {"10", INT64_C(10000000000), "10"},
    {"0.5", 500000000, "0.5"},
    {"0.999900000", 999900000, "0.9999"},
    {"0.000000001", 1, "0.000000001"},
    {"12.000000034", INT64_C(12000000034), "12.000000034"},
    {"9223372036.854775807", INT64_MAX, "9223372036.854775807"},
    {"9223372036.854775808", -1, NULL},
    {"9223372037", -1, NULL},
    {"0.0000000001", -1, NULL},
    {"0.9999000000", -1, NULL},
    {"0,5", -1, NULL},
    {".5", -1, NULL},
    {"0.", -1, NULL},
    {"", -1, NULL},
    {".", -1, NULL},
    {"0.5x", -1, NULL},
    {"0.5.5", -1, NULL},
    {"0x0.8p0", -1, NULL},
    {"5e-1", -1, NULL},
    {"+0.5", -1, NULL},
    {"-0.5", -1, NULL},
    {" 0.5", -1, NULL},
    {"nan", -1, NULL},
    {"inf", -1, NULL},
};

START_TEST(fraction_is_parsed_and_formatted)
{
    int64_t billionths = -1;
    char text[MH_BILLIONTHS_TEXT_SIZE];
    int code = mh_parse_billionths(fractions[_i].text, &billionths);
    EXPECT(billionths == fractions[_i].billionths && code == (billionths < 0 ? -1 : 0),
           "'%s' is %" PRId64 " billionths, code %d", fractions[_i].text, billionths, code);
    if (code != 0)
        return;
    mh_format_billionths(billionths, text);
    EXPECT(strcmp(text, fractions[_i].shortest) == 0, "%" PRId64 " billionths are written '%s'", billionths, text);
}
END_TEST

/* ---- Settings as users write them */

static const struct {
    int setting;
    const char *text;
    int64_t number;
} values[] = {
    {MH_SET_VALID_FRACTION, "0.999", 999000000}, {MH_SET_CLOCK, "MONOTONIC_RAW", 2}, {MH_SET_CLOCK, "WTIME", 5},
    {MH_SET_BARRIER, "DISSEMINATION", 2},        {MH_SET_SYNC, "SKAMPI+PROP", 0},    {MH_SET_SYNC, "JK/20/SKAMPI", 0},
};

START_TEST(value_means_the_same_in_each_locale)
{
    mh_setting_value value;
    char why[MH_ERROR_MESSAGE_SIZE] = "";
    const mh_setting *setting = &mh_settings_table[values[_i].setting];
    EXPECT(mh_setting_parse(setting, values[_i].text, &value, why, sizeof why) == 0, "%s: %s",
           mh_setting_names[values[_i].setting], why);
    EXPECT(setting->type != MH_SETTING_FRACTION || value.number == values[_i].number, "%s is %" PRId64,
           mh_setting_names[values[_i].setting], value.number);
}
END_TEST

START_TEST(names_with_an_i_are_known)
{
    mh_settings settings;
    mh_error error = MH_NO_ERROR;
    setenv("MPIX_HARMONIZE_YIELD", "ALWAYS", 1);
    setenv("MPIX_HARMONIZE_VALID_FRACTION", "0.75", 1);
    int code = mh_settings_from_environment(&settings, &error);
    unsetenv("MPIX_HARMONIZE_YIELD");
    unsetenv("MPIX_HARMONIZE_VALID_FRACTION");
    EXPECT(code == MPI_SUCCESS, "%s", error.message);
    EXPECT(settings.values[MH_SET_YIELD].number == MH_YIELD_ALWAYS, "yield is '%s'",
           settings.values[MH_SET_YIELD].text);
    EXPECT(settings.values[MH_SET_VALID_FRACTION].number == 750000000, "valid_fraction is '%s'",
           settings.values[MH_SET_VALID_FRACTION].text);
}
END_TEST

START_TEST(message_has_no_decimal_comma)
{
    char allowed[160];
    mh_setting_allowed(&mh_settings_table[MH_SET_VALID_FRACTION], allowed, sizeof allowed);
    EXPECT(strstr(allowed, "from 0.5 to 0.9999,"), "allowed is '%s'", allowed);
}
END_TEST

static void add(TCase *tests)
{
    /* Says which locale it is: a name that is not known leaves "C". */
    const char *locale = setlocale(LC_ALL, "");
    printf("# locale %s, decimal point '%s'\n", locale ? locale : "unknown", localeconv()->decimal_point);
    tcase_add_test(tests, characters_are_those_of_ascii);
    tcase_add_test(tests, names_are_compared_without_case);
    tcase_add_loop_test(tests, whole_number_is_parsed, 0, COUNT_OF(whole));
    tcase_add_loop_test(tests, fraction_is_parsed_and_formatted, 0, COUNT_OF(fractions));
    tcase_add_loop_test(tests, value_means_the_same_in_each_locale, 0, COUNT_OF(values));
    tcase_add_test(tests, names_with_an_i_are_known);
    tcase_add_test(tests, message_has_no_decimal_comma);
}

SUITE(text, add)
