/* SPDX-License-Identifier: BSD-3-Clause */
/* tables.c - print functions, ranks, call sites and calls; write arrivals for mpix_bench. */
#include "trace/report/tables.h"

#include "common/arrival/arrival.h"
#include "trace/report/answer.h"
#include "trace/report/ended.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* No value where a bound is not known. */
static cell_t bound(double bound_ns)
{
    return bound_ns >= 0 && isfinite(bound_ns) ? number_cell(bound_ns) : text_cell("");
}

static double percent(double part, double whole)
{
    return whole > 0 ? 100 * part / whole : 0;
}

static table_t begin(const schema_t *schema, const output_t *output, sheet_t *sheet)
{
    const table_t table = {.schema = schema,
                           .columns = schema->columns,
                           .column_count = schema->column_count,
                           .output = output,
                           .sheet = sheet};
    table_head(&table, NULL, 0);
    return table;
}

/* ---- Functions, ranks, call sites and calls */

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
    table_row(table, (cell_t[]){text_cell(usages->function), number_cell(ranks), number_cell(calls),
                                number_cell(total_ns / ranks), number_cell(100 * share / ranks),
                                number_cell(min->total_ns), number_cell(min->rank), number_cell(max->total_ns),
                                number_cell(max->rank), number_cell(total_ns / calls), number_cell(longest_ns)});
}

static const column_t function_columns[] = {
    {"function", "", ROLE_KEY, TYPE_TEXT,
     "the function, or the region of the user; clock is what synchronizing the clock for the trace took", "function",
     27, 0, 0},
    {"ranks", "", ROLE_FIGURE, TYPE_INTEGER, "how many ranks called it; the other columns are for these ranks", "ranks",
     7, 0, 0},
    {"calls", "", ROLE_FIGURE, TYPE_INTEGER, "the number of calls", "calls", 9, 0, 0},
    {"time_ns", "ns", ROLE_FIGURE, TYPE_INTEGER, "the time in all calls of a rank, the mean over these ranks",
     "time(ms)", 11, 3, 1e6},
    {"of_run_percent", "%", ROLE_FIGURE, TYPE_NUMBER,
     "the same, in percent of the time from the first event of a rank to its last", "% of run", 10, 2, 0},
    {"time_min_ns", "ns", ROLE_FIGURE, TYPE_INTEGER, "the minimum time of a rank", "min(ms)", 10, 3, 1e6},
    {"time_min_rank", "", ROLE_FIGURE, TYPE_INTEGER, "the rank of the minimum", NULL, 0, 0, 0},
    {"time_max_ns", "ns", ROLE_FIGURE, TYPE_INTEGER, "the maximum time of a rank", "max(ms)", 10, 3, 1e6},
    {"time_max_rank", "", ROLE_FIGURE, TYPE_INTEGER, "the rank of the maximum", "rank", 6, 0, 0},
    {"mean_ns", "ns", ROLE_FIGURE, TYPE_INTEGER, "the mean time of a call", "call(us)", 10, 3, 1e3},
    {"max_ns", "ns", ROLE_FIGURE, TYPE_INTEGER, "the longest call", NULL, 0, 3, 1e3},
};
const schema_t function_schema =
    SCHEMA("mpix-trace-functions", "Written by `mpix_trace_report --show functions`: a row for each function.",
           function_columns);

void tables_functions(const output_t *output, const findings_t *found, sheet_t *sheet)
{
    const profile_t *profile = &found->profile;
    const table_t table = begin(&function_schema, output, sheet);
    for (size_t from = 0, to; from < profile->count; from = to) {
        for (to = from + 1; to < profile->count && profile->list[to].function == profile->list[from].function;)
            to++;
        print_function(&table, &profile->list[from], to - from);
    }
}

