/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * options.h - command-line options from one table, which makes the parser, its messages and the help.
 */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Exit statuses. */
enum { STATUS_GOOD = 0, STATUS_FAILED = 1, STATUS_BAD_OPTION = 2 };

/* What an option's value is, and the type of its place in the settings. */
typedef enum option_kind {
    OPTION_SWITCH,  /* no value; int64_t, 1 when given */
    OPTION_INTEGER, /* int64_t; one of the names stands for a number below the minimum: min - 1 - index */
    OPTION_DECIMAL, /* double */
    OPTION_PERCENT, /* likewise, and a % may follow */
    OPTION_BYTES,   /* a whole number that may end in K, M or G; int64_t */
    OPTION_CHOICE,  /* one name; int64_t, its index */
    OPTION_CHOICES, /* names separated by commas; int64_t, bit i for index i */
    OPTION_SIZES,   /* [MIN:]MAX, MIN:, or sizes separated by commas; size_list_t */
    OPTION_NUMBERS, /* numbers separated by commas; number_list_t */
    OPTION_TEXT,    /* const char *, into argv */
    OPTION_TEXTS,   /* one text each time it is given; text_list_t */
    OPTION_REFUSED  /* another program has it: its doc says why it is not here, or what to give instead */
} option_kind_t;

/* Sizes in bytes: those listed, or if count is 0, a range. */
enum { MAX_SIZES = 64 };
typedef struct size_list {
    int64_t has_min; /* 1 when MIN was given */
    int64_t has_max; /* 1 when MAX, or a list, was given */
    int64_t min_bytes;
    int64_t max_bytes;
    int64_t count;
    int64_t bytes[MAX_SIZES];
} size_list_t;

enum { MAX_NUMBERS = 16 };
typedef struct number_list {
    int64_t count;
    double values[MAX_NUMBERS];
} number_list_t;

enum { MAX_TEXTS = 128 };
typedef struct text_list {
    int64_t count;
    const char *texts[MAX_TEXTS]; /* into argv */
} text_list_t;

/* Names of which a value is one: an array of texts, or of structures that begin with one; that of the last is NULL. */
typedef struct names {
    const void *items;
    size_t item_bytes;
} names_t;
#define NAMES(array) (&(const names_t){(array), sizeof((array)[0])})

/*
 * A row of a table of options, which makes the parser, --help, the OPTIONS of the manual page ("make manual-options"),
 * and completions. The allowed values, their unit and the default are printed from the row, so no text says them again.
 */
typedef struct option_spec {
    char letter;          /* 0 if there is only the long form */
    const char *name;     /* the long form, without dashes; ends in the unit of a time or a percentage: -s, -percent */
    const char *argument; /* what the help calls the value; NULL for a switch */
    option_kind_t kind;
    size_t place; /* offset of the value in the settings */
    double min;   /* limits of numbers and sizes */
    double max;
    const names_t *names;     /* the valid ones; NULL: there are none */
    const char *default_text; /* as it could be given; NULL: none, or what default_doc tells */
    const char *default_doc;  /* in words; NULL: there is none, or it is default_text */
    const char *doc;          /* what the option is, without a period */
    const char *more;         /* sentences for the manual page, `literal` words in bold; NULL: none */
    const char *section;      /* the title of this and the next options; NULL: that of those before */
    const char *missing_text; /* the value if none is given, which then is in the option's own word: -z50, --tail=50 */
} option_spec_t;

/* What is there of a number or a choice that has no default and was not given: outside all limits, and no index. */
enum { ABSENT = -100 };

/* One row of a program's options table, in macros that stand for several. */
#define OPTION(...) \
    {               \
        __VA_ARGS__ \
    }

/* The seed of whatever is random, of which there is one default. More fields may follow. */
#define SEED_OPTION(its_place, ...) \
    OPTION(0, "seed", "N", OPTION_INTEGER, its_place, .max = 1e15, .default_text = "1", __VA_ARGS__)

