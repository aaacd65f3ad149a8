/* SPDX-License-Identifier: BSD-3-Clause */
/* test_label.c - labels of synchronization algorithms: what they mean, and which are refused with a reason. */
#include "support.h"
#include "sync/offset.h"
#include "sync/sync.h"
#include "sync/sync_label.h"

/* A part that a label must yield; NULL ends the list. Where there is no estimator, its fields do not matter. */
typedef struct part {
    const char *algorithm;
    int fit_points;
    const char *estimator;
    int exchanges;
    int recompute; /* the offset is measured again after the fit */
} part;

static const struct {
    const char *text;
    part parts[MH_MAX_LEVELS];
} good[] = {
    {"hca3/100/skampi/10+prop", {{"hca3", 100, "skampi", 10, 0}, {"prop", 1, NULL, 0, 0}}},
    {"hca3", {{"hca3", 100, "skampi", 10, 0}}},
    {"hca3/50", {{"hca3", 50, "skampi", 10, 0}}},
    {"hca3/50/meanrtt", {{"hca3", 50, "meanrtt", 10, 0}}},
    {"hca3/50/meanrtt/25", {{"hca3", 50, "meanrtt", 25, 0}}},
    {"hca3o", {{"hca3o", 1, "skampi", 10, 0}}},
    {"hca3o/meanrtt", {{"hca3o", 1, "meanrtt", 10, 0}}},
    {"hca3o/skampi/1", {{"hca3o", 1, "skampi", 1, 0}}},
    {"prop", {{"prop", 1, NULL, 0, 0}}},
    {"none", {{"none", 1, NULL, 0, 0}}},
    {"None+prop", {{"none", 1, NULL, 0, 0}, {"prop", 1, NULL, 0, 0}}},
    {"skampi+none", {{"skampi", 1, "skampi", 10, 0}, {"none", 1, NULL, 0, 0}}},
    {"none+none", {{"none", 1, NULL, 0, 0}, {"none", 1, NULL, 0, 0}}},
    {"HCA3/100/SKaMPI-Offset/10", {{"hca3", 100, "skampi", 10, 0}}},
    {"hca3/100/SKaMPI_Offset/10", {{"hca3", 100, "skampi", 10, 0}}},
    {"hca3/100/skampioffset/10", {{"hca3", 100, "skampi", 10, 0}}},
    {"HCA-3/100/Mean-RTT-Offset/10", {{"hca3", 100, "meanrtt", 10, 0}}},
    {"hca3/100/mean_rtt/10", {{"hca3", 100, "meanrtt", 10, 0}}},
    {" hca3 / 100 / skampi / 10 + prop ", {{"hca3", 100, "skampi", 10, 0}, {"prop", 1, NULL, 0, 0}}},
    {"\thca3/20", {{"hca3", 20, "skampi", 10, 0}}},
    {"hca3/2/skampi/1", {{"hca3", 2, "skampi", 1, 0}}},
    {"hca3/10000/skampi/10000", {{"hca3", 10000, "skampi", 10000, 0}}},
    {"hca3/007/skampi/010", {{"hca3", 7, "skampi", 10, 0}}},
    {"hca3/00000000000000000000000000000010", {{"hca3", 10, "skampi", 10, 0}}},
    /* The grammar that users are shown brackets the fit points apart from what follows them. */
    {"hca3/skampi/20", {{"hca3", 100, "skampi", 20, 0}}},
    {"hca3+hca3o+prop", {{"hca3", 100, "skampi", 10, 0}, {"hca3o", 1, "skampi", 10, 0}, {"prop", 1, NULL, 0, 0}}},
    {"skampi", {{"skampi", 1, "skampi", 10, 0}}},
    {"skampi/meanrtt/5", {{"skampi", 1, "meanrtt", 5, 0}}},
    {"skampi/skampi/20", {{"skampi", 1, "skampi", 20, 0}}},
    {"jk", {{"jk", 100, "skampi", 10, 0}}},
    {"JK/1000/SKaMPI-Offset/100", {{"jk", 1000, "skampi", 100, 0}}},
    {"hca", {{"hca", 100, "skampi", 10, 0}}},
    {"hca/20/meanrtt/5", {{"hca", 20, "meanrtt", 5, 0}}},
    {"hca2", {{"hca2", 100, "skampi", 10, 0}}},
    {"HCA-2/20/skampi", {{"hca2", 20, "skampi", 10, 0}}},
    {"track", {{"track", 1, "skampi", 10, 0}}},
    {"track/skampi/20+prop", {{"track", 1, "skampi", 20, 0}, {"prop", 1, NULL, 0, 0}}},
    {"jk+skampi", {{"jk", 100, "skampi", 10, 0}, {"skampi", 1, "skampi", 10, 0}}},
    {"hca2/5+hca/6+track+prop",
     {{"hca2", 5, "skampi", 10, 0},
      {"hca", 6, "skampi", 10, 0},
      {"track", 1, "skampi", 10, 0},
      {"prop", 1, NULL, 0, 0}}},
    {"hca3/recompute", {{"hca3", 100, "skampi", 10, 1}}},
    {"hca3/recompute/50/skampi/20", {{"hca3", 50, "skampi", 20, 1}}},
    {"HCA3/Recompute_Intercept/50", {{"hca3", 50, "skampi", 10, 1}}},
    {"jk/recompute/meanrtt", {{"jk", 100, "meanrtt", 10, 1}}},
    {"hca/recompute/3+hca2/4", {{"hca", 3, "skampi", 10, 1}, {"hca2", 4, "skampi", 10, 0}}},
    {"hca2/5+hca/recompute/5/skampi", {{"hca2", 5, "skampi", 10, 0}, {"hca", 5, "skampi", 10, 1}}},
    {"jk/recompute-intercept+jk/recompute", {{"jk", 100, "skampi", 10, 1}, {"jk", 100, "skampi", 10, 1}}},
    {"hca3+prop+prop+prop",
     {{"hca3", 100, "skampi", 10, 0}, {"prop", 1, NULL, 0, 0}, {"prop", 1, NULL, 0, 0}, {"prop", 1, NULL, 0, 0}}},
};