static const column_t rank_columns[] = {
    {"function", "", ROLE_KEY, TYPE_TEXT,
     "the function, or the region of the user; clock is what synchronizing the clock for the trace took", "function",
     28, 0, 0},
    {"rank", "", ROLE_KEY, TYPE_INTEGER, "the rank in MPI_COMM_WORLD", "rank", 7, 0, 0},
    {"calls", "", ROLE_FIGURE, TYPE_INTEGER, "the number of calls", "calls", 11, 0, 0},
    {"time_ns", "ns", ROLE_FIGURE, TYPE_INTEGER, "the time in all calls", "time(ms)", 13, 3, 1e6},
    {"of_run_percent", "%", ROLE_FIGURE, TYPE_NUMBER,
     "the same, in percent of the time from the rank's first event to its last", "% of run", 11, 2, 0},
    {"mean_ns", "ns", ROLE_FIGURE, TYPE_INTEGER, "the mean time of a call", "call(us)", 13, 3, 1e3},
    {"max_ns", "ns", ROLE_FIGURE, TYPE_INTEGER, "the longest call", "longest(us)", 14, 3, 1e3},
    {"sent_bytes", "bytes", ROLE_FIGURE, TYPE_INTEGER,
     "what these calls sent, contributed to operations, or put into windows and files; empty if both are 0", "sent(MB)",
     0, 3, 1e6},
    {"received_bytes", "bytes", ROLE_FIGURE, TYPE_INTEGER,
     "what these calls received, got from operations, or from windows and files", "got(MB)", 0, 3, 1e6},
};
const schema_t rank_schema = SCHEMA(
    "mpix-trace-ranks", "Written by `mpix_trace_report --show ranks`: a row for each function and rank.", rank_columns);

void tables_ranks(const output_t *output, const findings_t *found, sheet_t *sheet)
{
    const profile_t *profile = &found->profile;
    const table_t table = begin(&rank_schema, output, sheet);
    for (size_t i = 0; i < profile->count; i++) {
        const usage_t *usage = &profile->list[i];
        const bool has_bytes = usage->sent_bytes + usage->received_bytes > 0;
        table_row(&table,
                  (cell_t[]){text_cell(usage->function), number_cell(usage->rank), number_cell((double)usage->calls),
                             number_cell(usage->total_ns), number_cell(100 * usage->share),
                             number_cell(usage->total_ns / (double)usage->calls), number_cell(usage->longest_ns),
                             number_cell(has_bytes ? usage->sent_bytes : NAN),
                             number_cell(has_bytes ? usage->received_bytes : NAN)});
    }
}

