/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_report.c - what the suite prints of a made-up operation whose samples are known, compared byte for byte with the
 * files in golden/. MH_GOLDEN=write writes these anew; look at the difference before committing it.
 */
#include "bench/suite/report.h"
#include "unit/support.h"

#include <locale.h>

enum { RANKS = 2, MAX_CALLS = 15, MAX_PRINTED = 1 << 16 };

static const double fractions[] = {0.5, 0.9, 0.999};

/* Notes of two ranks on each call. */
static const call_note_t good_notes[] = {
    {1000, 2500, 0, 0, 0},   {1010, 3000, 0, 0, 0},   {10000, 11000, 0, 0, 0},
    {10000, 12001, 0, 0, 0}, {20000, 21500, 0, 0, 0}, {20000, 29999, 0, 0, MARK_MISSED},
    {30000, 31000, 0, 0, 0}, {30001, 32000, 0, 0, 0}, {40000, 41234, 0, 0, 0},
    {40000, 45678, 0, 0, 0}, {50000, 51000, 0, 0, 0}, {50000, 52345, 0, 0, 0},
    {60000, 61111, 0, 0, 0}, {60003, 62222, 0, 0, 0}, {70000, 99999, 0, 0, MARK_LATE},
    {70000, 71000, 0, 0, 0}};
static const call_note_t one_note[] = {{-500, 1234567, -510, 0, 0}, {-400, 1234000, -400, 0, 0}};
static const uint8_t bad_marks[RANKS * MAX_CALLS] = {
    0, 2, 2, 2, 1, 2, 2, 1, 2, 0, 2, 2, 2, 2, 0, 2, 0, 2, 2, 2, 2, 2, 2, 2, 1, 0, 0, 1, 1, 1,
};

typedef struct calls {
    int64_t count;
    const call_note_t *notes; /* NULL: bad_marks alone */
    bool imposes;
} calls_t;
static const calls_t good_calls = {8, good_notes, false};
static const calls_t one_call = {1, one_note, true};
static const calls_t bad_calls = {MAX_CALLS, NULL, false};

static const row_keys_t plain_keys = {.label = "1:fake",
                                      .operation = "fake",
                                      .release = "barrier",
                                      .barrier = "tree",
                                      .cadence = "isolated",
                                      .comm = "world",
                                      .ranks = RANKS,
                                      .datatype = "float",
                                      .reduction = "sum",
                                      .root = "0",
                                      .buffers = "separate",
                                      .cache = "warm",
                                      .run_time = "local",
                                      .messages = "",
                                      .pairs = "",
                                      .layout = "",
                                      .neighborhood = "",
                                      .threads = "",
                                      .forks = "",
                                      .partitions = "",
                                      .window = "dynamic",
                                      .synchronization = "lock_all",
                                      .arrival = ""};
static const row_keys_t odd_keys = {.label = "2:fake",
                                    .operation = "fake",
                                    .release = "harmonize",
                                    .barrier = "",
                                    .cadence = "isolated",
                                    .comm = "a \"b\", c",
                                    .ranks = RANKS,
                                    .datatype = "",
                                    .reduction = "",
                                    .root = "",
                                    .buffers = "in place",
                                    .cache = "rotate",
                                    .run_time = "#makespan",
                                    .messages = "64",
                                    .pairs = "2",
                                    .layout = "",
                                    .neighborhood = "",
                                    .threads = "",
                                    .forks = "",
                                    .partitions = "",
                                    .window = "",
                                    .synchronization = "",
                                    .arrival = "bell:1.5x"};

static const head_t head = {.count = 5,
                            .items = {
                                {"program", "fake 0.1"},
                                {"command", "fake --comm 'a \"b\", c'\t\\ back\nslash \x01"},
                                {"processor", "M\xc3\xb6"
                                              "bius \xe2\x82\xac \xf0\x9f\x98\x80"},
                                {"bad_utf8", "\xff|\xc3|\xc0\x80|\xed\xa0\x80|\xe2\x82"},
                                {"empty", ""},
                            }};

/* raw: NULL, or where raw times go. */
static samples_t take(const calls_t *calls, const row_keys_t *keys, const output_t *raw)
{
    samples_t samples = {.ranks = RANKS, .imposes = calls->imposes};
    for (int64_t at = 0; at < calls->count * RANKS; at += RANKS) {
        call_note_t notes[RANKS] = {{.mark = bad_marks[at]}, {.mark = bad_marks[at + 1]}};
        if (calls->notes)
            memcpy(notes, &calls->notes[at], sizeof notes);
        if (raw)
            report_raw(raw, keys, &samples, notes);
        EXPECT(samples_take(&samples, notes), "no memory");
    }
    return samples;
}

