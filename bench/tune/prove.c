/* SPDX-License-Identifier: BSD-3-Clause */
/* prove.c - show that each rule of a file is in force at its ends, and nowhere else. */
#include "bench/tune/tune.h"

/* All types of messages are made of so many bytes or a divisor of it. */
enum { ELEMENT_BYTES = 4 };

/* Whether a size lies in another range of the file, whose own proof covers it. */
static bool is_in_another(const tune_t *tune, int which, int64_t bytes)
{
    for (int i = 0; i < tune->range_count; i++)
        if (i != which && !tune->ranges[i].unproven && bytes >= tune->ranges[i].first_bytes &&
            bytes <= tune->ranges[i].last_bytes)
            return true;
    return false;
}

/* Not seeing anything of other communicators is no proof, but a launcher may not start as many ranks. */
static const char *look_at_ranks(const tune_t *tune, const char *file, int which, int64_t bytes)
{
    int64_t ranks = tune->settings.ranks;
    for (int64_t other = ranks - 1; other <= ranks + 1; other += 2)
        if (other >= 1 && tune->library->look(tune, file, which, bytes, other) == SIGHT_RULE)
            return "the rule holds for other numbers of ranks, too";
    return NULL;
}

static const char *prove(const tune_t *tune, const char *file, int which)
{
    const range_t *range = &tune->ranges[which];
    int64_t last = range->last_bytes / ELEMENT_BYTES * ELEMENT_BYTES;
    int64_t below = range->first_bytes - ELEMENT_BYTES, above = last + ELEMENT_BYTES, ranks = tune->settings.ranks;
    const library_t *library = tune->library;
    if (library->look(tune, file, which, range->first_bytes, ranks) != SIGHT_RULE)
        return "the smallest size does not show the rule";
    if (last > range->first_bytes && library->look(tune, file, which, last, ranks) != SIGHT_RULE)
        return "the largest size does not show the rule";
    if (below >= 0 && !is_in_another(tune, which, below) &&
        library->look(tune, file, which, below, ranks) != SIGHT_USUAL)
        return "a smaller size is not as before";
    if (!is_in_another(tune, which, above) && library->look(tune, file, which, above, ranks) != SIGHT_USUAL)
        return "a larger size is not as before";
    return look_at_ranks(tune, file, which, range->first_bytes);
}

void tune_prove(tune_t *tune, const char *file)
{
    bool is_right = tune_is_right(tune, file);
    const char *unproven[MAX_RANGES];
    for (int i = 0; i < tune->range_count; i++) {
        tune_tell(tune, "proving rule %d of %d", i + 1, tune->range_count);
        unproven[i] = tune->ranges[i].unproven;
        if (!unproven[i])
            unproven[i] = is_right ? prove(tune, file, i) : "results are wrong with the file";
    }
    for (int i = 0; i < tune->range_count; i++) /* until here, all of them are in the file */
        tune->ranges[i].unproven = unproven[i];
}