static const column_t site_columns[] = {
    {"site", "", ROLE_KEY, TYPE_INTEGER, "its number, from 1: the first one is where processes waited longest", "site",
     6, 0, 0},
    {"function", "", ROLE_KEY, TYPE_TEXT, "the collective function", "function", 26, 0, 0},
    {"comm", "", ROLE_KEY, TYPE_TEXT, "the communicator: world, or its ranks", "comm", 0, 0, 0},
    {"ranks", "", ROLE_KEY, TYPE_INTEGER, "the number of these ranks", "ranks", 7, 0, 0},
    {"calls", "", ROLE_FIGURE, TYPE_INTEGER, "how often it was called", "calls", 8, 0, 0},
    {"spread_median_ns", "ns", ROLE_FIGURE, TYPE_INTEGER,
     "the median of the spreads of all calls, from the first arrival to the last", "spread p50(us)", 16, 3, 1e3},
    {"spread_p99_ns", "ns", ROLE_FIGURE, TYPE_INTEGER, "the 99th percentile of the spreads", "p99(us)", 0, 3, 1e3},
    {"bound_ns", "ns", ROLE_FIGURE, TYPE_INTEGER, "the median bound, by which a spread may be wrong", "bound(us)", 11,
     3, 1e3},
    {"above_bound_percent", "%", ROLE_FIGURE, TYPE_NUMBER, "in how many calls the spread is above its bound",
     "% above the bound", 0, 1, 0},
    {"last_rank", "", ROLE_FIGURE, TYPE_INTEGER,
     "the rank in MPI_COMM_WORLD that is last most often, also where it may be an error of the clock", "last", 6, 0, 0},
    {"last_percent", "%", ROLE_FIGURE, TYPE_NUMBER, "in how many calls it is", "% last", 8, 1, 0},
    {"wait_ns", "ns", ROLE_FIGURE, TYPE_INTEGER,
     "the time from a process's arrival to the last arrival, or to its own exit if it left earlier: the sum of all "
     "calls and processes. For an operation that does not wait, such as MPI_Ibarrier, it is the time in the call that "
     "completed it, because a process that computes before this call does not wait",
     "waited(ms)", 12, 3, 1e6},
    {"wait_percent", "%", ROLE_FIGURE, TYPE_NUMBER, "the same, in percent of the time of all processes in the calls",
     "% of call", 0, 1, 0},
    {"pattern", "", ROLE_FIGURE, TYPE_TEXT,
     "the shape of --arrival of mpix_bench(1) that is closest to the arrivals. Its magnitude, in microseconds, is "
     "that of the median spread. It is together if the median spread is not above the bound",
     "closest pattern", 0, 0, 0},
    {"closeness", "", ROLE_FIGURE, TYPE_NUMBER,
     "how close it is, from 0 to 1. In each call the delays of all ranks and the parts of the shape are correlated; "
     "this is the mean of all calls. If the delays of different calls have no pattern in common, the closest pattern "
     "is random. Its closeness is 1 minus the length of the mean of the calls' normalized delays. With two or three "
     "ranks, several shapes are equal; the program then names last-late or first-late",
     "close", 0, 3, 0},
    {"spread_max_ns", "ns", ROLE_FIGURE, TYPE_INTEGER, "the maximum of the spreads", "max(us)", 0, 3, 1e3},
    {"place", "", ROLE_KEY, TYPE_TEXT,
     "the call site: file and line, function, in parentheses the address in the object, and the object; or function "
     "and offset, address, and object; or an address",
     "called from", 0, 0, 0},
};
const schema_t site_schema =
    SCHEMA("mpix-trace-sites",
           "Written by `mpix_trace_report --show sites`: a row for each call site, which is a place from which\n"
           "a collective function is called on a communicator.",
           site_columns);

void tables_sites(const output_t *output, const findings_t *found, sheet_t *sheet)
{
    const sites_t *sites = &found->sites;
    const table_t table = begin(&site_schema, output, sheet);
    for (int i = 0; i < sites->count; i++) {
        const site_t *site = &sites->list[i];
        const arrivals_summary_t *summary = &site->summary;
        double calls = (double)site->arrivals.calls;
        bool has_bound = summary->bound_ns >= 0;
        table_row(&table,
                  (cell_t[]){number_cell(i + 1), text_cell(site->function), text_cell(site->comm),
                             number_cell(site->arrivals.ranks), number_cell(calls),
                             number_cell((double)summary->spread_median_ns),
                             number_cell((double)summary->spread_p99_ns), bound((double)summary->bound_ns),
                             has_bound ? number_cell(percent((double)summary->clear_calls, calls)) : text_cell(""),
                             number_cell(site->calls[0]->parts[summary->last_rank].enter.at->rank),
                             number_cell(percent((double)summary->last_calls, calls)), number_cell(summary->wait_ns),
                             number_cell(percent(summary->wait_ns, summary->in_call_ns)), text_cell(summary->pattern),
                             number_cell(summary->closeness), number_cell((double)summary->spread_max_ns),
                             text_cell(site->place)});
    }
}

static void print_call(const table_t *table, int number_of_site, const site_t *site, int64_t call)
{
    const arrivals_t *arrivals = &site->arrivals;
    double first_ns = arrivals->enter_ns[call * arrivals->ranks + arrivals_spread(arrivals, call).first];
    for (int rank = 0; rank < arrivals->ranks; rank++) {
        int64_t place = call * arrivals->ranks + rank;
        table_row(table,
                  (cell_t[]){number_cell(number_of_site), number_cell((double)call),
                             number_cell(site->calls[call]->parts[rank].enter.at->rank),
                             number_cell(arrivals->enter_ns[place]), number_cell(arrivals->leave_ns[place]),
                             number_cell(arrivals->enter_ns[place] - first_ns), bound(arrivals->bound_ns[place])});
    }
}

