/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * causes.c - charge waits, the last one first: so what a wait passes on to an earlier one is known when the earlier one
 * is charged itself.
 */
#include "trace/waits/causes.h"

#include "common/cli/memory.h"
#include "pure/order_statistics.h"
#include "trace/waits/history.h"

/* ---- Keys */

cause_key cause_before(const graph *of, size_t lane, size_t call)
{
    const graph_computation at = graph_computation_at(of, lane, call);
    return (cause_key){of->lanes[lane].location->rank, false, at.from, at.to};
}

cause_key cause_in(const graph *of, size_t lane, size_t call)
{
    const size_t place = of->lanes[lane].calls[call].place;
    return (cause_key){of->lanes[lane].location->rank, true, place, place};
}

static int compare_keys(const void *left, const void *right)
{
    const cause_key *a = left, *b = right;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    if (a->is_call != b->is_call)
        return a->is_call ? 1 : -1;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    return (a->to > b->to) - (a->to < b->to);
}

size_t causes_at(causes *known, const cause_key *key)
{
    const size_t found = keys_find(&known->numbers, key, sizeof *key, compare_keys);
    if (found == known->count) {
        known->list = or_exit(array_grow(known->list, (int64_t)known->count, sizeof(cause)));
        known->list[known->count++] = (cause){.key = *key};
    }
    return found;
}

/* ---- What is charged to each wait, by later ones that it made longer */

typedef struct {
    int64_t passed_ns;
    double bound_ns; /* of these later ones */
} debt;

typedef struct {
    causes *to;
    graph *of;
    const graph_waits *waits;
    debt *debts; /* by wait */
    history past;
} charging;

/* The delay of a part of a lane that was not a wait; with its cause, it is added if it is new. */
static graph_delay *delay_of(charging *in, size_t lane, const history_part *part)
{
    graph *of = in->of;
    graph_call *call = &of->lanes[lane].calls[part->call];
    const bool is_before = part->kind != PART_IN;
    uint32_t *delay = is_before ? &call->delay_before : &call->delay_in;
    if (*delay == GRAPH_NONE) {
        const cause_key key = is_before ? cause_before(of, lane, part->call) : cause_in(of, lane, part->call);
        of->delays = graph_room(of->delays, of->delay_count, sizeof *of->delays);
        *delay = (uint32_t)of->delay_count++;
        of->delays[*delay] = (graph_delay){.cause = (uint32_t)causes_at(in->to, &key)};
    }
    return &of->delays[*delay];
}

static void charge(charging *in, size_t lane, const history_part *part, int64_t own_ns, int64_t passed_ns,
                   double bound_ns)
{
    graph_delay *delay = delay_of(in, lane, part);
    cause *to = &in->to->list[delay->cause];
    to->charged_ns += own_ns + passed_ns;
    to->direct_ns += own_ns;
    to->bound_ns += bound_ns;
    delay->charged_ns += own_ns + passed_ns;
    if (in->past.is_unexplained)
        return;
    delay->late_ns = greater(delay->late_ns, part->excess_ns);
    delay->whole_ns = greater(delay->whole_ns, part->whole_ns);
}

/* A share of what is left, in proportion. All of it is given in the end. */
static int64_t share_of(int64_t *left_ns, int64_t excess_ns, int64_t total_ns)
{
    const double ratio = (double)excess_ns / (double)total_ns;
    int64_t share_ns = excess_ns < total_ns ? (int64_t)((double)*left_ns * ratio) : *left_ns;
    share_ns = share_ns < *left_ns ? share_ns : *left_ns;
    *left_ns -= share_ns;
    return share_ns;
}

