/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fuzz_options.c - command lines by a table with an option of each kind. The words of the input end with a zero or a
 * newline; its first byte says with what the sizes are listed.
 */
#include "common/cli/options.h"
#include "fuzz/fuzz.h"

#include <string.h>

enum { MAX_WORDS = 200 };

typedef struct settings {
    int64_t is_on, whole, bytes, choice, choices;
    double decimal;
    size_list_t sizes;
    number_list_t numbers;
    const char *text;
    text_list_t texts;
} settings_t;

static const char *const colors[] = {"red", "green", "blue", NULL};

#define FIELD(field) offsetof(settings_t, field)
static const option_spec_t options[] = {
    {'o', "on", NULL, OPTION_SWITCH, FIELD(is_on), 0, 0, NULL, NULL, .doc = "a switch"},
    {'w', "whole", "N", OPTION_INTEGER, FIELD(whole), 0, 1e9, NAMES(colors), "0", .doc = "a whole number or a color"},
    {'b', "bytes", "BYTES", OPTION_BYTES, FIELD(bytes), 1, 1099511627776.0, NULL, "1", .doc = "a number of bytes"},
    {'d', "decimal", "X", OPTION_DECIMAL, FIELD(decimal), 0.001, 1e6, NULL, "1", .doc = "a number"},
    {'c', "choice", "COLOR", OPTION_CHOICE, FIELD(choice), 0, 0, NAMES(colors), NULL, .doc = "a color"},
    {0, "choices", "COLORS", OPTION_CHOICES, FIELD(choices), 0, 0, NAMES(colors), NULL, .doc = "colors"},
    {'m', "sizes", "SIZES", OPTION_SIZES, FIELD(sizes), 1, 1099511627776.0, NULL, NULL, .doc = "sizes,\nor a range"},
    {'z', "numbers", "LIST", OPTION_NUMBERS, FIELD(numbers), 0.5, 100, NULL, NULL, .doc = "numbers"},
    {'t', "text", "TEXT", OPTION_TEXT, FIELD(text), 0, 0, NULL, NULL, .doc = "a text"},
};
static const option_spec_t operand = {0, "operand", "WORD", OPTION_TEXTS, .place = FIELD(texts)};
static const program_spec_t program = {.name = "program",
                                       .purpose = "Is fuzzed.",
                                       .options = options,
                                       .notes = "",
                                       .option_count = sizeof options / sizeof *options,
                                       .operand = &operand};

static int cut(char *text, size_t size, char *words[MAX_WORDS])
{
    int count = 0;
    words[count++] = "program";
    for (char *word = text, *end = text + size; word < end && count < MAX_WORDS;) {
        words[count++] = word;
        size_t length = strcspn(word, "\n");
        word[length] = '\0';
        word += length + 1;
    }
    return count;
}

static void check_sizes(size_list_t *sizes, uint8_t how)
{
    static const double factors[] = {2, 1.01, 1e6, 1.5};
    FUZZ_REQUIRE(sizes->count >= 0 && sizes->count <= MAX_SIZES);
    options_list_sizes(sizes, factors[how % 4], how / 4 + 1);
    FUZZ_REQUIRE(sizes->count >= 1 && sizes->count <= MAX_SIZES);
    for (int64_t i = 0; i < sizes->count; i++)
        FUZZ_REQUIRE(sizes->bytes[i] >= 1 && sizes->bytes[i] <= INT64_C(1) << 40);
}

static void check_numbers(const number_list_t *numbers)
{
    FUZZ_REQUIRE(numbers->count >= 0 && numbers->count <= MAX_NUMBERS);
    for (int64_t i = 0; i < numbers->count; i++)
        FUZZ_REQUIRE(numbers->values[i] >= 0.5 && numbers->values[i] <= 100);
}

static void check(const settings_t *settings)
{
    FUZZ_REQUIRE(settings->is_on == 0 || settings->is_on == 1);
    FUZZ_REQUIRE(settings->whole >= -3 && settings->whole <= 1000000000);
    FUZZ_REQUIRE(settings->bytes >= 1 && settings->bytes <= INT64_C(1) << 40);
    FUZZ_REQUIRE(settings->decimal >= 0.001 && settings->decimal <= 1e6);
    FUZZ_REQUIRE((settings->choice >= 0 || settings->choice == ABSENT) && settings->choice <= 2);
    FUZZ_REQUIRE(settings->choices >= 0 && settings->choices <= 7);
    check_numbers(&settings->numbers);
    FUZZ_REQUIRE(!settings->text || settings->text[0]);
    FUZZ_REQUIRE(settings->texts.count >= 0 && settings->texts.count <= MAX_TEXTS);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *words[MAX_WORDS];
    settings_t settings = {.sizes = {.min_bytes = 4, .max_bytes = 64}};
    if (size == 0)
        return 0;
    char *text = fuzz_text(data + 1, size - 1);
    int count = cut(text, size - 1, words);
    if (options_parse(&program, count, words, &settings) == OPTIONS_RUN) {
        check(&settings);
        check_sizes(&settings.sizes, data[0]);
    }
    free(text);
    return 0;
}
