/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * output.h - what programs write: always as in the C locale, and never lost without a word.
 */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

/*
 * output_begin - before anything else in main. Numbers are then read and written with a decimal point, whatever locale
 * libraries set. A standard stream that is closed cannot be taken for another file later; writing to it fails.
 */
void output_begin(void);

/*
 * output_finish - close a file (standard output is only flushed) and look whether all of it was written.
 *
 * path      as the user gave it; of no use for standard output
 * program   for the message
 *
 * Returns true, or false after one line on standard error that names the file.
 */
bool output_finish(FILE *file, const char *path, const char *program);

#endif /* OUTPUT_H */
