/* SPDX-License-Identifier: BSD-3-Clause */
/* usual.c - medians of each rank, and then of ranks. What the recorder did within a computation is no part of it. */
#include "trace/waits/usual.h"

#include "pure/order_statistics.h"
#include "common/cli/memory.h"

typedef struct {
    uint64_t places;
    int64_t ns;
} computation;

typedef struct {
    size_t count;
    computation *list;
} computations;

static uint64_t both_places(size_t from, size_t to)
{
    return (uint64_t)from << 32 | (uint64_t)to;
}

/* ---- Medians of a rank */

static void add_lane(computations *to, const graph *of, const graph_lane *lane)
{
    size_t from = GRAPH_NONE;
    int64_t ns = 0, left_ns = lane->begin_ns;
    for (size_t i = 0; i < lane->count; i++) {
        const graph_call *call = &lane->calls[i];
        ns += call->enter_ns - left_ns;
        left_ns = call->leave_ns;
        if (graph_is_recorder(of, call))
            continue;
        to->list = grow_or_exit(to->list, to->count, sizeof *to->list);
        to->list[to->count++] = (computation){both_places(from, call->place), ns};
        from = call->place;
        ns = 0;
    }
}

static int by_length(const void *left, const void *right)
{
    const computation *a = left, *b = right;
    if (a->places != b->places)
        return a->places < b->places ? -1 : 1;
    return (a->ns > b->ns) - (a->ns < b->ns);
}

static void add_medians(usual *to, int rank, computations *all)
{
    int64_t *lengths_ns = array_or_exit(all->count, sizeof *lengths_ns);
    if (all->count > 1)
        qsort(all->list, all->count, sizeof *all->list, by_length);
    for (size_t first = 0, end; first < all->count; first = end) {
        const uint64_t places = all->list[first].places;
        for (end = first; end < all->count && all->list[end].places == places; end++)
            lengths_ns[end - first] = all->list[end].ns;
        const int64_t own_ns = (int64_t)middle_of(lengths_ns, end - first);
        to->list = grow_or_exit(to->list, to->count, sizeof *to->list);
        to->list[to->count++] = (usual_length){.rank = rank, .places = places, .own_ns = own_ns};
    }
    all->count = 0;
    free(lengths_ns);
}

/* ---- Medians of other ranks */

static int by_own(const void *left, const void *right)
{
    const usual_length *a = *(usual_length *const *)left, *b = *(usual_length *const *)right;
    if (a->places != b->places)
        return a->places < b->places ? -1 : 1;
    if (a->own_ns != b->own_ns)
        return a->own_ns < b->own_ns ? -1 : 1;
    return (a->rank > b->rank) - (a->rank < b->rank);
}

/* Of ranks with the same places, in the order of their medians; others_ns: room for these. */
static void compare_group(usual_length *const *ranks, size_t count, int64_t *others_ns)
{
    for (size_t i = 1; i < count; i++)
        others_ns[i - 1] = ranks[i]->own_ns;
    for (size_t i = 0; i < count; i++) {
        ranks[i]->usual_ns = count > 1 ? (int64_t)middle_of(others_ns, count - 1) : ranks[i]->own_ns;
        others_ns[i] = ranks[i]->own_ns;
    }
}

static void compare_ranks(usual *to)
{
    usual_length **order = array_or_exit(to->count, sizeof(usual_length *));
    int64_t *others_ns = array_or_exit(to->count, sizeof *others_ns);
    for (size_t i = 0; i < to->count; i++)
        order[i] = &to->list[i];
    qsort(order, to->count, sizeof(usual_length *), by_own);
    for (size_t first = 0, end; first < to->count; first = end) {
        for (end = first + 1; end < to->count && order[end]->places == order[first]->places;)
            end++;
        compare_group(order + first, end - first, others_ns);
    }
    free(order);
    free(others_ns);
}

static void make(usual *to, const graph *of)
{
    computations all = {0, NULL};
    for (size_t i = 0; i < of->lane_count; i++) {
        const int rank = of->lanes[i].location->rank;
        add_lane(&all, of, &of->lanes[i]);
        if (i + 1 == of->lane_count || of->lanes[i + 1].location->rank != rank)
            add_medians(to, rank, &all);
    }
    free(all.list);
    compare_ranks(to);
    to->is_made = true;
}

/* ---- One computation */

static int by_rank(const void *left, const void *right)
{
    const usual_length *a = left, *b = right;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return (a->places > b->places) - (a->places < b->places);
}

int64_t usual_more_ns(usual *known, const graph *of, size_t lane, size_t call)
{
    if (!known->is_made)
        make(known, of);
    const graph_computation at = graph_computation_at(of, lane, call);
    const usual_length wanted = {.rank = of->lanes[lane].location->rank, .places = both_places(at.from, at.to)};
    const usual_length *found = bsearch(&wanted, known->list, known->count, sizeof wanted, by_rank);
    const int64_t ns = found ? at.ns - found->usual_ns : 0;
    return ns > 0 ? ns : 0;
}

void usual_free(usual *known)
{
    free(known->list);
    *known = (usual){.count = 0};
}
