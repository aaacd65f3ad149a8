/* SPDX-License-Identifier: BSD-3-Clause */
/* test_label.c - labels of synchronization algorithms: what they mean, and which are refused with a reason. */
#include "support.h"
#include "sync/offset.h"
#include "sync/sync.h"
#include "sync/sync_label.h"

#include <ctype.h>

/* What a part of a label means. Where there is no estimator, its fields do not matter. */
typedef struct part {
    const char *algorithm;
    int fit_points;
    const char *estimator;
    int exchanges;
    bool recompute; /* the offset is measured again after the fit */
} part;

enum { LABEL_SIZE = 800, NAME_SIZE = 80 };

/* One of the names in a list, at random. */
static const char *any_of(const char *(*name)(int index), chance *dice)
{
    int count = 0;
    while (name(count))
        count++;
    return name((int)chance_between(dice, 0, count - 1));
}

/* A name in any case, with hyphens, underscores and blanks after any letter. */
static const char *spell(const char *name, chance *dice)
{
    static char spelled[NAME_SIZE];
    size_t used = 0;
    for (; *name; name++) {
        static const char fillers[] = "-_ ";
        spelled[used++] = (char)(chance_between(dice, 0, 1) ? toupper((unsigned char)*name) : *name);
        if (chance_between(dice, 0, 5) == 0)
            spelled[used++] = fillers[chance_between(dice, 0, 2)];
    }
    spelled[used] = '\0';
    return spelled;
}

/* Append a field, with blanks around it or none. */
static void append(char *text, chance *dice, const char *separator, const char *field)
{
    static const char *const blanks[] = {"", "", " ", "\t "};
    const char *before = blanks[chance_between(dice, 0, 3)], *after = blanks[chance_between(dice, 0, 3)];
    size_t used = strlen(text);
    snprintf(text + used, LABEL_SIZE - used, "%s%s%s%s", separator, before, field, after);
}

/* Append a count from min to 10000, whose limits come up often. */
static int append_count(char *text, chance *dice, int min)
{
    static const int widths[] = {1, 3, 32};
    const int counts[] = {min, 10000, (int)chance_between(dice, min, 10000)};
    int count = counts[chance_between(dice, 0, 2)];
    char field[40];
    snprintf(field, sizeof field, "%0*d", widths[chance_between(dice, 0, 2)], count);
    append(text, dice, "/", field);
    return count;
}

/* Append a part in which each field that may be left out is or is not. */
static part append_part(char *text, chance *dice, const char *separator)
{
    const char *algorithm = any_of(mh_sync_name, dice);
    bool fits = mh_sync_takes_fit_points(mh_sync_find(algorithm));
    part part = {algorithm, fits ? 100 : 1, NULL, 10, fits && chance_between(dice, 0, 1)};
    append(text, dice, separator, spell(algorithm, dice));
    if (part.recompute)
        append(text, dice, "/", chance_between(dice, 0, 1) ? "recompute" : "Recompute_Inter-cept");
    if (fits && chance_between(dice, 0, 1))
        part.fit_points = append_count(text, dice, 2);
    if (!mh_sync_takes_estimator(mh_sync_find(algorithm)))
        return part;
    part.estimator = "skampi";
    int fields = (int)chance_between(dice, 0, 2);
    if (fields > 0) {
        char field[NAME_SIZE];
        part.estimator = any_of(mh_offset_name, dice);
        snprintf(field, sizeof field, "%s%s", part.estimator, chance_between(dice, 0, 1) ? "offset" : "");
        append(text, dice, "/", spell(field, dice));
    }
    if (fields > 1)
        part.exchanges = append_count(text, dice, 1);
    return part;
}

static void expect_part(const char *text, int place, const mh_label_part *got, const part *wanted)
{
    EXPECT(got->algorithm == mh_sync_find(wanted->algorithm) && got->fit_points == wanted->fit_points &&
               got->recompute == wanted->recompute,
           "'%s', part %d: algorithm %d with %d points", text, place, got->algorithm, got->fit_points);
    /* The burst that verifies a shared clock needs an estimator and a count as well. */
    EXPECT(mh_offset_name(got->estimator) && got->exchanges >= 1, "'%s', part %d: no estimator, or no exchanges", text,
           place);
    if (!wanted->estimator)
        return;
    EXPECT(got->estimator == mh_offset_find(wanted->estimator) && got->exchanges == wanted->exchanges,
           "'%s', part %d: %d exchanges by estimator %d", text, place, got->exchanges, got->estimator);
}

