/* SPDX-License-Identifier: BSD-3-Clause */
/* description.c - parse variants from words or from a file. */
#include "bench/campaign/description.h"

#include "common/cli/options.h"
#include "common/cli/variables.h"
#include "common/results/source.h"

#include <ctype.h>
#include <string.h>

#define VARIABLE_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
static const char variable_characters[] = VARIABLE_CHARACTERS, name_characters[] = VARIABLE_CHARACTERS ".+-";

/* What a line or a command says, and who speaks in messages about it. */
typedef struct reader {
    const char *speaker;
    json_t *variants;
    json_t *defaults; /* the variant of the line of *, NULL if there is none */
} reader_t;

/* Says in one line what is wrong. Is false. */
#define refuse(reader, ...) (options_refuse((reader)->speaker, __VA_ARGS__) == OPTIONS_RUN)

/* ---- One variant */

bool description_allows_name(const char *name)
{
    size_t length = strlen(name);
    return length > 0 && length < MAX_NAME_BYTES && name[strspn(name, name_characters)] == '\0' && name[0] != '.' &&
           name[0] != '-' && !strstr(name, "..");
}

static bool is_assignment(const char *word)
{
    size_t length = strspn(word, variable_characters);
    return length > 0 && word[length] == '=' && !isdigit((unsigned char)word[0]);
}

/* Returns how many words were used, or -1 if one is not a text. */
static int take_environment(const reader_t *reader, json_t *environment, int count, char **words)
{
    int taken = 0;
    for (; taken < count && is_assignment(words[taken]); taken++) {
        variables_check_one(reader->speaker, words[taken]);
        char *value = strchr(words[taken], '=');
        *value = '\0';
        if (json_object_set_new(environment, words[taken], json_string(value + 1)) != 0)
            return -1;
    }
    return taken;
}

static bool take_command(json_t *command, int count, char **words)
{
    for (int i = 0; i < count; i++)
        if (json_array_append_new(command, json_string(words[i])) != 0)
            return false;
    return true;
}

/* Without a command, the variant has that of the defaults. */
static json_t *make_variant(const reader_t *reader, const char *name, int count, char **words)
{
    json_t *variant = json_pack("{s:s, s:[], s:{}}", "name", name, "command", "environment");
    json_t *command = json_object_get(variant, "command"), *environment = json_object_get(variant, "environment");
    if (reader->defaults)
        json_object_update(environment, json_object_get(reader->defaults, "environment"));
    int taken = take_environment(reader, environment, count, words);
    if (taken < 0 || !take_command(command, count - taken, words + taken)) {
        json_decref(variant);
        options_refuse(reader->speaker, "a word of \"%.60s\" is not UTF-8", name);
        return NULL;
    }
    if (taken == count && reader->defaults)
        json_array_extend(command, json_object_get(reader->defaults, "command"));
    return variant;
}

/* words: after the name */
static bool add_variant(reader_t *reader, const char *name, int count, char **words)
{
    if (!description_allows_name(name))
        return refuse(reader,
                      "variant \"%.80s\" is not allowed, give a name of at most %d letters, digits and _ . + -, which "
                      "begins with neither . nor - and has no two . in a row",
                      name, MAX_NAME_BYTES - 1);
    if (variant_named(reader->variants, name))
        return refuse(reader, "there are two variants \"%s\"", name);
    if (json_array_size(reader->variants) == MAX_VARIANTS)
        return refuse(reader, "more than %d variants are not allowed", MAX_VARIANTS);
    json_t *variant = make_variant(reader, name, count, words);
    if (!variant)
        return false;
    json_array_append_new(reader->variants, variant);
    return json_array_size(json_object_get(variant, "command")) > 0 ||
           refuse(reader, "variant \"%s\" has no command", name);
}

/* Takes the colon off a word that is a name. Returns whether it is one. */
static bool take_name(char *word)
{
    size_t length = strlen(word);
    if (length == 0 || word[length - 1] != ':')
        return false;
    word[length - 1] = '\0';
    return true;
}

/* ---- All variants */

static json_t *finish(const reader_t *reader, bool good)
{
    json_decref(reader->defaults);
    if (good)
        return reader->variants;
    json_decref(reader->variants);
    return NULL;
}

json_t *description_of_words(const char *program, int count, char **words)
{
    reader_t reader = {.speaker = program, .variants = json_array()};
    bool good = true;
    for (int begin = 0, end; good && begin <= count; begin = end + 1) {
        char letter[2] = {(char)('A' + json_array_size(reader.variants) % 26)};
        for (end = begin; end < count && strcmp(words[end], "--") != 0; end++)
            ;
        bool is_named = end > begin && take_name(words[begin]);
        good = add_variant(&reader, is_named ? words[begin] : letter, end - begin - is_named, words + begin + is_named);
    }
    return finish(&reader, good);
}

static bool take_line(void *variants, const char *speaker, int argc, char **argv)
{
    reader_t *reader = variants;
    reader->speaker = speaker;
    if (!take_name(argv[1]))
        return refuse(reader, "\"%.60s\" is not allowed, give NAME: [VARIABLE=VALUE]... COMMAND [ARGUMENT]...",
                      argv[1]);
    if (strcmp(argv[1], "*") != 0)
        return add_variant(reader, argv[1], argc - 2, argv + 2);
    if (reader->defaults)
        return refuse(reader, "there are two lines of *");
    reader->defaults = make_variant(reader, "*", argc - 2, argv + 2);
    return reader->defaults != NULL;
}

json_t *description_of_file(const char *program, const char *path)
{
    reader_t reader = {.variants = json_array()};
    bool good = words_read(path, "", program, take_line, &reader);
    if (good && json_array_size(reader.variants) == 0) {
        options_refuse(program, "\"%.200s\" is not allowed, give a file with a variant", path);
        good = false;
    }
    return finish(&reader, good);
}
