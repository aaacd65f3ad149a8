/* SPDX-License-Identifier: BSD-3-Clause */
/* options.c - parse command lines, print the help, and describe what was wrong. */
#include "common/cli/options.h"

#include "common/cli/text.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef PACKAGE_VERSION
#define PACKAGE_VERSION "(version unknown)"
#endif

enum { TEXT_BYTES = 1024, ITEM_BYTES = 64, HELP_COLUMN = 28, HELP_END = 79 };

#define append(text, ...) text_append(text, TEXT_BYTES, __VA_ARGS__)

static const option_spec_t help_option =
    OPTION('h', "help", NULL, OPTION_SWITCH, 0, .doc = "print a summary of the options and exit");
static const option_spec_t columns_option =
    OPTION(0, "help-columns", NULL, OPTION_SWITCH, 0, .doc = "print what the columns of csv and json mean and exit");
static const option_spec_t version_option =
    OPTION('v', "version", NULL, OPTION_SWITCH, 0, .doc = "print the version and exit");
static const option_spec_t manual_option = OPTION(0, "help-manual", NULL, OPTION_SWITCH, 0, .doc = "");

const option_spec_t options_command = {.name = "command", .argument = "PROGRAM"};

const char *options_version(void)
{
    return PACKAGE_VERSION;
}

/* ---- Values */

/* Reads a whole number, which may end in K, M or G unless the option is OPTION_INTEGER. Checks its limits. */
static bool parse_whole(const option_spec_t *option, const char *text, int64_t *value)
{
    static const char suffixes[] = "KMG";
    char *end;
    errno = 0;
    *value = strtoll(text, &end, 10);
    if (isspace((unsigned char)text[0]) || end == text || errno != 0)
        return false;
    if (option->kind != OPTION_INTEGER && *end != '\0') {
        const char *suffix = strchr(suffixes, toupper((unsigned char)*end++));
        if (!suffix || __builtin_mul_overflow(*value, INT64_C(1) << 10 * (suffix - suffixes + 1), value))
            return false;
    }
    return *end == '\0' && (double)*value >= option->min && (double)*value <= option->max;
}

static bool parse_decimal(const option_spec_t *option, const char *text, double *value)
{
    char *end;
    *value = strtod(text, &end);
    end += option->kind == OPTION_PERCENT && end > text && *end == '%';
    return end > text && *end == '\0' && !isspace((unsigned char)text[0]) && *value >= option->min &&
           *value <= option->max;
}

/* Takes the next of a list separated by commas, or an empty text if it is too long. *list is NULL after the last. */
static bool next_item(const char **list, char item[ITEM_BYTES])
{
    if (!*list)
        return false;
    size_t length = strcspn(*list, ",");
    snprintf(item, ITEM_BYTES, "%.*s", length < ITEM_BYTES ? (int)length : 0, *list);
    *list = (*list)[length] == ',' ? *list + length + 1 : NULL;
    return true;
}

/* With MAX alone, MIN keeps its default, or is MAX if that is less; with MIN: alone, MAX does. */
static bool parse_range(const option_spec_t *option, const char *text, size_list_t *sizes)
{
    const char *colon = strchr(text, ':');
    const char *max = !colon ? text : colon + 1;
    char min[ITEM_BYTES];
    sizes->count = 0;
    sizes->has_max |= !colon || *max != '\0';
    sizes->has_min |= colon != NULL;
    if ((!colon || *max != '\0') && !parse_whole(option, max, &sizes->max_bytes))
        return false;
    if (!colon) {
        sizes->min_bytes = sizes->min_bytes < sizes->max_bytes ? sizes->min_bytes : sizes->max_bytes;
        return true;
    }
    snprintf(min, sizeof min, "%.*s", (int)(colon - text), text);
    return colon - text < ITEM_BYTES && parse_whole(option, min, &sizes->min_bytes) &&
           sizes->min_bytes <= sizes->max_bytes;
}

