/* SPDX-License-Identifier: BSD-3-Clause */
/* neighborhood.c - parse neighborhoods, and list the neighbors of a rank. */
#include "bench/suite/neighborhood.h"

#include "common/cli/memory.h"
#include "pure/order_statistics.h"

#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MAX_GRID_DIMENSIONS = 8, MAX_RADIUS = 1000 };
/* Of which some may be the same rank. */
#define MAX_NEARBY 500.0

/* ---- What the text says */

/* Says what is wrong. Is false. */
#define refuse(why, ...) (snprintf((why), PAIR_LIST_WHY_BYTES, __VA_ARGS__), false)

static bool parse_grid(neighborhood_t *neighborhood, const char *text, char *why)
{
    const char *at = text;
    neighborhood->dimensions = (int)number_read(&at, INT_MAX);
    neighborhood->radius = -1;
    if (*at == ':') {
        at++;
        neighborhood->radius = (int)number_read(&at, INT_MAX);
    }
    double nearby = 1;
    for (int i = 0; i < neighborhood->dimensions && i < MAX_GRID_DIMENSIONS; i++)
        nearby *= 2.0 * neighborhood->radius + 1;
    bool good = *at == '\0' && neighborhood->dimensions >= 1 && neighborhood->dimensions <= MAX_GRID_DIMENSIONS &&
                neighborhood->radius >= 1 && neighborhood->radius <= MAX_RADIUS && nearby <= MAX_NEARBY;
    return good || refuse(why,
                          "\"cart:%.40s\" is not allowed, give cart:DIMENSIONS:RADIUS, 1 to %d dimensions and at most "
                          "%.0f neighbors",
                          text, MAX_GRID_DIMENSIONS, MAX_NEARBY);
}

static bool parse_faces(neighborhood_t *neighborhood, const char *text, char *why)
{
    const char *at = text;
    neighborhood->has_faces = true;
    neighborhood->radius = 1;
    neighborhood->dimensions = (int)number_read(&at, MAX_GRID_DIMENSIONS);
    return (*at == '\0' && neighborhood->dimensions >= 1) ||
           refuse(why, "\"faces:%.40s\" is not allowed, give faces:DIMENSIONS, 1 to %d", text, MAX_GRID_DIMENSIONS);
}

static bool has_edge(const number_pair_t *edges, int64_t count, const number_pair_t *edge)
{
    for (int64_t i = 0; i < count; i++)
        if (edges[i].first == edge->first && edges[i].second == edge->second)
            return true;
    return false;
}

static bool parse_graph(neighborhood_t *neighborhood, pair_lists_t *lists, const char *path, char *why)
{
    neighborhood->kind = NEIGHBORHOOD_GRAPH;
    if (!pair_lists_read(lists, &neighborhood->graph, path, "SOURCE, DESTINATION", why))
        return false;
    const pair_list_t *graph = &lists->items[neighborhood->graph];
    for (int64_t i = 0; i < graph->count; i++) {
        const number_pair_t *edge = &graph->pairs[i];
        if (has_edge(graph->pairs, i, edge))
            return refuse(why, "\"%.100s\" has the edge %d, %d twice, give each once", path, edge->first, edge->second);
        neighborhood->ranks = (int)greater(neighborhood->ranks, greater(edge->first, edge->second) + 1);
    }
    return true;
}

bool neighborhood_parse(neighborhood_t *neighborhood, pair_lists_t *lists, const char *text,
                        char why[PAIR_LIST_WHY_BYTES])
{
    static const char grid[] = "cart:", faces[] = "faces:", graph[] = "graph:";
    *neighborhood = (neighborhood_t){.kind = NEIGHBORHOOD_GRID};
    if (strlen(text) >= sizeof neighborhood->text)
        return refuse(why, "\"%.60s\"... is too long", text);
    strcpy(neighborhood->text, text);
    if (strncasecmp(text, grid, strlen(grid)) == 0)
        return parse_grid(neighborhood, text + strlen(grid), why);
    if (strncasecmp(text, faces, strlen(faces)) == 0)
        return parse_faces(neighborhood, text + strlen(faces), why);
    if (strncasecmp(text, graph, strlen(graph)) == 0)
        return parse_graph(neighborhood, lists, text + strlen(graph), why);
    return refuse(why, "\"%.60s\" is not allowed, give cart:DIMENSIONS:RADIUS, faces:DIMENSIONS or graph:FILE", text);
}

/* ---- Neighbors. Lists have room for all ranks */