static void expect_part(const char *text, int place, const mh_label_part *got, const part *wanted)
{
    EXPECT(got->algorithm == mh_sync_find(wanted->algorithm), "'%s', part %d: algorithm %d instead of %s", text, place,
           got->algorithm, wanted->algorithm);
    EXPECT(got->fit_points == wanted->fit_points, "'%s', part %d: %d fit points instead of %d", text, place,
           got->fit_points, wanted->fit_points);
    EXPECT(got->recompute == wanted->recompute, "'%s', part %d: the offset is %smeasured again", text, place,
           got->recompute ? "" : "not ");
    /* The burst that verifies a shared clock needs an estimator and a count as well. */
    EXPECT(mh_offset_name(got->estimator) && got->exchanges >= 1, "'%s', part %d: no estimator, or no exchanges", text,
           place);
    if (!wanted->estimator)
        return;
    EXPECT(got->estimator == mh_offset_find(wanted->estimator), "'%s', part %d: estimator %d instead of %s", text,
           place, got->estimator, wanted->estimator);
    EXPECT(got->exchanges == wanted->exchanges, "'%s', part %d: %d exchanges instead of %d", text, place,
           got->exchanges, wanted->exchanges);
}

START_TEST(good_label_means_what_it_says)
{
    mh_label label;
    char why[256] = "";
    int code = mh_label_parse(good[_i].text, &label, why, sizeof why);
    EXPECT(code == 0, "'%s' is refused; allowed: %s", good[_i].text, why);
    int levels = 0;
    bool lets_differ = false;
    for (; levels < MH_MAX_LEVELS && good[_i].parts[levels].algorithm; levels++)
        lets_differ |= strcmp(good[_i].parts[levels].algorithm, "none") == 0;
    EXPECT(label.levels == levels, "'%s' has %d levels instead of %d", good[_i].text, label.levels, levels);
    for (int i = 0; i < levels; i++)
        expect_part(good[_i].text, i, &label.parts[i], &good[_i].parts[i]);
    EXPECT(mh_label_synchronizes(&label) != lets_differ, "'%s' is said %sto make clocks agree", good[_i].text,
           lets_differ ? "" : "not ");
    EXPECT(mh_label_check(good[_i].text, why, sizeof why) == 0, "'%s' parses, but its check fails", good[_i].text);
}
END_TEST

