/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * neighborhood.h - which ranks are neighbors: in a grid, or by the edges of a graph. No MPI but for the shape of grids.
 *
 * No two neighbors of a rank are the same one: MPI libraries disagree on double edges.
 */
#ifndef NEIGHBORHOOD_H
#define NEIGHBORHOOD_H

#include "bench/suite/pair_list.h"

#include <stdbool.h>

typedef enum neighborhood_kind { NEIGHBORHOOD_GRID, NEIGHBORHOOD_GRAPH } neighborhood_kind_t;

enum { NEIGHBORHOOD_TEXT_BYTES = 256 };

typedef struct neighborhood {
    neighborhood_kind_t kind;
    int dimensions; /* of a grid, which is closed in each of them; likewise the next one */
    int radius;     /* neighbors are so far away in each dimension at most */
    bool has_faces; /* neighbors are away in one dimension only, so none is at a corner */
    int graph;      /* of the lists of pairs, each an edge from a source to a destination; likewise the next one */
    int ranks;      /* that it takes at least */
    char text[NEIGHBORHOOD_TEXT_BYTES]; /* as it was given */
} neighborhood_t;

/* What everybody has if nothing else is said: a ring. */
#define USUAL_NEIGHBORHOOD "cart:1:1"

/*
 * neighborhood_parse - cart:DIMENSIONS:RADIUS, faces:DIMENSIONS, or graph:FILE, whose lines are SOURCE, DESTINATION.
 *
 * lists   the graph of a file is added to it
 * why     out: one clause that says what is wrong, and what is allowed
 */
bool neighborhood_parse(neighborhood_t *neighborhood, pair_lists_t *lists, const char *text,
                        char why[PAIR_LIST_WHY_BYTES]);

/* Of a rank. */
typedef struct neighbors {
    int sources;      /* who send to it */
    int destinations; /* to whom it sends */
    int *source;
    int *destination;
    int *place_there; /* of each source: this rank's place among that one's destinations */
} neighbors_t;

/*
 * neighbors_find - the neighbors of a rank; of a grid, in the order of their coordinates. If a grid has no other ranks
 * near, the rank is its own neighbor. Ends the program if there is no memory.
 *
 * graph   that of the neighborhood if it has one
 */
neighbors_t neighbors_find(const neighborhood_t *neighborhood, const pair_list_t *graph, int rank, int ranks);

void neighbors_free(neighbors_t *neighbors);

/* graph_sink - a rank with more sources than destinations; -1: there is none. */
int graph_sink(const pair_list_t *graph);

#endif
