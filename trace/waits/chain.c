/* SPDX-License-Identifier: BSD-3-Clause */
/* chain.c - from the worst instance of a cause on to all that waited for it. */
#include "common/cli/memory.h"
#include "trace/waits/causes.h"
#include "trace/waits/history.h"

static bool is_of_worst(const graph *of, const history_part *part, const cause *cause)
{
    if (cause->key.is_call || part->kind == PART_IN)
        return cause->key.is_call && part->kind == PART_IN && part->call == cause->worst_call;
    return graph_computation_at(of, cause->worst_lane, part->call).last == cause->worst_call;
}

/* Whether a part of a wait is charged to the instance, or passed on to a wait of the chain. */
static bool is_charged(const history *past, const graph_wait *wait, const cause *cause, const bool *is_in)
{
    const graph *of = past->of;
    for (size_t i = 0; i < past->late.count; i++) {
        const history_part *part = &past->late.list[i];
        if (part->excess_ns == 0)
            continue;
        if (part->kind == PART_WAIT ? is_in[of->lanes[wait->late_lane].calls[part->call].wait]
                                    : wait->late_lane == cause->worst_lane && is_of_worst(of, part, cause))
            return true;
    }
    return false;
}

size_t *chain_find(const graph *of, const graph_waits *waits, const cause *cause, int64_t until_ns, size_t *count)
{
    history past;
    size_t *chain = waits_by_end(waits);
    bool *is_in = or_exit(calloc(waits->count + 1, sizeof *is_in));
    history_begin(&past, of, waits);
    *count = 0;
    for (size_t i = 0; i < waits->count; i++) {
        const size_t wait = chain[i];
        const int64_t end_ns = waits->list[wait].end_ns;
        if (end_ns <= cause->worst_begin_ns || end_ns > until_ns)
            continue;
        history_find(&past, wait);
        is_in[wait] = is_charged(&past, &waits->list[wait], cause, is_in);
        if (is_in[wait])
            chain[(*count)++] = wait;
    }
    history_end(&past);
    free(is_in);
    return chain;
}
