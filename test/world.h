/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * world.h - what test programs that are MPI programs by themselves need: start and end, agreement on errors, the
 * statistics and settings of the library as numbers and texts.
 */
#ifndef TEST_WORLD_H
#define TEST_WORLD_H

#include <mpi.h>
#include <mpix_harmonize.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct world {
    const char *program;
    MPI_Comm comm; /* a duplicate of MPI_COMM_WORLD that returns errors */
    int rank;
    int ranks;
} world_t;

/* world_require - end the job if a call failed on this rank: the others may be waiting in the same call. */
#define world_require(world, call) world_require_code(world, call, #call)
static inline void world_require_code(const world_t *world, int code, const char *call)
{
    char reason[MPI_MAX_ERROR_STRING] = "";
    int length;
    if (code == MPI_SUCCESS)
        return;
    MPI_Error_string(code, reason, &length);
    fprintf(stderr, "%s: rank %d: %s: %s\n", world->program, world->rank, call, reason);
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

/* world_duplicate - the world with a communicator of its own, which the caller frees. Collective. */
static inline world_t world_duplicate(const world_t *world)
{
    world_t own = *world;
    world_require(world, MPI_Comm_dup(world->comm, &own.comm));
    MPI_Comm_set_errhandler(own.comm, MPI_ERRORS_RETURN);
    return own;
}

static inline world_t world_begin(const char *program, int *argc, char ***argv)
{
    world_t world = {.program = program, .comm = MPI_COMM_WORLD};
    MPI_Init(argc, argv);
    MPI_Comm_rank(world.comm, &world.rank);
    MPI_Comm_size(world.comm, &world.ranks);
    return world_duplicate(&world);
}

/* world_end - finalize MPI. Returns the status. */
static inline int world_end(world_t *world, int status)
{
    MPI_Comm_free(&world->comm);
    MPI_Finalize();
    return status;
}

/* world_set - give the library a setting for the communicator, or none if the value is empty. Collective. */
static inline int world_set(const world_t *world, const char *key, const char *value)
{
    MPI_Info info;
    if (value[0] == '\0')
        return MPI_SUCCESS;
    MPI_Info_create(&info);
    MPI_Info_set(info, key, value);
    const int code = MPIX_Harmonize_set_info(world->comm, info);
    MPI_Info_free(&info);
    return code;
}

/* world_statistic - a value that MPIX_Harmonize_get_info gives. Returns false, and an empty text, for none. Local. */
static inline bool world_statistic(const world_t *world, const char *key, char *text, int text_bytes)
{
    MPI_Info info;
    int found;
    text[0] = '\0';
    world_require(world, MPIX_Harmonize_get_info(world->comm, &info));
    MPI_Info_get(info, key, text_bytes - 1, text, &found);
    MPI_Info_free(&info);
    return found != 0;
}

/* world_number - likewise, if it is a whole number; 0 for none. Local. */
static inline int64_t world_number(const world_t *world, const char *key)
{
    char text[64];
    return world_statistic(world, key, text, sizeof text) ? strtoll(text, NULL, 10) : 0;
}

/* world_bound_ns - the bound that the global clock states for this rank now; INT64_MAX: none is known. Local. */
static inline int64_t world_bound_ns(const world_t *world)
{
    int64_t time_ns, bound_ns;
    world_require(world, MPIX_Global_time_ns(world->comm, &time_ns, &bound_ns));
    return bound_ns;
}

/* world_max - the largest of all ranks' numbers, on all. Collective. */
static inline int64_t world_max(const world_t *world, int64_t number)
{
    int64_t most;
    MPI_Allreduce(&number, &most, 1, MPI_INT64_T, MPI_MAX, world->comm);
    return most;
}

/* world_room - zeroed memory for so many items, which the caller frees. Local. */
static inline void *world_room(const world_t *world, int64_t count, size_t item_bytes)
{
    void *room = calloc(count > 0 ? (size_t)count : 1, item_bytes);
    if (!room)
        world_require(world, MPI_ERR_NO_MEM);
    return room;
}

#endif