static bool parse_sizes(const option_spec_t *option, const char *text, size_list_t *sizes)
{
    char item[ITEM_BYTES];
    if (!strchr(text, ','))
        return parse_range(option, text, sizes);
    sizes->has_max = 1;
    for (sizes->count = 0; next_item(&text, item); sizes->count++)
        if (sizes->count == MAX_SIZES || !parse_whole(option, item, &sizes->bytes[sizes->count]))
            return false;
    return true;
}

static bool parse_numbers(const option_spec_t *option, const char *text, number_list_t *numbers)
{
    char item[ITEM_BYTES];
    for (numbers->count = 0; next_item(&text, item); numbers->count++)
        if (numbers->count == MAX_NUMBERS || !parse_decimal(option, item, &numbers->values[numbers->count]))
            return false;
    return true;
}

/* The name of an index, NULL after the last. */
static const char *name_at(const names_t *names, int index)
{
    return !names ? NULL : *(const char *const *)((const char *)names->items + (size_t)index * names->item_bytes);
}

int names_find(const names_t *names, const char *name)
{
    for (int i = 0; name_at(names, i); i++)
        if (strcmp(name_at(names, i), name) == 0)
            return i;
    return -1;
}

static bool parse_choices(const option_spec_t *option, const char *text, int64_t *mask)
{
    char item[ITEM_BYTES];
    for (*mask = 0; next_item(&text, item);) {
        int index = names_find(option->names, item);
        if (index < 0)
            return false;
        *mask |= INT64_C(1) << index;
    }
    return true;
}

/* Stores the value of an option. Returns whether it is allowed. */
static bool store(const option_spec_t *option, const char *text, void *settings)
{
    void *place = (char *)settings + option->place;
    text_list_t *texts = place;
    int index;

    switch (option->kind) {
    case OPTION_SWITCH:
        *(int64_t *)place = 1;
        return true;
    case OPTION_INTEGER:
        index = names_find(option->names, text);
        if (index < 0)
            return parse_whole(option, text, place);
        *(int64_t *)place = (int64_t)option->min - 1 - index;
        return true;
    case OPTION_BYTES:
        return parse_whole(option, text, place);
    case OPTION_NUMBERS:
        return parse_numbers(option, text, place);
    case OPTION_DECIMAL:
    case OPTION_PERCENT:
        return parse_decimal(option, text, place);
    case OPTION_CHOICE:
        *(int64_t *)place = names_find(option->names, text);
        return *(int64_t *)place >= 0;
    case OPTION_CHOICES:
        return parse_choices(option, text, place);
    case OPTION_SIZES:
        return parse_sizes(option, text, place);
    case OPTION_TEXT:
        *(const char **)place = text;
        return text[0] != '\0';
    case OPTION_TEXTS:
        if (texts->count == MAX_TEXTS)
            return false;
        texts->texts[texts->count++] = text;
        return text[0] != '\0';
    case OPTION_REFUSED:
        return false;
    }
    return false;
}

static void set_default(const option_spec_t *option, void *settings)
{
    void *place = (char *)settings + option->place;
    if (option->default_text)
        store(option, option->default_text, settings);
    else if (option->kind == OPTION_DECIMAL || option->kind == OPTION_PERCENT)
        *(double *)place = ABSENT;
    else if (option->kind == OPTION_INTEGER || option->kind == OPTION_BYTES || option->kind == OPTION_CHOICE)
        *(int64_t *)place = ABSENT;
}

/* ---- Help */

/* As people write it: 1000000 and 0.001, not 1e+06. */
static void append_number(const option_spec_t *option, double number, char *text)
{
    static const char suffixes[] = "\0KMG";
    int i = 0;
    if (option->kind == OPTION_BYTES || option->kind == OPTION_SIZES)
        for (; i < 3 && number >= 1024 && fmod(number, 1024) == 0; i++)
            number /= 1024;
    char digits[400];
    int length = snprintf(digits, sizeof digits, "%.9f", number);
    while (digits[length - 1] == '0')
        length--;
    append(text, "%.*s%.1s", digits[length - 1] == '.' ? length - 1 : length, digits, suffixes + i);
}

