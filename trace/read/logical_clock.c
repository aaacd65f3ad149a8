/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * logical_clock.c - two sweeps over the order that the rules and the locations make.
 *
 * Forward, each node gets the earliest time that keeps its rules; where it is moved by this, those after it keep their
 * distance, but for a ratio, until they are back where they were measured. Backward, each node follows what was moved
 * after it in the same manner, as far as nothing gets later than what waits for it. Both only move nodes to later
 * times, and each node after all that it depends on: what holds after the first, holds after the second.
 */
#include "trace/read/logical_clock.h"

#include "common/cli/memory.h"

#include <math.h>
#include <string.h>

/* ---- The latest */

void logical_latest_begin(logical_latest *latest)
{
    *latest = (logical_latest){.best_ns = LOGICAL_NONE_NS, .second_ns = LOGICAL_NONE_NS, .best_rank = -1};
}

void logical_latest_add(logical_latest *latest, int64_t time_ns, logical_member member)
{
    if (latest->best_ns == LOGICAL_NONE_NS || (member.rank == latest->best_rank && time_ns > latest->best_ns)) {
        latest->best_ns = time_ns;
        latest->best_rank = member.rank;
        latest->best = member.node;
    } else if (member.rank != latest->best_rank && time_ns > latest->best_ns) {
        latest->second_ns = latest->best_ns;
        latest->second = latest->best;
        latest->best_ns = time_ns;
        latest->best_rank = member.rank;
        latest->best = member.node;
    } else if (member.rank != latest->best_rank && time_ns > latest->second_ns) {
        latest->second_ns = time_ns;
        latest->second = member.node;
    }
}

int64_t logical_latest_but(const logical_latest *latest, int rank)
{
    return rank == latest->best_rank ? latest->second_ns : latest->best_ns;
}

/* ---- Which rules a node is in, on one side */

typedef struct {
    size_t *first, *members; /* members[first[node] .. first[node + 1]): positions in those of the problem */
} membership;

typedef struct {
    const logical_problem *problem;
    size_t node_count;
    size_t *rule_of; /* of each member */
    membership before, after;
    logical_latest *latest; /* by rule */
    size_t *waits;          /* by node, then by rule: for so many it has to wait still */
    size_t *order;          /* of nodes */
    int64_t *new_ns;        /* by node */
    int64_t *limit_ns;      /* by node: by rules */
    bool *is_first;         /* by node: of its location */
} sweeps;

static bool is_before(const logical_problem *problem, size_t rule, size_t member)
{
    return member < problem->rules[rule].after;
}

static size_t member_count(const logical_problem *problem)
{
    return problem->rule_count > 0 ? problem->rules[problem->rule_count - 1].end : 0;
}

static void find_memberships(sweeps *of, membership *side, bool before)
{
    const logical_problem *problem = of->problem;
    const size_t count = member_count(problem);
    side->first = zeros_or_exit(of->node_count + 2, sizeof *side->first);
    side->members = array_or_exit(count, sizeof *side->members);
    for (size_t i = 0; i < count; i++)
        if (is_before(problem, of->rule_of[i], i) == before)
            side->first[problem->members[i].node + 2]++;
    for (size_t node = 0; node < of->node_count; node++)
        side->first[node + 2] += side->first[node + 1];
    /* Filling moves each first one further, to where it belongs. */
    for (size_t i = 0; i < count; i++)
        if (is_before(problem, of->rule_of[i], i) == before)
            side->members[side->first[problem->members[i].node + 1]++] = i;
}

static void begin(sweeps *of)
{
    const logical_problem *problem = of->problem;
    const size_t nodes = of->node_count + 1, rules = problem->rule_count + 1, count = member_count(problem) + 1;
    of->rule_of = zeros_or_exit(count, sizeof *of->rule_of);
    of->latest = array_or_exit(rules, sizeof *of->latest);
    of->waits = zeros_or_exit(nodes + rules, sizeof *of->waits);
    of->order = array_or_exit(nodes, sizeof *of->order);
    of->new_ns = zeros_or_exit(nodes, sizeof *of->new_ns);
    of->limit_ns = zeros_or_exit(nodes, sizeof *of->limit_ns);
    of->is_first = zeros_or_exit(nodes, sizeof *of->is_first);
    for (size_t rule = 0; rule < problem->rule_count; rule++)
        for (size_t i = problem->rules[rule].before; i < problem->rules[rule].end; i++)
            of->rule_of[i] = rule;
    for (size_t i = 0; i < problem->location_count; i++)
        of->is_first[problem->first[i]] = problem->first[i] < problem->first[i + 1];
    of->is_first[of->node_count] = true;
    find_memberships(of, &of->before, true);
    find_memberships(of, &of->after, false);
}

static void end(sweeps *of)
{
    free(of->rule_of);
    free(of->latest);
    free(of->waits);
    free(of->order);
    free(of->new_ns);
    free(of->limit_ns);
    free(of->is_first);
    free(of->before.first);
    free(of->before.members);
    free(of->after.first);
    free(of->after.members);
}

static void begin_sweep(sweeps *of)
{
    for (size_t rule = 0; rule < of->problem->rule_count; rule++)
        logical_latest_begin(&of->latest[rule]);
    for (size_t node = 0; node < of->node_count; node++)
        of->limit_ns[node] = LOGICAL_NONE_NS;
}

