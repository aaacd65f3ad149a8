/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * arrival_table.c - files of delays. A line for each rank of each call, in the order of calls, and of ranks in a call:
 * so a missing or repeated line is found at its place.
 */
#include "common/arrival/arrival.h"

#include "common/cli/memory.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A comment may be a long command line. */
enum { MAX_LINE_BYTES = 1 << 16, MAX_DIGITS = 18 };

static const char titles[] = "call,rank,delay_ns", digits[] = "0123456789";

/* A file that is being read. */
typedef struct source {
    FILE *file;
    const char *path;
    char line[MAX_LINE_BYTES];
    int number; /* of this line */
    char *why;  /* empty until something is refused */
    arrival_table_t *table;
    int64_t count; /* of delays */
} source_t;

__attribute__((format(printf, 2, 3))) static bool refuse(source_t *source, const char *format, ...)
{
    va_list arguments;
    int used = snprintf(source->why, ARRIVAL_WHY_BYTES, "\"%.200s\", line %d: ", source->path, source->number);
    va_start(arguments, format);
    vsnprintf(source->why + used, (size_t)(ARRIVAL_WHY_BYTES - used), format, arguments);
    va_end(arguments);
    return false;
}

static bool reserve(source_t *source)
{
    if (source->count == MAX_DELAYS)
        return refuse(source, "more than %d delays are not allowed", MAX_DELAYS);
    int64_t *delays_ns = array_grow(source->table->delays_ns, source->count, sizeof delays_ns[0]);
    if (!delays_ns)
        return refuse(source, "out of memory");
    source->table->delays_ns = delays_ns;
    return true;
}

/* Whether a line is the next one. The first line of call 1 determines the number of ranks. */
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

static bool take_line(source_t *source)
{
    char call[MAX_DIGITS + 1], rank[10];
    int before_delay = 0;
    sscanf(source->line, "%18[0-9],%9[0-9],%n", call, rank, &before_delay);
    if (before_delay == 0)
        return refuse(source, "\"%.60s\" is not allowed, give CALL,RANK,DELAY in whole numbers from 0", source->line);
    const char *delay = source->line + before_delay;
    size_t length = strspn(delay, digits);
    if (length == 0 || length > MAX_DIGITS || delay[length] != '\0' || strtoll(delay, NULL, 10) > MAX_DELAY_NS)
        return refuse(source, "the delay \"%.40s\" is not allowed, give a whole number from 0 to %" PRId64 " (ns)",
                      delay, MAX_DELAY_NS);
    if (!reserve(source) || !follows(source, strtoll(call, NULL, 10), strtoll(rank, NULL, 10)))
        return false;
    source->table->delays_ns[source->count++] = strtoll(delay, NULL, 10);
    return true;
}

/* "# MPI_Reduce called from ...", as mpix_trace_report writes it. */
static void take_comment(source_t *source)
{
    char function[ARRIVAL_FUNCTION_BYTES] = "";
    int used = 0;
    if (sscanf(source->line, "# MPI_%31[A-Za-z_] called from %n", function, &used) == 1 && used > 0)
        memcpy(source->table->function, function, sizeof function);
}

/* The next line that is neither empty nor a comment, without its end. False at the end of the file, too. */
static bool next_line(source_t *source)
{
    while (fgets(source->line, sizeof source->line, source->file)) {
        source->number++;
        if (!strchr(source->line, '\n') && feof(source->file))
            return refuse(source, "the file ends within the line, give whole lines");
        if (!strchr(source->line, '\n'))
            return refuse(source, "it is not allowed, give text of at most %d characters", MAX_LINE_BYTES - 2);
        source->line[strcspn(source->line, "\r\n")] = '\0';
        if (source->line[0] != '\0' && source->line[0] != '#')
            return true;
        take_comment(source);
    }
    source->line[0] = '\0';
    return ferror(source->file) && refuse(source, "the file cannot be read: %s", strerror(errno));
}

static bool read_lines(source_t *source)
{
    arrival_table_t *table = source->table;
    next_line(source);
    if (source->why[0] == '\0' && strcmp(source->line, titles) != 0)
        return refuse(source, "\"%.60s\" is not allowed, give the titles %s first", source->line, titles);
    while (source->why[0] == '\0' && next_line(source))
        take_line(source);
    if (source->why[0] != '\0')
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
    why[0] = '\0';
    source.file = fopen(path, "r");
    if (!source.file) {
        snprintf(why, ARRIVAL_WHY_BYTES, "\"%.200s\" is not allowed, give a file that can be read", path);
        return false;
    }
    bool good = read_lines(&source);
    fclose(source.file);
    return good;
}

/* Without what says how the operation is begun. */
static const char *stem_of(const char *name, size_t *length)
{
    static const char *const ends[] = {"_init", "_persistent"};
    name += name[0] == 'i' || name[0] == 'I';
    *length = strlen(name);
    for (int i = 0; i < 2; i++) {
        const size_t end = strlen(ends[i]);
        if (*length > end && strcmp(name + *length - end, ends[i]) == 0)
            *length -= end;
    }
    return name;
}

bool arrival_fits(const arrival_table_t *table, const char *operation)
{
    size_t length, other_length;
    const char *stem = stem_of(operation, &length), *other = stem_of(table->function, &other_length);
    return table->function[0] == '\0' || (length == other_length && strncasecmp(stem, other, length) == 0);
}

void arrival_table_free(arrival_table_t *table)
{
    free(table->delays_ns);
    *table = (arrival_table_t){0};
}
