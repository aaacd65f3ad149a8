/* SPDX-License-Identifier: BSD-3-Clause */
/* trace.c - what a trace in memory tells, and the end of it. */
#include "trace/read/trace.h"

#include "pure/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void trace_free_process(trace_process *process)
{
    for (size_t i = 0; i < process->location_count; i++) {
        free(process->locations[i].events);
        free(process->locations[i].calls);
        free(process->locations[i].global_ns);
    }
    for (size_t i = 0; i < process->communicator_count; i++) {
        free(process->communicators[i].ranks);
        free(process->communicators[i].neighbors);
    }
    for (size_t i = 0; i < process->site_count; i++)
        free(process->sites[i].symbol);
    for (size_t i = 0; i < process->called_count; i++)
        free(process->called[i].site.symbol);
    for (size_t id = 0; id < process->name_count; id++)
        free(process->names[id]);
    for (size_t i = 0; i < process->path_count; i++)
        free(process->paths[i].frames);
    free(process->paths);
    free(process->called);
    free(process->locations);
    free(process->communicators);
    free(process->records);
    free(process->now);
    free(process->sites);
    free(process->names);
    free(process->text);
    free(process->ids);
}

void trace_free(trace *read)
{
    for (int rank = 0; read->processes && rank < read->size; rank++)
        trace_free_process(&read->processes[rank]);
    for (size_t i = 0; i < read->name_count; i++)
        free(read->names[i]);
    free(read->names);
    free(read->processes);
    *read = (trace){.size = 0};
}

const char *trace_text(const trace_process *process, const char *key, char *value, size_t size)
{
    const size_t length = strlen(key);
    value[0] = '\0';
    for (const char *line = process->text; line && *line != '\0';) {
        const char *end = strchr(line, '\n');
        if (strncmp(line, key, length) == 0 && line[length] == ' ') {
            int count = end ? (int)(end - line - (ptrdiff_t)length - 1) : -1;
            snprintf(value, size, "%.*s", count, line + length + 1);
            return value;
        }
        line = end ? end + 1 : NULL;
    }
    return value;
}

double trace_limit_s(const trace *of)
{
    double first_s = -1;
    for (int rank = 0; rank < of->size; rank++) {
        char value[32];
        int64_t its_ns;
        if (mh_parse_whole(trace_text(&of->processes[rank], "limit_ns", value, sizeof value), &its_ns) == 0 &&
            (first_s < 0 || (double)its_ns / 1e9 < first_s))
            first_s = fmax((double)its_ns / 1e9, 0);
    }
    return first_s;
}

bool trace_is_recorder(const char *name)
{
    return strcmp(name, "clock") == 0 || strcmp(name, "flush") == 0;
}

bool trace_is_unrecorded(const char *name)
{
    return strcmp(name, "unrecorded") == 0;
}

trace_location *trace_next_location(const trace *of, const trace_location *last)
{
    int rank = last ? last->rank : 0;
    size_t i = last ? (size_t)(last - of->processes[rank].locations) + 1 : 0;
    for (; rank < of->size; rank++, i = 0)
        if (i < of->processes[rank].location_count)
            return &of->processes[rank].locations[i];
    return NULL;
}

static int compare_address(const void *key, const void *element)
{
    const uint64_t address = *(const uint64_t *)key, other = ((const trace_site *)element)->address;
    return (address > other) - (address < other);
}

const trace_site *trace_find_address(const trace_process *process, uint64_t address)
{
    return process->site_count == 0
               ? NULL
               : bsearch(&address, process->sites, process->site_count, sizeof(trace_site), compare_address);
}

static int compare_number(const void *key, const void *element)
{
    const uint64_t number = *(const uint64_t *)key, other = ((const trace_call_path *)element)->number;
    return (number > other) - (number < other);
}

/* In a trace that was made by other means, the number is an address. */
const trace_site *trace_find_site(const trace_process *process, uint64_t number)
{
    const trace_call_path *path = process->path_count == 0 ? NULL
                                                           : bsearch(&number, process->paths, process->path_count,
                                                                     sizeof(trace_call_path), compare_number);
    return path ? path->site : trace_find_address(process, number);
}

/* NULL: it is another site. */
static const trace_called_site *find_called(const trace_process *process, const trace_site *site)
{
    const uintptr_t first = (uintptr_t)process->called, bytes = process->called_count * sizeof *process->called;
    const bool is_called = (uintptr_t)site >= first && (uintptr_t)site - first < bytes;
    return is_called ? (const trace_called_site *)site : NULL;
}

size_t trace_site_number(const trace_process *process, const trace_site *site)
{
    const trace_called_site *called = find_called(process, site);
    return called ? process->site_count + (size_t)(called - process->called) : (size_t)(site - process->sites);
}

const char *trace_site_caller(const trace_process *process, const trace_site *site)
{
    const trace_called_site *called = find_called(process, site);
    return called ? called->caller : NULL;
}

size_t trace_line_bytes(const char *symbol)
{
    const char *colon = strchr(symbol, ':');
    const size_t digits = colon ? strspn(colon + 1, "0123456789") : 0;
    return digits > 0 && colon[1 + digits] == ' ' ? (size_t)(colon + 1 + digits - symbol) : 0;
}

int trace_place_bytes(const char *symbol)
{
    const size_t line_bytes = trace_line_bytes(symbol);
    const char *paren = strstr(symbol, " (0x");
    return (int)(line_bytes > 0 ? line_bytes : paren ? (size_t)(paren - symbol) : strlen(symbol));
}

int trace_partner(const trace_process *process, const trace_event *event)
{
    if (event->id == TRACE_NO_COMM || event->partner < 0)
        return -1;
    const trace_communicator *communicator = &process->communicators[event->id];
    return event->partner < communicator->size ? communicator->ranks[event->partner] : -1;
}
