/* SPDX-License-Identifier: BSD-3-Clause */
#include "options.h"

#include "text.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef PACKAGE_VERSION
#define PACKAGE_VERSION "(version unknown)"
#endif

enum { TEXT_BYTES = 512, HELP_COLUMN = 32 };

#define append(text, ...) text_append(text, TEXT_BYTES, __VA_ARGS__)

typedef struct parser {
    const program_spec_t *program;
    char **argv;
    int argc;
    int next; /* index of the argument to read next */
    void *settings;
} parser_t;

static const option_spec_t help_option = {'h', "help", NULL, OPTION_SWITCH, 0, 0, 0, NULL, "print this and exit"};
static const option_spec_t version_option = {
    'v', "version", NULL, OPTION_SWITCH, 0, 0, 0, NULL, "print the version and exit"};

const char *options_version(void)
{
    return PACKAGE_VERSION;
}

/* Prints the one line about a bad argument. */
__attribute__((format(printf, 2, 3))) static options_outcome_t refuse(const parser_t *parser, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    fprintf(stderr, "%s: ", parser->program->name);
    vfprintf(stderr, format, arguments);
    fputs(" (see --help)\n", stderr);
    va_end(arguments);
    return OPTIONS_BAD;
}

static void *place_of(const option_spec_t *option, void *settings)
{
    return (char *)settings + option->place;
}

/* Writes into text which values an option takes. */
static void describe_allowed(const option_spec_t *option, char *text)
{
    text[0] = '\0';
    switch (option->kind) {
    case OPTION_INTEGER:
        append(text, "a whole number from %.0f to %.0f", option->least, option->most);
        for (int i = 0; option->choice != NULL && option->choice(i) != NULL; i++)
            append(text, ", or %s", option->choice(i));
        break;
    case OPTION_BYTES:
        append(text, "a whole number from %.0f to %.0f, which may end in K, M or G", option->least, option->most);
        break;
    case OPTION_NUMBERS:
        append(text, "at most %d numbers from %g to %g, separated by commas", MOST_NUMBERS, option->least,
               option->most);
        break;
    case OPTION_DECIMAL:
        append(text, "a number from %g to %g", option->least, option->most);
        break;
    case OPTION_SIZES:
        append(text,
               "[MIN:]MAX or MIN:, MIN not above MAX, or a list separated by commas, of whole numbers of bytes from "
               "%.0f to %.0f, which may end in K, M or G",
               option->least, option->most);
        break;
    case OPTION_CHOICE:
    case OPTION_CHOICES:
        append(text, option->kind == OPTION_CHOICE ? "one of" : "a list separated by commas of");
        for (int i = 0; option->choice(i) != NULL; i++)
            append(text, "%s %s", i == 0 ? "" : ",", option->choice(i));
        break;
    case OPTION_TEXT:
    case OPTION_TEXTS:
        append(text, "a text that is not empty");
        break;
    case OPTION_SWITCH:
        break;
    }
}

/* Reads a whole number from all of text[0..length). Returns 1 if it is one within the limits. */
static int parse_whole(const option_spec_t *option, const char *text, size_t length, int64_t *value)
{
    char digits[24];
    char *end;

    if (length == 0 || length >= sizeof(digits) || isspace((unsigned char)text[0]))
        return 0;
    memcpy(digits, text, length);
    digits[length] = '\0';
    errno = 0;
    *value = strtoll(digits, &end, 10);
    return errno == 0 && *end == '\0' && (double)*value >= option->least && (double)*value <= option->most;
}

static int parse_decimal(const option_spec_t *option, const char *text, double *value)
{
    char *end;

    if (text[0] == '\0' || isspace((unsigned char)text[0]))
        return 0;
    *value = strtod(text, &end);
    return *end == '\0' && *value >= option->least && *value <= option->most;
}