static const column_t call_columns[] = {
    {"site", "", ROLE_KEY, TYPE_INTEGER, "the number of the call site", "site", 7, 0, 0},
    {"call", "", ROLE_KEY, TYPE_INTEGER, "the number of its call, from 0", "call", 10, 0, 0},
    {"rank", "", ROLE_KEY, TYPE_INTEGER, "the rank in MPI_COMM_WORLD", "rank", 7, 0, 0},
    {"enter_ns", "ns", ROLE_FIGURE, TYPE_INTEGER, "when the call began, from the end of MPI_Init", "enter(us)", 17, 3,
     1e3},
    {"leave_ns", "ns", ROLE_FIGURE, TYPE_INTEGER, "when it ended", "leave(us)", 17, 3, 1e3},
    {"delay_ns", "ns", ROLE_FIGURE, TYPE_INTEGER, "from the first arrival to this one", "delay(us)", 14, 3, 1e3},
    {"bound_ns", "ns", ROLE_FIGURE, TYPE_INTEGER, "how far the times may be off", "bound(us)", 13, 3, 1e3},
};
const schema_t call_schema =
    SCHEMA("mpix-trace-calls",
           "Written by `mpix_trace_report --show calls`: a row for each call of a site and each rank.", call_columns);

void tables_calls(const output_t *output, const findings_t *found, sheet_t *sheet)
{
    const sites_t *sites = &found->sites;
    const table_t table = begin(&call_schema, output, sheet);
    for (int i = 0; i < sites->count; i++)
        for (int64_t call = 0; call < sites->list[i].arrivals.calls; call++)
            print_call(&table, i + 1, &sites->list[i], call);
}

/* ---- Waits and their causes */

enum { SHORT_ROWS = 10 };

/* A short table has rows with more of the waits. */
#define SHORT_PERCENT 0.1

static const column_t wait_columns[] = {
    {"state", "", ROLE_KEY, TYPE_TEXT, "the kind of wait, by its name in mpix_trace_report(1)", "state", 20, 0, 0},
    {"count", "", ROLE_FIGURE, TYPE_INTEGER, "how many calls waited, of all ranks", "count", 10, 0, 0},
    {"waited_ns", "ns", ROLE_FIGURE, TYPE_INTEGER, "how long they waited together", "waited(ms)", 13, 3, 1e6},
    {"bound_ns", "ns", ROLE_FIGURE, TYPE_INTEGER, "by how much the clocks may make this wrong", "bound(ms)", 11, 3,
     1e6},
    {"of_run_percent", "%", ROLE_FIGURE, TYPE_NUMBER,
     "the wait, of the time of the run on all ranks, or on all threads that call MPI", "% of run", 10, 2, 0},
    {"longest_ns", "ns", ROLE_FIGURE, TYPE_INTEGER, "the longest wait of a call", "longest(us)", 14, 3, 1e3},
    {"place", "", ROLE_KEY, TYPE_TEXT, "the function that waits, and from where it is called", "waits in", 0, 0, 0},
};
const schema_t wait_schema =
    SCHEMA("mpix-trace-waits",
           "Written by `mpix_trace_report --show waits`: a row for each kind of wait at each call site.", wait_columns);

void tables_waits(const output_t *output, const findings_t *found, sheet_t *sheet)
{
    const wait_analysis *of = &found->waits;
    const table_t table = begin(&wait_schema, output, sheet);
    for (size_t i = 0; i < of->sum_count; i++) {
        const wait_sum *sum = &of->sums[i];
        char place[PLACE_BYTES];
        answer_place(place, &of->graph, sum->place);
        table_row(&table, (cell_t[]){text_cell(wait_state_names[sum->state]), number_cell((double)sum->count),
                                     number_cell((double)sum->waited_ns), number_cell(ceil(sum->bound_ns)),
                                     number_cell(analysis_percent(of, (double)sum->waited_ns)),
                                     number_cell((double)sum->longest_ns), text_cell(place)});
    }
}

