/* SPDX-License-Identifier: BSD-3-Clause */
/* test_skew.c - the rows of mpix_skew of calls that are known. */
#include "bench/suite/skew.h"
#include "unit/support.h"

enum { CALLS = 2001, MAX_PRINTED = 1 << 16 };

static void read_all(FILE *file, char text[MAX_PRINTED])
{
    rewind(file);
    size_t length = fread(text, 1, MAX_PRINTED - 1, file);
    text[length] = '\0';
    fclose(file);
}

/*
 * A row of one scheme after so many repetitions, each of the same calls, of which a negative one is not valid, and each
 * of 1000 ns. raw, if not NULL: their raw rows.
 */
static void print_skews(const int64_t *skew_ticks, int count, double tick_ns, int repeats, char row[MAX_PRINTED],
                        char raw[MAX_PRINTED])
{
    static skew_run_t run;
    memset(&run, 0, sizeof run);
    run.settings.repeats = repeats;
    run.settings.schemes = 1 << SCHEME_BARRIER;
    run.settings.results.output = (output_t){.format = FORMAT_CSV, .file = tmpfile()};
    run.settings.results.raw = (output_t){.format = FORMAT_CSV, .file = raw ? tmpfile() : NULL};
    run.schemes[SCHEME_BARRIER].name = "barrier";
    for (int i = 0; i < repeats; i++) {
        int64_t ticks[CALLS], valid = 0;
        memcpy(ticks, skew_ticks, (size_t)count * sizeof ticks[0]);
        for (int k = 0; k < count; k++)
            valid += ticks[k] >= 0;
        run.schemes[SCHEME_BARRIER].tally = (tally_t){ticks, count, valid, INT64_C(1000) * count};
        skew_take_in(&run, tick_ns);
    }
    ck_assert_int_eq(skew_print(&run, tick_ns, ""), 0);
    read_all(run.settings.results.output.file, row);
    if (raw)
        read_all(run.settings.results.raw.file, raw);
}

/* The same skews in both files, also if a third decimal would round the first one to another digit. */
TEST(rows_and_raw_calls_round_alike)
{
    static const int64_t ticks[] = {1, 3967496, 3967504, 3967506, 4000000},
                         others[] = {1, 2, 3967496, 3967504, 3967506};
    char row[MAX_PRINTED], raw[MAX_PRINTED];
    print_skews(ticks, COUNT_OF(ticks), 1e-4, 1, row, raw);
    EXPECT(strstr(raw, "barrier,2,396.8,1\n"), "raw calls:\n%s", raw);
    EXPECT(strstr(row, "\nbarrier,396.8,400.0,"), "row:\n%s", row);
    print_skews(others, COUNT_OF(others), 1e-4, 1, row, raw);
    EXPECT(strstr(raw, "barrier,2,396.7,1\n"), "raw calls:\n%s", raw);
    EXPECT(strstr(row, "\nbarrier,396.7,396.8,"), "row:\n%s", row);
}

TEST(figures_of_repetitions_are_their_median)
{
    int64_t ticks[CALLS] = {-5001}; /* not valid */
    char row[MAX_PRINTED], expected[80];
    for (int i = 1; i < CALLS; i++)
        ticks[i] = i * 1999 % (CALLS - 1) + 1;
    for (int repeats = 1; repeats <= 4; repeats++) {
        print_skews(ticks, CALLS, 0.5, repeats, row, NULL);
        snprintf(expected, sizeof expected, "\nbarrier,500.0,900.0,990.0,999.0,1000.0,1000.0,%d,%d,999500\n",
                 repeats * CALLS, repeats * (CALLS - 1));
        EXPECT(strstr(row, expected), "%d repetitions:\n%s", repeats, row);
    }
}

/* As each program does, for the locale. */
static void prepare(TCase *tests)
{
    (void)tests;
    output_begin();
}

SUITE(prepare, prepare)