/* What the reason must name. */
#define A_FAMILY "hca3"
#define FIT_POINTS "from 2 to 10000"
#define EXCHANGES "from 1 to 10000"
#define LEVELS "at most 4 levels"

static const struct {
    const char *text;
    const char *reason;
} bad[] = {
    {"", A_FAMILY},
    {" ", A_FAMILY},
    {"-", A_FAMILY},
    {"hca4", A_FAMILY},
    {"hca9", A_FAMILY},
    {"hca33", A_FAMILY},
    {"hca3,prop", A_FAMILY},
    {"auto", A_FAMILY},
    {"/", A_FAMILY},
    {"/100", A_FAMILY},
    {"+", A_FAMILY},
    {"+prop", A_FAMILY},
    {"hca3+", A_FAMILY},
    {"hca3++prop", A_FAMILY},
    {"hca3/100/skampi/10+", A_FAMILY},
    {"hca3+prop2", A_FAMILY},
    {"hca3\n", A_FAMILY},
    {"hca3/", FIT_POINTS},
    {"hca3/0", FIT_POINTS},
    {"hca3/1", FIT_POINTS},
    {"hca3/1/skampi/10", FIT_POINTS},
    {"hca3/-5", FIT_POINTS},
    {"hca3/ -5", FIT_POINTS},
    {"hca3/1-0", FIT_POINTS},
    {"hca3/1 0", FIT_POINTS},
    {"hca3/10001", FIT_POINTS},
    {"hca3/4294967298", FIT_POINTS},
    {"hca3/18446744073709551618", FIT_POINTS},
    {"hca3/99999999999999999999999999999999999", FIT_POINTS},
    {"hca3/00000000000000000000000000001000000", FIT_POINTS},
    {"hca3/100/skampi/0000000000000000000000000000010000000", EXCHANGES},
    {"hca3/10x", FIT_POINTS},
    {"hca3/0x10", FIT_POINTS},
    {"hca3/1e3", FIT_POINTS},
    {"hca3/10.5", FIT_POINTS},
    {"hca3//skampi", FIT_POINTS},
    {"hca3/100/", "skampi"},
    {"hca3/100/offset", "skampi"},
    {"hca3/100/skampi2", "skampi"},
    {"hca3/100/median/10", "skampi"},
    {"hca3/100/10", "skampi"},
    {"hca3/100//10", "skampi"},
    {"hca3/100/skampi/", EXCHANGES},
    {"hca3/100/skampi/0", EXCHANGES},
    {"hca3/100/skampi/-10", EXCHANGES},
    {"hca3/100/skampi/10001", EXCHANGES},
    {"hca3/100/skampi/ten", EXCHANGES},
    {"hca3/100/skampi/18446744073709551617", EXCHANGES},
    {"hca3/100/skampi/10/", "hca3"},
    {"hca3/100/skampi/10/5", "hca3"},
    {"hca3o/100", "skampi"},
    {"hca3o/", "skampi"},
    {"hca3o/skampi/10/1", "hca3o"},
    {"hca1", A_FAMILY},
    {"jk2", A_FAMILY},
    {"tracker", A_FAMILY},
    {"skampi-offset", A_FAMILY},
    {"recompute", A_FAMILY},
    {"recompute/hca3", A_FAMILY},
    {"jk/1", FIT_POINTS},
    {"hca/0/skampi/10", FIT_POINTS},
    {"hca2/10001", FIT_POINTS},
    {"hca3/recompute/1", FIT_POINTS},
    {"hca3/recompute/recompute", "skampi"},
    {"hca3/100/recompute", "skampi"},
    {"hca3/100/skampi/recompute", EXCHANGES},
    {"hca3o/recompute", "skampi"},
    {"track/100", "skampi"},
    {"track/recompute", "skampi"},
    {"track/skampi/0", EXCHANGES},
    {"skampi/100", "skampi"},
    {"skampi/skampi/10/1", "skampi"},
    {"skampi/meanrtt/10001", EXCHANGES},
    {"none/recompute", "none"},
    {"prop/3", "prop"},
    {"prop/", "prop"},
    {"none/skampi", "none"},
    {"hca3+prop/3", "prop"},
    {"prop+prop+prop+prop+prop", LEVELS},
    {"hca3+hca3+hca3+hca3+", LEVELS},
    {"hca3/100/skampi/10+prop+prop+prop+", LEVELS},
};