static row_t make_row(const row_keys_t *keys, int64_t size_bytes, const calls_t *calls)
{
    row_t row = {.keys = *keys};
    samples_t samples = take(calls, keys, NULL);

    row.keys.size_bytes = size_bytes;
    analyze(&samples, RUN_TIME_LOCAL, fractions, COUNT_OF(fractions), &row.analysis);
    if (samples.valid > 0)
        row.parts = PART_FIGURES | (row.analysis.median_interval ? PART_INTERVAL : 0);
    samples_free(&samples);
    return row;
}

static void print_rows(report_t *report, const row_keys_t *keys)
{
    row_t rows[] = {make_row(keys, 8, &good_calls), make_row(keys, 64, &bad_calls), make_row(keys, 1048576, &one_call)};

    rows[0].parts |= PART_OVERLAP | PART_ARRIVAL | PART_LATENCY | PART_VALIDATION;
    rows[0].overlap = (overlap_t){2000.5, 2001, 2501.25, 75.00};
    rows[0].arrival = (arrival_figures_t){1500000, 1000.5, 2000.25, 1234.5, 1.23456, 25, 480, 60};
    rows[2].arrival = (arrival_figures_t){0, 1000, 1000, 999, NAN, 25, 480, NAN};
    rows[1].parts |= PART_VALIDATION;
    rows[1].wrong = 7;
    rows[2].parts |= PART_ARRIVAL | PART_BANDWIDTH | PART_RATE;
    rows[0].latency_ns = rows[0].analysis.max_mean_ns / 2;
    rows[2].mb_per_s = 64.0 * 1048576 / rows[2].analysis.max_mean_ns * 1e3;
    rows[2].messages_per_s = 64.0 / rows[2].analysis.max_mean_ns * 1e9;
    /* Never to be seen. */
    rows[2].overlap = (overlap_t){NAN, NAN, NAN, NAN};
    for (int i = 0; i < COUNT_OF(rows); i++)
        report_row(report, &rows[i]);
}

enum {
    ALL_PARTS = PART_LATENCY | PART_BANDWIDTH | PART_OVERLAP | PART_ARRIVAL | PART_VALIDATION | PART_LABEL | PART_RATE
};

/* everything: all columns, and two jobs that take turns in one table. */
static void print_report(output_format_t format, bool full, bool everything, FILE *file)
{
    report_t report = {.output = {.format = format, .file = file},
                       .full = full,
                       .parts = everything ? ALL_PARTS : 0,
                       .label_width = 34,
                       .arrival_width = 20,
                       .fraction_count = COUNT_OF(fractions)};
    memcpy(report.fractions, fractions, sizeof fractions);
    report_head(&report, &head);
    report_job(&report, &plain_keys, "MPI_Fake");
    if (!everything) {
        report_titles(&report);
        print_rows(&report, &plain_keys);
    }
    report_job(&report, &odd_keys, "MPI_Fake");
    report_titles(&report);
    if (everything)
        print_rows(&report, &plain_keys);
    print_rows(&report, &odd_keys);
    report_end(&report);
}

static void print_raw(FILE *file)
{
    const output_t raw = {.format = FORMAT_CSV, .file = file, .is_buffered = true};
    row_keys_t keys = odd_keys;

    keys.size_bytes = 64;
    report_raw_head(&raw);
    samples_t good = take(&good_calls, &plain_keys, &raw), one = take(&one_call, &keys, &raw);
    samples_free(&good);
    samples_free(&one);
}

static const struct {
    const char *golden;
    output_format_t format;
    bool full, everything, raw;
} reports[] = {
    {"report_brief.txt", FORMAT_TABLE, false, false, false}, {"report_brief_all.txt", FORMAT_TABLE, false, true, false},
    {"report_full.txt", FORMAT_TABLE, true, false, false},   {"report_full_all.txt", FORMAT_TABLE, true, true, false},
    {"report.csv", FORMAT_CSV, false, false, false},         {"report_all.csv", FORMAT_CSV, false, true, false},
    {"report.json", FORMAT_JSON, false, false, false},       {"report_all.json", FORMAT_JSON, false, true, false},
    {"report_raw.csv", FORMAT_CSV, false, false, true},
};