static const column_t cause_columns[] = {
    {"cause", "", ROLE_KEY, TYPE_INTEGER,
     "its number, from 1: first causes that the trace shows, with the greatest gain, then with the greatest charge",
     "cause", 7, 0, 0},
    {"rank", "", ROLE_KEY, TYPE_INTEGER, "the rank in MPI_COMM_WORLD that others wait for", "rank", 6, 0, 0},
    {"does", "", ROLE_KEY, TYPE_TEXT, "what it does: it computes between two calls, or is in a call beside waits",
     "does", 10, 0, 0},
    {"charged_ns", "ns", ROLE_FIGURE, TYPE_INTEGER,
     "the waits that are charged to this cause: how long all others wait for that, added up", "charged(ms)", 13, 3,
     1e6},
    {"bound_ns", "ns", ROLE_FIGURE, TYPE_INTEGER, "by how much the clocks may make this wrong", "bound(ms)", 11, 3,
     1e6},
    {"of_run_percent", "%", ROLE_FIGURE, TYPE_NUMBER,
     "the charge, as a part of the time of the run on all ranks, or on all threads that call MPI", "% of run", 10, 2,
     0},
    {"passed_on_ns", "ns", ROLE_FIGURE, TYPE_INTEGER,
     "what of the charge is of ranks that waited for another rank that waited for this one", "passed on(ms)", 0, 3,
     1e6},
    {"late_ns", "ns", ROLE_FIGURE, TYPE_INTEGER, "by how much it took longer than with those that waited", "late(ms)",
     11, 3, 1e6},
    {"instances", "", ROLE_FIGURE, TYPE_INTEGER, "how often it took longer", "instances", 11, 0, 0},
    {"path_ns", "ns", ROLE_FIGURE, TYPE_INTEGER,
     "how much of the critical path it is, late or not. The path begins at the end of the run and goes back in time. "
     "Where a process waited, it goes on at the process that it waited for",
     "path(ms)", 11, 3, 1e6},
    {"gain_ns", "ns", ROLE_FIGURE, TYPE_INTEGER,
     "how much shorter the run would be if the rank took no longer than those that waited for it, or than the median "
     "of the ranks that compute between the same places as often; for three causes. Empty if ranks have several "
     "threads: the trace does not show which thread waits for which",
     "gain(ms)", 10, 3, 1e6},
    {"worst_begin_ns", "ns", ROLE_FIGURE, TYPE_INTEGER,
     "when the instance with the greatest charge began, from the end of MPI_Init", NULL, 0, 0, 0},
    {"worst_end_ns", "ns", ROLE_FIGURE, TYPE_INTEGER, "when it ended", NULL, 0, 0, 0},
    {"from", "", ROLE_KEY, TYPE_TEXT, "the call before, or the call that it is in", "after", 0, 0, 0},
    {"to", "", ROLE_KEY, TYPE_TEXT, "the call after, or the same", "before", 0, 0, 0},
};
const schema_t cause_schema =
    SCHEMA("mpix-trace-causes",
           "Written by `mpix_trace_report --show causes`: a row for each computation between two call sites, and for\n"
           "each call site, on each rank, for which others wait or which is on the critical path.",
           cause_columns);

