/* SPDX-License-Identifier: BSD-3-Clause */
/* places.c - list places: objects lie at other addresses on each process, their symbols are the same. */
#include "trace/waits/places.h"

#include "common/cli/memory.h"

#include <string.h>

int place_compare(const void *left, const void *right)
{
    const place *a = left, *b = right;
    if (a->function != b->function)
        return a->function < b->function ? -1 : 1;
    if (a->text && b->text)
        return strcmp(a->text, b->text);
    if (a->text || b->text)
        return a->text ? -1 : 1;
    return (a->address > b->address) - (a->address < b->address);
}

place place_of(trace_point enter)
{
    const trace_event *event = &enter.at->events[enter.event];
    const trace_site *site = trace_find_site(enter.at->process, event->value);
    return (place){event->id, site && site->symbol[0] != '\0' ? site->symbol : NULL,
                   site ? site->address : event->value, site ? trace_site_caller(enter.at->process, site) : NULL};
}

size_t places_find(places *known, trace_point enter)
{
    const place wanted = place_of(enter);
    const size_t found = keys_find(&known->numbers, &wanted, sizeof wanted, place_compare);
    if (found == known->count) {
        known->list = or_exit(array_grow(known->list, (int64_t)known->count, sizeof wanted));
        known->list[known->count++] = wanted;
    }
    return found;
}

void places_free(places *known)
{
    free(known->list);
    keys_free(&known->numbers);
    *known = (places){.count = 0};
}
