/* SPDX-License-Identifier: BSD-3-Clause */
/* test_skew.c - the rows of mpix_skew of calls that are known. */
#include "bench/skew.h"
#include "support.h"

enum { CALLS = 5, LOOP_NS = 1000 * CALLS, MAX_PRINTED = 4096 };

static void read_all(FILE *file, char text[MAX_PRINTED])
{
    rewind(file);
    size_t length = fread(text, 1, MAX_PRINTED - 1, file);
    text[length] = '\0';
    fclose(file);
}

/* A row of one scheme after so many repetitions, each of the same calls. raw, if not NULL: their raw rows. */
static void print_skews(const int64_t skew_ticks[CALLS], double tick_ns, int repeats, char row[MAX_PRINTED],
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
        int64_t ticks[CALLS];
        memcpy(ticks, skew_ticks, sizeof ticks);
        run.tallies[SCHEME_BARRIER] = (tally_t){ticks, CALLS, CALLS, LOOP_NS};
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
    static const int64_t ticks[CALLS] = {1, 3967496, 3967504, 3967506, 4000000};
    char row[MAX_PRINTED], raw[MAX_PRINTED];
    print_skews(ticks, 1e-4, 1, row, raw);
    EXPECT(strstr(raw, "barrier,2,396.8,1\n"), "raw calls:\n%s", raw);
    EXPECT(strstr(row, "\nbarrier,396.8,400.0,"), "row:\n%s", row);
    print_skews((const int64_t[CALLS]){1, 2, 3967496, 3967504, 3967506}, 1e-4, 1, row, raw);
    EXPECT(strstr(raw, "barrier,2,396.7,1\n"), "raw calls:\n%s", raw);
    EXPECT(strstr(row, "\nbarrier,396.7,396.8,"), "row:\n%s", row);
}

TEST(figures_of_repetitions_are_their_median)
{
    static const int64_t ticks[CALLS] = {1, 2, 3, 4, 50};
    char row[MAX_PRINTED];
    for (int repeats = 1; repeats <= 4; repeats++) {
        print_skews(ticks, 0.5, repeats, row, NULL);
        char expected[80];
        snprintf(expected, sizeof expected, "\nbarrier,1.5,25.0,25.0,25.0,25.0,1000.0,%d,%d,1000000\n", repeats * CALLS,
                 repeats * CALLS);
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
