/* SPDX-License-Identifier: BSD-3-Clause */
/* places.c - a hash table of places: objects lie at other addresses on each process, their symbols are the same. */
#include "trace/waits/places.h"

#include "common/room.h"

#include <stdlib.h>
#include <string.h>

static uint64_t hash_of(const place *one)
{
    uint64_t hash = UINT64_C(14695981039346656037) ^ one->function;
    for (const char *next = one->text; next && *next != '\0'; next++)
        hash = (hash ^ (unsigned char)*next) * UINT64_C(1099511628211);
    if (!one->text)
        hash = (hash ^ one->address) * UINT64_C(1099511628211);
    return hash ^ hash >> 32;
}

static bool is_same(const place *a, const place *b)
{
    if (a->function != b->function || !a->text != !b->text)
        return false;
    return a->text ? strcmp(a->text, b->text) == 0 : a->address == b->address;
}

static size_t *slot_of(const places *known, const place *wanted)
{
    size_t at = hash_of(wanted) % known->slot_count;
    while (known->slots[at] != 0 && !is_same(&known->list[known->slots[at] - 1], wanted))
        at = (at + 1) % known->slot_count;
    return &known->slots[at];
}

/* At most half of the slots are taken. */
static bool has_slots(places *known)
{
    enum { FIRST_SLOTS = 1024 };
    if (2 * known->count < known->slot_count)
        return true;
    const size_t count = known->slot_count > 0 ? 2 * known->slot_count : FIRST_SLOTS;
    size_t *slots = calloc(count, sizeof *slots);
    if (!slots)
        return false;
    free(known->slots);
    known->slots = slots;
    known->slot_count = count;
    for (size_t i = 0; i < known->count; i++)
        *slot_of(known, &known->list[i]) = i + 1;
    return true;
}

size_t places_find(places *known, const trace_process *process, const trace_event *enter)
{
    const trace_site *site = trace_find_site(process, enter->value);
    const place wanted = {enter->id, site && site->symbol[0] != '\0' ? site->symbol : NULL, enter->value};
    if (!has_slots(known))
        return SIZE_MAX;
    size_t *slot = slot_of(known, &wanted);
    if (*slot == 0) {
        place *list = room_for_another(known->list, (int64_t)known->count, sizeof wanted);
        if (!list)
            return SIZE_MAX;
        known->list = list;
        known->list[known->count++] = wanted;
        *slot = known->count;
    }
    return *slot - 1;
}

void places_free(places *known)
{
    free(known->list);
    free(known->slots);
    *known = (places){.count = 0};
}
