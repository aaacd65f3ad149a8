/* SPDX-License-Identifier: BSD-3-Clause */
/* settle.c - processes agree on names, and every id of an event exists. */
#define _GNU_SOURCE /* tdestroy */
#include "trace/read/parse.h"

#include "common/cli/memory.h"
#include "pure/text.h"
#include "pure/units.h"
#include "pure/model.h"
#include "trace/read/calls.h"
#include "trace/read/paths.h"

#include <math.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

/* The kernel changes the rate of a clock that it corrects by at most a tenth; two of them may differ by more. */
#define CORRECTED_RATE_LIMIT 0.25

/* ---- Names */

static bool has_communicator(const trace_event *event)
{
    return event->kind == TRACE_SEND || event->kind == TRACE_RECEIVE_POST || event->kind == TRACE_RECEIVE ||
           event->kind == TRACE_COLLECTIVE || event->kind == TRACE_SKIPPED || event->kind == TRACE_ACCESS;
}

/* A name that a process had, in the tree of tsearch, and its common id. */
typedef struct {
    const char *name;
    size_t id;
} common_name;

static int by_name(const void *a, const void *b)
{
    const common_name *x = a, *y = b;
    return strcmp(x->name, y->name);
}

/* The common id of a name: its own, if that is free. SIZE_MAX: there is no free one. */
static size_t common_id(trace *read, void **tree, size_t id, const char *name)
{
    common_name wanted = {name, id >= read->name_count || !read->names[id] ? id : read->name_count};
    common_name **found = or_exit(tsearch(&wanted, tree, by_name));
    if (*found != &wanted)
        return (*found)->id;
    *found = or_exit(malloc(sizeof wanted));
    **found = wanted;
    if (wanted.id > TRACE_MAX_NAME)
        return SIZE_MAX;
    read->names = trace_grow(read->names, &read->name_count, wanted.id + 1, sizeof(char *));
    read->names[wanted.id] = or_exit(strdup(name));
    return wanted.id;
}

/* The common ids of the names of a process; NULL: there are too many. */
static uint16_t *find_ids(trace *read, void **tree, const trace_process *process)
{
    uint16_t *common = or_exit(malloc((process->name_count + 1) * sizeof *common));
    for (size_t id = 0; id < process->name_count; id++) {
        const size_t found = process->names[id] ? common_id(read, tree, id, process->names[id]) : id;
        if (found == SIZE_MAX) {
            free(common);
            return NULL;
        }
        common[id] = (uint16_t)found;
    }
    return common;
}

/* Of a process that was killed, names may be lost. */
static void fill_names(trace *read, size_t count)
{
    char text[32];
    read->names = trace_grow(read->names, &read->name_count, count, sizeof(char *));
    for (size_t id = 0; id < read->name_count; id++)
        if (!read->names[id]) {
            snprintf(text, sizeof text, "name %zu", id);
            read->names[id] = or_exit(strdup(text));
        }
}

/* ---- Order, and clocks */

static int by_time(const void *a, const void *b)
{
    const trace_clock_record *x = a, *y = b;
    return (x->pair.at_ns > y->pair.at_ns) - (x->pair.at_ns < y->pair.at_ns);
}

static int by_address(const void *a, const void *b)
{
    const trace_site *x = a, *y = b;
    return (x->address > y->address) - (x->address < y->address);
}