TEST(good_label_means_what_it_says)
{
    for (int round = 0; round < rounds_of(2000); round++) {
        chance dice = chance_of_round(round);
        char text[LABEL_SIZE] = "", why[256] = "";
        part parts[MH_MAX_LEVELS];
        mh_label label;
        int levels = (int)chance_between(&dice, 1, MH_MAX_LEVELS);
        bool synchronizes = true;
        for (int i = 0; i < levels; i++) {
            parts[i] = append_part(text, &dice, i > 0 ? "+" : "");
            synchronizes &= strcmp(parts[i].algorithm, "none") != 0;
        }
        EXPECT(mh_label_parse(text, &label, why, sizeof why) == 0, "'%s' is refused; allowed: %s", text, why);
        EXPECT(label.levels == levels, "'%s' has %d levels instead of %d", text, label.levels, levels);
        for (int i = 0; i < levels; i++)
            expect_part(text, i, &label.parts[i], &parts[i]);
        EXPECT(mh_label_synchronizes(&label) == synchronizes, "'%s' is said %sto make clocks agree", text,
               synchronizes ? "not " : "");
        EXPECT(mh_label_check(text, why, sizeof why) == 0, "'%s' parses, but its check fails", text);
    }
}

/* What the reason must name. */
#define A_FAMILY "hca3"
#define FIT_POINTS "from 2 to 10000"
#define EXCHANGES "from 1 to 10000"
#define LEVELS "at most 4 levels"

/* What makes a part bad, in the place of %s. */
#define NO_COUNTS "", "0", "-5", " -5", "1-0", "1 0", "10001", "10x", "0x10", "1e3", "10.5"
#define TOO_GREAT "4294967298", "18446744073709551618", "99999999999999999999999999999999999"

static const struct {
    const char *form, *reason, *values[20];
} bad[] = {
    {"%s", A_FAMILY, {"", " ", "-", "/", "/100", "hca1", "hca4", "hca33", "jk2", "prop2", "hca3,prop", "hca3\n"}},
    {"%s", A_FAMILY, {"auto", "tracker", "skampi-offset", "recompute", "recompute/hca3"}},
    {"hca3/%s", FIT_POINTS, {NO_COUNTS, TOO_GREAT, "1", "1/skampi/10", "/skampi"}},
    {"jk/%s", FIT_POINTS, {"1", "0/skampi/10", "recompute/1", "00000000000000000000000000001000000"}},
    {"hca3/100/%s", "skampi", {"", "offset", "skampi2", "median/10", "10", "/10", "recompute"}},
    {"hca2/recompute/%s", "skampi", {"recompute"}},
    {"hca3o/%s", "skampi", {"", "100", "recompute"}},
    {"track/%s", "skampi", {"", "100", "recompute"}},
    {"skampi/%s", "skampi", {"", "100", "skampi/10/1"}},
    {"hca3/100/skampi/%s", EXCHANGES, {NO_COUNTS, TOO_GREAT, "ten", "recompute", "0000000000000000010000000"}},
    {"skampi/meanrtt/%s", EXCHANGES, {"0", "10001"}},
    {"hca3/100/skampi/10/%s", "hca3", {"", "5"}},
    {"hca3o/skampi/10/%s", "hca3o", {"1"}},
    {"none/%s", "none", {"recompute", "skampi"}},
    {"prop/%s", "prop", {"", "3"}},
    {"%s+prop+prop+prop+prop", LEVELS, {"prop", "hca3", "hca3/100/skampi/10"}},
    {"hca3+hca3+hca3+hca3+%s", LEVELS, {"", "x"}},
};

static void expect_refused(const char *text, const char *reason)
{
    mh_label label;
    char why[256] = "", again[256] = "";
    EXPECT(mh_label_parse(text, &label, why, sizeof why) == -1,
           "'%s' is accepted, as %d levels, the first with %d points", text, label.levels, label.parts[0].fit_points);
    EXPECT(strstr(why, reason), "'%s' is refused with '%s', which does not name '%s'", text, why, reason);
    EXPECT(!strchr(why, '\n'), "'%s' is refused with more than one line", text);
    EXPECT(mh_label_check(text, again, sizeof again) == -1, "'%s' does not parse, but its check does not mind", text);
    EXPECT(strcmp(why, again) == 0, "'%s': the check gives another reason, '%s'", text, again);
    /* Short memory for the reason: nothing is written beyond it. */
    char untouched[sizeof why];
    memset(untouched, '#', sizeof untouched);
    for (size_t size = 1; size < 160; size++) {
        memset(why, '#', sizeof why);
        mh_label_parse(text, &label, why, size);
        EXPECT(memchr(why, '\0', size), "'%s': the reason does not end within %zu bytes", text, size);
        EXPECT(memcmp(why + size, untouched, sizeof why - size) == 0, "'%s': the reason goes on beyond %zu bytes", text,
               size);
    }
}

/* Wherever the bad part stands. */
LOOP_TEST(bad_label_is_refused_with_a_reason, COUNT_OF(bad))
{
    static const char *const around[][2] = {{"", ""}, {"prop+", ""}, {"", "+prop"}, {"track+", "+hca3"}};
    for (int value = 0; value < COUNT_OF(bad[_i].values) && bad[_i].values[value]; value++)
        for (int i = 0; i < COUNT_OF(around); i++) {
            char form[128], text[256];
            snprintf(form, sizeof form, "%s%s%s", around[i][0], bad[_i].form, around[i][1]);
            snprintf(text, sizeof text, form, bad[_i].values[value]);
            expect_refused(text, bad[_i].reason);
        }
}

TEST(long_fields_are_refused)
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
