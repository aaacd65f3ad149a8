/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * arrival_table.c - files of delays. A line for each rank of each call, in the order of calls, and of ranks in a call:
 * so a line that is missing, or comes twice, is found where it is.
 */
#include "suite/arrival.h"

#include "common/room.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* All ranks keep them. */
enum { MAX_DELAYS = 1 << 22, MAX_LINE_BYTES = 256 };

static const char titles[] = "call,rank,delay_ns";

/* A file that is being read. */
typedef struct source {
    FILE *file;
    const char *path;
    int line; /* the number of the last one */
    char *why;
    arrival_table_t *table;
    int64_t count, capacity; /* of delays */
} source_t;

__attribute__((format(printf, 2, 3))) static bool refuse(const source_t *source, const char *format, ...)
{
    va_list arguments;
    int used = snprintf(source->why, ARRIVAL_WHY_BYTES, "\"%.200s\", line %d: ", source->path, source->line);
    va_start(arguments, format);
    vsnprintf(source->why + used, (size_t)(ARRIVAL_WHY_BYTES - used), format, arguments);
    va_end(arguments);
    return false;
}

/* A whole number in digits, from 0 to max, at the start of *text, which is moved to its end. */
static bool read_whole(const char **text, int64_t max, int64_t *number)
{
    char *end;
    if (**text < '0' || **text > '9')
        return false;
    errno = 0;
    *number = strtoll(*text, &end, 10);
    *text = end;
    return errno == 0 && *number <= max;
}

static bool skip_comma(const char **text)
{
    return *(*text)++ == ',';
}

static bool reserve(source_t *source)
{
    if (source->count == MAX_DELAYS)
        return refuse(source, "more than %d delays are not allowed", MAX_DELAYS);
    if (source->count < source->capacity)
        return true;
    source->capacity = source->capacity > 0 ? 2 * source->capacity : 1024;
    int64_t *delays_ns =
        realloc(source->table->delays_ns, room_bytes(source->capacity, sizeof(source->table->delays_ns[0])));
    if (delays_ns == NULL)
        return refuse(source, "out of memory");
    source->table->delays_ns = delays_ns;
    return true;
}

/* Whether a line is the next one. The first line of call 1 tells how many ranks there are. */
static bool follows(source_t *source, int64_t call, int64_t rank)
{
    arrival_table_t *table = source->table;
    if (table->ranks == 0 && source->count > 0 && call == 1 && rank == 0)
        table->ranks = (int)source->count;
    int64_t next_call = table->ranks > 0 ? source->count / table->ranks : 0;
    int64_t next_rank = source->count - next_call * table->ranks;
    if (call == next_call && rank == next_rank)
        return true;
    return refuse(source, "call %" PRId64 ", rank %" PRId64 " is not allowed, give call %" PRId64 ", rank %" PRId64,
                  call, rank, next_call, next_rank);
}

static bool take_line(source_t *source, const char *line)
{
    int64_t call, rank, delay_ns;
    const char *next = line;
    if (!read_whole(&next, INT64_MAX, &call) || !skip_comma(&next) || !read_whole(&next, INT_MAX, &rank) ||
        !skip_comma(&next))
        return refuse(source, "\"%.60s\" is not allowed, give CALL,RANK,DELAY in whole numbers from 0", line);
    const char *delay = next;
    if (!read_whole(&next, MAX_DELAY_NS, &delay_ns) || *next != '\0')
        return refuse(source, "the delay \"%.40s\" is not allowed, give a whole number from 0 to %" PRId64 " (ns)",
                      delay, MAX_DELAY_NS);
    if (!reserve(source) || !follows(source, call, rank))
        return false;
    source->table->delays_ns[source->count++] = delay_ns;
    return true;
}

/* The next line that is neither empty nor a comment, without its end. Returns 1, 0 at the end of the file, or -1. */
static int next_line(source_t *source, char line[MAX_LINE_BYTES])
{
    while (fgets(line, MAX_LINE_BYTES, source->file) != NULL) {
        size_t length = strlen(line);
        source->line++;
        if (length == MAX_LINE_BYTES - 1 && line[length - 1] != '\n') {
            refuse(source, "more than %d characters are not allowed", MAX_LINE_BYTES - 2);
            return -1;
        }
        if (line[length - 1] != '\n') {
            refuse(source, "the file ends within the line, give whole lines");
            return -1;
        }
        line[strcspn(line, "\r\n")] = '\0';
        if (line[0] != '\0' && line[0] != '#')
            return 1;
    }
    return 0;
}

static bool read_lines(source_t *source)
{
    arrival_table_t *table = source->table;
    char line[MAX_LINE_BYTES];
    int status = next_line(source, line);
    if (status < 0)
        return false;
    if (status == 0 || strcmp(line, titles) != 0)
        return refuse(source, "\"%.60s\" is not allowed, give the titles %s first", status > 0 ? line : "", titles);
    while ((status = next_line(source, line)) > 0)
        if (!take_line(source, line))
            return false;
    if (status < 0)
        return false;
    if (source->count == 0)
        return refuse(source, "there are no delays, give at least those of call 0");
    if (table->ranks == 0)
        table->ranks = (int)source->count;
    table->calls = source->count / table->ranks;
    if (source->count % table->ranks != 0)
        return refuse(source, "the file ends within call %" PRId64 ", give all of its %d ranks", table->calls,
                      table->ranks);
    return true;
}

bool arrival_table_read(arrival_table_t *table, const char *path, char why[ARRIVAL_WHY_BYTES])
{
    source_t source = {.path = path, .why = why, .table = table};
    *table = (arrival_table_t){0};
    source.file = fopen(path, "r");
    if (source.file == NULL) {
        snprintf(why, ARRIVAL_WHY_BYTES, "\"%.200s\" is not allowed, give a file that can be read", path);
        return false;
    }
    bool good = read_lines(&source);
    if (good && ferror(source.file))
        good = refuse(&source, "the file cannot be read any further");
    fclose(source.file);
    return good;
}

void arrival_table_free(arrival_table_t *table)
{
    free(table->delays_ns);
    *table = (arrival_table_t){0};
}
