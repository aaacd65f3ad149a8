/* SPDX-License-Identifier: BSD-3-Clause */
/* impose.c - the arrival patterns of a job, imposed on its calls one after the other. */
#include "suite/bench.h"

#include "common/room.h"

#include <math.h>

/* What rank 0 tells in place of a magnitude. */
enum { UNKNOWN_NS = -1 };

void impose_share(const world_t *world, arrival_tables_t *tables)
{
    world_require(world, MPI_Bcast(&tables->count, 1, MPI_INT, 0, world->comm));
    if (world->rank != 0)
        tables->items = world_room(world, tables->count, sizeof(tables->items[0]), "");
    for (arrival_table_t *table = tables->items; table < tables->items + tables->count; table++) {
        int64_t *delays_ns = table->delays_ns;
        world_require(world, MPI_Bcast(table, sizeof(*table), MPI_BYTE, 0, world->comm));
        int64_t count = table->ranks * table->calls;
        table->delays_ns = world->rank == 0 ? delays_ns : world_room(world, count, sizeof(*delays_ns), "");
        world_require(world, MPI_Bcast(table->delays_ns, (int)count, MPI_INT64_T, 0, world->comm));
    }
}

static int64_t longest_delay_ns(const arrival_table_t *table)
{
    int64_t longest_ns = 0;
    for (int64_t i = 0; i < table->calls * table->ranks; i++)
        longest_ns = table->delays_ns[i] > longest_ns ? table->delays_ns[i] : longest_ns;
    return longest_ns;
}

/* Rank 0: the magnitude, or UNKNOWN_NS. */
static int64_t find_span_ns(const task_t *task, const arrival_t *arrival, int64_t size_bytes)
{
    double span_ns = arrival->magnitude * (arrival->is_multiple ? task->together_ns : 1e3);
    if (arrival->shape == ARRIVAL_TOGETHER)
        return 0;
    if (arrival->shape == ARRIVAL_FILE)
        return longest_delay_ns(&task->imposed.tables->items[arrival->table]);
    if (span_ns > 0 && span_ns <= (double)MAX_DELAY_NS)
        return llround(span_ns);
    fprintf(stderr, "%s: %s, %lld bytes: --arrival %s: %s\n", task->span->program, task->operation->name,
            (long long)size_bytes, arrival->text,
            span_ns > 0 ? "delays above 10 s are not allowed" : "no valid sample without delays tells what it is");
    return UNKNOWN_NS;
}

bool impose(task_t *task, const arrival_t *arrival, int64_t size_bytes)
{
    const world_t *span = task->span;
    int64_t span_ns = 0;
    if (span->rank == 0)
        span_ns = find_span_ns(task, arrival, size_bytes);
    world_require(span, MPI_Bcast(&span_ns, 1, MPI_INT64_T, 0, span->comm));
    task->imposed.arrival = *arrival;
    task->imposed.span_ns = span_ns;
    return span_ns != UNKNOWN_NS;
}

double impose_bound_ns(const world_t *span)
{
    int64_t bound_ns = world_greatest(span, world_bound_ns(span));
    return bound_ns == INT64_MAX ? NAN : (double)bound_ns;
}