static void print_cause(const table_t *table, const wait_analysis *of, size_t place)
{
    const cause *one = of->order[place];
    char from[PLACE_BYTES], to[PLACE_BYTES];
    const bool is_charged = one->charged_ns > 0;
    answer_place(from, &of->graph, one->key.from);
    answer_place(to, &of->graph, one->key.to);
    table_row(table,
              (cell_t[]){number_cell((double)place + 1), number_cell(one->key.rank),
                         text_cell(one->key.is_call ? "call" : "computes"), number_cell((double)one->charged_ns),
                         number_cell(ceil(one->bound_ns)), number_cell(analysis_percent(of, (double)one->charged_ns)),
                         number_cell((double)(one->charged_ns - one->direct_ns)), number_cell((double)one->late_ns),
                         number_cell((double)one->instances), number_cell((double)one->path_ns),
                         one->is_replayed ? number_cell((double)(of->run_ns - one->without_ns)) : text_cell(""),
                         is_charged ? number_cell((double)one->worst_begin_ns - of->graph.of->zero_ns) : text_cell(""),
                         is_charged ? number_cell((double)one->worst_end_ns - of->graph.of->zero_ns) : text_cell(""),
                         text_cell(from), text_cell(to)});
}

static bool matters(const wait_analysis *of, const cause *one)
{
    return 100 * (double)one->charged_ns >= SHORT_PERCENT * (double)of->causes.waited_ns && one->charged_ns > 0;
}

void tables_causes(const output_t *output, const findings_t *found, sheet_t *sheet)
{
    const wait_analysis *of = &found->waits;
    const table_t table = begin(&cause_schema, output, sheet);
    for (size_t i = 0; i < of->causes.count; i++)
        if (of->order[i]->charged_ns > 0 || of->order[i]->path_ns > 0)
            print_cause(&table, of, i);
}

void tables_short_causes(const output_t *output, const findings_t *found, sheet_t *sheet)
{
    const wait_analysis *of = &found->waits;
    const table_t table = begin(&cause_schema, output, sheet);
    for (size_t i = 0; i < of->causes.count && i < SHORT_ROWS; i++)
        if (matters(of, of->order[i]))
            print_cause(&table, of, i);
}

/* ---- The answer */

static const column_t answer_columns[] = {
    {"sentence", "", ROLE_KEY, TYPE_INTEGER, "its number, from 1", "sentence", 9, 0, 0},
    {"about", "", ROLE_KEY, TYPE_TEXT,
     "what it is about: where ranks were when they were last seen, a cause, all waits, all times, what is not "
     "attributed, or nothing that can be told",
     "about", 15, 0, 0},
    {"rank", "", ROLE_FIGURE, TYPE_INTEGER, "of a cause: the rank in MPI_COMM_WORLD that others wait for", "rank", 6, 0,
     0},
    {"ns", "ns", ROLE_FIGURE, TYPE_INTEGER,
     "of a cause, how long all others wait for that; of waits, how long all are; of times, what ranks compute; or what "
     "is not attributed",
     "time(ms)", 13, 3, 1e6},
    {"bound_ns", "ns", ROLE_FIGURE, TYPE_INTEGER, "by how much the clocks may make this wrong", "bound(ms)", 11, 3,
     1e6},
    {"of_run_percent", "%", ROLE_FIGURE, TYPE_NUMBER,
     "the time, of that of the run on all threads that call MPI; of times, on all ranks", "% of run", 10, 2, 0},
    {"late_ns", "ns", ROLE_FIGURE, TYPE_INTEGER, "of a cause: by how much it took longer than with those that waited",
     "late(ms)", 11, 3, 1e6},
    {"taken_ns", "ns", ROLE_FIGURE, TYPE_INTEGER, "of a cause: what is taken away to predict the time of the run",
     "taken(ms)", 12, 3, 1e6},
    {"without_ns", "ns", ROLE_FIGURE, TYPE_INTEGER, "of a cause: the time of the run without that", "without(ms)", 13,
     3, 1e6},
    {"unexplained_ns", "ns", ROLE_FIGURE, TYPE_INTEGER, "of waits: those of which the trace does not show why",
     "unexplained(ms)", 0, 3, 1e6},
    {"hidden_ns", "ns", ROLE_FIGURE, TYPE_INTEGER,
     "of waits: what ranks seem to wait beside these, each time no longer than clocks may be wrong", "hidden(ms)", 0, 3,
     1e6},
    {"polled_ns", "ns", ROLE_FIGURE, TYPE_INTEGER,
     "of waits: what ranks compute between tests that find nothing, which may be waits", "polled(ms)", 0, 3, 1e6},
    {"run_ns", "ns", ROLE_FIGURE, TYPE_INTEGER, "the time of the run", "run(ms)", 0, 3, 1e6},
    {"from", "", ROLE_FIGURE, TYPE_TEXT, "of a cause: the call before, or the call that it is in", "after", 0, 0, 0},
    {"to", "", ROLE_FIGURE, TYPE_TEXT, "of a cause: the call after, or the same", "before", 0, 0, 0},
    {"text", "", ROLE_FIGURE, TYPE_TEXT, "the sentence", "text", 0, 0, 0},
};
const schema_t answer_schema = SCHEMA(
    "mpix-trace-answer", "Written by `mpix_trace_report --show answer`: a row for each sentence.", answer_columns);

