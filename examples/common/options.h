/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * options.h - command-line options from one table, which makes the parser, its messages and the help.
 */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stddef.h>
#include <stdint.h>

/* What an option's value is, and the type of its place in the settings. */
enum option_kind {
    OPTION_SWITCH,  /* no value; int64_t, 1 when given */
    OPTION_INTEGER, /* int64_t */
    OPTION_DECIMAL, /* double */
    OPTION_CHOICE,  /* one name; int64_t, its index */
    OPTION_CHOICES, /* names separated by commas; int64_t, bit i for index i */
    OPTION_SIZES,   /* [MIN:]MAX; struct size_range */
    OPTION_TEXT     /* const char *, into argv */
};

/* Sizes in bytes. */
struct size_range {
    int64_t least_bytes;
    int64_t most_bytes;
};

struct option_spec {
    char letter;          /* 0 where there is only the long form */
    const char *name;     /* the long form, without dashes */
    const char *argument; /* what the help calls the value; NULL for a switch */
    enum option_kind kind;
    size_t place; /* offset of the value in the settings */
    double least; /* limits of numbers and sizes; a default outside them is not shown: doc tells it */
    double most;
    const char *(*choice)(int index); /* the valid names, NULL after the last */
    const char *doc;
};

/* A program as its command line shows it. --help and --version come on their own. */
struct program_spec {
    const char *name;
    const char *purpose; /* one line */
    const struct option_spec *options;
    int option_count;
    const char *notes; /* printed after the options: definitions, exit status */
};

enum options_outcome { OPTIONS_RUN, OPTIONS_ANSWERED, OPTIONS_BAD };

/*
 * options_parse - read the command line into the settings.
 *
 * Prints the help or the version to stdout where asked for (OPTIONS_ANSWERED), or one line to stderr about the first
 * bad argument (OPTIONS_BAD).
 *
 * program    the options and texts
 * argc,argv  as main got them
 * settings   in: the defaults; out: the values given
 */
enum options_outcome options_parse(const struct program_spec *program, int argc, char **argv, void *settings);

/* options_version - the version of the package. */
const char *options_version(void);

#endif /* OPTIONS_H */
