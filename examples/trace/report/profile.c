/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/report/profile.h"

#include "common/room.h"

#include <math.h>
#include <stdlib.h>

bool span_next(span_walk_t *walk, const trace_location *location, span_t *span)
{
    while (walk->next < location->count) {
        const trace_event *event = &location->events[walk->next];
        size_t position = walk->next++;
        if (event->kind == TRACE_ENTER) {
            if (walk->depth < MAX_DEPTH)
                walk->enter[walk->depth] = position;
            walk->depth++;
        } else if (event->kind == TRACE_LEAVE && walk->depth > 0 && --walk->depth < MAX_DEPTH &&
                   location->events[walk->enter[walk->depth]].id == event->id) {
            *span = (span_t){event->id, walk->enter[walk->depth], position, walk->depth};
            return true;
        }
    }
    return false;
}

/* ---- Time by function and rank: usages are at [function * ranks + rank] until they are sorted */

static void add_location(usage_t *usages, const trace *of, const trace_location *location)
{
    span_walk_t walk = {0};
    span_t span;
    while (span_next(&walk, location, &span)) {
        if (span.id >= of->name_count)
            continue;
        usage_t *usage = &usages[span.id * (size_t)of->size + (size_t)location->rank];
        double took_ns = location->global_ns[span.leave] - location->global_ns[span.enter];
        uint64_t unsuccessful = location->events[span.leave].value;
        usage->calls += unsuccessful > 0 ? (int64_t)unsuccessful : 1;
        usage->total_ns += took_ns;
        usage->longest_ns = fmax(usage->longest_ns, took_ns);
    }
}

static double rank_length_ns(const trace_process *process)
{
    double first_ns = INFINITY, last_ns = -INFINITY;
    for (size_t i = 0; i < process->location_count; i++) {
        const trace_location *location = &process->locations[i];
        if (location->count == 0)
            continue;
        first_ns = fmin(first_ns, location->global_ns[0]);
        last_ns = fmax(last_ns, location->global_ns[location->count - 1]);
    }
    return last_ns - first_ns;
}

/* A function, and how long all ranks were in it. */
typedef struct total {
    size_t function;
    double total_ns;
} total_t;

static int compare_total(const void *left, const void *right)
{
    double a = ((const total_t *)left)->total_ns, b = ((const total_t *)right)->total_ns;
    return (a < b) - (a > b);
}

static bool sort_functions(profile_t *profile, const usage_t *usages, const trace *of)
{
    size_t size = (size_t)of->size;
    total_t *totals = calloc(of->name_count + 1, sizeof(totals[0]));
    if (totals == NULL)
        return false;
    for (size_t i = 0; i < of->name_count * size; i++) {
        totals[i / size].function = i / size;
        totals[i / size].total_ns += usages[i].total_ns;
    }
    qsort(totals, of->name_count, sizeof(totals[0]), compare_total);
    for (size_t i = 0; i < of->name_count; i++)
        for (int rank = 0; rank < of->size; rank++) {
            usage_t usage = usages[totals[i].function * size + (size_t)rank];
            if (usage.calls == 0)
                continue;
            usage.function = of->names[totals[i].function];
            usage.rank = rank;
            usage.share = usage.total_ns / fmax(rank_length_ns(&of->processes[rank]), 1);
            profile->list[profile->count++] = usage;
        }
    free(totals);
    return true;
}

bool profile_make(profile_t *profile, const trace *of)
{
    size_t bytes = room_bytes((int64_t)of->name_count * of->size + 1, sizeof(usage_t));
    usage_t *usages = calloc(1, bytes);
    *profile = (profile_t){.list = calloc(1, bytes)};
    bool good = usages != NULL && profile->list != NULL;
    for (int rank = 0; rank < of->size && good; rank++)
        for (size_t i = 0; i < of->processes[rank].location_count; i++)
            add_location(usages, of, &of->processes[rank].locations[i]);
    good = good && sort_functions(profile, usages, of);
    free(usages);
    return good;
}

void profile_free(profile_t *profile)
{
    free(profile->list);
    *profile = (profile_t){0};
}
