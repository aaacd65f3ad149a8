/* SPDX-License-Identifier: BSD-3-Clause */
/* communicator.c - parse --comm, and split the processes accordingly. */
#include "bench/suite/communicator.h"

#include "bench/suite/arena.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reads a whole number of at least 1 at *text, and moves on behind it. Returns 0 if there is none. */
static int read_count(const char **text)
{
    char *end;
    if (!isdigit((unsigned char)**text))
        return 0;
    long value = strtol(*text, &end, 10);
    *text = end;
    return value >= 1 && value <= INT_MAX ? (int)value : 0;
}

static bool parse_grid(communicator_choice_t *choice, const char *text, int ranks)
{
    int64_t product = 1;
    for (choice->dimensions = 0; choice->dimensions < MAX_DIMENSIONS; text++) {
        int extent = read_count(&text);
        if (extent == 0 || (product *= extent) > ranks)
            return false;
        choice->extents[choice->dimensions++] = extent;
        if (*text != 'x')
            break;
    }
    if (*text++ != ':' || product != ranks || !isdigit((unsigned char)text[0]) || text[1] != '\0')
        return false;
    choice->dimension = text[0] - '0';
    return choice->dimension < choice->dimensions;
}

const char *communicator_parse(communicator_choice_t *choice, const char *text, int ranks)
{
    *choice = (communicator_choice_t){.kind = COMM_WORLD_ALL};
    snprintf(choice->text, sizeof choice->text, "%s", text);
    if (strlen(text) >= sizeof choice->text)
        return "a shorter text";
    if (strcmp(text, "world") == 0)
        return NULL;
    if (strcmp(text, "node") == 0) {
        choice->kind = COMM_NODE;
        return NULL;
    }
    if (strncmp(text, "cart:", 5) == 0) {
        choice->kind = COMM_CARTESIAN;
        return parse_grid(choice, text + 5, ranks)
                   ? NULL
                   : "cart:DIMSxDIMS:DIM, a grid of as many processes as there are, and one of its dimensions from 0";
    }
    if (strncmp(text, "every:", 6) == 0) {
        text += 6;
        choice->kind = COMM_EVERY;
        choice->every = read_count(&text);
        return *text == '\0' && choice->every >= 1 && choice->every <= ranks
                   ? NULL
                   : "every:K, with K from 1 to the number of processes";
    }
    return "world, node, cart:DIMSxDIMS:DIM or every:K";
}

/* Groups of processes that lie in a line of the grid. */
static void split_grid(const world_t *span, const communicator_choice_t *choice, MPI_Comm *group)
{
    int periods[MAX_DIMENSIONS] = {0};
    int remain[MAX_DIMENSIONS] = {0};
    MPI_Comm grid;
    remain[choice->dimension] = 1;
    world_require(span, MPI_Cart_create(span->comm, choice->dimensions, choice->extents, periods, 0, &grid));
    world_require(span, MPI_Cart_sub(grid, remain, group));
    MPI_Comm_free(&grid);
}

static void make_group(const world_t *span, const communicator_choice_t *choice, MPI_Comm *group)
{
    if (choice->kind == COMM_NODE)
        *group = world_node(span);
    else if (choice->kind == COMM_CARTESIAN)
        split_grid(span, choice, group);
    else
        world_require(span, MPI_Comm_dup(span->comm, group));
    MPI_Comm_set_errhandler(*group, MPI_ERRORS_RETURN);
}

/* Every k-th rank of the world. */
static void make_span(world_t *span, const world_t *world, int every)
{
    int color = world->rank % every == 0 ? 0 : MPI_UNDEFINED;
    world_require(world, MPI_Comm_split(world->comm, color, world->rank, &span->comm));
    if (span->comm == MPI_COMM_NULL)
        return;
    MPI_Comm_set_errhandler(span->comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(span->comm, &span->rank);
    MPI_Comm_size(span->comm, &span->ranks);
}

/* Collective over the group. */
static int count_hubs(const communicator_t *communicator, const world_t *world)
{
    world_t group = communicator->span;
    int hubs, last;
    if (world->nodes == 1)
        return 1;
    group.comm = communicator->group;
    MPI_Comm_rank(group.comm, &group.rank);
    MPI_Comm_size(group.comm, &group.ranks);
    MPI_Comm node = world_node(&group);
    MPI_Comm_size(node, &hubs);
    world_require(world, MPI_Allreduce(&group.rank, &last, 1, MPI_INT, MPI_MAX, node));
    MPI_Comm_free(&node);
    /* Hubs are the first ranks of the group. */
    hubs = hubs < group.ranks && last == hubs - 1 ? hubs : 1;
    world_require(world, MPI_Bcast(&hubs, 1, MPI_INT, 0, group.comm));
    return hubs;
}

/* Adds up what the first of each group knows. */
static void count_groups(communicator_t *communicator, const world_t *world)
{
    int rank = MPI_PROC_NULL, ranks = 0, counts[4];
    if (communicator_takes_part(communicator)) {
        MPI_Comm_rank(communicator->group, &rank);
        MPI_Comm_size(communicator->group, &ranks);
        communicator->hubs = count_hubs(communicator, world);
    }
    bool counts_group = rank == 0 && ranks >= 2;
    counts[0] = counts_group;
    counts[1] = counts_group ? ranks / 2 : 0;
    counts[2] = counts_group ? ranks : 0;
    counts[3] = counts_group ? communicator->hubs : 0;
    world_require(world, MPI_Allreduce(MPI_IN_PLACE, counts, 4, MPI_INT, MPI_SUM, world->comm));
    communicator->groups = counts[0];
    communicator->pairs = counts[1];
    communicator->members = counts[2];
    communicator->all_hubs = counts[3];
}

void communicator_close(communicator_t *communicator, const world_t *world)
{
    if (!communicator->choice)
        return;
    if (communicator->group != MPI_COMM_NULL)
        MPI_Comm_free(&communicator->group);
    if (communicator_takes_part(communicator) && communicator->span.comm != world->comm)
        MPI_Comm_free(&communicator->span.comm);
    communicator->choice = NULL;
}

void communicator_open(communicator_t *communicator, const world_t *world, const communicator_choice_t *choice)
{
    int ranks;
    if (communicator->choice && strcmp(communicator->choice->text, choice->text) == 0)
        return;
    communicator_close(communicator, world);
    *communicator = (communicator_t){.choice = choice, .span = *world, .group = MPI_COMM_NULL};
    if (choice->kind == COMM_EVERY)
        make_span(&communicator->span, world, choice->every);
    if (communicator_takes_part(communicator))
        make_group(&communicator->span, choice, &communicator->group);
    MPI_Comm_size(communicator_takes_part(communicator) ? communicator->group : world->comm, &ranks);
    communicator->max_ranks = (int)world_max(world, communicator_takes_part(communicator) ? ranks : 0);
    communicator->min_ranks = -(int)world_max(world, -ranks);
    communicator->cache_bytes = world_max(world, arena_cache_bytes());
    count_groups(communicator, world);
}
