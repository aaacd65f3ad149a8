/* SPDX-License-Identifier: BSD-3-Clause */
/* history.c - go back on two lanes to where they met, and compare. */
#include "trace/waits/history.h"

#include "common/cli/memory.h"
#include "pure/order_statistics.h"

/* How far back lanes are compared if they have not met. */
enum { MAX_CALLS = 2000 };

#define NO_PART SIZE_MAX

/* How far the search is on a lane, back from the call at `end`: all calls from `call` on were looked at. */
typedef struct {
    const graph_lane *lane;
    size_t index, end, call;
} side;

/* ---- When they met: INT64_MIN if they did not */

/*
 * A call takes part in a gathering. If one of the other lane did so, too, both know of each other: since the last
 * process came, or if one of them does not wait there, since that one came.
 */
static int64_t see_gathering(history *past, size_t gathering, const graph_call *call, bool is_late, bool is_waiting)
{
    history_meeting *seen = &past->meetings[gathering];
    if (seen->search == past->searches && seen->is_late != is_late && (seen->is_waiting || is_waiting)) {
        const graph_arrival *last = &past->of->gatherings[gathering].last;
        if (last->lane == GRAPH_NONE) /* nobody gave anything */
            return INT64_MIN;
        return !seen->is_waiting ? seen->enter_ns : is_waiting ? last->enter_ns : call->enter_ns;
    }
    if (seen->search != past->searches)
        *seen = (history_meeting){past->searches, call->enter_ns, is_late, is_waiting};
    return INT64_MIN;
}

/* Whether the next call of a side is where both met: the last time at which they did there. */
static int64_t look_at(history *past, const side *own, const side *other, bool is_late)
{
    const graph *of = past->of;
    const graph_call *call = &own->lane->calls[own->call];
    const graph_dependency *dependencies = own->lane->dependencies;
    int64_t met_ns = INT64_MIN;
    for (size_t i = call->dependency; i != GRAPH_NONE; i = dependencies[i].next) {
        const graph_dependency *on = &dependencies[i];
        if (on->lane == GRAPH_NONE)
            met_ns = greater(met_ns, see_gathering(past, on->call, call, is_late, true));
        else if (on->lane == other->index && on->call < other->end)
            met_ns = greater(met_ns, other->lane->calls[on->call].enter_ns + on->after_ns);
    }
    for (size_t i = call->member; i != GRAPH_NONE; i = of->members[i].next)
        met_ns = greater(met_ns, see_gathering(past, of->members[i].gathering, call, is_late, false));
    return met_ns;
}

/*
 * The last time at which they met: no call that ended before the best one so far can be better. If the search gives up,
 * both are compared since then.
 */
static int64_t find_meeting(history *past, side late, side waiting)
{
    int64_t met_ns = INT64_MIN, seen_ns = INT64_MIN;
    past->searches++;
    int i = 0;
    for (; i < MAX_CALLS && (late.call > 0 || waiting.call > 0); i++) {
        const graph_call *calls = late.lane->calls, *others = waiting.lane->calls;
        const bool is_late =
            waiting.call == 0 || (late.call > 0 && calls[late.call - 1].leave_ns >= others[waiting.call - 1].leave_ns);
        const graph_call *call = is_late ? &calls[--late.call] : &others[--waiting.call];
        if (call->leave_ns < met_ns)
            return met_ns;
        seen_ns = call->leave_ns;
        const int64_t ns = is_late ? look_at(past, &late, &waiting, true) : look_at(past, &waiting, &late, false);
        met_ns = ns > met_ns ? ns : met_ns;
    }
    return i == MAX_CALLS && met_ns == INT64_MIN ? seen_ns : met_ns;
}

/* ---- What they did since */

static void add_part(history_lane *to, history_part part, int64_t from_ns, int64_t to_ns)
{
    if (from_ns >= to_ns)
        return;
    part.ns = to_ns - from_ns;
    part.order = to->count;
    to->list = or_exit(array_grow(to->list, (int64_t)to->count, sizeof part));
    to->list[to->count++] = part;
}

/*
 * The computation before a call, or a piece of it.
 *
 * last   inout: the last piece of the computation if it goes on after this call, or NO_PART
 */
static void add_computation(const history *past, history_lane *to, const side *at, size_t call, int64_t from_ns,
                            size_t *last)
{
    const size_t added = to->count;
    const graph_computation whole = graph_computation_at(past->of, at->index, call);
    history_part part = {.kind = PART_PIECE, .call = call, .from = whole.from, .to = whole.to};
    if (!graph_is_recorder(past->of, &at->lane->calls[call]))
        *last = NO_PART;
    if (*last == NO_PART)
        part.kind = PART_BEFORE;
    add_part(to, part, from_ns, at->lane->calls[call].enter_ns);
    if (to->count == added)
        return;
    if (*last == NO_PART)
        *last = added;
    else
        to->list[*last].ns += to->list[added].ns;
}