/* To all parts by which the late lane took longer, in proportion; an earlier wait passes its share on. */
static void distribute(charging *in, size_t index)
{
    const graph_wait *wait = &in->waits->list[index];
    const debt *owed = &in->debts[index];
    int64_t own_ns = wait->end_ns - wait->begin_ns, passed_ns = owed->passed_ns, total_ns = in->past.excess_ns;
    const double bound_ns = wait->bound_ns + owed->bound_ns, whole_ns = (double)total_ns;
    in->to->waited_ns += own_ns;
    for (size_t i = 0; i < in->past.late.count; i++) {
        const history_part *part = &in->past.late.list[i];
        if (part->excess_ns == 0)
            continue;
        const int64_t own_share_ns = share_of(&own_ns, part->excess_ns, total_ns);
        const int64_t passed_share_ns = share_of(&passed_ns, part->excess_ns, total_ns);
        const double bound_share_ns = bound_ns * ((double)part->excess_ns / whole_ns);
        total_ns -= part->excess_ns;
        if (part->kind == PART_WAIT) {
            debt *to = &in->debts[in->of->lanes[wait->late_lane].calls[part->call].wait];
            to->passed_ns += own_share_ns + passed_share_ns;
            to->bound_ns += bound_share_ns;
        } else {
            charge(in, wait->late_lane, part, own_share_ns, passed_share_ns, bound_share_ns);
        }
    }
}

/* The last one first, so that later waits have passed on what they pass. */
static void charge_all(charging *in)
{
    size_t *order = waits_by_end(in->waits);
    for (size_t i = in->waits->count; i > 0; i--) {
        history_find(&in->past, order[i - 1]);
        distribute(in, order[i - 1]);
    }
    free(order);
}

/* ---- Instances */

static void add_instance(causes *to, const graph_delay *delay, size_t lane, size_t call, int64_t begin_ns,
                         int64_t end_ns)
{
    if (delay->cause == GRAPH_NONE)
        return;
    cause *of = &to->list[delay->cause];
    of->instances++;
    of->late_ns += delay->late_ns;
    if (of->instances > 1 && delay->charged_ns <= of->worst_ns)
        return;
    of->worst_ns = delay->charged_ns;
    of->worst_begin_ns = begin_ns;
    of->worst_end_ns = end_ns;
    of->worst_lane = lane;
    of->worst_call = call;
}

/* A computation with all its pieces is one instance. */
static void add_computation(causes *to, const graph *of, size_t lane, size_t call)
{
    const graph_lane *at = &of->lanes[lane];
    const graph_computation one = graph_computation_at(of, lane, call);
    graph_delay whole = {.cause = GRAPH_NONE};
    for (size_t i = one.first; i <= one.last && i < at->count; i++) {
        const graph_delay *piece = graph_delay_at(of, at->calls[i].delay_before);
        if (piece->cause == GRAPH_NONE)
            continue;
        whole.cause = piece->cause;
        whole.late_ns += piece->whole_ns;
        whole.charged_ns += piece->charged_ns;
    }
    add_instance(to, &whole, lane, one.last, one.first > 0 ? at->calls[one.first - 1].leave_ns : at->begin_ns,
                 one.last < at->count ? at->calls[one.last].enter_ns : at->end_ns);
}

static void add_instances(causes *to, const graph *of, const graph_waits *waits)
{
    for (size_t lane = 0; lane < of->lane_count; lane++)
        for (size_t i = 0; i < of->lanes[lane].count; i++) {
            const graph_call *call = &of->lanes[lane].calls[i];
            const int64_t in_ns = waits_end_ns(waits, call);
            if (i + 1 == of->lanes[lane].count || !graph_is_recorder(of, call))
                add_computation(to, of, lane, i);
            add_instance(to, graph_delay_at(of, call->delay_in), lane, i, in_ns, call->leave_ns);
        }
}

void causes_find(causes *found, graph *of, const graph_waits *waits)
{
    *found = (causes){.count = 0};
    charging in = {.to = found, .of = of, .waits = waits};
    in.debts = zeros_or_exit(waits->count, sizeof *in.debts);
    history_begin(&in.past, of, waits);
    charge_all(&in);
    add_instances(found, of, waits);
    history_end(&in.past);
    free(in.debts);
}

void causes_free(causes *found)
{
    free(found->list);
    keys_free(&found->numbers);
    *found = (causes){.count = 0};
}