/* ---- Forward */

static void count_waits(sweeps *of)
{
    const logical_problem *problem = of->problem;
    for (size_t node = 0; node < of->node_count; node++)
        of->waits[node] = !of->is_first[node] + of->after.first[node + 1] - of->after.first[node];
    for (size_t rule = 0; rule < problem->rule_count; rule++)
        of->waits[of->node_count + rule] = problem->rules[rule].after - problem->rules[rule].before;
}

static void place_forward(sweeps *of, size_t node, double ratio)
{
    const int64_t *measured_ns = of->problem->time_ns;
    int64_t time_ns = measured_ns[node];
    if (!of->is_first[node]) {
        const double apart_ns = (double)(measured_ns[node] - measured_ns[node - 1]);
        const int64_t after_ns = of->new_ns[node - 1] + (int64_t)floor((1 - ratio) * apart_ns);
        time_ns = after_ns > time_ns ? after_ns : time_ns;
    }
    of->new_ns[node] = of->limit_ns[node] > time_ns ? of->limit_ns[node] : time_ns;
}

/* One that it had to wait for is placed. */
static void release(sweeps *of, size_t node, size_t *count)
{
    if (--of->waits[node] == 0)
        of->order[(*count)++] = node;
}

/* The latest that one of a rank has to keep away from, with the latency; LOGICAL_NONE_NS: there is none. */
static int64_t away_from(const logical_problem *problem, const logical_latest *latest, int rank)
{
    const int64_t latest_ns = logical_latest_but(latest, rank);
    return latest_ns != LOGICAL_NONE_NS ? latest_ns + problem->latency_ns : latest->best_ns;
}

/* All before are placed: those after may be. */
static void apply_rule(sweeps *of, size_t rule, size_t *count)
{
    const logical_problem *problem = of->problem;
    for (size_t i = problem->rules[rule].after; i < problem->rules[rule].end; i++) {
        const logical_member *member = &problem->members[i];
        const int64_t after_ns = away_from(problem, &of->latest[rule], member->rank);
        if (after_ns > of->limit_ns[member->node])
            of->limit_ns[member->node] = after_ns;
        release(of, member->node, count);
    }
}

/* Returns how many nodes could be placed. */
static size_t sweep_forward(sweeps *of, double ratio)
{
    size_t count = 0;
    begin_sweep(of);
    count_waits(of);
    for (size_t node = 0; node < of->node_count; node++)
        if (of->waits[node] == 0)
            of->order[count++] = node;
    for (size_t done = 0; done < count; done++) {
        const size_t node = of->order[done];
        place_forward(of, node, ratio);
        for (size_t k = of->before.first[node]; k < of->before.first[node + 1]; k++) {
            const size_t member = of->before.members[k], rule = of->rule_of[member];
            logical_latest_add(&of->latest[rule], of->new_ns[node], of->problem->members[member]);
            if (--of->waits[of->node_count + rule] == 0)
                apply_rule(of, rule, &count);
        }
        if (!of->is_first[node + 1])
            release(of, node + 1, &count);
    }
    return count;
}

/* ---- Backward: the earliest are the latest of negative times */

static int64_t earliest_after(const sweeps *of, size_t node)
{
    int64_t earliest_ns = INT64_MAX;
    for (size_t k = of->before.first[node]; k < of->before.first[node + 1]; k++) {
        const size_t member = of->before.members[k], rule = of->rule_of[member];
        const int64_t negative_ns = away_from(of->problem, &of->latest[rule], of->problem->members[member].rank);
        if (negative_ns != LOGICAL_NONE_NS && -negative_ns < earliest_ns)
            earliest_ns = -negative_ns;
    }
    return earliest_ns;
}

static void place_backward(sweeps *of, size_t node, double ratio)
{
    const int64_t *measured_ns = of->problem->time_ns;
    if (of->is_first[node + 1])
        return;
    const double apart_ns = (double)(measured_ns[node + 1] - measured_ns[node]);
    int64_t time_ns = of->new_ns[node + 1] - (int64_t)ceil((1 + ratio) * apart_ns);
    if (time_ns <= of->new_ns[node])
        return;
    const int64_t earliest_ns = earliest_after(of, node);
    time_ns = earliest_ns < time_ns ? earliest_ns : time_ns;
    if (time_ns > of->new_ns[node])
        of->new_ns[node] = time_ns;
}

static void sweep_backward(sweeps *of, double ratio)
{
    begin_sweep(of);
    for (size_t left = of->node_count; left > 0; left--) {
        const size_t node = of->order[left - 1];
        place_backward(of, node, ratio);
        for (size_t k = of->after.first[node]; k < of->after.first[node + 1]; k++) {
            const size_t member = of->after.members[k];
            logical_latest_add(&of->latest[of->rule_of[member]], -of->new_ns[node], of->problem->members[member]);
        }
    }
}

bool logical_clock(const logical_problem *problem, double ratio)
{
    sweeps of = {.problem = problem, .node_count = problem->first[problem->location_count]};
    begin(&of);
    const bool is_good = sweep_forward(&of, ratio) == of.node_count;
    if (is_good) {
        sweep_backward(&of, ratio);
        memcpy(problem->time_ns, of.new_ns, of.node_count * sizeof *of.new_ns);
    }
    end(&of);
    return is_good;
}