/* The limits of a number, with its unit. */
static void append_limits(const option_spec_t *option, char *text)
{
    static const char *const units[][2] = {
        {"-s", "seconds"}, {"-ms", "milliseconds"}, {"-us", "microseconds"}, {"-ns", "nanoseconds"}, {"-percent", "%"}};
    append(text, "from ");
    append_number(option, option->min, text);
    append(text, " to ");
    append_number(option, option->max, text);
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (text_ends_in(option->name, units[i][0]))
            append(text, " %s", units[i][1]);
    if (option->kind == OPTION_BYTES || option->kind == OPTION_SIZES)
        append(text, ", which may end in K, M or G");
}

/* What a value is. */
static const char *kind_of(const option_spec_t *option)
{
    static const char *const kinds[] = {[OPTION_INTEGER] = "a whole number ",
                                        [OPTION_BYTES] = "a whole number ",
                                        [OPTION_DECIMAL] = "a number ",
                                        [OPTION_PERCENT] = "a number ",
                                        [OPTION_REFUSED] = ""};
    return kinds[option->kind] ? kinds[option->kind] : "";
}

/* Writes into text which values of its kind an option takes. quote: put around names. */
static void describe_allowed(const option_spec_t *option, const char *quote, char *text)
{
    text[0] = '\0';
    switch (option->kind) {
    case OPTION_INTEGER:
    case OPTION_BYTES:
        append_limits(option, text);
        for (int i = 0; name_at(option->names, i); i++)
            append(text, ", or %s%s%s", quote, name_at(option->names, i), quote);
        break;
    case OPTION_NUMBERS:
        append(text, "at most %d numbers ", MAX_NUMBERS);
        append_limits(option, text);
        append(text, ", separated by commas");
        break;
    case OPTION_DECIMAL:
    case OPTION_PERCENT:
        append_limits(option, text);
        break;
    case OPTION_SIZES:
        append(text, "[MIN:]MAX or MIN:, MIN not above MAX, or a list separated by commas, of whole numbers of bytes ");
        append_limits(option, text);
        break;
    case OPTION_CHOICE:
    case OPTION_CHOICES:
        append(text, option->kind == OPTION_CHOICE ? "one of" : "a list separated by commas of");
        for (int i = 0; name_at(option->names, i); i++)
            append(text, "%s %s%s%s", i == 0 ? "" : ",", quote, name_at(option->names, i), quote);
        break;
    case OPTION_TEXT:
    case OPTION_TEXTS:
        append(text, "a text that is not empty");
        break;
    case OPTION_SWITCH:
    case OPTION_REFUSED:
        break;
    }
}

/* Any text but the empty one, which needs no word. */
static bool takes_all(const option_spec_t *option)
{
    return option->kind == OPTION_SWITCH || option->kind == OPTION_TEXT || option->kind == OPTION_TEXTS;
}

static const char *default_of(const option_spec_t *option)
{
    return option->default_text ? option->default_text : option->default_doc;
}

/* Writes into text what an option is called. */
static void write_name(const option_spec_t *option, char *text)
{
    text[0] = '\0';
    if (option->letter != 0)
        append(text, "-%c, ", option->letter);
    append(text, "--%s", option->name);
}

/*
 * Prints a text in lines that end before HELP_END. A newline stays if a newline or a blank follows. A line that begins
 * with blanks is a row of two columns, of which the second one goes on below itself. column: where the cursor is;
 * indent: where other lines begin.
 */
static void print_text(const char *text, int column, int indent)
{
    int begin = indent;
    for (bool begins_line = true, is_row = false; text[0] != '\0';) {
        if (begins_line) {
            int blanks = (int)strspn(text, " ");
            const char *gap = strstr(text + blanks, "  ");
            is_row = blanks > 0 && gap && gap < text + strcspn(text, "\n");
            begin = is_row ? (int)(gap - text) + (int)strspn(gap, " ") : indent + blanks;
            column += printf("%*s", blanks, "");
            text += blanks;
        }
        begins_line = text[0] == '\n' && text[1] != '\0' && (is_row || strchr("\n ", text[1]));
        if (begins_line) {
            fputs(text[1] == '\n' ? "\n\n" : "\n", stdout);
            text += text[1] == '\n' ? 2 : 1;
            column = 0;
            continue;
        }
        int blanks = text[0] == '\n' ? 1 : (int)strspn(text, " ");
        int length = (int)strcspn(text + blanks, " \n");
        if (column > begin && column + blanks + length > HELP_END)
            column = printf("\n%*s", begin, "") - 1;
        else if (length > 0)
            column += printf("%*s", blanks, "");
        column += printf("%.*s", length, text + blanks);
        text += blanks + length;
    }
    putchar('\n');
}