/* Back from the beginning of a call until they met. */
static void list_parts(const history *past, history_lane *to, const side *at, int64_t met_ns)
{
    const graph_call *calls = at->lane->calls;
    int64_t end_ns = calls[at->end].enter_ns;
    size_t last = NO_PART;
    to->count = 0;
    for (size_t i = at->end, k = 0; end_ns > met_ns && k < MAX_CALLS; i--, k++) {
        const int64_t left_ns = i > 0 ? calls[i - 1].leave_ns : at->lane->begin_ns;
        add_computation(past, to, at, i, greater(left_ns, met_ns), &last);
        if (i == 0)
            break;
        const graph_call *call = &calls[i - 1];
        const int64_t released_ns = waits_end_ns(past->waits, call);
        history_part part = {.kind = PART_IN, .call = i - 1, .from = call->place, .to = call->place};
        add_part(to, part, greater(released_ns, met_ns), call->leave_ns);
        part.kind = PART_WAIT;
        add_part(to, part, greater(call->enter_ns, met_ns), released_ns);
        end_ns = call->enter_ns;
    }
}

/* ---- Comparison */

static int compare_kinds(const history_part *a, const history_part *b)
{
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    return (a->to > b->to) - (a->to < b->to);
}

static int by_kind(const void *left, const void *right)
{
    const history_part *a = left, *b = right;
    const int kinds = compare_kinds(a, b);
    return kinds != 0 ? kinds : (a->order > b->order) - (a->order < b->order);
}

static int by_order(const void *left, const void *right)
{
    const history_part *a = left, *b = right;
    return (a->order > b->order) - (a->order < b->order);
}

static void sort(history_lane *lane, int (*compare)(const void *, const void *))
{
    if (lane->count > 1)
        qsort(lane->list, lane->count, sizeof *lane->list, compare);
}

/* A wait of the late lane can have made it late only if it ended before: by clocks that are right, all did. */
static bool is_earlier(const history *past, size_t lane, const history_part *part, size_t wait)
{
    const graph_wait *this = &past->waits->list[wait];
    const size_t other = past->of->lanes[lane].calls[part->call].wait;
    const int64_t end_ns = past->waits->list[other].end_ns;
    return end_ns < this->end_ns || (end_ns == this->end_ns && other < wait);
}

/* The next part of the same kind and places in a list that is sorted by these, or NULL. */
static history_part *take_like(history_lane *sorted, const history_part *part)
{
    size_t low = 0, high = sorted->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (compare_kinds(&sorted->list[middle], part) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == sorted->count || compare_kinds(&sorted->list[low], part) != 0)
        return NULL;
    const size_t taken = low + sorted->list[low].next;
    if (taken == sorted->count || compare_kinds(&sorted->list[taken], part) != 0)
        return NULL;
    sorted->list[low].next++;
    return &sorted->list[taken];
}

/* Pair parts of the same kind and places. Only the shorter list is sorted: the other may have thousands of parts. */
static void pair_places(history *past)
{
    const bool is_late_short = past->late.count < past->waiting.count;
    history_lane *sorted = is_late_short ? &past->late : &past->waiting;
    const history_lane *all = is_late_short ? &past->waiting : &past->late;
    sort(sorted, by_kind);
    for (size_t i = 0; i < all->count; i++) {
        history_part *part = &all->list[i], *like = take_like(sorted, part);
        if (!like)
            continue;
        history_part *late = is_late_short ? like : part;
        part->is_paired = like->is_paired = true;
        late->excess_ns = greater(0, late->ns - (is_late_short ? part : like)->ns);
    }
    sort(sorted, by_order);
}

static bool is_alone(const history_part *part, history_kind kind)
{
    return part->kind == kind && !part->is_paired;
}

/* Of the late lane, how much longer parts of a kind that are in no pair are together than those of the other lane. */
static int64_t longer_alone(const history *past, history_kind kind)
{
    int64_t ns = 0;
    for (size_t i = 0; i < past->late.count; i++)
        ns += is_alone(&past->late.list[i], kind) ? past->late.list[i].ns : 0;
    for (size_t i = 0; i < past->waiting.count; i++)
        ns -= is_alone(&past->waiting.list[i], kind) ? past->waiting.list[i].ns : 0;
    return ns > 0 ? ns : 0;
}