START_TEST(bad_label_is_refused_with_a_reason)
{
    mh_label label;
    char why[256] = "";
    EXPECT(mh_label_parse(bad[_i].text, &label, why, sizeof why) == -1,
           "'%s' is accepted, as %d levels, the first with %d points", bad[_i].text, label.levels,
           label.parts[0].fit_points);
    EXPECT(strstr(why, bad[_i].reason), "'%s' is refused with '%s', which does not name '%s'", bad[_i].text, why,
           bad[_i].reason);
    EXPECT(!strchr(why, '\n'), "'%s' is refused with more than one line", bad[_i].text);
    char again[256] = "";
    EXPECT(mh_label_check(bad[_i].text, again, sizeof again) == -1, "'%s' does not parse, but its check does not mind",
           bad[_i].text);
    EXPECT(strcmp(why, again) == 0, "'%s': the check gives another reason, '%s'", bad[_i].text, again);
}
END_TEST

/* Long fields, and short memory for the reason, write nothing beyond it. */
START_TEST(reason_is_cut_where_memory_ends)
{
    char why[200], untouched[sizeof why];
    mh_label label;
    memset(untouched, '#', sizeof untouched);
    for (size_t size = 1; size < 160; size++) {
        memset(why, '#', sizeof why);
        if (mh_label_parse(bad[_i].text, &label, why, size) == 0)
            continue;
        EXPECT(memchr(why, '\0', size), "'%s': the reason does not end within %zu bytes", bad[_i].text, size);
        EXPECT(memcmp(why + size, untouched, sizeof why - size) == 0, "'%s': the reason goes on beyond %zu bytes",
               bad[_i].text, size);
    }
}
END_TEST

START_TEST(long_fields_are_refused)
{
    char text[4096], why[256];
    mh_label label;
    for (size_t length = 5; length < sizeof text; length += 7) {
        memset(text, 'h', length);
        text[length] = '\0';
        EXPECT(mh_label_parse(text, &label, why, sizeof why) == -1, "a name of %zu letters is accepted", length);
        memcpy(text, "hca3/", 5);
        memset(text + 5, '1', length - 5);
        if (length > 5 + 4)
            EXPECT(mh_label_parse(text, &label, why, sizeof why) == -1, "a count of %zu digits is accepted",
                   length - 5);
    }
}
END_TEST

START_TEST(algorithms_have_names_that_find_them)
{
    int place = 0;
    for (; mh_sync_name(place); place++)
        EXPECT(mh_sync_find(mh_sync_name(place)) == place, "%s is found at %d instead of %d", mh_sync_name(place),
               mh_sync_find(mh_sync_name(place)), place);
    EXPECT(place > 0, "there are no algorithms");
    EXPECT(mh_sync_find("") == -1, "the empty name is an algorithm's");
}
END_TEST

static void add(TCase *tests)
{
    tcase_add_loop_test(tests, good_label_means_what_it_says, 0, COUNT_OF(good));
    tcase_add_loop_test(tests, bad_label_is_refused_with_a_reason, 0, COUNT_OF(bad));
    tcase_add_loop_test(tests, reason_is_cut_where_memory_ends, 0, COUNT_OF(bad));
    tcase_add_test(tests, long_fields_are_refused);
    tcase_add_test(tests, algorithms_have_names_that_find_them);
}

SUITE(label, add)
