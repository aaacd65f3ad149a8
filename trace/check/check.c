/* SPDX-License-Identifier: BSD-3-Clause */
/* check.c - count the violations of each operation and each pair of processes. */
#include "trace/check/check.h"

#include "pure/order_statistics.h"
#include "common/cli/memory.h"

static double bound_ns(trace_point event)
{
    return trace_bound_ns(event.at->process, trace_time_ns(&event));
}

static void check_rule(const conditions *of, size_t rule, const int64_t *time_ns, int64_t latency_ns, bool has_bounds,
                       check_relations *found)
{
    const logical_rule *at = &of->rules[rule];
    logical_latest latest;
    logical_latest_begin(&latest);
    for (size_t i = at->before; i < at->after; i++)
        logical_latest_add(&latest, time_ns[of->members[i].node], of->members[i]);
    for (size_t i = at->after; i < at->end; i++) {
        const logical_member *member = &of->members[i];
        const int64_t last_ns = logical_latest_but(&latest, member->rank);
        if (last_ns == LOGICAL_NONE_NS)
            continue;
        const trace_point other = conditions_event(of, member->rank == latest.best_rank ? latest.second : latest.best);
        check_relation relation = {.function = of->functions[rule],
                                   .from = other.at->rank,
                                   .to = member->rank,
                                   .late_ns = last_ns + latency_ns - time_ns[member->node]};
        if (relation.late_ns > 0 && has_bounds)
            relation.is_beyond =
                (double)relation.late_ns > bound_ns(other) + bound_ns(conditions_event(of, member->node));
        found->list[found->count++] = relation;
    }
}

check_relations check_times(const conditions *of, const int64_t *time_ns, int64_t latency_ns, bool has_bounds)
{
    check_relations found = {0, array_or_exit(of->member_count, sizeof(check_relation))};
    for (size_t rule = 0; rule < of->rule_count; rule++)
        check_rule(of, rule, time_ns, latency_ns, has_bounds, &found);
    return found;
}

static int by_function(const void *a, const void *b)
{
    const check_relation *x = a, *y = b;
    return (x->function > y->function) - (x->function < y->function);
}

static int by_pair(const void *a, const void *b)
{
    const check_relation *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return (x->to > y->to) - (x->to < y->to);
}

static int all_alike(const void *a, const void *b)
{
    (void)a, (void)b;
    return 0;
}

size_t check_sums(check_relations *found, check_scope scope, check_sum *sums, int64_t *scratch_ns)
{
    static int (*const orders[])(const void *, const void *) = {all_alike, by_function, by_pair};
    size_t count = 0;
    if (scope == CHECK_ALL && found->count == 0) {
        sums[0] = (check_sum){.relations = 0};
        return 1;
    }
    if (scope != CHECK_ALL && found->count > 1)
        qsort(found->list, found->count, sizeof(check_relation), orders[scope]);
    for (size_t first = 0, end; first < found->count; first = end) {
        check_sum *sum = &sums[count++];
        *sum = (check_sum){.of = found->list[first]};
        for (end = first; end < found->count && orders[scope](&found->list[first], &found->list[end]) == 0; end++) {
            sum->relations++;
            sum->beyond += found->list[end].is_beyond;
            if (found->list[end].late_ns > 0)
                scratch_ns[sum->violations++] = found->list[end].late_ns;
        }
        if (sum->violations > 0) {
            mh_sort(scratch_ns, (int64_t)sum->violations);
            sum->median_ns = quantile(scratch_ns, (int64_t)sum->violations, 0.5);
            sum->max_ns = scratch_ns[sum->violations - 1];
        }
    }
    return count;
}