static void print_help_line(const option_spec_t *option)
{
    char text[TEXT_BYTES], allowed[TEXT_BYTES];
    write_name(option, text);
    append(text, " %s", option->argument ? option->argument : "");
    int column = printf("%*s%s", option->letter != 0 ? 2 : 6, "", text);
    bool fits = column <= HELP_COLUMN - 2;
    printf(fits ? "%*s" : "\n%*s", fits ? HELP_COLUMN - column : HELP_COLUMN, "");
    describe_allowed(option, "", allowed);
    snprintf(text, sizeof text, "%s", option->doc);
    if (!takes_all(option))
        append(text, ": %s", allowed);
    if (default_of(option))
        append(text, " (default %s)", default_of(option));
    print_text(text, HELP_COLUMN, HELP_COLUMN);
}

static options_outcome_t print_help(const program_spec_t *program, const option_spec_t *const *all)
{
    if (program->usage)
        printf("Usage: %s", program->usage);
    else
        printf("Usage: mpiexec -n RANKS %s [OPTION]...", program->name);
    if (!program->usage && program->operand)
        printf(" [%s]...", program->operand->argument);
    putchar('\n');
    print_text(program->purpose, 0, 0);
    for (bool begins = true; *all; all++, begins = false) {
        if (*all == &manual_option)
            continue;
        if (begins || (*all)->section)
            putchar('\n');
        if ((*all)->section)
            printf("%s:\n", (*all)->section);
        print_help_line(*all);
    }
    putchar('\n');
    print_text(program->notes, 0, 0);
    return OPTIONS_ANSWERED;
}

static options_outcome_t print_columns(const program_spec_t *program)
{
    for (int i = 0; program->schemas[i]; i++) {
        fputs(i > 0 ? "\n" : "", stdout);
        schema_describe(program->schemas[i]);
    }
    return OPTIONS_ANSWERED;
}

/* For manual.awk: "# SECTION", options, each with sentences below it, and the columns. */
static options_outcome_t print_manual(const program_spec_t *program, const option_spec_t *const *all)
{
    char text[TEXT_BYTES];
    for (; *all; all++) {
        const option_spec_t *option = *all;
        if (option == &manual_option)
            continue;
        if (option->section)
            printf("# %s\n", option->section);
        write_name(option, text);
        printf("%s%s%s\n", text, option->argument ? " " : "", option->argument ? option->argument : "");
        printf("%c%s.\n", toupper((unsigned char)option->doc[0]), option->doc + 1);
        describe_allowed(option, "`", text);
        if (!takes_all(option))
            printf("Allowed: %s%s.\n", kind_of(option), text);
        if (default_of(option))
            printf("Default: %s.\n", default_of(option));
        if (option->more)
            puts(option->more);
    }
    return program->schemas ? print_columns(program) : OPTIONS_ANSWERED;
}

/* ---- The command line */

options_outcome_t options_refuse(const char *speaker, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "%s: ", speaker);
    vfprintf(stderr, format, arguments);
    fputs(" (see --help)\n", stderr);
    va_end(arguments);
    return OPTIONS_BAD;
}

/* By what getopt_long calls an option without a letter: its index and this. */
enum { NO_LETTER = 256 };

/* The options of a program as getopt_long wants them, and help and version after them. */
enum { MAX_OPTIONS = 96 };
typedef struct scanner {
    const option_spec_t *options[MAX_OPTIONS + 1];
    struct option longs[MAX_OPTIONS + 1];
    char letters[3 * MAX_OPTIONS + 3];
} scanner_t;

