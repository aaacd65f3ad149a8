/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_plan.c - lists of sizes and numbers on the command line, which communicator is meant, and how many calls are
 * wanted.
 */
#include "common/cli/text.h"
#include "bench/suite/arena.h"
#include "bench/suite/plan.h"
#include "bench/suite/schemes.h"
#include "unit/support.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

typedef struct settings {
    size_list_t sizes;
    number_list_t numbers;
    int64_t count;
    text_list_t texts;
} settings_t;

static const char *const count_words[] = {"rotate", NULL};

static const option_spec_t options[] = {
    {'m', "sizes", "SIZES", OPTION_SIZES, offsetof(settings_t, sizes), 1, 4294967296.0, NULL, NULL, .doc = ""},
    {'z', "numbers", "LIST", OPTION_NUMBERS, offsetof(settings_t, numbers), 0.5, 100, NULL, NULL, .doc = ""},
    {'n', "count", "N", OPTION_INTEGER, offsetof(settings_t, count), 0, 9, NAMES(count_words), NULL, .doc = ""},
};
static const option_spec_t operand = {0, "operand", "TEXT", OPTION_TEXTS, .place = offsetof(settings_t, texts)};
static const program_spec_t program = {.name = "program",
                                       .purpose = "",
                                       .options = options,
                                       .option_count = COUNT_OF(options),
                                       .notes = "",
                                       .operand = &operand,
                                       .answers_nothing = true};

/* Reads words after the program's name. */
static options_outcome_t parse(settings_t *settings, int count, const char *const *words)
{
    char *argv[8] = {NULL};

    for (int i = 0; i < count; i++)
        argv[1 + i] = (char *)words[i];
    *settings = (settings_t){.sizes = {.min_bytes = 4, .max_bytes = 64}};
    return options_parse(&program, 1 + count, argv, settings);
}

/* A command line begins with what the table says. */
TEST(defaults)
{
    static const option_spec_t table[] = {
        {'m', "sizes", "SIZES", OPTION_SIZES, offsetof(settings_t, sizes), 1, 4294967296.0, NULL, "8:64", .doc = ""},
        {'z', "numbers", "LIST", OPTION_NUMBERS, offsetof(settings_t, numbers), 0.5, 100, NULL, "1,2.5", .doc = ""},
        {'n', "count", "N", OPTION_INTEGER, offsetof(settings_t, count), 0, 9, NULL, NULL, .doc = ""},
    };
    const program_spec_t whole = {
        .name = "program", .purpose = "", .options = table, .option_count = COUNT_OF(table), .notes = ""};
    char *argv[] = {"program", "-z", "7", NULL};
    settings_t settings = {.count = 5};

    ck_assert_int_eq(options_parse(&whole, 1, argv, &settings), OPTIONS_RUN);
    ck_assert_int_eq(settings.sizes.min_bytes, 8);
    ck_assert_int_eq(settings.sizes.max_bytes, 64);
    ck_assert_int_eq(settings.numbers.count, 2);
    ck_assert_double_eq(settings.numbers.values[1], 2.5);
    ck_assert_int_eq(settings.count, ABSENT);
    ck_assert_int_eq(options_parse(&whole, 3, argv, &settings), OPTIONS_RUN);
    ck_assert_int_eq(settings.numbers.count, 1);
    ck_assert_double_eq(settings.numbers.values[0], 7);
}

/* The sizes that come out, as text. */
static const struct {
    const char *given;
    double factor;
    const char *sizes; /* NULL: refused */
} size_cases[] = {
    {"8:64", 2, "8 16 32 64 "},
    {"16", 2, "4 8 16 "},
    {"16:", 2, "16 32 64 "},
    {"2", 2, "2 "},
    {"1K:4K", 2, "1024 2048 4096 "},
    {"1g", 1000, "4 4000 4000000 "},
    {"4:100", 1.5, "4 8 12 16 24 36 52 76 "},
    {"4,1K,4", 2, "4 1024 4 "},
    {"64:8", 2, NULL},
    {"128:", 2, NULL},
    {":64", 2, NULL},
    {":", 2, NULL},
    {"0", 2, NULL},
    {"4,", 2, NULL},
    {",4", 2, NULL},
    {"K", 2, NULL},
    {"5G", 2, NULL},
    {"99999999999G", 2, NULL},
    {"4:8:16", 2, NULL},
    {"-4", 2, NULL},
    {" 4", 2, NULL},
    {"4x", 2, NULL},
};