static void print_one(int index, char printed[MAX_PRINTED])
{
    FILE *file = fmemopen(printed, MAX_PRINTED, "w");

    ck_assert_ptr_nonnull(file);
    if (reports[index].raw)
        print_raw(file);
    else
        print_report(reports[index].format, reports[index].full, reports[index].everything, file);
    fclose(file);
}

static FILE *open_golden(int index, const char *mode)
{
    char path[4096];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", GOLDEN_FOLDER, reports[index].golden);
    file = fopen(path, mode);
    EXPECT(file, "cannot open %s", path);
    return file;
}

static void compare_with_golden(int index, const char *printed)
{
    static char golden[MAX_PRINTED];
    const char *rewrite = getenv("MH_GOLDEN");
    FILE *file;
    size_t same = 0;

    if (rewrite && strcmp(rewrite, "write") == 0) {
        file = open_golden(index, "w");
        fputs(printed, file);
        fclose(file);
        return;
    }
    file = open_golden(index, "r");
    golden[fread(golden, 1, sizeof golden - 1, file)] = '\0';
    fclose(file);
    while (printed[same] != '\0' && printed[same] == golden[same])
        same++;
    EXPECT(strcmp(printed, golden) == 0, "%s differs at byte %zu: \"%.60s\" instead of \"%.60s\"",
           reports[index].golden, same, printed + same, golden + same);
}

/* Also where this machine has a locale with a comma. */
LOOP_TEST(report_as_in_golden_file, COUNT_OF(reports))
{
    static const char *const bad_values[] = {" nan", ",nan", ":nan", "NaN", "inf"};
    static const char *const locales[] = {"C", "de_DE.UTF-8", "de_DE", "fr_FR.UTF-8", "fr_FR"};
    static char printed[MAX_PRINTED];

    if (!output_formats[reports[_i].format]) /* JSON needs a library */
        return;
    for (int i = 0; i < COUNT_OF(locales); i++) {
        if (!setlocale(LC_ALL, locales[i]))
            continue;
        print_one(_i, printed);
        setlocale(LC_ALL, "C");
        compare_with_golden(_i, printed);
    }
    for (int i = 0; i < COUNT_OF(bad_values); i++)
        EXPECT(!strstr(printed, bad_values[i]), "%s: %s", reports[_i].golden, bad_values[i]);
}

/* A full disk is seen by who owns the file. */
TEST(write_errors_stay_in_the_file)
{
    FILE *full = fopen("/dev/full", "w");

    if (!full)
        return;
    print_report(FORMAT_CSV, false, false, full);
    EXPECT(ferror(full), "a full disk is not noticed");
    fclose(full);
}

/* What is shown as zero has no sign, in tables and for programs. */
LOOP_TEST(zero_has_no_sign, FORMAT_JSON + 1)
{
    static const column_t columns[] = {
        {"slope_ppb", "ppb", ROLE_FIGURE, TYPE_NUMBER, "a slope, steep", "slope", 8, 1, 0},
        {"time_ns", "ns", ROLE_FIGURE, TYPE_INTEGER, "a time", "time(s)", 9, 3, 1e9}};
    static const schema_t schema = SCHEMA("test", "A row.", columns);
    static const char *const expected[] = {[FORMAT_TABLE] = "     0.0   -0.001\n     0.0    0.000\n",
                                           [FORMAT_CSV] = "0.0,-600000\n0.0,0\n",
                                           [FORMAT_JSON] = ("{\"slope_ppb\":0.0,\"time_ns\":-600000}\n"
                                                            "{\"slope_ppb\":0.0,\"time_ns\":0}\n")};
    char *printed = NULL;
    size_t bytes;
    if (!output_formats[_i])
        return;
    output_t output = {.format = _i, .file = open_memstream(&printed, &bytes)};
    const table_t table = TABLE(schema, &output);
    ck_assert_ptr_nonnull(output.file);
    table_row(&table, (cell_t[]){{NULL, -0.04}, {NULL, -600000}});
    table_row(&table, (cell_t[]){{NULL, -0.0}, {NULL, -0.4}});
    fclose(output.file);
    ck_assert_str_eq(printed, expected[_i]);
    free(printed);
}

/* As each program does, for the locale. */
static void prepare(TCase *tests)
{
    (void)tests;
    output_begin();
}

SUITE(prepare, prepare)
