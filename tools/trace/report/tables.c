/* SPDX-License-Identifier: BSD-3-Clause */
/* tables.c - print functions, ranks, call sites and calls; write arrivals for mpix_bench. */
#include "trace/report/tables.h"

#include "bench/arrival.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static cell_t text(const char *value)
{
    return (cell_t){.text = value};
}

static cell_t number(double value)
{
    return (cell_t){.number = value};
}

/* No value where a bound is not known. */
static cell_t bound(double bound_ns)
{
    return bound_ns >= 0 && isfinite(bound_ns) ? number(bound_ns) : text("");
}

static double percent(double part, double whole)
{
    return whole > 0 ? 100 * part / whole : 0;
}

/* Of one function: usages of the ranks that called it. */
static void print_function(const table_t *table, const usage_t *usages, size_t count)
{
    const usage_t *min = usages, *max = usages;
    double total_ns = 0, share = 0, longest_ns = 0, calls = 0, ranks = (double)count;
    for (const usage_t *usage = usages; usage < usages + count; usage++) {
        min = usage->total_ns < min->total_ns ? usage : min;
        max = usage->total_ns > max->total_ns ? usage : max;
        total_ns += usage->total_ns;
        share += usage->share;
        calls += (double)usage->calls;
        longest_ns = fmax(longest_ns, usage->longest_ns);
    }
    table_row(table,
              (cell_t[]){text(usages->function), number(ranks), number(calls), number(total_ns / ranks),
                         number(100 * share / ranks), number(min->total_ns), number(min->rank), number(max->total_ns),
                         number(max->rank), number(total_ns / calls), number(longest_ns)});
}

void tables_functions(const output_t *output, const profile_t *profile)
{
    static const column_t columns[] = {{"function", "function", 28, 0, 0},
                                       {"ranks", "ranks", 7, 0, 0},
                                       {"calls", "calls", 11, 0, 0},
                                       {"time(ms)", "time_ns", 13, 3, 1e6},
                                       {"% of run", "of_run_percent", 11, 2, 0},
                                       {"min(ms)", "time_min_ns", 13, 3, 1e6},
                                       {"rank", "time_min_rank", 7, 0, 0},
                                       {"max(ms)", "time_max_ns", 13, 3, 1e6},
                                       {"rank", "time_max_rank", 7, 0, 0},
                                       {"call(us)", "mean_ns", 13, 3, 1e3},
                                       {"longest(us)", "max_ns", 14, 3, 1e3}};
    const table_t table = TABLE(columns, output, "mpix-trace-functions");
    table_head(&table);
    for (size_t from = 0, to; from < profile->count; from = to) {
        for (to = from + 1; to < profile->count && profile->list[to].function == profile->list[from].function;)
            to++;
        print_function(&table, &profile->list[from], to - from);
    }
}

void tables_ranks(const output_t *output, const profile_t *profile)
{
    static const column_t columns[] = {{"function", "function", 28, 0, 0},
                                       {"rank", "rank", 7, 0, 0},
                                       {"calls", "calls", 11, 0, 0},
                                       {"time(ms)", "time_ns", 13, 3, 1e6},
                                       {"% of run", "of_run_percent", 11, 2, 0},
                                       {"call(us)", "mean_ns", 13, 3, 1e3},
                                       {"longest(us)", "max_ns", 14, 3, 1e3}};
    const table_t table = TABLE(columns, output, "mpix-trace-ranks");
    table_head(&table);
    for (size_t i = 0; i < profile->count; i++) {
        const usage_t *usage = &profile->list[i];
        table_row(&table, (cell_t[]){text(usage->function), number(usage->rank), number((double)usage->calls),
                                     number(usage->total_ns), number(100 * usage->share),
                                     number(usage->total_ns / (double)usage->calls), number(usage->longest_ns)});
    }
}

