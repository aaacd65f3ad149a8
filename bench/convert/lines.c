/* SPDX-License-Identifier: BSD-3-Clause */
/* lines.c - times in text: a column of a table, or what a pattern finds in each line. */
#define _GNU_SOURCE /* strptime, timegm */
#include "bench/convert/conversion.h"

#include "pure/text.h"
#include "pure/units.h"

#include <inttypes.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- Columns */

enum { MAX_ROW_BYTES = 1 << 26 };

/* Whether a field is in quotes, which begin where it begins. Two quotes in it are one of its characters. */
typedef struct quotes {
    bool are_open, may_open;
} quotes_t;

static const quotes_t at_begin = {false, true};

static void pass(quotes_t *quotes, char character)
{
    const bool were_open = quotes->are_open, is_quote = character == '"';
    quotes->are_open = were_open ? !is_quote : is_quote && quotes->may_open;
    quotes->may_open = were_open ? is_quote : character == ',';
}

static void pass_all(quotes_t *quotes, const char *text, ssize_t length)
{
    if (!quotes->are_open && !memchr(text, '"', (size_t)length))
        return;
    for (ssize_t i = 0; i < length; i++)
        pass(quotes, text[i]);
}

/*
 * A row of a table: a line, or several if a quoted field has ends of lines. Returns its length, -1 at the end, or -2 if
 * a quoted field does not end.
 */
static ssize_t read_row(FILE *from, char **row, size_t *capacity)
{
    char *line = NULL;
    size_t line_capacity = 0;
    quotes_t quotes = at_begin;
    ssize_t length = getline(row, capacity, from), more;
    if (length > 0)
        pass_all(&quotes, *row, length);
    while (quotes.are_open) {
        more = length < MAX_ROW_BYTES ? getline(&line, &line_capacity, from) : -1;
        char *grown = more >= 0 ? realloc(*row, (size_t)(length + more) + 1) : NULL;
        if (!grown) {
            length = -2;
            break;
        }
        *row = grown;
        *capacity = (size_t)(length + more) + 1;
        memcpy(*row + length, line, (size_t)more + 1);
        length += more;
        pass_all(&quotes, line, more);
    }
    free(line);
    return length;
}

/* Where a field of a row begins, from 0 on, and its length; NULL: the row has fewer. */
static const char *field_of(const char *row, int field, size_t *length)
{
    for (;; field--) {
        const char *at = row;
        quotes_t quotes = at_begin;
        for (; *at != '\0' && (quotes.are_open || (*at != ',' && *at != '\n' && *at != '\r')); at++)
            pass(&quotes, *at);
        if (field == 0) {
            *length = (size_t)(at - row);
            if (*length >= 2 && row[0] == '"') {
                *length -= 2;
                return row + 1;
            }
            return row;
        }
        if (*at != ',')
            return NULL;
        row = at + 1;
    }
}

static int find_column(const char *head, const char *column)
{
    int64_t number;
    size_t length;
    const char *field;
    for (int i = 0; (field = field_of(head, i, &length)); i++)
        if (strlen(column) == length && strncmp(field, column, length) == 0)
            return i;
    return mh_parse_whole(column, &number) == 0 && number > 0 && number <= 10000 &&
                   field_of(head, (int)number - 1, &length)
               ? (int)number - 1
               : -1;
}

static char *add_field(char *end, const char *text)
{
    *end++ = ',';
    return stpcpy(end, text);
}

/* Lines that begin with # before the head are comments, as those of this project's own tables. */
bool convert_csv(conversion_t *conversion, FILE *from, FILE *to, const char *column)
{
    char *row = NULL, time_text[TIME_TEXT_BYTES], bound_text[TIME_TEXT_BYTES], added[3 * TIME_TEXT_BYTES];
    size_t capacity = 0, field_length;
    ssize_t length = -1;
    int64_t rows = 0;
    int place = -1;
    bool is_good = true;
    while (is_good && (length = read_row(from, &row, &capacity)) >= 0) {
        converted_t time;
        rows++;
        while (length > 0 && (row[length - 1] == '\n' || row[length - 1] == '\r'))
            row[--length] = '\0';
        if (length == 0 || (place < 0 && row[0] == '#')) {
            fprintf(to, "%s\n", row);
            continue;
        }
        if (place < 0) {
            place = find_column(row, column);
            if (place < 0)
                is_good =
                    convert_fail(conversion, "has no column \"%.60s\", its first line is \"%.100s\"", column, row);
            else
                fprintf(to, "%s,%s,bound_ns,how\n", row, conversion->since_start ? "global_s" : "unix_s");
            continue;
        }
        const char *field = field_of(row, place, &field_length);
        if (!field || field_length == 0) {
            fprintf(to, "%s,,,\n", row);
            continue;
        }
        is_good = convert_number(conversion, field, field_length, &time);
        if (!is_good)
            continue;
        decimal_print(time.ns, MH_NS_PER_S, time_text);
        decimal_print(time.bound_ns, 1, bound_text);
        fwrite(row, 1, (size_t)length, to);
        char *end = add_field(added, time_text);
        end = add_field(end, bound_text);
        end = add_field(end, how_text(time.how));
        *end++ = '\n';
        fwrite(added, 1, (size_t)(end - added), to);
    }
    free(row);
    if (is_good && length == -2)
        return convert_fail(conversion, "row %" PRId64 ": a quoted field does not end", rows + 1);
    if (is_good && place < 0)
        return convert_fail(conversion, "is empty");
    return is_good;
}

