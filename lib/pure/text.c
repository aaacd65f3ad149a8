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

/* How many letters must be added, removed or replaced; of name, the first ones count. */
static size_t count_changes(const char *text, const char *name)
{
    size_t row[MAX_NAME_LENGTH + 1], length = strnlen(name, MAX_NAME_LENGTH);
    for (size_t j = 0; j <= length; j++)
        row[j] = j;
    for (size_t i = 0; text[i]; i++) {
        size_t before = i; /* of one letter less in both */
        row[0] = i + 1;
        for (size_t j = 0; j < length; j++) {
            size_t replaced = before + (mh_to_lower(text[i]) != mh_to_lower(name[j]));
            size_t other = (row[j] < row[j + 1] ? row[j] : row[j + 1]) + 1;
            before = row[j + 1];
            row[j + 1] = replaced < other ? replaced : other;
        }
    }
    return row[length];
}

size_t mh_likest(const char *text, const char *const *names, size_t count)
{
    size_t likest = 0;
    for (size_t i = 1; i < count; i++)
        if (count_changes(text, names[i]) < count_changes(text, names[likest]))
            likest = i;
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