void tables_sites(const output_t *output, const sites_t *sites)
{
    static const column_t columns[] = {{"site", "site", 7, 0, 0},
                                       {"function", "function", 24, 0, 0},
                                       {"comm", "comm", 14, 0, 0},
                                       {"ranks", "ranks", 8, 0, 0},
                                       {"calls", "calls", 9, 0, 0},
                                       {"spread p50(us)", "spread_median_ns", 17, 3, 1e3},
                                       {"p99(us)", "spread_p99_ns", 13, 3, 1e3},
                                       {"bound(us)", "bound_ns", 13, 3, 1e3},
                                       {"% above", "above_bound_percent", 10, 1, 0},
                                       {"last", "last_rank", 7, 0, 0},
                                       {"% last", "last_percent", 9, 1, 0},
                                       {"waited(ms)", "wait_ns", 14, 3, 1e6},
                                       {"% of call", "wait_percent", 12, 1, 0},
                                       {"closest pattern", "pattern", 28, 0, 0},
                                       {"close", "closeness", 8, 3, 0},
                                       {"max(us)", "spread_max_ns", 13, 3, 1e3},
                                       {"called from", "place", 40, 0, 0}};
    const table_t table = TABLE(columns, output, "mpix-trace-sites");
    table_head(&table);
    for (int i = 0; i < sites->count; i++) {
        const site_t *site = &sites->list[i];
        const arrivals_summary_t *summary = &site->summary;
        double calls = (double)site->arrivals.calls;
        bool has_bound = summary->bound_ns >= 0;
        table_row(&table,
                  (cell_t[]){number(i + 1), text(site->function), text(site->comm), number(site->arrivals.ranks),
                             number(calls), number((double)summary->spread_median_ns),
                             number((double)summary->spread_p99_ns), bound((double)summary->bound_ns),
                             has_bound ? number(percent((double)summary->clear_calls, calls)) : text(""),
                             number(site->calls[0]->parts[summary->last_rank].rank),
                             number(percent((double)summary->last_calls, calls)), number(summary->wait_ns),
                             number(percent(summary->wait_ns, summary->in_call_ns)), text(summary->pattern),
                             number(summary->closeness), number((double)summary->spread_max_ns), text(site->place)});
    }
}

static void print_call(const table_t *table, int number_of_site, const site_t *site, int64_t call)
{
    const arrivals_t *arrivals = &site->arrivals;
    double first_ns = arrivals->enter_ns[call * arrivals->ranks + arrivals_spread(arrivals, call).first];
    for (int rank = 0; rank < arrivals->ranks; rank++) {
        int64_t place = call * arrivals->ranks + rank;
        table_row(table,
                  (cell_t[]){number(number_of_site), number((double)call), number(site->calls[call]->parts[rank].rank),
                             number(arrivals->enter_ns[place]), number(arrivals->leave_ns[place]),
                             number(arrivals->enter_ns[place] - first_ns), bound(arrivals->bound_ns[place])});
    }
}

void tables_calls(const output_t *output, const sites_t *sites)
{
    static const column_t columns[] = {{"site", "site", 7, 0, 0},
                                       {"call", "call", 10, 0, 0},
                                       {"rank", "rank", 7, 0, 0},
                                       {"enter(us)", "enter_ns", 17, 3, 1e3},
                                       {"leave(us)", "leave_ns", 17, 3, 1e3},
                                       {"delay(us)", "delay_ns", 14, 3, 1e3},
                                       {"bound(us)", "bound_ns", 13, 3, 1e3}};
    const table_t table = TABLE(columns, output, "mpix-trace-calls");
    table_head(&table);
    for (int i = 0; i < sites->count; i++)
        for (int64_t call = 0; call < sites->list[i].arrivals.calls; call++)
            print_call(&table, i + 1, &sites->list[i], call);
}

/* ---- A file of delays */

int64_t tables_pattern(FILE *file, const site_t *site)
{
    const arrivals_t *arrivals = &site->arrivals;
    int64_t written = 0;
    fprintf(file, "# %s called from %s on ranks %s\ncall,rank,delay_ns\n", site->function, site->place, site->comm);
    for (int64_t call = 0; call < arrivals->calls && (written + 1) * arrivals->ranks <= MAX_DELAYS; call++) {
        call_spread_t spread = arrivals_spread(arrivals, call);
        const double *enter_ns = &arrivals->enter_ns[call * arrivals->ranks];
        if (spread.spread_ns > (double)MAX_DELAY_NS)
            continue;
        for (int rank = 0; rank < arrivals->ranks; rank++)
            fprintf(file, "%" PRId64 ",%d,%lld\n", written, rank, llround(enter_ns[rank] - enter_ns[spread.first]));
        written++;
    }
    return written;
}