/* ---- Patterns */

/*
 * A date and time of day, with or without a fraction of the second, which some write behind a comma, and an offset from
 * UTC behind it.
 */
static bool parse_date(char *text, const char *format, int64_t *ns)
{
    struct tm date = {.tm_mday = 1, .tm_year = 70};
    char *end = strptime(text, format, &date);
    const char *rest = end;
    int64_t fraction_ns = 0;
    if (!end)
        return false;
    if (*end == ',')
        *end = '.';
    if (*end == '.' && !decimal_parse(end, MH_NS_PER_S, &rest, &fraction_ns))
        return false;
    if (*rest != '\0' && !(rest = strptime(rest, "%z", &date)))
        return false;
    const int64_t ahead_s = date.tm_gmtoff; /* which timegm changes */
    return *rest == '\0' && !__builtin_mul_overflow((int64_t)timegm(&date) - ahead_s, MH_NS_PER_S, ns) &&
           !__builtin_add_overflow(*ns, fraction_ns, ns);
}

/*
 * The first decimal number of a line that is not part of a word, a version or an address: python3.11 and 10.77.0.1 are
 * none.
 */
#define NUMBER_PATTERN "(^|[^[:alnum:]_.])([0-9]+[.][0-9]+)([^[:alnum:]_.]|$)"
enum { WHOLE, FIRST_GROUP, NUMBER_GROUP, GROUPS };

bool convert_text(conversion_t *conversion, FILE *from, FILE *to, const char *pattern, const char *format,
                  int64_t *lines_without)
{
    char *line = NULL, found[256], time_text[TIME_TEXT_BYTES];
    size_t capacity = 0;
    ssize_t length;
    regex_t expression;
    regmatch_t match[GROUPS];
    bool is_good = true;
    const int wrong = regcomp(&expression, pattern ? pattern : NUMBER_PATTERN, REG_EXTENDED | REG_NEWLINE);
    if (wrong != 0) {
        regerror(wrong, &expression, found, sizeof found);
        return convert_fail(conversion, "option --pattern: \"%.60s\" is not a regular expression: %s", pattern, found);
    }
    while (is_good && (length = getline(&line, &capacity, from)) >= 0) {
        converted_t time;
        int64_t reading = 0;
        if (regexec(&expression, line, GROUPS, match, 0) != 0) {
            ++*lines_without;
            fwrite(line, 1, (size_t)length, to);
            continue;
        }
        const regmatch_t *at = !pattern                        ? &match[NUMBER_GROUP]
                               : match[FIRST_GROUP].rm_so >= 0 ? &match[FIRST_GROUP]
                                                               : &match[WHOLE];
        snprintf(found, sizeof found, "%.*s", (int)(at->rm_eo - at->rm_so), line + at->rm_so);
        if (format ? !parse_date(found, format, &reading) : !decimal_parse(found, conversion->unit_ns, NULL, &reading))
            is_good = convert_fail(conversion, "\"%.60s\" is not a time%s%s", found, format ? " of the format " : "",
                                   format ? format : "");
        is_good = is_good && convert_time(conversion, reading, &time);
        if (!is_good)
            continue;
        decimal_print(time.ns, MH_NS_PER_S, time_text);
        fwrite(line, 1, (size_t)at->rm_so, to);
        fputs(time_text, to);
        fwrite(line + at->rm_eo, 1, (size_t)(length - at->rm_eo), to);
    }
    free(line);
    regfree(&expression);
    return is_good;
}