/* A whole number of bytes with an optional suffix. */
static int parse_bytes(const option_spec_t *option, const char *text, size_t length, int64_t *value)
{
    static const char suffixes[] = {'K', 'M', 'G'};
    const char *suffix =
        length > 1 ? memchr(suffixes, toupper((unsigned char)text[length - 1]), sizeof(suffixes)) : NULL;
    int shift = suffix != NULL ? 10 * (int)(suffix - suffixes + 1) : 0;
    option_spec_t without_limits = *option;

    without_limits.least = 0;
    without_limits.most = (double)(INT64_MAX >> shift);
    if (!parse_whole(&without_limits, text, length - (suffix != NULL), value) || *value > INT64_MAX >> shift)
        return 0;
    *value <<= shift;
    return (double)*value >= option->least && (double)*value <= option->most;
}

/* With MAX alone, MIN keeps its default, or is MAX where that is less; with MIN: alone, MAX does. */
static int parse_range(const option_spec_t *option, const char *text, size_list_t *sizes)
{
    const char *colon = strchr(text, ':');
    const char *most = colon == NULL ? text : colon + 1;

    sizes->count = 0;
    if ((colon == NULL || *most != '\0') && !parse_bytes(option, most, strlen(most), &sizes->most_bytes))
        return 0;
    if (colon != NULL)
        return parse_bytes(option, text, (size_t)(colon - text), &sizes->least_bytes) &&
               sizes->least_bytes <= sizes->most_bytes;
    if (sizes->least_bytes > sizes->most_bytes)
        sizes->least_bytes = sizes->most_bytes;
    return 1;
}

static int parse_sizes(const option_spec_t *option, const char *text, size_list_t *sizes)
{
    sizes->given = 1;
    if (strchr(text, ',') == NULL)
        return parse_range(option, text, sizes);
    for (sizes->count = 0; sizes->count < MOST_SIZES;) {
        size_t length = strcspn(text, ",");

        if (!parse_bytes(option, text, length, &sizes->bytes[sizes->count++]))
            return 0;
        if (text[length] == '\0')
            return 1;
        text += length + 1;
    }
    return 0;
}

static int parse_numbers(const option_spec_t *option, const char *text, number_list_t *numbers)
{
    char number[32];

    for (numbers->count = 0; numbers->count < MOST_NUMBERS;) {
        size_t length = strcspn(text, ",");

        snprintf(number, sizeof(number), "%.*s", (int)length, text);
        if (length >= sizeof(number) || !parse_decimal(option, number, &numbers->values[numbers->count++]))
            return 0;
        if (text[length] == '\0')
            return 1;
        text += length + 1;
    }
    return 0;
}

/* Returns the index of the name text[0..length), or -1. */
static int find_choice(const option_spec_t *option, const char *text, size_t length)
{
    for (int i = 0; option->choice != NULL && option->choice(i) != NULL; i++) {
        if (strlen(option->choice(i)) == length && strncmp(option->choice(i), text, length) == 0)
            return i;
    }
    return -1;
}

static int parse_integer(const option_spec_t *option, const char *text, int64_t *value)
{
    int index = find_choice(option, text, strlen(text));

    if (index < 0)
        return parse_whole(option, text, strlen(text), value);
    *value = (int64_t)option->least - 1 - index;
    return 1;
}

static int parse_choice(const option_spec_t *option, const char *text, int64_t *value)
{
    *value = find_choice(option, text, strlen(text));
    return *value >= 0;
}

static int parse_choices(const option_spec_t *option, const char *text, int64_t *mask)
{
    *mask = 0;
    for (;;) {
        size_t length = strcspn(text, ",");
        int index = find_choice(option, text, length);

        if (index < 0)
            return 0;
        *mask |= INT64_C(1) << index;
        if (text[length] == '\0')
            return 1;
        text += length + 1;
    }
}

static int parse_text(const char *text, const char **value)
{
    *value = text;
    return text[0] != '\0';
}

static int parse_texts(const char *text, text_list_t *list)
{
    return list->count < MOST_TEXTS && parse_text(text, &list->texts[list->count++]);
}

