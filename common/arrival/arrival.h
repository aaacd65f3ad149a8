/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * arrival.h - arrival patterns: how long after a common instant each rank comes to a call. Shapes, and files of delays.
 * No MPI.
 *
 * A shape gives each rank a part of the magnitude, from 0 to 1. At least one rank has part 0, and another one part 1;
 * but random parts are below 1, and among two ranks the bell is flat.
 */
#ifndef ARRIVAL_H
#define ARRIVAL_H

#include <stdbool.h>
#include <stdint.h>

typedef enum arrival_shape {
    ARRIVAL_TOGETHER,
    ARRIVAL_ASCENDING,
    ARRIVAL_DESCENDING,
    ARRIVAL_RANDOM, /* anew in each call */
    ARRIVAL_FIRST_LATE,
    ARRIVAL_LAST_LATE,
    ARRIVAL_ONE_LATE,
    ARRIVAL_HALF_LATE, /* the upper half of the ranks */
    ARRIVAL_BELL,
    ARRIVAL_EXPONENTIAL,
    ARRIVAL_FILE,
    ARRIVAL_SHAPES
} arrival_shape_t;

enum { ARRIVAL_TEXT_BYTES = 48, ARRIVAL_PATH_BYTES = 256, ARRIVAL_WHY_BYTES = 512, MAX_ARRIVALS = 16 };

/* The maximum of a delay and of a magnitude. By default, MPIX_Harmonize_delayed allows as much. */
#define MAX_DELAY_NS INT64_C(10000000000)

typedef struct arrival {
    arrival_shape_t shape;
    int rank;         /* of one-late */
    int table;        /* of file: its place among the tables */
    double magnitude; /* us, or a multiple of the median run time without delays */
    bool is_multiple;
    char text[ARRIVAL_TEXT_BYTES]; /* as in results; the same for the same pattern */
} arrival_t;

/* What --arrival says. If a pattern has delays, the first one is together: others are compared with it. */
typedef struct arrival_list {
    bool given;
    int count;
    arrival_t items[MAX_ARRIVALS];
} arrival_list_t;

/* The delays of a file, in the order of calls, and of ranks in a call. All ranks keep them. */
enum { MAX_DELAYS = 1 << 22, ARRIVAL_FUNCTION_BYTES = 32 };
typedef struct arrival_table {
    char path[ARRIVAL_PATH_BYTES];
    char text[ARRIVAL_TEXT_BYTES];         /* in results: the name of the file, and a hash of what is in it */
    char function[ARRIVAL_FUNCTION_BYTES]; /* whose calls these are, without MPI_; "": unknown */
    int ranks;
    int64_t calls;
    int64_t *delays_ns;
} arrival_table_t;

/* Of all files that patterns name, each is read once. All zero: none. */
typedef struct arrival_tables {
    int count;
    arrival_table_t *items;
} arrival_tables_t;

/*
 * arrival_parse - patterns separated by commas: SHAPE[:MAGNITUDE], one-late:RANK[:MAGNITUDE], file:PATH.
 *
 * tables   files are added to it; to be freed by arrival_tables_free, also after an error
 * text     NULL: together alone, and not given
 * why      out: one clause that says what is wrong, and what is allowed
 */
bool arrival_parse(arrival_list_t *list, arrival_tables_t *tables, const char *text, char why[ARRIVAL_WHY_BYTES]);

void arrival_tables_free(arrival_tables_t *tables);

/* arrival_fits - whether delays are of calls of an operation: for reduce, of MPI_Ireduce and MPI_Reduce_init, too. */
bool arrival_fits(const arrival_table_t *table, const char *operation);

/* arrival_name - write the text of a shape: its name, rank and magnitude, as arrival_parse takes it. */
void arrival_name(arrival_t *arrival);

/* arrival_part - the part of the magnitude that a rank has in a call. Only random parts depend on seed and call. */
double arrival_part(const arrival_t *arrival, int rank, int ranks, int64_t seed, int64_t call);

/*
 * arrival_table_read - read a file of delays: comma-separated values with the titles call,rank,delay_ns.
 *
 * table   out: its text is empty; to be freed by arrival_table_free, also after an error
 * why     out: one clause that names the file, the line, what is wrong and what is allowed
 */
bool arrival_table_read(arrival_table_t *table, const char *path, char why[ARRIVAL_WHY_BYTES]);

void arrival_table_free(arrival_table_t *table);

/* A pattern imposed on this rank. All zero: no delays. */
typedef struct imposed {
    arrival_t arrival;
    int64_t span_ns; /* the magnitude; of a file, its longest delay */
    int rank, ranks; /* of those that carry out the operation together */
    int64_t seed;
    const arrival_tables_t *tables; /* the calls of a file are taken in turn, again and again */
} imposed_t;

/* imposed_delay_ns - this rank's delay in a call. */
int64_t imposed_delay_ns(const imposed_t *imposed, int64_t call);

#endif
