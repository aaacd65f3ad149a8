/* SPDX-License-Identifier: BSD-3-Clause */
/* chain.c - from the worst instance of a cause on to all that waited for it. */
#include "trace/waits/chain.h"

#include "trace/waits/history.h"

#include <stdlib.h>

typedef struct {
    int64_t end_ns;
    size_t wait;
} ordered;

static int first_first(const void *left, const void *right)
{
    const ordered *a = left, *b = right;
    if (a->end_ns != b->end_ns)
        return a->end_ns < b->end_ns ? -1 : 1;
    return (a->wait > b->wait) - (a->wait < b->wait);
}

/* Those that end after an instance begins, and no later than `until_ns`. */
static size_t list_later(const graph_waits *waits, const cause *cause, int64_t until_ns, ordered *list)
{
    size_t count = 0;
    for (size_t i = 0; i < waits->count; i++)
        if (waits->list[i].end_ns > cause->worst_begin_ns && waits->list[i].end_ns <= until_ns)
            list[count++] = (ordered){waits->list[i].end_ns, i};
    if (count > 0)
        qsort(list, count, sizeof *list, first_first);
    return count;
}

/* Whether a part of a wait is charged to the instance, or passed on to a wait of the chain. */
static bool is_charged(const history *past, const graph_wait *wait, const cause *cause, const bool *is_in)
{
    for (size_t i = 0; i < past->late.count; i++) {
        const history_part *part = &past->late.list[i];
        if (part->excess_ns == 0)
            continue;
        if (part->kind == PART_WAIT && is_in[past->of->lanes[wait->late_lane].calls[part->call].wait])
            return true;
        if (part->kind == (cause->key.is_call ? PART_IN : PART_BEFORE) && wait->late_lane == cause->worst_lane &&
            part->call == cause->worst_call)
            return true;
    }
    return false;
}

size_t *chain_find(const graph *of, const graph_waits *waits, const cause *cause, int64_t until_ns, size_t *count)
{
    history past;
    ordered *later = malloc((waits->count + 1) * sizeof *later);
    bool *is_in = calloc(waits->count + 1, sizeof *is_in);
    size_t *chain = malloc((waits->count + 1) * sizeof *chain);
    bool is_good = history_begin(&past, of, waits) && later && is_in && chain;
    const size_t most = is_good ? list_later(waits, cause, until_ns, later) : 0;
    *count = 0;
    for (size_t i = 0; is_good && i < most; i++) {
        const size_t wait = later[i].wait;
        is_good = history_find(&past, wait);
        is_in[wait] = is_good && is_charged(&past, &waits->list[wait], cause, is_in);
        if (is_in[wait])
            chain[(*count)++] = wait;
    }
    history_end(&past);
    free(later);
    free(is_in);
    if (!is_good) {
        free(chain);
        return NULL;
    }
    return chain;
}
