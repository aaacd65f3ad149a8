/* SPDX-License-Identifier: BSD-3-Clause */
/* wait_tables.c - print waits and causes. */
#include "trace/report/wait_tables.h"

#include "trace/report/answer.h"

#include <math.h>

enum { SHORT_ROWS = 10 };

/* A short table has rows with more of the waits. */
#define SHORT_PERCENT 0.1

/* No value where the clock has no bound. */
static cell_t bound(const wait_analysis *of, double bound_ns)
{
    return of->has_bounds ? number_cell(ceil(bound_ns)) : text_cell("");
}

static const column_t wait_columns[] = {
    {"state", "", ROLE_KEY, TYPE_TEXT,
     "late sender, wrong order, late receiver, wait at barrier, wait at N x N, wait at fence, late post, late "
     "complete, late broadcast, or early reduce",
     "state", 17, 0, 0},
    {"count", "", ROLE_FIGURE, TYPE_INTEGER, "how many calls waited, of all ranks", "count", 10, 0, 0},
    {"waited_ns", "ns", ROLE_FIGURE, TYPE_INTEGER, "how long they waited together", "waited(ms)", 13, 3, 1e6},
    {"bound_ns", "ns", ROLE_FIGURE, TYPE_INTEGER, "by how much the clocks may make this wrong", "bound(ms)", 11, 3,
     1e6},
    {"of_run_percent", "%", ROLE_FIGURE, TYPE_NUMBER, "the wait, of the time of the run on all ranks", "% of run", 10,
     2, 0},
    {"longest_ns", "ns", ROLE_FIGURE, TYPE_INTEGER, "the longest wait of a call", "longest(us)", 14, 3, 1e3},
    {"place", "", ROLE_KEY, TYPE_TEXT, "the function that waits, and from where it is called", "waits in", 40, 0, 0},
};
const schema_t wait_schema =
    SCHEMA("mpix-trace-waits",
           "Written by `mpix_trace_report --show waits`: a row for each kind of wait at each call site.", wait_columns);

void wait_tables_waits(const output_t *output, const wait_analysis *of, sheet_t *sheet)
{
    table_t table = TABLE(wait_schema, output);
    table.sheet = sheet;
    table_head(&table, NULL, 0);
    for (size_t i = 0; i < of->sum_count; i++) {
        const wait_sum *sum = &of->sums[i];
        char place[PLACE_BYTES];
        answer_place(place, &of->graph, sum->place);
        table_row(&table, (cell_t[]){text_cell(wait_state_names[sum->state]), number_cell((double)sum->count),
                                     number_cell((double)sum->waited_ns), bound(of, sum->bound_ns),
                                     number_cell(analysis_percent(of, (double)sum->waited_ns)),
                                     number_cell((double)sum->longest_ns), text_cell(place)});
    }
}

static const column_t cause_columns[] = {
    {"cause", "", ROLE_KEY, TYPE_INTEGER, "its number, from 1: the first one is what processes waited longest for",
     "cause", 7, 0, 0},
    {"rank", "", ROLE_KEY, TYPE_INTEGER, "the rank in MPI_COMM_WORLD that others wait for", "rank", 6, 0, 0},
    {"does", "", ROLE_KEY, TYPE_TEXT, "what it does: it computes between two calls, or is in a call beside waits",
     "does", 10, 0, 0},
    {"charged_ns", "ns", ROLE_FIGURE, TYPE_INTEGER, "how long all others wait for that, added up", "charged(ms)", 13, 3,
     1e6},
    {"bound_ns", "ns", ROLE_FIGURE, TYPE_INTEGER, "by how much the clocks may make this wrong", "bound(ms)", 11, 3,
     1e6},
    {"of_run_percent", "%", ROLE_FIGURE, TYPE_NUMBER, "the charge, of the time of the run on all ranks", "% of run", 10,
     2, 0},
    {"passed_on_ns", "ns", ROLE_FIGURE, TYPE_INTEGER,
     "of the charge, what others wait for ranks that wait for this one", "passed on(ms)", 15, 3, 1e6},
    {"late_ns", "ns", ROLE_FIGURE, TYPE_INTEGER, "by how much it took longer than with those that waited", "late(ms)",
     12, 3, 1e6},
    {"instances", "", ROLE_FIGURE, TYPE_INTEGER, "how often it took longer", "instances", 11, 0, 0},
    {"path_ns", "ns", ROLE_FIGURE, TYPE_INTEGER, "how much of the critical path it is, late or not", "path(ms)", 12, 3,
     1e6},
    {"gain_ns", "ns", ROLE_FIGURE, TYPE_INTEGER,
     "by how much the run would be shorter without that, for the first three", "gain(ms)", 12, 3, 1e6},
    {"worst_begin_ns", "ns", ROLE_FIGURE, TYPE_INTEGER,
     "when the instance with the greatest charge began, from the end of MPI_Init", NULL, 0, 0, 0},
    {"worst_end_ns", "ns", ROLE_FIGURE, TYPE_INTEGER, "when it ended", NULL, 0, 0, 0},
    {"from", "", ROLE_KEY, TYPE_TEXT, "the call before, or the call that it is in", "after", 40, 0, 0},
    {"to", "", ROLE_KEY, TYPE_TEXT, "the call after, or the same", "before", 40, 0, 0},
};
const schema_t cause_schema =
    SCHEMA("mpix-trace-causes",
           "Written by `mpix_trace_report --show causes`: a row for each computation between two call sites, and for\n"
           "each call site, on each rank, for which others wait or which is on the critical path.",
           cause_columns);

static void print_cause(const table_t *table, const wait_analysis *of, size_t place)
{
    const cause *one = analysis_cause(of, place);
    char from[PLACE_BYTES], to[PLACE_BYTES];
    const bool has_gain = place < ANALYSIS_GAINS && one->charged_ns > 0, is_charged = one->charged_ns > 0;
    answer_place(from, &of->graph, one->key.from);
    answer_place(to, &of->graph, one->key.to);
    table_row(table,
              (cell_t[]){number_cell((double)place + 1), number_cell(one->key.rank),
                         text_cell(one->key.is_call ? "call" : "computes"), number_cell((double)one->charged_ns),
                         bound(of, one->bound_ns), number_cell(analysis_percent(of, (double)one->charged_ns)),
                         number_cell((double)(one->charged_ns - one->direct_ns)), number_cell((double)one->late_ns),
                         number_cell((double)one->instances), number_cell((double)one->path_ns),
                         has_gain ? number_cell((double)(of->run_ns - of->without_ns[place])) : text_cell(""),
                         is_charged ? number_cell((double)one->worst_begin_ns - of->graph.of->zero_ns) : text_cell(""),
                         is_charged ? number_cell((double)one->worst_end_ns - of->graph.of->zero_ns) : text_cell(""),
                         text_cell(from), text_cell(to)});
}

static bool matters(const wait_analysis *of, const cause *one)
{
    return 100 * (double)one->charged_ns >= SHORT_PERCENT * (double)of->causes.waited_ns && one->charged_ns > 0;
}

void wait_tables_causes(const output_t *output, const wait_analysis *of, bool is_short, sheet_t *sheet)
{
    table_t table = TABLE(cause_schema, output);
    table.sheet = sheet;
    table_head(&table, NULL, 0);
    for (size_t i = 0; i < of->causes.count; i++) {
        const cause *one = analysis_cause(of, i);
        if (is_short ? i < SHORT_ROWS && matters(of, one) : one->charged_ns > 0 || one->path_ns > 0)
            print_cause(&table, of, i);
    }
}