static void add_option(scanner_t *scanner, int i, const option_spec_t *option)
{
    int has_value = option->missing_text ? optional_argument : option->argument ? required_argument : no_argument;
    static const char *const colons[] = {[no_argument] = "", [required_argument] = ":", [optional_argument] = "::"};
    int code = option->letter != 0 ? option->letter : NO_LETTER + i;
    scanner->options[i] = option;
    scanner->longs[i] = (struct option){option->name, has_value, NULL, code};
    if (option->letter != 0)
        text_append(scanner->letters, sizeof scanner->letters, "%c%s", option->letter, colons[has_value]);
}

static scanner_t make_scanner(const program_spec_t *program)
{
    scanner_t scanner = {.letters = "-:"}; /* operands come in order, missing values are told from unknown options */
    int count = 0;
    if (program->operand == &options_command)
        scanner.letters[0] = '+';
    for (; count < program->other_count; count++)
        add_option(&scanner, count, &program->others[count]);
    for (int i = 0; i < program->option_count; i++)
        add_option(&scanner, count++, &program->options[i]);
    if (!program->answers_nothing) {
        add_option(&scanner, count++, &help_option);
        if (program->schemas)
            add_option(&scanner, count++, &columns_option);
        add_option(&scanner, count++, &version_option);
        add_option(&scanner, count, &manual_option);
    }
    return scanner;
}

static const option_spec_t *find_option(const scanner_t *scanner, int code)
{
    int i = 0;
    while (scanner->options[i] && scanner->longs[i].val != code)
        i++;
    return scanner->options[i];
}

static options_outcome_t take_operand(const program_spec_t *program, const char *text, void *settings)
{
    if (!program->operand)
        return options_refuse(program->name, "argument \"%.60s\" is not allowed, only options are", text);
    if (!store(program->operand, text, settings))
        return options_refuse(program->name, "argument \"%.60s\" is not allowed", text);
    return OPTIONS_RUN;
}

static options_outcome_t refuse_option(const program_spec_t *program, const option_spec_t *option, const char *name)
{
    if (option->argument && optarg)
        return options_refuse(program->name, "option %s: \"%.60s\" is not allowed, %s", name, optarg, option->doc);
    return options_refuse(program->name, "option %s is not allowed, %s", name, option->doc);
}

/* Carries out an option. code: what getopt_long said of it. */
static options_outcome_t take_option(const program_spec_t *program, const scanner_t *scanner,
                                     const option_spec_t *option, int code, void *settings)
{
    char name[TEXT_BYTES], allowed[TEXT_BYTES];
    write_name(option, name);
    describe_allowed(option, "", allowed);
    if (option->kind == OPTION_REFUSED)
        return refuse_option(program, option, name);
    if (code == '?')
        return options_refuse(program->name, "option %s takes no value", name);
    if (code == ':')
        return options_refuse(program->name, "option %s needs a value: %s%s", name, kind_of(option), allowed);
    if (option == &help_option)
        return print_help(program, scanner->options + program->other_count);
    if (option == &manual_option)
        return print_manual(program, scanner->options + program->other_count);
    if (option == &columns_option)
        return print_columns(program);
    if (option == &version_option) {
        printf("%s %s\n", program->name, PACKAGE_VERSION);
        return OPTIONS_ANSWERED;
    }
    const char *text = optarg ? optarg : option->missing_text;
    if (!store(option, text, settings))
        return options_refuse(program->name, "option %s: \"%.60s\" is not allowed, give %s%s", name, text,
                              kind_of(option), allowed);
    return OPTIONS_RUN;
}

