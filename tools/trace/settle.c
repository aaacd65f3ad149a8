/* SPDX-License-Identifier: BSD-3-Clause */
/* settle.c - when all files are read: processes agree on names, and every id of an event exists. */
#include "trace/parse.h"

#include "pure/text.h"
#include "pure/units.h"
#include "pure/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The kernel changes the rate of a clock that it corrects by at most a tenth; two of them may differ by more. */
#define CORRECTED_RATE_LIMIT 0.25

void trace_names_free(trace_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->names[i]);
    free(names->names);
}

/* ---- Names */

static bool has_name(const trace_event *event)
{
    return event->kind == TRACE_ENTER || event->kind == TRACE_LEAVE || event->kind == TRACE_COLLECTIVE_OUT;
}

static bool has_communicator(const trace_event *event)
{
    return event->kind == TRACE_SEND || event->kind == TRACE_RECEIVE_POST || event->kind == TRACE_RECEIVE ||
           event->kind == TRACE_COLLECTIVE;
}

/* Common ids by name, each plus 1; 0: free. There are more slots than ids. */
enum { SLOT_BITS = 17, SLOTS = 1 << SLOT_BITS };

static size_t *find_slot(const trace *read, size_t *slots, const char *name)
{
    uint32_t hash = UINT32_C(2166136261);
    for (const char *next = name; *next != '\0'; next++)
        hash = (hash ^ (unsigned char)*next) * UINT32_C(16777619);
    size_t place = hash % SLOTS;
    while (slots[place] != 0 && strcmp(read->names[slots[place] - 1], name) != 0)
        place = (place + 1) % SLOTS;
    return &slots[place];
}

/* The common id of a name: its own, if that is free. SIZE_MAX: no memory, or no free id. */
static size_t common_id(trace *read, size_t *slots, size_t id, const char *name)
{
    size_t *slot = find_slot(read, slots, name);
    if (*slot != 0)
        return *slot - 1;
    size_t place = id >= read->name_count || !read->names[id] ? id : read->name_count;
    if (place > UINT16_MAX || !trace_grow(&read->names, &read->name_count, place + 1, sizeof(char *)))
        return SIZE_MAX;
    read->names[place] = strdup(name);
    if (!read->names[place])
        return SIZE_MAX;
    *slot = place + 1;
    return place;
}

static void rename_events(trace_process *process, const uint16_t *common, size_t count)
{
    for (size_t i = 0; i < process->location_count; i++)
        for (size_t k = 0; k < process->locations[i].count; k++) {
            trace_event *event = &process->locations[i].events[k];
            if (has_name(event) && event->id < count)
                event->id = common[event->id];
        }
}

/* The ids of a process become those of all. */
static bool settle_names(trace *read, size_t *slots, trace_process *process, const trace_names *own)
{
    uint16_t *common = malloc((own->count + 1) * sizeof *common);
    bool differs = false;
    if (!common)
        return false;
    for (size_t id = 0; id < own->count; id++) {
        size_t found = own->names[id] ? common_id(read, slots, id, own->names[id]) : id;
        if (found == SIZE_MAX) {
            free(common);
            return false;
        }
        common[id] = (uint16_t)found;
        differs = differs || found != id;
    }
    if (differs)
        rename_events(process, common, own->count);
    free(common);
    return true;
}

/* Of a process that was killed, names may be lost. */
static bool fill_names(trace *read, size_t count)
{
    char text[32];
    if (!trace_grow(&read->names, &read->name_count, count, sizeof(char *)))
        return false;
    for (size_t id = 0; id < read->name_count; id++)
        if (!read->names[id]) {
            snprintf(text, sizeof text, "name %zu", id);
            read->names[id] = strdup(text);
            if (!read->names[id])
                return false;
        }
    return true;
}

/* ---- Ids that events name */

typedef struct {
    size_t names, communicators;
} id_counts;

static id_counts count_ids(const trace_process *process)
{
    id_counts counts = {0, 0};
    for (size_t i = 0; i < process->location_count; i++)
        for (size_t k = 0; k < process->locations[i].count; k++) {
            const trace_event *event = &process->locations[i].events[k];
            if (has_name(event) && event->id >= counts.names)
                counts.names = event->id + (size_t)1;
            if (has_communicator(event) && event->id != TRACE_NO_COMM && event->id >= counts.communicators)
                counts.communicators = event->id + (size_t)1;
        }
    return counts;
}

/* ---- Order, and clocks */

static int by_time(const void *a, const void *b)
{
    const trace_clock_record *x = a, *y = b;
    return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

static int by_address(const void *a, const void *b)
{
    const trace_site *x = a, *y = b;
    return (x->address > y->address) - (x->address < y->address);
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

static bool settle_process(trace *read, size_t *slots, trace_process *process, const trace_names *names,
                           size_t *name_count)
{
    if (!settle_names(read, slots, process, names))
        return false;
    const id_counts counts = count_ids(process);
    *name_count = counts.names > *name_count ? counts.names : *name_count;
    if (!trace_grow(&process->communicators, &process->communicator_count, counts.communicators,
                    sizeof(trace_communicator)))
        return false;
    sort(process->records, process->record_count, sizeof *process->records, by_time);
    sort(process->sites, process->site_count, sizeof *process->sites, by_address);
    sort(process->locations, process->location_count, sizeof *process->locations, by_thread);
    settle_clock(process);
    return true;
}

bool trace_settle(trace *read, trace_names *names)
{
    size_t name_count = 1, *slots = calloc(SLOTS, sizeof *slots);
    bool is_good = slots;
    for (int rank = 0; is_good && rank < read->size; rank++)
        is_good = settle_process(read, slots, &read->processes[rank], &names[rank], &name_count);
    for (int rank = 0; rank < read->size; rank++)
        for (size_t i = 0; i < read->processes[rank].location_count; i++)
            read->processes[rank].locations[i].index = read->location_count++;
    free(slots);
    return is_good && fill_names(read, name_count);
}
