/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_text.c - letters and numbers of settings, in the locale that the environment names: check_environment.sh runs
 * this suite, and sub-test environment_locale of mpix_test, with a decimal comma and in Turkish, whose small I has no
 * dot.
 */
#include "pure/text.h"
#include "support.h"

#include <locale.h>

TEST(characters_are_those_of_ascii)
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

TEST(names_are_compared_without_case)
{
    EXPECT(mh_same_name("YIELD", "yield") && mh_same_name("yield", "YiElD") && mh_same_name("", ""), "equal names");
    EXPECT(!mh_same_name("yield", "yiel") && !mh_same_name("yiel", "yield") && !mh_same_name("", "y"), "beginnings");
    EXPECT(!mh_same_name("yield", "y_eld") && !mh_same_name("@", "`") && !mh_same_name("[", "{"), "different names");
    EXPECT(mh_has_prefix("MPIX_i", "mpix_I") && mh_has_prefix("x", "") && !mh_has_prefix("mpi", "mpix"), "prefixes");
}

typedef struct parsed {
    const char *text;
    int64_t number;
} parsed;

static const parsed whole[] = {
    {"0", 0}, {"7", 7}, {"007", 7}, {"1234567890", 1234567890}, {"9223372036854775807", INT64_MAX}};
static const char *const not_whole[] = {"", " 1", "1 ", "+1", "-1", "1.0", "1,0", "0x1", "1e3", "1.000", "a"};
static const char *const too_great[] = {"9223372036854775808", "92233720368547758070", "99999999999999999999999"};

static void check_parsed(int (*parse)(const char *text, int64_t *number), const char *text, int64_t expected)
{
    int64_t number = -1;
    int code = parse(text, &number);
    EXPECT(number == expected && code == (expected < 0 ? -1 : 0), "'%s' is %" PRId64 ", code %d", text, number, code);
}

TEST(whole_number_is_parsed)
{
    for (int i = 0; i < COUNT_OF(whole); i++)
        check_parsed(mh_parse_whole, whole[i].text, whole[i].number);
    for (int i = 0; i < COUNT_OF(not_whole); i++)
        check_parsed(mh_parse_whole, not_whole[i], -1);
    for (int i = 0; i < COUNT_OF(too_great); i++)
        check_parsed(mh_parse_whole, too_great[i], -1);
}

/* In their shortest form. */
static const parsed billionths[] = {{"0", 0},
                                    {"1", 1000000000},
                                    {"10", INT64_C(10000000000)},
                                    {"0.5", 500000000},
                                    {"0.9999", 999900000},
                                    {"0.000000001", 1},
                                    {"12.000000034", INT64_C(12000000034)},
                                    {"9223372036.854775807", INT64_MAX}};
static const char *const not_billionths[] = {"0,5",     ".5",   "0.",   "",     ".",    "0.5x", "0.5.5",
                                             "0x0.8p0", "5e-1", "+0.5", "-0.5", " 0.5", "nan",  "inf"};
static const char *const too_great_or_fine[] = {"9223372036.854775808", "9223372037", "0.0000000001", "0.9999000000"};

TEST(fraction_is_parsed_and_formatted)
{
    check_parsed(mh_parse_billionths, "0.999900000", 999900000);
    for (int i = 0; i < COUNT_OF(billionths); i++) {
        char text[MH_BILLIONTHS_TEXT_SIZE];
        check_parsed(mh_parse_billionths, billionths[i].text, billionths[i].number);
        mh_format_billionths(billionths[i].number, text);
        ck_assert_str_eq(text, billionths[i].text);
    }
    for (int i = 0; i < COUNT_OF(not_billionths); i++)
        check_parsed(mh_parse_billionths, not_billionths[i], -1);
    for (int i = 0; i < COUNT_OF(too_great_or_fine); i++)
        check_parsed(mh_parse_billionths, too_great_or_fine[i], -1);
}

/* Says which locale it is: a name that is not known leaves "C". */
static void name_locale(TCase *tests)
{
    const char *locale = setlocale(LC_ALL, "");
    printf("# locale %s, decimal point '%s'\n", locale ? locale : "unknown", localeconv()->decimal_point);
    (void)tests;
}

SUITE(locale, name_locale)
