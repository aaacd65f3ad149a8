/* SPDX-License-Identifier: BSD-3-Clause */
/* text.c - characters and numbers without the locale. */
#include "pure/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define BILLION INT64_C(1000000000)

enum { DECIMALS = 9, MAX_NAME_LENGTH = 64 };

bool mh_is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

bool mh_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool mh_is_letter(char c)
{
    char lower = mh_to_lower(c);
    return lower >= 'a' && lower <= 'z';
}

bool mh_is_control(char c)
{
    return (unsigned char)c < ' ' || c == 0x7f;
}

char mh_to_lower(char c)
{
    if (c >= 'A' && c <= 'Z')
        return (char)(c - 'A' + 'a');
    return c;
}

bool mh_same_name(const char *a, const char *b)
{
    return strlen(a) == strlen(b) && mh_has_prefix(a, b);
}

bool mh_has_prefix(const char *text, const char *prefix)
{
    while (*prefix)
        if (mh_to_lower(*text++) != mh_to_lower(*prefix++))
            return false;
    return true;
}

/* How many letters must be added, removed, replaced or swapped with the next; of name, the first ones count. */
static size_t count_changes(const char *text, const char *name)
{
    size_t rows[3][MAX_NAME_LENGTH + 1], length = strnlen(name, MAX_NAME_LENGTH), i;
    for (size_t j = 0; j <= length; j++)
        rows[0][j] = j;
    for (i = 1; text[i - 1]; i++) {
        size_t *row = rows[i % 3], *before = rows[(i + 2) % 3], *long_before = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= length; j++) {
            const char here = mh_to_lower(text[i - 1]), there = mh_to_lower(name[j - 1]);
            const bool is_swap =
                i > 1 && j > 1 && here == mh_to_lower(name[j - 2]) && mh_to_lower(text[i - 2]) == there;
            row[j] = before[j - 1] + (here != there);
            if (row[j - 1] + 1 < row[j])
                row[j] = row[j - 1] + 1;
            if (before[j] + 1 < row[j])
                row[j] = before[j] + 1;
            if (is_swap && long_before[j - 2] + 1 < row[j])
                row[j] = long_before[j - 2] + 1;
        }
    }
    return rows[(i + 2) % 3][length];
}

size_t mh_likest(const char *text, const char *const *names, size_t count)
{
    size_t likest = count, fewest = strlen(text) / 3 + 1;
    for (size_t i = 0; i < count; i++) {
        const size_t changes = count_changes(text, names[i]);
        if (changes < fewest) {
            likest = i;
            fewest = changes;
        }
    }
    return likest;
}

/* Append the digits at the beginning of *text to *number, and skip them. Returns their number, -1 if too many. */
static int take_digits(const char **text, int64_t *number)
{
    const char *begin = *text;
    for (; mh_is_digit(**text); ++*text)
        if (__builtin_mul_overflow(*number, 10, number) || __builtin_add_overflow(*number, **text - '0', number))
            return -1;
    return (int)(*text - begin);
}

int mh_parse_whole(const char *text, int64_t *number)
{
    int64_t parsed = 0;
    if (take_digits(&text, &parsed) < 1 || *text)
        return -1;
    *number = parsed;
    return 0;
}

int mh_parse_billionths(const char *text, int64_t *billionths)
{
    int64_t parsed = 0;
    int decimals = 0;
    if (take_digits(&text, &parsed) < 1)
        return -1;
    if (*text == '.') {
        text++;
        decimals = take_digits(&text, &parsed);
        if (decimals < 1 || decimals > DECIMALS)
            return -1;
    }
    for (; decimals < DECIMALS; decimals++)
        if (__builtin_mul_overflow(parsed, 10, &parsed))
            return -1;
    if (*text)
        return -1;
    *billionths = parsed;
    return 0;
}

void mh_format_billionths(int64_t billionths, char text[MH_BILLIONTHS_TEXT_SIZE])
{
    snprintf(text, MH_BILLIONTHS_TEXT_SIZE, "%" PRId64 ".%09" PRId64, billionths / BILLION, billionths % BILLION);
    size_t length = strlen(text);
    while (text[length - 1] == '0')
        text[--length] = '\0';
    if (text[length - 1] == '.')
        text[--length] = '\0';
}
