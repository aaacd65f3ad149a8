/* SPDX-License-Identifier: BSD-3-Clause */
/* pair_list.c - read the lines. */
#include "bench/suite/pair_list.h"

#include "common/cli/memory.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LINE_BYTES = 200, MAX_PAIRS = 1 << 14 };

/* Says what is wrong. Is false. */
#define refuse(why, ...) (snprintf((why), PAIR_LIST_WHY_BYTES, __VA_ARGS__), false)

int64_t number_read(const char **text, int64_t max)
{
    char *end;
    if (!isdigit((unsigned char)**text))
        return -1;
    errno = 0;
    long long number = strtoll(*text, &end, 10);
    *text = end;
    return errno == 0 && number <= max ? number : -1;
}

static const char *skip_blanks(const char *text)
{
    return text + strspn(text, " \t\r\n");
}

/* Numbers leave room for one more. */
static bool take_line(pair_list_t *list, const char *line)
{
    const char *at = skip_blanks(line);
    if (*at == '\0')
        return true;
    int64_t first = number_read(&at, INT_MAX - 1), second = -1;
    at = skip_blanks(at);
    if (*at == ',') {
        at = skip_blanks(at + 1);
        second = number_read(&at, INT_MAX - 1);
    }
    if (first < 0 || second < 0 || *skip_blanks(at) != '\0' || list->count == MAX_PAIRS)
        return false;
    list->pairs = or_exit(array_grow(list->pairs, list->count, sizeof list->pairs[0]));
    list->pairs[list->count++] = (number_pair_t){(int)first, (int)second};
    return true;
}

/* Reads a line without its comment; only the comment may be long. Returns false after the last line. */
static bool read_line(FILE *file, char line[MAX_LINE_BYTES], bool *is_text)
{
    int length = 0, byte = getc(file);
    bool is_comment = false, is_there = byte != EOF;
    *is_text = true;
    for (; byte != EOF && byte != '\n' && *is_text; byte = getc(file)) {
        is_comment = is_comment || byte == '#';
        *is_text = is_comment || (byte != '\0' && length < MAX_LINE_BYTES - 1);
        if (!is_comment && *is_text)
            line[length++] = (char)byte;
    }
    line[length] = '\0';
    return is_there;
}

static bool read_lines(pair_list_t *list, FILE *file, const char *path, const char *what, char *why)
{
    char line[MAX_LINE_BYTES];
    bool is_text;
    for (int number = 1; read_line(file, line, &is_text); number++)
        if (!is_text || !take_line(list, line))
            return refuse(why, "line %d of \"%.100s\" is not allowed, give %s in each of at most %d lines", number,
                          path, what, MAX_PAIRS);
    if (ferror(file))
        return refuse(why, "\"%.100s\" cannot be read", path);
    return list->count > 0 || refuse(why, "\"%.100s\" is empty, give lines of %s", path, what);
}

static bool add_list(pair_lists_t *lists, const char *path, const char *what, char *why)
{
    FILE *file = fopen(path, "r");
    if (!file)
        return refuse(why, "\"%.100s\" cannot be read: %s", path, strerror(errno));
    lists->items = or_exit(array_grow(lists->items, lists->count, sizeof lists->items[0]));
    pair_list_t *list = &lists->items[lists->count++];
    *list = (pair_list_t){0};
    snprintf(list->path, sizeof list->path, "%s", path);
    bool good = read_lines(list, file, path, what, why);
    fclose(file);
    return good;
}

bool pair_lists_read(pair_lists_t *lists, int *place, const char *path, const char *what, char why[PAIR_LIST_WHY_BYTES])
{
    *place = 0;
    while (*place < lists->count && strcmp(lists->items[*place].path, path) != 0)
        (*place)++;
    return *place < lists->count || add_list(lists, path, what, why);
}

void pair_lists_free(pair_lists_t *lists)
{
    for (int64_t i = 0; i < lists->count; i++)
        free(lists->items[i].pairs);
    free(lists->items);
    *lists = (pair_lists_t){0};
}