LOOP_TEST(sizes, COUNT_OF(size_cases))
{
    const char *words[] = {"-m", size_cases[_i].given};
    settings_t settings;
    char text[512] = "";

    if (!size_cases[_i].sizes) {
        ck_assert_int_eq(parse(&settings, 2, words), OPTIONS_BAD);
        return;
    }
    ck_assert_int_eq(parse(&settings, 2, words), OPTIONS_RUN);
    ck_assert_int_eq(settings.sizes.has_min, strchr(size_cases[_i].given, ':') != NULL);
    ck_assert_int_eq(settings.sizes.has_max, !text_ends_in(size_cases[_i].given, ":"));
    options_list_sizes(&settings.sizes, size_cases[_i].factor, settings.sizes.min_bytes < 4 ? 1 : 4);
    for (int64_t i = 0; i < settings.sizes.count; i++)
        sprintf(text + strlen(text), "%lld ", (long long)settings.sizes.bytes[i]);
    ck_assert_str_eq(text, size_cases[_i].sizes);
}

TEST(lists_end)
{
    settings_t settings;
    char text[4 * (MAX_SIZES + 1)] = "";
    const char *words[] = {"-m", text};

    for (int i = 0; i < MAX_SIZES; i++)
        strcat(text, i == 0 ? "4" : ",4");
    ck_assert_int_eq(parse(&settings, 2, words), OPTIONS_RUN);
    ck_assert_int_eq(settings.sizes.count, MAX_SIZES);
    strcat(text, ",4");
    ck_assert_int_eq(parse(&settings, 2, words), OPTIONS_BAD);
}

TEST(numbers)
{
    const char *good[] = {"-z", "0.5,99.9,100"};
    static const char *const bad[] = {"", "0.4", "101", "50,", "nan", "50,x", "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1"};
    settings_t settings;

    ck_assert_int_eq(parse(&settings, 2, good), OPTIONS_RUN);
    ck_assert_int_eq(settings.numbers.count, 3);
    ck_assert_double_eq(settings.numbers.values[1], 99.9);
    for (int i = 0; i < COUNT_OF(bad); i++)
        ck_assert_int_eq(parse(&settings, 2, (const char *[]){"-z", bad[i]}), OPTIONS_BAD);
}

TEST(words_and_operands)
{
    settings_t settings;

    ck_assert_int_eq(parse(&settings, 4, (const char *[]){"one", "-n", "rotate", "two"}), OPTIONS_RUN);
    ck_assert_int_eq(settings.count, -1);
    ck_assert_int_eq(settings.texts.count, 2);
    ck_assert_str_eq(settings.texts.texts[1], "two");
    ck_assert_int_eq(parse(&settings, 2, (const char *[]){"-n", "-1"}), OPTIONS_BAD);
    /* A row of a file has no help. */
    ck_assert_int_eq(parse(&settings, 1, (const char *[]){"--help"}), OPTIONS_BAD);
    ck_assert_int_eq(parse(&settings, 1, (const char *[]){"-v"}), OPTIONS_BAD);
}

static const struct {
    const char *text;
    int ranks;
    bool good;
    communicator_choice_t choice;
} communicators[] = {
    {"world", 7, true, {.kind = COMM_WORLD_ALL}},
    {"node", 7, true, {.kind = COMM_NODE}},
    {"cart:2x3:1", 6, true, {.kind = COMM_CARTESIAN, .dimensions = 2, .extents = {2, 3}, .dimension = 1}},
    {"cart:4:0", 4, true, {.kind = COMM_CARTESIAN, .dimensions = 1, .extents = {4}}},
    {"every:3", 7, true, {.kind = COMM_EVERY, .every = 3}},
    {"cart:2x3:2", 6, false, {0}},
    {"cart:2x3:1", 7, false, {0}},
    {"cart:2x3", 6, false, {0}},
    {"cart:2x3:", 6, false, {0}},
    {"cart:2x:0", 2, false, {0}},
    {"cart:0x6:0", 6, false, {0}},
    {"cart:99999x99999x99999x99999:0", 6, false, {0}},
    {"cart:1x1x1x1x1x1x1x1x1:0", 1, false, {0}},
    {"every:0", 7, false, {0}},
    {"every:8", 7, false, {0}},
    {"every:3x", 7, false, {0}},
    {"every", 7, false, {0}},
    {"", 7, false, {0}},
    {"moon", 7, false, {0}},
};