/* Stores the value of an option. Returns 1 if it is allowed. */
static int store(const option_spec_t *option, const char *text, void *place)
{
    switch (option->kind) {
    case OPTION_SWITCH:
        *(int64_t *)place = 1;
        return 1;
    case OPTION_INTEGER:
        return parse_integer(option, text, place);
    case OPTION_BYTES:
        return parse_bytes(option, text, strlen(text), place);
    case OPTION_NUMBERS:
        return parse_numbers(option, text, place);
    case OPTION_DECIMAL:
        return parse_decimal(option, text, place);
    case OPTION_CHOICE:
        return parse_choice(option, text, place);
    case OPTION_CHOICES:
        return parse_choices(option, text, place);
    case OPTION_SIZES:
        return parse_sizes(option, text, place);
    case OPTION_TEXT:
        return parse_text(text, place);
    case OPTION_TEXTS:
        return parse_texts(text, place);
    }
    return 0;
}

/* Writes into text the default of an option as the help shows it, or nothing. */
static void describe_default(const option_spec_t *option, const void *place, char *text)
{
    text[0] = '\0';
    if (option->kind == OPTION_INTEGER || option->kind == OPTION_BYTES) {
        int64_t value = *(const int64_t *)place;

        if ((double)value >= option->least)
            append(text, " (default %lld)", (long long)value);
    } else if (option->kind == OPTION_DECIMAL) {
        if (*(const double *)place >= option->least)
            append(text, " (default %g)", *(const double *)place);
    } else if (option->kind == OPTION_CHOICE) {
        if (*(const int64_t *)place >= 0)
            append(text, " (default %s)", option->choice((int)*(const int64_t *)place));
    } else if (option->kind == OPTION_CHOICES) {
        int64_t mask = *(const int64_t *)place;

        for (int i = 0; option->choice(i) != NULL; i++) {
            if ((mask >> i & 1) != 0)
                append(text, "%s%s", text[0] == '\0' ? " (default " : ",", option->choice(i));
        }
        append(text, ")");
    } else if (option->kind == OPTION_NUMBERS) {
        const number_list_t *numbers = place;

        for (int64_t i = 0; i < numbers->count; i++)
            append(text, "%s%g", i == 0 ? " (default " : ",", numbers->values[i]);
        append(text, "%s", numbers->count > 0 ? ")" : "");
    } else if (option->kind == OPTION_SIZES) {
        const size_list_t *sizes = place;

        if ((double)sizes->least_bytes >= option->least)
            append(text, " (default %lld:%lld)", (long long)sizes->least_bytes, (long long)sizes->most_bytes);
    }
}

static void print_help_line(const option_spec_t *option, const char *default_text)
{
    char left[TEXT_BYTES] = "";
    const char *doc = option->doc;

    append(left, option->letter != 0 ? "  -%c, " : "      ", option->letter);
    append(left, "--%s %s", option->name, option->argument != NULL ? option->argument : "");
    printf("%-*s", HELP_COLUMN, left);
    for (size_t length; (length = strcspn(doc, "\n")), doc[length] != '\0'; doc += length + 1)
        printf("%.*s\n%*s", (int)length, doc, HELP_COLUMN, "");
    printf("%s%s\n", doc, default_text);
}

static options_outcome_t print_help(const parser_t *parser)
{
    const program_spec_t *program = parser->program;
    char default_text[TEXT_BYTES];

    printf("Usage: mpiexec -n RANKS %s [OPTION]...", program->name);
    if (program->operand != NULL)
        printf(" [%s]...", program->operand->argument);
    printf("\n%s\n\n", program->purpose);
    for (int i = 0; i < program->option_count; i++) {
        const option_spec_t *option = &program->options[i];

        describe_default(option, place_of(option, parser->settings), default_text);
        print_help_line(option, default_text);
    }
    print_help_line(&help_option, "");
    print_help_line(&version_option, "");
    printf("\n%s", program->notes);
    return OPTIONS_ANSWERED;
}

static options_outcome_t print_version(const parser_t *parser)
{
    printf("%s %s\n", parser->program->name, PACKAGE_VERSION);
    return OPTIONS_ANSWERED;
}

