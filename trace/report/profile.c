/* SPDX-License-Identifier: BSD-3-Clause */
/* profile.c - walk through the calls of a thread, and add up the time of each function. */
#include "trace/report/profile.h"

#include "common/cli/memory.h"
#include "trace/read/calls.h"

#include <math.h>

bool span_next(span_walk_t *walk, span_t *span)
{
    const trace_location *location = walk->location;
    while (walk->next < location->count) {
        const size_t k = walk->next++, other = location->calls[k];
        const trace_event *event = &location->events[k];
        if (event->kind == TRACE_LEAVE && other != CALL_NONE)
            walk->depth--;
        if (event->kind != TRACE_ENTER)
            continue;
        *span =
            (span_t){event->id, k, other != CALL_NONE ? other : location->count - 1, walk->depth++, other == CALL_NONE};
        return true;
    }
    return false;
}

/* ---- Time by function and rank: a function has usages of all ranks from its first call on */

/* is_within: in a series of calls that found nothing, to which its time belongs. */
static void add_span(usage_t **usages, const trace *of, const trace_location *location, const span_t *span,
                     bool is_within)
{
    if (span->is_open)
        return;
    if (!usages[span->id])
        usages[span->id] = or_exit(calloc((size_t)of->size, sizeof(usage_t)));
    usage_t *usage = &usages[span->id][location->rank];
    double took_ns = is_within ? 0 : location->global_ns[span->leave] - location->global_ns[span->enter];
    uint64_t unsuccessful = location->events[span->leave].value;
    usage->calls += unsuccessful > 0 ? (int64_t)unsuccessful : 1;
    usage->total_ns += took_ns;
    usage->longest_ns = fmax(usage->longest_ns, took_ns);
}

/* To the innermost calls in which they are. */
static void add_bytes(usage_t **usages, const trace_location *location)
{
    for (size_t k = 0; k < location->count; k++) {
        const trace_event *event = &location->events[k];
        const uint32_t call = location->calls[k];
        usage_t *usage = call != CALL_NONE ? usages[location->events[call].id] : NULL;
        if (usage && trace_gives_bytes(event))
            usage[location->rank].sent_bytes += (double)event->value;
        else if (usage && trace_takes_bytes(event))
            usage[location->rank].received_bytes += (double)event->value;
    }
}

static void add_location(usage_t **usages, const trace *of, const trace_location *location)
{
    span_walk_t walk = {.location = location};
    span_t span;
    size_t series_end = 0;
    while (span_next(&walk, &span)) {
        bool is_within = span.enter < series_end;
        add_span(usages, of, location, &span, is_within);
        if (!is_within && !span.is_open && location->events[span.leave].value > 0)
            series_end = span.leave;
    }
    add_bytes(usages, location);
}

static double rank_length_ns(const trace *of, const trace_process *process)
{
    double first_ns = INFINITY, last_ns = -INFINITY;
    for (size_t i = 0; i < process->location_count; i++) {
        const trace_location *location = &process->locations[i];
        if (of->is_cut) {
            first_ns = fmin(first_ns, location->begin_ns);
            last_ns = fmax(last_ns, location->end_ns);
        }
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

static void add_function(profile_t *profile, const usage_t *usages, const char *name, const trace *of)
{
    for (int rank = 0; rank < of->size; rank++) {
        usage_t usage = usages[rank];
        if (usage.calls == 0)
            continue;
        usage.function = name;
        usage.rank = rank;
        usage.share = usage.total_ns / fmax(rank_length_ns(of, &of->processes[rank]), 1);
        profile->list[profile->count++] = usage;
    }
}

static void sort_functions(profile_t *profile, usage_t *const *usages, const trace *of)
{
    size_t count = 0;
    total_t *totals = or_exit(calloc(of->name_count + 1, sizeof totals[0]));
    for (size_t id = 0; id < of->name_count; id++) {
        if (!usages[id])
            continue;
        totals[count].function = id;
        for (int rank = 0; rank < of->size; rank++)
            totals[count].total_ns += usages[id][rank].total_ns;
        count++;
    }
    profile->list = or_exit(calloc(1, array_bytes((int64_t)count * of->size + 1, sizeof(usage_t))));
    qsort(totals, count, sizeof totals[0], compare_total);
    for (size_t i = 0; i < count; i++)
        add_function(profile, usages[totals[i].function], of->names[totals[i].function], of);
    free(totals);
}

void profile_make(profile_t *profile, const trace *of)
{
    usage_t **usages = or_exit(calloc(of->name_count + 1, sizeof usages[0]));
    *profile = (profile_t){0};
    for (const trace_location *at = NULL; (at = trace_next_location(of, at));)
        add_location(usages, of, at);
    sort_functions(profile, usages, of);
    for (size_t id = 0; id < of->name_count; id++)
        free(usages[id]);
    free(usages);
}

void profile_free(profile_t *profile)
{
    free(profile->list);
    *profile = (profile_t){0};
}