/* Pair parts of a kind that are left, whatever their places. */
static void pair_others(history *past, history_kind kind)
{
    size_t k = 0;
    for (size_t i = 0; i < past->late.count; i++) {
        history_part *part = &past->late.list[i];
        if (!is_alone(part, kind))
            continue;
        while (k < past->waiting.count && !is_alone(&past->waiting.list[k], kind))
            k++;
        const int64_t other_ns = k < past->waiting.count ? past->waiting.list[k++].ns : 0;
        part->excess_ns = greater(0, part->ns - other_ns);
    }
}

static double ratio_of(int64_t part_ns, int64_t all_ns)
{
    return part_ns < all_ns ? (double)part_ns / (double)all_ns : 1;
}

/* Of so much excess, computations have first what is longer than usual. Parts have shares of what is left. */
static void share(history *past, size_t lane, history_kind kind, int64_t longer_ns)
{
    int64_t unusual_ns = 0, rest_ns = 0;
    for (size_t i = 0; i < past->late.count; i++) {
        history_part *part = &past->late.list[i];
        if (!is_alone(part, kind))
            continue;
        if (kind == PART_BEFORE)
            part->unusual_ns = lesser(part->ns, usual_more_ns(&past->usual, past->of, lane, part->call));
        part->excess_ns = greater(0, part->excess_ns - part->unusual_ns);
        unusual_ns += part->unusual_ns;
        rest_ns += part->excess_ns;
    }
    const double first = ratio_of(longer_ns, unusual_ns);
    const double then = ratio_of(greater(0, longer_ns - unusual_ns), rest_ns);
    for (size_t i = 0; i < past->late.count; i++) {
        history_part *part = &past->late.list[i];
        if (is_alone(part, kind))
            part->excess_ns = (int64_t)((double)part->unusual_ns * first) + (int64_t)((double)part->excess_ns * then);
    }
}

/*
 * Lanes with other neighbors call from other places, and may do in one part what the other lane does in two. So parts
 * that are left have no more excess than they are longer together.
 */
static void compare_others(history *past, size_t lane, history_kind kind)
{
    const int64_t longer_ns = longer_alone(past, kind);
    if (longer_ns == 0)
        return;
    pair_others(past, kind);
    share(past, lane, kind, longer_ns);
}

/* Earlier pieces of a computation get their shares of its excess. */
static void spread(history_lane *late)
{
    history_part *last = NULL;
    int64_t excess_ns = 0;
    for (size_t i = 0; i < late->count; i++) {
        history_part *part = &late->list[i];
        if (part->kind == PART_BEFORE) {
            last = part;
            part->whole_ns = excess_ns = part->excess_ns;
        } else if (part->kind == PART_PIECE) {
            part->excess_ns = (int64_t)((double)excess_ns * ratio_of(part->ns, last->ns));
            last->excess_ns -= part->excess_ns;
        }
    }
}

static void compare(history *past, size_t wait)
{
    const size_t lane = past->waits->list[wait].late_lane;
    pair_places(past);
    for (history_kind kind = PART_BEFORE; kind <= PART_WAIT; kind++)
        compare_others(past, lane, kind);
    spread(&past->late);
    past->excess_ns = 0;
    for (size_t i = 0; i < past->late.count; i++) {
        history_part *part = &past->late.list[i];
        if (part->kind == PART_WAIT && !is_earlier(past, lane, part, wait))
            part->excess_ns = 0;
        past->excess_ns += part->excess_ns;
    }
}

/* ---- All of it */

static void take_all(history *past, const side *late)
{
    size_t last = NO_PART;
    past->late.count = 0;
    past->excess_ns = 1;
    past->is_unexplained = true;
    add_computation(past, &past->late, late, late->end, late->lane->calls[late->end].enter_ns - 1, &last);
    past->late.list[0].excess_ns = past->late.list[0].whole_ns = 1;
}

void history_find(history *past, size_t wait)
{
    const graph_wait *of = &past->waits->list[wait];
    const graph_lane *lanes = past->of->lanes;
    const side late = {&lanes[of->late_lane], of->late_lane, of->late_call, of->late_call};
    const side waiting = {&lanes[of->lane], of->lane, of->call, of->call};
    const int64_t met_ns = find_meeting(past, late, waiting);
    list_parts(past, &past->late, &late, met_ns);
    list_parts(past, &past->waiting, &waiting, met_ns);
    compare(past, wait);
    past->is_unexplained = false;
    if (past->excess_ns == 0)
        take_all(past, &late);
}

void history_begin(history *past, const graph *of, const graph_waits *waits)
{
    *past = (history){.of = of, .waits = waits};
    past->meetings = zeros_or_exit(of->gathering_count, sizeof *past->meetings);
}

void history_end(history *past)
{
    free(past->late.list);
    free(past->waiting.list);
    free(past->meetings);
    usual_free(&past->usual);
    *past = (history){.of = NULL};
}