/* Carries out one option. typed: as the user wrote it; attached: the value that came in the same argument, or NULL. */
static options_outcome_t apply(parser_t *parser, const option_spec_t *option, const char *typed, const char *attached)
{
    char allowed[TEXT_BYTES];
    const char *value = attached != NULL ? attached : "";

    if (option == &help_option)
        return print_help(parser);
    if (option == &version_option)
        return print_version(parser);
    describe_allowed(option, allowed);
    if (attached == NULL && option->argument != NULL) {
        if (parser->next == parser->argc)
            return refuse(parser, "option %s needs a value: %s", typed, allowed);
        value = parser->argv[parser->next++];
    }
    if (!store(option, value, place_of(option, parser->settings)))
        return refuse(parser, "option %s: \"%.60s\" is not allowed, give %s", typed, value, allowed);
    return OPTIONS_RUN;
}

/* Finds an option by its letter, or by its long name[0..length) where letter is 0. NULL when there is none. */
static const option_spec_t *find_option(const program_spec_t *program, char letter, const char *name, size_t length)
{
    for (int i = -2; i < program->option_count; i++) {
        const option_spec_t *option = i == -2 ? &help_option : i == -1 ? &version_option : &program->options[i];

        if (i < 0 && program->answers_nothing)
            continue;
        if (letter != 0 ? option->letter == letter
                        : strlen(option->name) == length && strncmp(option->name, name, length) == 0)
            return option;
    }
    return NULL;
}

/* --name, --name VALUE or --name=VALUE. */
static options_outcome_t parse_long(parser_t *parser, const char *argument)
{
    size_t length = strcspn(argument, "=");
    const char *attached = argument[length] == '=' ? argument + length + 1 : NULL;
    const option_spec_t *option;
    char typed[64];

    snprintf(typed, sizeof(typed), "%.*s", (int)length, argument);
    option = length > 2 ? find_option(parser->program, 0, argument + 2, length - 2) : NULL;
    if (option == NULL)
        return refuse(parser, "option %s is unknown", typed);
    if (option->argument == NULL && attached != NULL)
        return refuse(parser, "option %s: \"%.60s\" is not allowed, it takes no value", typed, attached);
    return apply(parser, option, typed, attached);
}

/* -x, -x VALUE, -xVALUE, or several letters in one argument of which the last may have a value. */
static options_outcome_t parse_letters(parser_t *parser, const char *letters)
{
    options_outcome_t outcome = OPTIONS_RUN;

    while (*letters != '\0' && outcome == OPTIONS_RUN) {
        const option_spec_t *option = find_option(parser->program, *letters, NULL, 0);
        char typed[3] = {'-', *letters, '\0'};

        letters++;
        if (option == NULL)
            return refuse(parser, "option %s is unknown", typed);
        if (option->argument != NULL)
            return apply(parser, option, typed, *letters != '\0' ? letters : NULL);
        outcome = apply(parser, option, typed, NULL);
    }
    return outcome;
}

options_outcome_t options_parse(const program_spec_t *program, int argc, char **argv, void *settings)
{
    parser_t parser = {program, argv, argc, 1, settings};
    options_outcome_t outcome = OPTIONS_RUN;

    while (parser.next < argc && outcome == OPTIONS_RUN) {
        const char *argument = argv[parser.next++];

        if (strncmp(argument, "--", 2) == 0)
            outcome = parse_long(&parser, argument);
        else if (argument[0] == '-' && argument[1] != '\0')
            outcome = parse_letters(&parser, argument + 1);
        else if (program->operand == NULL)
            outcome = refuse(&parser, "argument \"%.60s\" is not allowed, only options are", argument);
        else if (!store(program->operand, argument, place_of(program->operand, settings)))
            outcome = refuse(&parser, "argument \"%.60s\" is not allowed", argument);
    }
    return outcome;
}

void options_list_sizes(size_list_t *sizes, double factor, int64_t multiple)
{
    int64_t size = sizes->least_bytes;

    if (sizes->count > 0)
        return;
    while (size <= sizes->most_bytes && sizes->count < MOST_SIZES) {
        int64_t next = (int64_t)((double)size * factor);

        sizes->bytes[sizes->count++] = size;
        next -= next % multiple;
        size = next > size ? next : size + multiple;
    }
}
