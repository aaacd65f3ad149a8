/* SPDX-License-Identifier: BSD-3-Clause */
/* arrival.c - the shapes, and how they are named. */
#define _GNU_SOURCE /* strsep */
#include "common/arrival/arrival.h"

#include "pure/random.h"
#include "common/cli/memory.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIN_MAGNITUDE 0.001
#define MAX_MAGNITUDE_US ((double)MAX_DELAY_NS / 1e3)
#define MAX_MULTIPLE 1000
#define USUAL_MULTIPLE 1

/* The bell over the ranks, in standard deviations from its middle to both ends. */
#define BELL_REACH 3.0
/* The last rank has e to this power times the part of the first one, before the latter is subtracted from all. */
#define EXPONENTIAL_REACH 5.0

/* In the order of arrival_shape_t. */
static const char *const shape_names[ARRIVAL_SHAPES] = {"together",   "ascending",   "descending", "random",
                                                        "first-late", "last-late",   "one-late",   "half-late",
                                                        "bell",       "exponential", "file"};

static const char allowed[] =
    "together, ascending, descending, random, first-late, last-late, one-late:RANK, half-late, bell, exponential, or "
    "file:PATH; all but the first and the last may end in :MAGNITUDE";

/* ---- Parts */

static double bell(double place)
{
    return exp(-place * place / 2);
}

/* From 0 at the ends to 1 in the middle; of an even number of ranks, the two in the middle have 1. */
static double bell_part(int rank, int ranks)
{
    double middle = (ranks - 1) / 2.0, step = middle > 0 ? BELL_REACH / middle : 0;
    double min = bell(BELL_REACH), max = bell(step * (ranks % 2 == 0 ? 0.5 : 0));
    return ranks > 2 ? fmax(bell(step * (rank - middle)) - min, 0) / (max - min) : 0;
}

double arrival_part(const arrival_t *arrival, int rank, int ranks, int64_t seed, int64_t call)
{
    double place = ranks > 1 ? (double)rank / (ranks - 1) : 0;
    switch (arrival->shape) {
    case ARRIVAL_ASCENDING:
        return place;
    case ARRIVAL_DESCENDING:
        return ranks > 1 ? 1 - place : 0;
    case ARRIVAL_RANDOM:
        return ranks > 1 ? random_fraction_of(seed, call, rank) : 0;
    case ARRIVAL_FIRST_LATE:
        return ranks > 1 && rank == 0;
    case ARRIVAL_LAST_LATE:
        return ranks > 1 && rank == ranks - 1;
    case ARRIVAL_ONE_LATE:
        return ranks > 1 && rank == arrival->rank;
    case ARRIVAL_HALF_LATE:
        return rank >= ranks - ranks / 2;
    case ARRIVAL_BELL:
        return bell_part(rank, ranks);
    case ARRIVAL_EXPONENTIAL:
        return expm1(EXPONENTIAL_REACH * place) / expm1(EXPONENTIAL_REACH);
    case ARRIVAL_TOGETHER:
    case ARRIVAL_FILE:
    case ARRIVAL_SHAPES:
        break;
    }
    return 0;
}

int64_t imposed_delay_ns(const imposed_t *imposed, int64_t call)
{
    if (imposed->arrival.shape == ARRIVAL_FILE) {
        const arrival_table_t *table = &imposed->tables->items[imposed->arrival.table];
        return table->delays_ns[call % table->calls * table->ranks + imposed->rank];
    }
    return llround(arrival_part(&imposed->arrival, imposed->rank, imposed->ranks, imposed->seed, call) *
                   (double)imposed->span_ns);
}

/* ---- Names */

/* Says what is wrong. Is false. */
#define refuse(why, ...) (snprintf(why, ARRIVAL_WHY_BYTES, __VA_ARGS__) < 0)

/* 50, or 1.5x: digits, with or without a point. */
static bool read_magnitude(arrival_t *arrival, const char *text, char why[ARRIVAL_WHY_BYTES])
{
    size_t length = strspn(text, "0123456789.");
    char *end;
    arrival->is_multiple = text[length] == 'x';
    arrival->magnitude = strtod(text, &end);
    double max = arrival->is_multiple ? MAX_MULTIPLE : MAX_MAGNITUDE_US;
    if (isdigit((unsigned char)text[0]) && end == text + length &&
        text[length + (arrival->is_multiple ? 1 : 0)] == '\0' && arrival->magnitude >= MIN_MAGNITUDE &&
        arrival->magnitude <= max)
        return true;
    return refuse(why, "the magnitude \"%.40s\" is not allowed, give %g to %.0f (us), or %gx to %dx", text,
                  MIN_MAGNITUDE, MAX_MAGNITUDE_US, MIN_MAGNITUDE, MAX_MULTIPLE);
}

/* RANK of one-late. Returns what follows it, or NULL. */
static const char *read_rank(arrival_t *arrival, const char *text, char why[ARRIVAL_WHY_BYTES])
{
    int used = 0;
    if (text && isdigit((unsigned char)text[0]) && sscanf(text, "%9d%n", &arrival->rank, &used) == 1 &&
        (text[used] == ':' || text[used] == '\0'))
        return text + used;
    snprintf(why, ARRIVAL_WHY_BYTES, "\"one-late:%.40s\" is not allowed, give one-late:RANK, with a rank from 0",
             text ? text : "");
    return NULL;
}