/* A program as its command line shows it. --help, --version, and with schemas --help-columns come on their own.
 * There are at most 90 options. A newline in
 * purpose and notes that comes before a letter is a blank: the help fits its lines to a terminal of 80 columns. */
typedef struct program_spec {
    const char *name;
    const char *purpose; /* one line */
    const option_spec_t *options;
    int option_count;
    const char *notes;                   /* printed after the options: definitions, exit status */
    const option_spec_t *operand;        /* what takes the arguments that are no options; NULL: none are allowed */
    bool answers_nothing;                /* no --help and --version: not a command line but a row of a file */
    const char *usage;                   /* how it is started; NULL: by mpiexec, with options and operands */
    const struct schema *const *schemas; /* of what it writes, NULL after the last; NULL: nothing with columns */
    /* As another program has them, for those who come from it: a letter or a name is that of these first. The help does
     * not tell of them, and they have no defaults. */
    const option_spec_t *others;
    int other_count;
} program_spec_t;

/* As the operand: the first one and what follows are another command line, from argv[optind] on. */
extern const option_spec_t options_command;

/* A program of a table options and a text notes. It has no operands, unless they are given. */
#define PROGRAM_SPEC(program_name, program_purpose, ...)                                \
    {                                                                                   \
        .name = (program_name), .purpose = (program_purpose), .options = options,       \
        .option_count = sizeof options / sizeof options[0], .notes = notes, __VA_ARGS__ \
    }

/* schema_describe - print the columns of a schema, also of the table, in parentheses, as a list of Markdown. */
void schema_describe(const struct schema *schema);

/* The schemas of a program, by their addresses. */
#define SCHEMAS(...) ((const struct schema *const[]){__VA_ARGS__, NULL})

typedef enum options_outcome { OPTIONS_RUN, OPTIONS_ANSWERED, OPTIONS_BAD } options_outcome_t;

/*
 * options_parse - read the command line into the settings, by getopt_long. Before, puts defaults there; but not if
 * program answers nothing. Prints the help or the version to stdout if asked for (OPTIONS_ANSWERED), or one line to
 * stderr about the first bad argument (OPTIONS_BAD). --help-manual, which the help does not tell of, prints the table
 * for common/cli/manual.awk.
 */
options_outcome_t options_parse(const program_spec_t *program, int argc, char **argv, void *settings);

/* options_refuse - print the one line about a bad argument. speaker: the program, or a place in a file. */
options_outcome_t options_refuse(const char *speaker, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* options_begin_sizes - let a range whose minimum was not given begin with this size, or the maximum if it is less. */
void options_begin_sizes(size_list_t *sizes, int64_t least_bytes);

/*
 * options_list_sizes - write the sizes of a range into its list, if the list is empty: each one factor times the one
 * before, rounded down to a multiple. Returns the first of the list that is no such multiple, or -1.
 */
int64_t options_list_sizes(size_list_t *sizes, double factor, int64_t multiple);

/*
 * words_cut - cut a line of a file, which says what a command line says, into words at blanks. Blanks and # in single
 * or double quotes are part of a word. Any other # begins a comment.
 *
 * line    is changed, and the words point into it
 * words   out: at most so many
 *
 * Returns how many words there are, or why the line cannot be cut.
 */
enum { WORDS_TOO_MANY = -1, WORDS_OPEN_QUOTE = -2 };
int words_cut(char *line, char **words, int max_words);

/*
 * words_read - cut the lines of a file, and hand those that have words to a function, until it returns false. Tells in
 * one line what cannot be read or cut.
 *
 * option   which names the file, with ": " behind it, for messages; or ""
 * take     gets who speaks in messages about the line, and the words as main gets them: from argv[1] on
 *
 * Returns whether all was good.
 */
typedef bool words_take_t(void *context, const char *speaker, int argc, char **argv);
bool words_read(const char *path, const char *option, const char *program, words_take_t *take, void *context);

/* names_find - the index of a name, or -1. */
int names_find(const names_t *names, const char *name);

/* options_version - the version of the package. */
const char *options_version(void);

#endif