options_outcome_t options_parse(const program_spec_t *program, int argc, char **argv, void *settings)
{
    const scanner_t scanner = make_scanner(program);
    options_outcome_t outcome = OPTIONS_RUN;
    int code;
    opterr = 0;
    optind = 0; /* from the beginning, whatever was read before */
    for (int i = 0; i < program->option_count && !program->answers_nothing; i++)
        set_default(&program->options[i], settings);
    /* In parentheses, as SimGrid's macro of this name would go on from the last parse. */
    while (outcome == OPTIONS_RUN && (code = (getopt_long)(argc, argv, scanner.letters, scanner.longs, NULL)) != -1) {
        const option_spec_t *option = find_option(&scanner, code == '?' || code == ':' ? optopt : code);
        if (code == 1)
            outcome = take_operand(program, optarg, settings);
        else if (option)
            outcome = take_option(program, &scanner, option, code, settings);
        else if (optopt != 0)
            outcome = options_refuse(program->name, "option -%c is unknown", optopt);
        else
            outcome = options_refuse(program->name, "option %s is unknown", argv[optind - 1]);
    }
    while (outcome == OPTIONS_RUN && optind < argc && program->operand != &options_command) /* after "--" */
        outcome = take_operand(program, argv[optind++], settings);
    return outcome;
}

int words_cut(char *line, char **words, int max_words)
{
    static const char blanks[] = " \t\r\n\v\f";
    int count = 0;
    while (line += strspn(line, blanks), *line != '\0' && *line != '#') {
        char *to = line, quote = '\0';
        if (count == max_words)
            return WORDS_TOO_MANY;
        words[count++] = line;
        for (; *line != '\0' && (quote != '\0' || (*line != '#' && !strchr(blanks, *line))); line++) {
            if (*line == quote)
                quote = '\0';
            else if (quote == '\0' && (*line == '\'' || *line == '"'))
                quote = *line;
            else
                *to++ = *line;
        }
        if (quote != '\0')
            return WORDS_OPEN_QUOTE;
        if (*line == '#')
            *line = '\0';
        line += *line != '\0';
        *to = '\0';
    }
    return count;
}

/* Says in one line what is wrong. Is false. */
#define refuse(speaker, ...) (options_refuse(speaker, __VA_ARGS__) == OPTIONS_RUN)

bool words_read(const char *path, const char *option, const char *program, words_take_t *take, void *context)
{
    enum { MAX_LINE_BYTES = 1 << 16, MAX_WORDS = 1024 };
    char line[MAX_LINE_BYTES], speaker[TEXT_BYTES], *argv[1 + MAX_WORDS] = {NULL};
    bool good = true;
    FILE *file = fopen(path, "r");
    if (!file)
        return refuse(program, "%s\"%.200s\" is not allowed, give a file that can be read", option, path);
    for (int number = 1; good && fgets(line, sizeof line, file); number++) {
        bool is_whole = strchr(line, '\n') || feof(file);
        int count = is_whole ? words_cut(line, argv + 1, MAX_WORDS) : 0;
        snprintf(speaker, sizeof speaker, "%s: %.200s, line %d", program, path, number);
        if (!is_whole)
            good = refuse(speaker, "more than %d characters", MAX_LINE_BYTES - 2);
        else if (count == WORDS_OPEN_QUOTE)
            good = refuse(speaker, "a quote is not closed");
        else if (count == WORDS_TOO_MANY)
            good = refuse(speaker, "more than %d words", MAX_WORDS);
        else if (count > 0)
            good = take(context, speaker, 1 + count, argv);
    }
    if (good && ferror(file))
        good = refuse(program, "%s\"%.200s\" cannot be read: %s", option, path, strerror(errno));
    fclose(file);
    return good;
}

void options_begin_sizes(size_list_t *sizes, int64_t least_bytes)
{
    if (!sizes->has_min && sizes->min_bytes < 1)
        sizes->min_bytes = least_bytes < sizes->max_bytes ? least_bytes : sizes->max_bytes;
}

int64_t options_list_sizes(size_list_t *sizes, double factor, int64_t multiple)
{
    bool is_listed = sizes->count > 0;
    int64_t wrong = 0;
    for (int64_t size = sizes->min_bytes; !is_listed && size <= sizes->max_bytes && sizes->count < MAX_SIZES;) {
        int64_t next = (int64_t)((double)size * factor);
        sizes->bytes[sizes->count++] = size;
        next -= next % multiple;
        size = next > size ? next : size + multiple;
    }
    while (wrong < sizes->count && sizes->bytes[wrong] % multiple == 0)
        wrong++;
    return wrong < sizes->count ? sizes->bytes[wrong] : -1;
}