static int add(int *list, int count, int rank)
{
    for (int i = 0; i < count; i++)
        if (list[i] == rank)
            return count;
    list[count] = rank;
    return count + 1;
}

/* Ranks are in the order of coordinates, of which the last changes first, as those of MPI_Cart_create. */
static int rank_beside(const int *coordinates, const int *distances, const int *extents, int dimensions)
{
    int rank = 0;
    for (int i = 0; i < dimensions; i++) {
        int place = (coordinates[i] + distances[i]) % extents[i];
        rank = rank * extents[i] + (place < 0 ? place + extents[i] : place);
    }
    return rank;
}

/* To the next ones in their order. Returns false after the last ones. */
static bool advance(int *distances, const neighborhood_t *neighborhood)
{
    for (int i = neighborhood->dimensions - 1; i >= 0; i--) {
        if (distances[i]++ < neighborhood->radius)
            return true;
        distances[i] = -neighborhood->radius;
    }
    return false;
}

static bool is_at_corner(const int *distances, int dimensions)
{
    int away = 0;
    for (int i = 0; i < dimensions; i++)
        away += distances[i] != 0;
    return away > 1;
}

static int list_nearby(const neighborhood_t *neighborhood, int rank, int ranks, int *list)
{
    int extents[MAX_GRID_DIMENSIONS] = {0}, coordinates[MAX_GRID_DIMENSIONS], distances[MAX_GRID_DIMENSIONS];
    int dimensions = neighborhood->dimensions, count = 0;
    MPI_Dims_create(ranks, dimensions, extents);
    for (int i = dimensions - 1, rest = rank; i >= 0; i--) {
        coordinates[i] = rest % extents[i];
        rest /= extents[i];
        distances[i] = -neighborhood->radius;
    }
    do {
        int other = rank_beside(coordinates, distances, extents, dimensions);
        if (other != rank && !(neighborhood->has_faces && is_at_corner(distances, dimensions)))
            count = add(list, count, other);
    } while (advance(distances, neighborhood));
    return count > 0 ? count : add(list, 0, rank);
}

static int list_sources(const pair_list_t *graph, int rank, int *list)
{
    int count = 0;
    for (const number_pair_t *edge = graph->pairs; edge < graph->pairs + graph->count; edge++)
        if (edge->second == rank)
            list[count++] = edge->first;
    return count;
}

static int list_destinations(const pair_list_t *graph, int rank, int *list)
{
    int count = 0;
    for (const number_pair_t *edge = graph->pairs; edge < graph->pairs + graph->count; edge++)
        if (edge->first == rank)
            list[count++] = edge->second;
    return count;
}

static int place_in(const int *list, int count, int rank)
{
    int place = 0;
    while (place < count && list[place] != rank)
        place++;
    return place;
}

neighbors_t neighbors_find(const neighborhood_t *neighborhood, const pair_list_t *graph, int rank, int ranks)
{
    bool is_graph = neighborhood->kind == NEIGHBORHOOD_GRAPH;
    size_t room = (size_t)ranks;
    neighbors_t neighbors = {.source = array_or_exit(room, sizeof(int)),
                             .destination = array_or_exit(room, sizeof(int)),
                             .place_there = array_or_exit(room, sizeof(int))};
    int *there = array_or_exit(room, sizeof(int));
    neighbors.sources = is_graph ? list_sources(graph, rank, neighbors.source)
                                 : list_nearby(neighborhood, rank, ranks, neighbors.source);
    neighbors.destinations = is_graph ? list_destinations(graph, rank, neighbors.destination)
                                      : list_nearby(neighborhood, rank, ranks, neighbors.destination);
    for (int i = 0; i < neighbors.sources; i++) {
        int source = neighbors.source[i];
        int count =
            is_graph ? list_destinations(graph, source, there) : list_nearby(neighborhood, source, ranks, there);
        neighbors.place_there[i] = place_in(there, count, rank);
    }
    free(there);
    return neighbors;
}

int graph_sink(const pair_list_t *graph)
{
    for (const number_pair_t *edge = graph->pairs; edge < graph->pairs + graph->count; edge++) {
        int more = 0;
        for (const number_pair_t *other = graph->pairs; other < graph->pairs + graph->count; other++)
            more += (other->second == edge->second) - (other->first == edge->second);
        if (more > 0)
            return edge->second;
    }
    return -1;
}

void neighbors_free(neighbors_t *neighbors)
{
    free(neighbors->source);
    free(neighbors->destination);
    free(neighbors->place_there);
    *neighbors = (neighbors_t){0};
}