static int by_number(const void *a, const void *b)
{
    const trace_call_path *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

static int by_thread(const void *a, const void *b)
{
    const trace_location *x = a, *y = b;
    return (x->thread > y->thread) - (x->thread < y->thread);
}

static void sort(void *array, size_t count, size_t element_bytes, int (*compare)(const void *, const void *))
{
    if (count > 1)
        qsort(array, count, element_bytes, compare);
}

/* A clock that the kernel corrects may change its rate at any time. */
static void settle_clock(trace_process *process)
{
    static const char *const corrected[] = {"monotonic", "realtime", "wtime"};
    char value[64];
    int64_t ppb_per_s = 0;
    process->rate_limit = MH_RAW_RATE_LIMIT;
    process->wander = MH_WANDER_PPB_PER_S * MH_PPB;
    if (mh_parse_whole(trace_text(process, "mpix_harmonize_wander_max_ppb_per_s", value, sizeof value), &ppb_per_s) ==
        0)
        process->wander = (double)ppb_per_s * MH_PPB;
    trace_text(process, "mpix_harmonize_clock_used", value, sizeof value);
    for (size_t i = 0; i < sizeof corrected / sizeof *corrected; i++)
        if (strcmp(value, corrected[i]) == 0) {
            process->rate_limit = CORRECTED_RATE_LIMIT;
            process->wander = INFINITY;
        }
}

/* ---- Groups of intercommunicators: each process has a list of the other one */

static int find_rank(const trace_communicator *in, int rank)
{
    int place = 0;
    while (place < in->size && in->ranks[place] != rank)
        place++;
    return place < in->size ? place : -1;
}

/* The intercommunicators of a process. */
typedef struct {
    size_t count;
    const trace_communicator **list; /* by context */
} inter_list;

static int by_context(const void *a, const void *b)
{
    const trace_communicator *x = *(const trace_communicator *const *)a, *y = *(const trace_communicator *const *)b;
    if (x->context != y->context)
        return x->context < y->context ? -1 : 1;
    return (x > y) - (x < y);
}

static inter_list list_inters(const trace_process *process)
{
    inter_list found = {0, array_or_exit(process->communicator_count, sizeof(const trace_communicator *))};
    for (size_t id = 0; id < process->communicator_count; id++) {
        const trace_communicator *its = &process->communicators[id];
        if (its->is_inter && !its->is_foreign && its->size > 0)
            found.list[found.count++] = its;
    }
    sort(found.list, found.count, sizeof *found.list, by_context);
    return found;
}

static size_t first_of_context(const inter_list *in, uint32_t context)
{
    size_t low = 0, high = in->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (in->list[middle]->context < context)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/*
 * The one that lists the group of this process as the other group, as a process of that group sees it.
 *
 * lists   by rank
 */
static void join_groups(const inter_list *lists, trace_communicator *its, int rank)
{
    if (!its->is_inter || its->is_foreign || its->size == 0)
        return;
    const inter_list *other = &lists[its->ranks[0]];
    for (size_t i = first_of_context(other, its->context); i < other->count && other->list[i]->context == its->context;
         i++) {
        const trace_communicator *back = other->list[i];
        const int place = back->lowest != its->lowest ? find_rank(back, rank) : -1;
        if (place < 0)
            continue;
        its->local_size = back->size;
        its->local_lowest = back->lowest;
        its->place = place + (its->lowest < back->lowest ? its->size : 0);
        return;
    }
}

static void join_all_groups(trace *read)
{
    inter_list *lists = array_or_exit((size_t)read->size, sizeof *lists);
    for (int rank = 0; rank < read->size; rank++)
        lists[rank] = list_inters(&read->processes[rank]);
    for (int rank = 0; rank < read->size; rank++)
        for (size_t id = 0; id < read->processes[rank].communicator_count; id++)
            join_groups(lists, &read->processes[rank].communicators[id], rank);
    for (int rank = 0; rank < read->size; rank++)
        free(lists[rank].list);
    free(lists);
}

bool trace_settle(trace *read)
{
    void *tree = NULL;
    size_t names = 1;
    bool is_good = true;
    for (int rank = 0; rank < read->size && is_good; rank++) {
        trace_process *process = &read->processes[rank];
        process->ids = find_ids(read, &tree, process);
        is_good = process->ids;
        sort(process->records, process->record_count, sizeof *process->records, by_time);
        sort(process->sites, process->site_count, sizeof *process->sites, by_address);
        sort(process->paths, process->path_count, sizeof *process->paths, by_number);
        sort(process->locations, process->location_count, sizeof *process->locations, by_thread);
        settle_clock(process);
        for (size_t i = 0; is_good && i < process->now_count; i++)
            if (process->now[i].id < process->name_count)
                process->now[i].id = process->ids[process->now[i].id];
        for (size_t i = 0; is_good && i < process->path_count; i++) {
            uint16_t *function = &process->paths[i].function;
            *function = *function < process->name_count ? process->ids[*function] : *function;
            names = *function >= names ? *function + (size_t)1 : names;
        }
    }
    tdestroy(tree, free);
    fill_names(read, names);
    if (is_good)
        paths_choose(read);
    for (trace_location *at = NULL; (at = trace_next_location(read, at));)
        at->index = read->location_count++;
    join_all_groups(read);
    return is_good;
}

/* ---- Events */

static bool is_known(const trace_process *process, uint32_t communicator)
{
    return communicator < process->communicator_count && process->communicators[communicator].size > 0;
}

/* The ids of names become common ones. Returns how many names the events have ids of. */
static size_t rename_events(const trace_process *process, trace_location *at)
{
    size_t names = 1;
    for (trace_event *event = at->events; event < at->events + at->count; event++) {
        if (trace_has_name(event) && event->id < process->name_count)
            event->id = process->ids[event->id];
        if (trace_has_name(event) && event->id >= names)
            names = event->id + (size_t)1;
        if (has_communicator(event) && event->id != TRACE_NO_COMM && !is_known(process, event->id))
            event->id = TRACE_NO_COMM;
    }
    return names;
}

void trace_settle_events(trace *read, trace_process *process)
{
    size_t names = 0;
    for (size_t i = 0; i < process->location_count; i++) {
        trace_location *at = &process->locations[i];
        const size_t its = rename_events(process, at);
        names = its > names ? its : names;
        if (at->count > 0)
            at->last = at->events[at->count - 1];
        calls_find(at);
    }
    if (names > read->name_count)
        fill_names(read, names);
}
