/* SPDX-License-Identifier: BSD-3-Clause */
/* quote.h - texts as comma-separated values and JSON want them. */
#ifndef QUOTE_H
#define QUOTE_H

#include <stdio.h>

/* quote_csv - print a text as a field, in quotes if it needs them. */
void quote_csv(FILE *file, const char *text);

/* quote_json - print a text as a string. What is not UTF-8 becomes the replacement character. */
void quote_json(FILE *file, const char *text);

#endif /* QUOTE_H */