LOOP_TEST(communicator, COUNT_OF(communicators))
{
    const communicator_choice_t *expected = &communicators[_i].choice;
    communicator_choice_t choice;

    ck_assert_int_eq(!communicator_parse(&choice, communicators[_i].text, communicators[_i].ranks),
                     communicators[_i].good);
    if (!communicators[_i].good)
        return;
    ck_assert_int_eq(choice.kind, expected->kind);
    ck_assert_int_eq(choice.dimensions, expected->dimensions);
    ck_assert_int_eq(choice.dimension, expected->dimension);
    ck_assert_int_eq(choice.every, expected->every);
    ck_assert_mem_eq(choice.extents, expected->extents, sizeof choice.extents);
    ck_assert_str_eq(choice.text, communicators[_i].text);
}

TEST(how_many)
{
    job_t job = {.settings = {.iterations = ABSENT, .warmup = ABSENT, .release = RELEASE_HARMONIZE}};

    ck_assert_int_eq(job_wanted(&job, 8192), 1000);
    ck_assert_int_eq(job_wanted(&job, 8193), 100);
    ck_assert_int_eq(job_warmup(&job, 8192), 200);
    ck_assert_int_eq(job_warmup(&job, 8193), 10);
    ck_assert_double_eq(job_time_slice_s(&job), 0);
    job.settings.ci_percent = 1;
    ck_assert_int_gt(job_wanted(&job, 8), 1000);
    job.settings.ci_percent = 0;
    job.settings.release = RELEASE_ROUND_TIME;
    ck_assert_int_gt(job_wanted(&job, 8), 1000);
    ck_assert_double_gt(job_time_slice_s(&job), 0);
    job.settings.iterations = 5;
    job.settings.time_slice_s = 3;
    ck_assert_int_eq(job_wanted(&job, 8), 5);
    ck_assert_double_eq(job_time_slice_s(&job), 3);
}

/* As large as nobody has one yet. */
TEST(buffers_fit_whatever_the_cache)
{
    static const cache_mode_t kinds[] = {CACHE_ROTATE, CACHE_COLD};
    static const int64_t messages[] = {1, 8192, 1 << 20};
    job_t job = {.settings.mem_limit_bytes = ABSENT};

    for (int64_t cache_bytes = 1 << 20; cache_bytes <= INT64_C(1) << 50; cache_bytes += cache_bytes / 3) {
        int64_t used_bytes = job_cache_bytes(&job, cache_bytes);

        ck_assert_int_le(used_bytes, cache_bytes);
        for (int i = 0; i < COUNT_OF(kinds) * COUNT_OF(messages); i++)
            ck_assert_int_le(arena_needs(kinds[i % 2], messages[i / 2], messages[i / 2], used_bytes),
                             job_mem_limit_bytes(&job));
    }
    ck_assert_int_eq(job_cache_bytes(&job, 32 << 20), 32 << 20);
    ck_assert_int_lt(job_cache_bytes(&job, 480 << 20), 480 << 20);
    job.settings.mem_limit_bytes = 1 << 20; /* who gives a limit is told what it forbids */
    ck_assert_int_eq(job_mem_limit_bytes(&job), 1 << 20);
    ck_assert_int_eq(job_cache_bytes(&job, 480 << 20), 480 << 20);
}

/* Words are joined by bars here. */
static const struct {
    const char *line, *words;
    int count;
} lines[] = {
    {"", "", 0},
    {" \t\r\n", "", 0},
    {"one two\n", "one|two|", 2},
    {"  one\ttwo  ", "one|two|", 2},
    {"one#two", "one|", 1},
    {"# 'open", "", 0},
    {"'one two' \"three 'four'\"", "one two|three 'four'|", 2},
    {"a' #'b\"c \"'d'", "a #bc d|", 1},
    {"'' \"\"", "||", 2},
    {"one 'two", "", WORDS_OPEN_QUOTE},
    {"one \"two'", "", WORDS_OPEN_QUOTE},
    {"1 2 3 4", "1|2|3|4|", 4},
    {"1 2 3 4 5", "", WORDS_TOO_MANY},
};

LOOP_TEST(words_of_lines, COUNT_OF(lines))
{
    char line[64], joined[64] = "", *words[4];

    snprintf(line, sizeof line, "%s", lines[_i].line);
    int count = words_cut(line, words, COUNT_OF(words));
    ck_assert_int_eq(count, lines[_i].count);
    for (int i = 0; i < count; i++) {
        text_append(joined, sizeof joined, "%s|", words[i]);
    }
    ck_assert_str_eq(joined, lines[_i].words);
}
