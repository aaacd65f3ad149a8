/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * causes.c - charge waits, the last one first: so what a wait passes on to an earlier one is known when the earlier one
 * is charged itself.
 */
#include "trace/waits/causes.h"

#include "common/room.h"
#include "trace/bulk.h"
#include "trace/waits/history.h"

#include <stdlib.h>

/* ---- Keys */

cause_key cause_before(const graph *of, size_t lane, size_t call)
{
    cause_key key = {of->lanes[lane].location->rank, false, GRAPH_NONE, GRAPH_NONE};
    graph_places(of, lane, call, &key.from, &key.to);
    return key;
}

cause_key cause_in(const graph *of, size_t lane, size_t call)
{
    const size_t place = of->lanes[lane].calls[call].place;
    return (cause_key){of->lanes[lane].location->rank, true, place, place};
}

static size_t hash_of(const cause_key *key)
{
    uint64_t hash = (uint64_t)key->rank * 2 + key->is_call;
    hash = (hash ^ key->from) * UINT64_C(0x9e3779b97f4a7c15);
    hash = (hash ^ hash >> 29 ^ key->to) * UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(hash ^ hash >> 32);
}

static size_t *slot_of(const causes *known, const cause_key *key)
{
    size_t at = hash_of(key) % known->slot_count;
    for (; known->slots[at] != 0; at = (at + 1) % known->slot_count) {
        const cause_key *other = &known->list[known->slots[at] - 1].key;
        if (other->rank == key->rank && other->is_call == key->is_call && other->from == key->from &&
            other->to == key->to)
            break;
    }
    return &known->slots[at];
}

/* At most half of the slots are taken. */
static bool has_slots(causes *known)
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
        *slot_of(known, &known->list[i].key) = i + 1;
    return true;
}

size_t causes_at(causes *known, const cause_key *key)
{
    if (!has_slots(known))
        return GRAPH_NONE;
    size_t *slot = slot_of(known, key);
    if (*slot == 0) {
        cause *list = room_for_another(known->list, (int64_t)known->count, sizeof *list);
        if (!list)
            return GRAPH_NONE;
        known->list = list;
        known->list[known->count++] = (cause){.key = *key};
        *slot = known->count;
    }
    return *slot - 1;
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

/* The delay of a part, which is added if it is new. NULL without memory. */
static graph_delay *delay_of(graph *of, size_t lane, const history_part *part)
{
    graph_call *call = &of->lanes[lane].calls[part->call];
    uint32_t *delay = part->kind == PART_BEFORE ? &call->delay_before : &call->delay_in;
    if (*delay == GRAPH_NONE) {
        if (of->delay_count >= GRAPH_NONE)
            return NULL;
        graph_delay *delays = bulk_for_another(of->delays, of->delay_count, sizeof *delays);
        if (!delays)
            return NULL;
        of->delays = delays;
        of->delays[of->delay_count] = (graph_delay){.cause = GRAPH_NONE};
        *delay = (uint32_t)of->delay_count++;
    }
    return &of->delays[*delay];
}

/* Charge a part of a lane that was not a wait. */
static bool charge(charging *in, const graph_wait *wait, const history_part *part, int64_t own_ns, int64_t passed_ns,
                   double bound_ns)
{
    graph_delay *delay = delay_of(in->of, wait->late_lane, part);
    if (!delay)
        return false;
    if (delay->cause == GRAPH_NONE) {
        const cause_key key = part->kind == PART_BEFORE ? cause_before(in->of, wait->late_lane, part->call)
                                                        : cause_in(in->of, wait->late_lane, part->call);
        const size_t which = causes_at(in->to, &key);
        if (which >= GRAPH_NONE)
            return false;
        delay->cause = (uint32_t)which;
    }
    cause *to = &in->to->list[delay->cause];
    to->charged_ns += own_ns + passed_ns;
    to->direct_ns += own_ns;
    to->bound_ns += bound_ns;
    delay->charged_ns += own_ns + passed_ns;
    delay->late_ns = part->excess_ns > delay->late_ns ? part->excess_ns : delay->late_ns;
    return true;
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
static bool distribute(charging *in, size_t index)
{
    const graph_wait *wait = &in->waits->list[index];
    const debt *owed = &in->debts[index];
    int64_t own_ns = wait->end_ns - wait->begin_ns, passed_ns = owed->passed_ns, total_ns = in->past.excess_ns;
    const double bound_ns = wait->bound_ns + owed->bound_ns, whole_ns = (double)total_ns;
    in->to->waited_ns += own_ns;
    bool is_good = true;
    for (size_t i = 0; is_good && i < in->past.late.count; i++) {
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
            is_good = charge(in, wait, part, own_share_ns, passed_share_ns, bound_share_ns);
        }
    }
    return is_good;
}

/* The last one first, so that later waits have passed on what they pass. */
static bool charge_all(charging *in)
{
    size_t *order = waits_by_end(in->waits);
    bool is_good = order;
    for (size_t i = in->waits->count; is_good && i > 0; i--)
        is_good = history_find(&in->past, order[i - 1]) && distribute(in, order[i - 1]);
    bulk_free(order);
    return is_good;
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

static void add_instances(causes *to, const graph *of, const graph_waits *waits)
{
    for (size_t lane = 0; lane < of->lane_count; lane++)
        for (size_t i = 0; i < of->lanes[lane].count; i++) {
            const graph_call *call = &of->lanes[lane].calls[i];
            const int64_t from_ns = i > 0 ? call[-1].leave_ns : of->lanes[lane].begin_ns;
            const int64_t in_ns = call->wait != GRAPH_NONE ? waits->list[call->wait].end_ns : call->enter_ns;
            add_instance(to, graph_delay_at(of, call->delay_before), lane, i, from_ns, call->enter_ns);
            add_instance(to, graph_delay_at(of, call->delay_in), lane, i, in_ns, call->leave_ns);
        }
}

bool causes_find(causes *found, graph *of, const graph_waits *waits)
{
    *found = (causes){.count = 0};
    charging in = {.to = found, .of = of, .waits = waits};
    in.debts = bulk_zeros(waits->count, sizeof *in.debts);
    const bool is_good = history_begin(&in.past, of, waits) && in.debts && charge_all(&in);
    if (is_good)
        add_instances(found, of, waits);
    history_end(&in.past);
    bulk_free(in.debts);
    return is_good;
}

void causes_free(causes *found)
{
    free(found->list);
    free(found->slots);
    *found = (causes){.count = 0};
}