static double told_ns(const wait_analysis *of, answer_kind kind)
{
    return kind == ANSWER_UNSEEN  ? (double)of->unseen_ns
           : kind == ANSWER_WAITS ? (double)of->causes.waited_ns
           : kind == ANSWER_TIMES ? of->compute_ns
                                  : 0;
}

/* before: so many sentences come before those of the answer. */
static void print_sentence(const table_t *table, const wait_analysis *of, const answer_t *answer, int i, int before)
{
    const answer_kind kind = answer->sentences[i].kind;
    const bool is_of_waits = kind == ANSWER_WAITS;
    const cause *one = kind == ANSWER_CAUSE ? of->order[answer->sentences[i].cause] : NULL;
    const double ns = one ? (double)one->charged_ns : told_ns(of, kind);
    char from[PLACE_BYTES] = "", to[PLACE_BYTES] = "";
    if (one) {
        answer_place(from, &of->graph, one->key.from);
        answer_place(to, &of->graph, one->key.to);
    }
    const cell_t none = text_cell("");
    table_row(table,
              (cell_t[]){number_cell(before + i + 1), text_cell(answer_kind_names[kind]),
                         one ? number_cell(one->key.rank) : none, kind != ANSWER_NOTHING ? number_cell(ns) : none,
                         one           ? number_cell(ceil(one->bound_ns))
                         : is_of_waits ? number_cell(ceil(of->bound_ns))
                                       : none,
                         kind == ANSWER_NOTHING ? none
                         : kind == ANSWER_TIMES ? number_cell(percent(ns, (double)of->run_ns * of->ranks))
                                                : number_cell(analysis_percent(of, ns)),
                         one ? number_cell((double)one->late_ns) : none,
                         one && one->is_replayed ? number_cell((double)one->taken_ns) : none,
                         one && one->is_replayed ? number_cell((double)one->without_ns) : none,
                         is_of_waits ? number_cell((double)of->unexplained_ns) : none,
                         is_of_waits ? number_cell((double)of->waits.hidden_ns) : none,
                         is_of_waits ? number_cell((double)of->polled_ns) : none, number_cell((double)of->run_ns),
                         text_cell(from), text_cell(to), text_cell(answer->sentences[i].text)});
}

void tables_answer(const output_t *output, const findings_t *found, sheet_t *sheet)
{
    const table_t table = begin(&answer_schema, output, sheet);
    const cell_t none = text_cell(""), run = number_cell((double)found->waits.run_ns);
    answer_t answer;
    int before = 0;
    char *ended = ended_say(&found->of);
    for (char *line = ended, *end; (end = strchr(line, '\n')); line = end + 1) {
        *end = '\0';
        table_row(&table, (cell_t[]){number_cell(++before), text_cell("where ranks were"), none, none, none, none, none,
                                     none, none, none, none, none, run, none, none, text_cell(line)});
    }
    free(ended);
    answer_make(&answer, &found->waits);
    for (int i = 0; i < answer.count; i++)
        print_sentence(&table, &found->waits, &answer, i, before);
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
