/* SPDX-License-Identifier: BSD-3-Clause */
/* known_clocks.c - a short list, the latest first, and what makes an entry useless. */
#include "sync/known_clocks.h"

#include "pure/units.h"

#include <string.h>

/* The temperature of a machine changes within minutes, and with it the rate of its clock. */
#define MAX_AGE_NS (300 * MH_NS_PER_S)

/* The place of a clock in the list; if it is not there, MH_KNOWN_CLOCKS. */
static int place_of(const mh_known_clocks *list, uint64_t id)
{
    int place = 0;
    while (place < MH_KNOWN_CLOCKS && list->clocks[place].name.id != id)
        place++;
    return place;
}

/* Close the gap that a clock leaves. */
static void take_out(mh_known_clocks *list, int place)
{
    mh_known_clock *gap = &list->clocks[place];
    memmove(gap, gap + 1, (size_t)(MH_KNOWN_CLOCKS - 1 - place) * sizeof *gap);
    list->clocks[MH_KNOWN_CLOCKS - 1].name.id = 0;
}

/* Whether the clock runs as it did when it was synchronized. If all processes share one clock, it may be old. */
static bool is_fresh(mh_known_clock clock)
{
    bool stepped = mh_clock_watch_look(&clock.watch, &clock.base) != 0;
    int64_t age_ns = mh_base_clock_now_ns(&clock.base) - clock.synced_ns;
    bool is_young = age_ns <= MAX_AGE_NS || (clock.is_one_node && !mh_estimate_grows(&clock.known.estimate));
    return !stepped && age_ns >= 0 && is_young;
}

/*
 * The place for a further clock: a free one, or that of a useless entry, or of the entry with the fewest processes,
 * because more communicators can begin with a clock of many processes. Of equal entries, the oldest is dropped.
 */
static int place_to_give(const mh_known_clocks *list)
{
    int place = MH_KNOWN_CLOCKS - 1;
    for (int i = place; i >= 0; i--) {
        if (!list->clocks[i].name.id || !is_fresh(list->clocks[i]))
            return i;
        if (list->clocks[i].size < list->clocks[place].size)
            place = i;
    }
    return place;
}

void mh_known_clocks_add(mh_known_clocks *list, const mh_known_clock *clock)
{
    pthread_mutex_lock(&list->lock);
    int place = place_of(list, clock->name.id);
    if (place == MH_KNOWN_CLOCKS)
        place = place_to_give(list);
    memmove(&list->clocks[1], &list->clocks[0], (size_t)place * sizeof *clock);
    list->clocks[0] = *clock;
    pthread_mutex_unlock(&list->lock);
}

void mh_known_clocks_set_barrier(mh_known_clocks *list, uint64_t id, int64_t barrier_choice, bool yields)
{
    pthread_mutex_lock(&list->lock);
    int place = place_of(list, id);
    if (place < MH_KNOWN_CLOCKS) {
        list->clocks[place].name.barrier_choice = barrier_choice;
        list->clocks[place].yields = yields;
    }
    pthread_mutex_unlock(&list->lock);
}

void mh_known_clocks_remove(mh_known_clocks *list, uint64_t id)
{
    pthread_mutex_lock(&list->lock);
    int place = place_of(list, id);
    if (place < MH_KNOWN_CLOCKS)
        take_out(list, place);
    pthread_mutex_unlock(&list->lock);
}

void mh_known_clocks_names(mh_known_clocks *list, mh_known_name names[MH_KNOWN_CLOCKS])
{
    pthread_mutex_lock(&list->lock);
    for (int i = 0; i < MH_KNOWN_CLOCKS; i++)
        names[i] = list->clocks[i].name;
    pthread_mutex_unlock(&list->lock);
}

bool mh_known_clocks_get(mh_known_clocks *list, const mh_known_name *name, double wander, mh_known_clock *clock)
{
    pthread_mutex_lock(&list->lock);
    int place = name->id ? place_of(list, name->id) : MH_KNOWN_CLOCKS;
    bool found = place < MH_KNOWN_CLOCKS;
    if (found)
        *clock = list->clocks[place];
    pthread_mutex_unlock(&list->lock);
    return found && clock->name.generation == name->generation && clock->wander >= wander && is_fresh(*clock);
}
