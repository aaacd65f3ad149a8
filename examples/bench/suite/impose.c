/* SPDX-License-Identifier: BSD-3-Clause */
#include "suite/impose.h"

#include "common/room.h"

#include <mpix_harmonize.h>

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* What rank 0 tells in place of a magnitude. */
enum { UNKNOWN_NS = -1 };

/* The number of ranks of the smallest group and, as a negative number, of the largest one. */
static void find_extent(const world_t *world, const communicator_t *communicator, int extent[2])
{
    int ranks;
    extent[0] = INT_MAX;
    extent[1] = INT_MAX;
    if (communicator_takes_part(communicator)) {
        MPI_Comm_size(communicator->group, &ranks);
        extent[0] = ranks;
        extent[1] = -ranks;
    }
    MPI_Allreduce(MPI_IN_PLACE, extent, 2, MPI_INT, MPI_MIN, world->comm);
}

bool impose_check(const world_t *world, const communicator_t *communicator, const arrival_list_t *list)
{
    int extent[2];
    if (!list->given)
        return true;
    find_extent(world, communicator, extent);
    for (int i = 0; i < list->count; i++) {
        const arrival_t *arrival = &list->items[i];
        if (arrival->shape == ARRIVAL_ONE_LATE && arrival->rank >= extent[0]) {
            world_refuse(world, "option --arrival: rank %d of \"%s\" is not allowed, give 0 to %d", arrival->rank,
                         arrival->text, extent[0] - 1);
            return false;
        }
        if (arrival->shape == ARRIVAL_FILE && (list->file_ranks != extent[0] || list->file_ranks != -extent[1])) {
            world_refuse(world, "option --arrival: \"%s\" has delays of %d ranks, give one of %d", arrival->text,
                         list->file_ranks, -extent[1]);
            return false;
        }
    }
    return true;
}

/* The file was good when the options were read. */
static void share_table(measure_t *measure, const arrival_list_t *list)
{
    const world_t *span = measure->span;
    arrival_table_t *table = &measure->imposed.table;
    char why[ARRIVAL_WHY_BYTES];
    int64_t extent[2];
    if (span->rank == 0 && !arrival_table_read(table, list->path, why))
        world_abort(span, why);
    extent[0] = table->ranks;
    extent[1] = table->calls;
    world_require(span, MPI_Bcast(extent, 2, MPI_INT64_T, 0, span->comm), "MPI_Bcast");
    if (extent[0] != list->file_ranks)
        world_abort(span, "the file of delays has changed");
    table->ranks = (int)extent[0];
    table->calls = extent[1];
    int64_t count = extent[0] * extent[1];
    if (span->rank != 0)
        table->delays_ns = malloc(room_bytes(count, sizeof(table->delays_ns[0])));
    if (!world_all(span, table->delays_ns != NULL))
        world_abort(span, "out of memory");
    world_require(span, MPI_Bcast(table->delays_ns, (int)count, MPI_INT64_T, 0, span->comm), "MPI_Bcast");
}

void impose_open(measure_t *measure, const communicator_t *communicator)
{
    imposed_t *imposed = &measure->imposed;
    *imposed = (imposed_t){.seed = measure->job->settings.seed};
    MPI_Comm_rank(communicator->group, &imposed->rank);
    MPI_Comm_size(communicator->group, &imposed->ranks);
    if (measure->job->arrivals.file_ranks > 0)
        share_table(measure, &measure->job->arrivals);
}

void impose_close(measure_t *measure)
{
    arrival_table_free(&measure->imposed.table);
}

static int64_t longest_delay_ns(const arrival_table_t *table)
{
    int64_t longest_ns = 0;
    for (int64_t i = 0; i < table->calls * table->ranks; i++)
        longest_ns = table->delays_ns[i] > longest_ns ? table->delays_ns[i] : longest_ns;
    return longest_ns;
}

/* Rank 0: the magnitude, or UNKNOWN_NS. */
static int64_t find_span_ns(const measure_t *measure, const arrival_t *arrival, double together_ns, int64_t size_bytes)
{
    double span_ns = arrival->magnitude * (arrival->is_multiple ? together_ns : 1e3);
    if (arrival->shape == ARRIVAL_TOGETHER)
        return 0;
    if (arrival->shape == ARRIVAL_FILE)
        return longest_delay_ns(&measure->imposed.table);
    if (span_ns > 0 && span_ns <= (double)MAX_DELAY_NS)
        return llround(span_ns);
    fprintf(stderr, "%s: %s, %lld bytes: --arrival %s: %s\n", measure->world->program,
            operation_at(measure->job->operation)->name, (long long)size_bytes, arrival->text,
            span_ns > 0 ? "delays above 10 s are not allowed" : "no valid sample without delays tells what it is");
    return UNKNOWN_NS;
}

bool impose(measure_t *measure, const arrival_t *arrival, double together_ns, int64_t size_bytes)
{
    const world_t *span = measure->span;
    int64_t span_ns = 0;
    if (!measure->job->arrivals.given)
        return true;
    if (span->rank == 0)
        span_ns = find_span_ns(measure, arrival, together_ns, size_bytes);
    world_require(span, MPI_Bcast(&span_ns, 1, MPI_INT64_T, 0, span->comm), "MPI_Bcast");
    measure->imposed.arrival = *arrival;
    measure->imposed.span_ns = span_ns;
    return span_ns != UNKNOWN_NS;
}

double impose_bound_ns(const measure_t *measure)
{
    const world_t *span = measure->span;
    int64_t time_ns, bound_ns, greatest_ns = 0;
    world_require(span, MPIX_Global_time_ns(span->comm, &time_ns, &bound_ns), "MPIX_Global_time_ns");
    world_require(span, MPI_Reduce(&bound_ns, &greatest_ns, 1, MPI_INT64_T, MPI_MAX, 0, span->comm), "MPI_Reduce");
    return greatest_ns == INT64_MAX ? NAN : (double)greatest_ns;
}