void arrival_name(arrival_t *arrival)
{
    const char *name = shape_names[arrival->shape], *unit = arrival->is_multiple ? "x" : "";
    if (arrival->shape == ARRIVAL_TOGETHER)
        snprintf(arrival->text, ARRIVAL_TEXT_BYTES, "%s", name);
    else if (arrival->shape == ARRIVAL_ONE_LATE)
        snprintf(arrival->text, ARRIVAL_TEXT_BYTES, "%s:%d:%.10g%s", name, arrival->rank, arrival->magnitude, unit);
    else
        snprintf(arrival->text, ARRIVAL_TEXT_BYTES, "%s:%.10g%s", name, arrival->magnitude, unit);
}

/* A number that other delays are very unlikely to have: FNV-1a over ranks, calls and delays, byte by byte. */
static uint32_t fingerprint(const arrival_table_t *table)
{
    uint32_t hash = UINT32_C(2166136261);
    int64_t count = table->calls * table->ranks;
    for (int64_t i = -1; i < count; i++) {
        uint64_t value = (uint64_t)(i < 0 ? table->ranks : table->delays_ns[i]);
        for (int byte = 0; byte < 8; byte++, value >>= 8)
            hash = (hash ^ (uint32_t)(value & 255)) * UINT32_C(16777619);
    }
    return hash;
}

/* Without what would need quotes or begin a comment. */
static void name_table(arrival_table_t *table)
{
    const char *slash = strrchr(table->path, '/');
    int length = snprintf(table->text, ARRIVAL_TEXT_BYTES, "file:%.32s", slash ? slash + 1 : table->path);
    for (char *next = table->text; *next != '\0'; next++)
        if (!isalnum((unsigned char)*next) && !strchr(":._-", *next))
            *next = '_';
    snprintf(table->text + length, (size_t)(ARRIVAL_TEXT_BYTES - length), "@%08" PRIx32, fingerprint(table));
}

static bool add_table(arrival_tables_t *tables, const char *path, char why[ARRIVAL_WHY_BYTES])
{
    arrival_table_t *items = array_grow(tables->items, tables->count, sizeof items[0]);
    if (!items)
        return refuse(why, "out of memory");
    tables->items = items;
    arrival_table_t *table = &items[tables->count++];
    if (!arrival_table_read(table, path, why))
        return false;
    snprintf(table->path, sizeof table->path, "%s", path);
    name_table(table);
    return true;
}

static bool take_file(arrival_tables_t *tables, arrival_t *arrival, const char *path, char why[ARRIVAL_WHY_BYTES])
{
    int place = 0;
    if (!path || path[0] == '\0' || strlen(path) >= ARRIVAL_PATH_BYTES)
        return refuse(why, "\"file:%.40s\" is not allowed, give file:PATH of at most %d characters", path ? path : "",
                      ARRIVAL_PATH_BYTES - 1);
    while (place < tables->count && strcmp(tables->items[place].path, path) != 0)
        place++;
    if (place == tables->count && !add_table(tables, path, why))
        return false;
    *arrival = (arrival_t){.shape = ARRIVAL_FILE, .table = place};
    strcpy(arrival->text, tables->items[place].text);
    return true;
}

void arrival_tables_free(arrival_tables_t *tables)
{
    for (int i = 0; i < tables->count; i++)
        arrival_table_free(&tables->items[i]);
    free(tables->items);
    *tables = (arrival_tables_t){0};
}

static bool read_pattern(arrival_tables_t *tables, arrival_t *arrival, const char *text, char why[ARRIVAL_WHY_BYTES])
{
    size_t length = strcspn(text, ":");
    const char *rest = text[length] == ':' ? text + length + 1 : NULL;
    *arrival = (arrival_t){.magnitude = USUAL_MULTIPLE, .is_multiple = true};
    while (arrival->shape < ARRIVAL_SHAPES &&
           (strlen(shape_names[arrival->shape]) != length || strncmp(shape_names[arrival->shape], text, length) != 0))
        arrival->shape++;
    if (arrival->shape == ARRIVAL_FILE)
        return take_file(tables, arrival, rest, why);
    if (arrival->shape == ARRIVAL_SHAPES || (arrival->shape == ARRIVAL_TOGETHER && rest))
        return refuse(why, "\"%.40s\" is not allowed, give %s", text, allowed);
    if (arrival->shape == ARRIVAL_ONE_LATE) {
        rest = read_rank(arrival, rest, why);
        if (!rest)
            return false;
        rest = *rest == ':' ? rest + 1 : NULL;
    }
    if (rest && !read_magnitude(arrival, rest, why))
        return false;
    arrival_name(arrival);
    return true;
}

static bool add_pattern(arrival_list_t *list, arrival_tables_t *tables, const char *text, char why[ARRIVAL_WHY_BYTES])
{
    arrival_t arrival;
    if (!read_pattern(tables, &arrival, text, why))
        return false;
    if (arrival.shape == ARRIVAL_TOGETHER) /* the first one anyway */
        return true;
    for (int i = 0; i < list->count; i++)
        if (strcmp(list->items[i].text, arrival.text) == 0)
            return refuse(why, "\"%s\" is given twice, give it once", arrival.text);
    if (list->count == MAX_ARRIVALS)
        return refuse(why, "more than %d patterns are not allowed", MAX_ARRIVALS - 1);
    list->items[list->count++] = arrival;
    return true;
}

bool arrival_parse(arrival_list_t *list, arrival_tables_t *tables, const char *text, char why[ARRIVAL_WHY_BYTES])
{
    *list = (arrival_list_t){.given = text != NULL, .count = 1};
    arrival_name(&list->items[0]);
    if (!text)
        return true;
    char *copy = strdup(text), *rest = copy;
    bool good = copy || refuse(why, "out of memory");
    while (good && rest)
        good = add_pattern(list, tables, strsep(&rest, ","), why);
    free(copy);
    return good;
}
