/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * text.h - letters and numbers as settings are written: ASCII and decimal points, whatever the locale of the process.
 * Pure; no MPI.
 */
#ifndef MH_TEXT_H
#define MH_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MH_BILLIONTHS_TEXT_SIZE = 32 };

bool mh_is_blank(char c); /* a space, or one of \t \n \v \f \r */
bool mh_is_digit(char c);
bool mh_is_letter(char c);
bool mh_is_control(char c);
char mh_to_lower(char c);

/* Whether two texts are equal but for upper and lower case. */
bool mh_same_name(const char *a, const char *b);

/* The same for the beginning of text. */
bool mh_has_prefix(const char *text, const char *prefix);

/*
 * The index of the name that takes the fewest changes of single letters, but for their case, to become text. count:
 * each takes more changes than a third of the letters of text, and was hardly meant.
 */
size_t mh_likest(const char *text, const char *const *names, size_t count);

/* Parse one or more digits and nothing else. Returns 0; or -1, also if the number is above INT64_MAX. */
int mh_parse_whole(const char *text, int64_t *number);

/*
 * Parse a number with at most nine decimals, as DIGITS or DIGITS.DIGITS, in billionths. It is exact: more decimals are
 * refused, not rounded. Returns 0; or -1, also if the number is too large.
 */
int mh_parse_billionths(const char *text, int64_t *billionths);

/* The shortest text that mh_parse_billionths turns into billionths, which must not be negative. */
void mh_format_billionths(int64_t billionths, char text[MH_BILLIONTHS_TEXT_SIZE]);

#endif
