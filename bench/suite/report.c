/* SPDX-License-Identifier: BSD-3-Clause */
/* report.c - print the rows as a table, CSV or JSON, and the raw times. */
#include "bench/suite/report.h"

#include "common/cli/memory.h"
#include "common/results/table.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES = 32, FULL_DECIMALS = 3 };

/* What is in the place of a figure in a row. */
typedef enum memory { A_TEXT, AN_INT, AN_INT64, A_DOUBLE, QUANTILES, TAIL, A_MARK } memory_t;

/* Which tables have a column for people: both, the one with all columns, or the usual one. */
typedef enum view { BOTH, FULL, BRIEF } view_t;

typedef struct figure {
    unsigned part; /* of reports and rows; 0: all have it */
    view_t view;
    memory_t memory;
    size_t place; /* in row_t */
    column_t column;
} figure_t;

#define KEY(field) offsetof(row_t, keys.field)
#define FIGURE(field) offsetof(row_t, analysis.field)
#define ARRIVAL(field) offsetof(row_t, arrival.field)
#define OVERLAP(field) offsetof(row_t, overlap.field)
#define TEXT(name, doc, title, width)                          \
    {                                                          \
        name, "", ROLE_KEY, TYPE_TEXT, doc, title, width, 0, 0 \
    }
#define WHOLE_KEY(name, unit, doc, title, width)                    \
    {                                                               \
        name, unit, ROLE_KEY, TYPE_INTEGER, doc, title, width, 0, 0 \
    }
#define COUNT(name, doc, title, width)                               \
    {                                                                \
        name, "", ROLE_FIGURE, TYPE_INTEGER, doc, title, width, 0, 0 \
    }
#define WHOLE_TIME(name, doc, title)                                  \
    {                                                                 \
        name, "ns", ROLE_FIGURE, TYPE_INTEGER, doc, title, 14, 2, 1e3 \
    }
#define TIME(name, doc, title)                                       \
    {                                                                \
        name, "ns", ROLE_FIGURE, TYPE_NUMBER, doc, title, 14, 2, 1e3 \
    }
#define NUMBER(name, unit, doc, title, decimals)                          \
    {                                                                     \
        name, unit, ROLE_FIGURE, TYPE_NUMBER, doc, title, 12, decimals, 0 \
    }

/* In the order of the table for people, so that they see robust figures first. */
static const figure_t figures[] = {
    {0, BOTH, A_TEXT, KEY(operation), TEXT("operation", "the operation", NULL, 0)},
    {0, BOTH, A_TEXT, KEY(release), TEXT("release", "the release scheme", NULL, 0)},
    {0, BOTH, A_TEXT, KEY(barrier), TEXT("barrier", "the barrier algorithm; empty if the scheme has none", NULL, 0)},
    {0, BOTH, A_TEXT, KEY(cadence),
     TEXT("cadence", "the cadence: isolated; streaming with release scheme none; once of init and hello", NULL, 0)},
    {0, BOTH, A_TEXT, KEY(comm), TEXT("comm", "who communicates, as --comm", NULL, 0)},
    {0, BOTH, AN_INT, KEY(ranks),
     WHOLE_KEY("ranks", "", "the number of ranks that communicate, in the largest group", NULL, 0)},
    {0, BOTH, A_TEXT, KEY(datatype),
     TEXT("datatype", "the datatype of the elements; empty if the operation has none", NULL, 0)},
    {0, BOTH, A_TEXT, KEY(reduction), TEXT("reduction", "the reduction; empty if the operation has none", NULL, 0)},
    {0, BOTH, A_TEXT, KEY(root), TEXT("root", "the root, or rotating; empty if the operation has none", NULL, 0)},
    {0, BOTH, A_TEXT, KEY(buffers), TEXT("buffers", "the buffers: separate, or in place", NULL, 0)},
    {0, BOTH, A_TEXT, KEY(cache), TEXT("cache", "the state of the cache, as --cache: warm, rotate, or cold", NULL, 0)},
    {0, BOTH, A_TEXT, KEY(run_time),
     TEXT("run_time", "what a run time is, as --run-time: local (the maximum of the ranks' own durations) or makespan",
          NULL, 0)},
    {0, BOTH, A_TEXT, KEY(messages), TEXT("messages", "how many are under way at once, of bw and so on", NULL, 0)},
    {0, BOTH, A_TEXT, KEY(pairs),
     TEXT("pairs",
          "pairs of ranks, of multi_lat, mbw_mr and one-sided operations; of fans, the ranks with several partners",
          NULL, 0)},
    {PART_MATRIX, BOTH, AN_INT, KEY(rank),
     WHOLE_KEY("rank", "", "with --matrix: the first of the two ranks", "Rank", 7)},
    {PART_MATRIX, BOTH, AN_INT, KEY(partner),
     WHOLE_KEY("partner", "", "with --matrix: the second of the two ranks", "Partner", 9)},
    {0, BOTH, A_TEXT, KEY(layout),
     TEXT("layout", "the derived datatype of messages, as --layout; empty if they have none", NULL, 0)},
    {0, BOTH, A_TEXT, KEY(neighborhood),
     TEXT("neighborhood", "who are neighbors, as --neighborhood; empty if the operation has none", NULL, 0)},
    {0, BOTH, A_TEXT, KEY(threads),
     TEXT("threads", "threads of ranks 0 and 1, as in 1:2, of latency_mt; of each rank, of allreduce_mt and so on",
          NULL, 0)},
    {0, BOTH, A_TEXT, KEY(forks),
     TEXT("forks", "processes that ranks 0 and 1 have forked, as in 1:2, of latency_mp", NULL, 0)},
    {0, BOTH, A_TEXT, KEY(partitions),
     TEXT("partitions", "partitions of a message, as --partitions, of partitioned_latency", NULL, 0)},
    {0, BOTH, A_TEXT, KEY(window),
     TEXT("window", "the window of one-sided operations, as --win-options; empty for others", NULL, 0)},
    {0, BOTH, A_TEXT, KEY(synchronization),
     TEXT("synchronization",
          "the synchronization of one-sided operations, as --sync-option, or of what was written to a file, as "
          "--file-sync; empty for others",
          NULL, 0)},
    {0, BOTH, AN_INT64, KEY(size_bytes), WHOLE_KEY("size_bytes", "bytes", "the size of a message", "Size", 10)},
    {PART_LABEL, BOTH, A_TEXT, KEY(label),
     TEXT(NULL,
          "the number and name of the operation, in a table of several; the lines before the titles say what each is",
          "Job", 0)},
    {0, BOTH, A_TEXT, KEY(arrival),
     TEXT("arrival",
          "the arrival pattern, with its magnitude: together if all ranks started at one instant; empty with the "
          "schemes barrier, barrier2 and none, which do not control the arrivals. The table has this column only with "
          "--arrival",
          "Arrival", 0)},
    {PART_FIGURES, BOTH, A_DOUBLE, FIGURE(median_ns),
     TIME("median_ns", "the median of the run times; of an even number, the mean of the middle two", "Median(us)")},
    {PART_INTERVAL, BRIEF, A_DOUBLE, FIGURE(interval_ns),
     TIME(NULL, "the distance of the farther bound of the confidence interval from the median, without --full",
          "+/-(us)")},
    {PART_INTERVAL, FULL, AN_INT64, FIGURE(median_low_ns),
     WHOLE_TIME(
         "median_low_ns",
         "the lower bound of a confidence interval of the median of at least 95 %, by order statistics and the "
         "binomial distribution. It assumes independent samples, but no distribution of the run times, and is at least "
         "half the resolution of the clock (in the head) from the median. Empty with fewer than six samples",
         "Low95(us)")},
    {PART_INTERVAL, FULL, AN_INT64, FIGURE(median_high_ns),
     WHOLE_TIME("median_high_ns", "its upper bound. Empty with fewer than six samples", "High95(us)")},
    {PART_FIGURES, BOTH, A_DOUBLE, FIGURE(avg_ns),
     TIME(
         "avg_ns",
         "the mean over ranks of each rank's mean duration, as OSU reports it. Ranks that only send and leave lower it",
         "Avg(us)")},
    {PART_FIGURES, FULL, A_DOUBLE, FIGURE(min_mean_ns),
     TIME("min_mean_ns", "the smallest of the ranks' mean durations", "MinMean(us)")},
    {PART_FIGURES, BOTH, A_DOUBLE, FIGURE(max_mean_ns),
     TIME("max_mean_ns", "the maximum of the ranks' mean durations", "MaxMean(us)")},
    {PART_FIGURES, BOTH, A_DOUBLE, FIGURE(makespan_ns),
     TIME("makespan_ns",
          "the mean of the samples' makespans: from the first start to the last end, by the global clock. With release "
          "scheme none, ranks run ahead of each other, so it says little",
          "Makespan(us)")},
    {PART_FIGURES, FULL, A_DOUBLE, FIGURE(mean_ns),
     TIME("mean_ns", "the mean of the run times; see --run-time", "Mean(us)")},
    {PART_FIGURES, BOTH, A_MARK, 0, TEXT(NULL, "marks rows where mean and median differ more than twofold", "!", 3)},
    {PART_FIGURES, FULL, A_DOUBLE, FIGURE(deviation_ns),
     TIME("deviation_ns", "the standard deviation of the run times (of n - 1; 0 for one sample)", "SD(us)")},
    {PART_FIGURES, FULL, AN_INT64, FIGURE(min_ns), WHOLE_TIME("min_ns", "the minimum run time", "Min(us)")},
    {PART_FIGURES, FULL, AN_INT64, FIGURE(max_ns), WHOLE_TIME("max_ns", "the maximum run time", "Max(us)")},
    {PART_FIGURES, FULL, QUANTILES, FIGURE(quantile_ns),
     WHOLE_TIME(
         "pN_ns",
         "percentile N of the run times, for each N of --tail (p50_ns, p99.9_ns and so on), by nearest rank: the "
         "minimum run time that at least N % of the samples do not exceed",
         "PN(us)")},
    {PART_FIGURES, FULL, AN_INT, FIGURE(slowest_rank),
     COUNT(
         "slowest_rank",
         "the rank with the maximum mean duration, numbered among the ranks that measure: with --comm every:K, rank 1 "
         "is rank K of the world",
         "Slowest", 9)},
    {PART_FIGURES, FULL, AN_INT, FIGURE(fastest_rank),
     COUNT("fastest_rank", "the rank with the minimum mean duration, numbered likewise", "Fastest", 9)},
    {0, BOTH, AN_INT64, FIGURE(valid), COUNT("valid", "valid samples; all figures are of these", "Valid", 12)},
    {0, FULL, AN_INT64, FIGURE(missed), COUNT("missed", "invalid samples: a rank missed the start", "Missed", 12)},
    {0, FULL, AN_INT64, FIGURE(late), COUNT("late", "invalid samples: a rank started late", "Late", 12)},
    {0, BRIEF, AN_INT64, FIGURE(discarded), COUNT(NULL, "the sum of missed and late, without --full", "Discarded", 12)},
    {PART_LATENCY, BOTH, A_DOUBLE, offsetof(row_t, latency_ns),
     TIME(
         "latency_ns",
         "the time of one message: half of median_ns if latency, one of its variants or multi_lat is measured, or a "
         "one-sided operation whose targets take part; of latency_mt, median_ns by twice the messages of a thread that "
         "sends; median_ns of other one-sided ones. Empty if no latency is measured",
         "Latency(us)")},
    {PART_BANDWIDTH, BOTH, A_DOUBLE, offsetof(row_t, mb_per_s),
     NUMBER(
         "mb_per_s", "MB/s",
         "the bytes of all messages / median_ns, if a bandwidth is measured: bw, put_bibw and so on; empty for other "
         "operations. 1 MB is 10^6 bytes",
         "MB/s", 1)},
    {PART_RATE,
     BOTH,
     A_DOUBLE,
     offsetof(row_t, messages_per_s),
     {"messages_per_s", "1/s", ROLE_FIGURE, TYPE_NUMBER, "messages of all pairs by the median, of mbw_mr and get_mbw",
      "Messages/s", 16, 1, 0}},
    {PART_TAIL, BOTH, TAIL, offsetof(row_t, tail), {NULL, "", ROLE_FIGURE, TYPE_NUMBER, "", "PN", 18, 2, 0}},
    {PART_OVERLAP, BOTH, A_DOUBLE, OVERLAP(pure_ns),
     TIME("pure_ns", "with --overlap: the median over samples of the maximum duration of the operation alone",
          "Pure(us)")},
    {PART_OVERLAP, FULL, A_DOUBLE, OVERLAP(compute_ns),
     TIME("compute_ns",
          "with --overlap: the same for the computation. After the start of the operation, each rank computes for "
          "about pure_ns, by a loop that was timed before, and then completes the operation. Calls of MPI_Test in "
          "between do not count",
          "Compute(us)")},
    {PART_OVERLAP, BOTH, A_DOUBLE, OVERLAP(total_ns),
     TIME("total_ns", "with --overlap: the same for both together", "Total(us)")},
    {PART_OVERLAP, BOTH, A_DOUBLE, OVERLAP(percent),
     NUMBER(
         "overlap_percent", "%",
         "with --overlap: how much of the operation passed during the computation, 100 (1 - (total_ns - compute_ns) / "
         "pure_ns), limited to 0 to 100. Overlap is measured by the same number of separate calls. All other figures, "
         "counts and raw times are of the operation alone. Without a valid sample of both measurements there are no "
         "figures of overlap",
         "Overlap(%)", 1)},
    {PART_ARRIVAL, BOTH, A_DOUBLE, ARRIVAL(from_first_ns),
     TIME("from_first_ns",
          "the median time from the first arrival to the last exit, by the global clock. This column and those up to "
          "arrival_bound_ns exist only with --arrival",
          "FromFirst(us)")},
    {PART_ARRIVAL, BOTH, A_DOUBLE, ARRIVAL(from_last_ns),
     TIME("from_last_ns",
          "the median time from the last arrival to the last exit: what the operation takes once all are there",
          "FromLast(us)")},
    {PART_ARRIVAL, BOTH, A_DOUBLE, ARRIVAL(in_call_ns),
     TIME("in_call_ns", "the median of the ranks' mean times in the call, waiting for others included", "InCall(us)")},
    {PART_ARRIVAL, BOTH, A_DOUBLE, ARRIVAL(robustness),
     NUMBER(
         "robustness", "",
         "the quotient of from_last_ns and from_last_ns of the pattern together. Below 1, the operation makes use of "
         "the time until the last arrival; above 1, the pattern slows it down",
         "Robustness", 3)},
    {PART_ARRIVAL, FULL, AN_INT64, ARRIVAL(span_ns),
     WHOLE_TIME("arrival_span_ns", "the magnitude of the pattern; for a file, its longest delay", "Span(us)")},
    {PART_ARRIVAL, FULL, AN_INT64, ARRIVAL(error_ns),
     WHOLE_TIME("arrival_error_ns",
                "how far from its own time a rank started, by the global clock: the median of all ranks and samples",
                "Error(us)")},
    {PART_ARRIVAL, FULL, AN_INT64, ARRIVAL(error_p99_ns),
     WHOLE_TIME("arrival_error_p99_ns", "the same, the 99th percentile", "ErrorP99(us)")},
    {PART_ARRIVAL, FULL, A_DOUBLE, ARRIVAL(bound_ns),
     TIME("arrival_bound_ns",
          "the bound of the global clock after the measurement, the maximum of all ranks; empty if no bound is known",
          "Bound(us)")},
    {PART_LAYOUT,
     BOTH,
     AN_INT64,
     offsetof(row_t, data_bytes),
     {"data_bytes", "bytes", ROLE_FIGURE, TYPE_INTEGER, "with --layout: the bytes of a message without its gaps",
      "Transmit", 12, 0, 0}},
    {PART_VALIDATION, BOTH, AN_INT64, offsetof(row_t, wrong),
     COUNT("wrong", "with --validation: the number of wrong elements on all ranks", "Wrong", 12)},
    {PART_LOAD,
     BOTH,
     A_DOUBLE,
     offsetof(row_t, others_percent),
     {"others_percent", "%", ROLE_FIGURE, TYPE_NUMBER,
      "what other programs took of the time of all processors on the node of rank 0, since the operations that take "
      "turns began, but for interrupts. Empty in the first second. The table has it not, and a line on standard error "
      "says so if it was above 5 %",
      NULL, 0, 1, 0}},
    {PART_LOAD,
     BOTH,
     A_DOUBLE,
     offsetof(row_t, steal_percent),
     {"steal_percent", "%", ROLE_FIGURE, TYPE_NUMBER,
      "likewise what the hypervisor of a virtual machine took for others (steal), with a line if above 1 %", NULL, 0, 1,
      0}},
};
enum { FIGURES = sizeof figures / sizeof figures[0], MAX_COLUMNS = FIGURES + 2 * MAX_QUANTILES };

static const column_t raw_columns[] = {
    {"operation", "", ROLE_KEY, TYPE_TEXT, "the operation", NULL, 0, 0, 0},
    {"release", "", ROLE_KEY, TYPE_TEXT, "the release scheme", NULL, 0, 0, 0},
    {"barrier", "", ROLE_KEY, TYPE_TEXT, "the barrier algorithm; empty if the scheme has none", NULL, 0, 0, 0},
    {"size_bytes", "bytes", ROLE_KEY, TYPE_INTEGER, "the size of a message", NULL, 0, 0, 0},
    {"call", "", ROLE_KEY, TYPE_INTEGER,
     "the number of the call in its row of the results, from 0; calls of operations that take turns are in the order "
     "of their batches",
     NULL, 0, 0, 0},
    {"rank", "", ROLE_KEY, TYPE_INTEGER, "the rank", NULL, 0, 0, 0},
    {"start_ns", "ns", ROLE_FIGURE, TYPE_INTEGER, "the start of the call, by the global clock", NULL, 0, 0, 0},
    {"end_ns", "ns", ROLE_FIGURE, TYPE_INTEGER, "its end, by the global clock", NULL, 0, 0, 0},
    {"mark", "", ROLE_FIGURE, TYPE_TEXT, "what the call is: valid, late, or missed", NULL, 0, 0, 0},
    {"arrival", "", ROLE_KEY, TYPE_TEXT, "the arrival pattern", NULL, 0, 0, 0},
    {"target_ns", "ns", ROLE_FIGURE, TYPE_INTEGER, "when the rank was to start; empty without --arrival", NULL, 0, 0,
     0},
    {"job", "", ROLE_KEY, TYPE_TEXT,
     "the number of the operation on the command line, and its name, as the tables have it; rows of csv and json have "
     "no job",
     NULL, 0, 0, 0},
};

const schema_t report_schema = {
    "mpix-bench",
    "A row for each operation, size and arrival pattern, written as soon as it is measured. Operations take turns, so"
    "\nrows of the same size follow each other.",
    &figures[0].column, FIGURES, sizeof figures[0]};
const schema_t report_raw_schema =
    SCHEMA("mpix-bench-raw", "Written by `mpix_bench --raw`: a row for each measured call on each rank.", raw_columns);

/* The columns that a report has, and the figure in each. That of a quantile has the quantile's own name and place. */
typedef struct layout {
    table_t table;
    column_t columns[MAX_COLUMNS];
    figure_t figures[MAX_COLUMNS];
    char names[MAX_COLUMNS][2][NAME_BYTES];
} layout_t;

/* ---- Columns */

static bool has_part(const report_t *report, const figure_t *figure)
{
    return (figure->part & ~(report->parts | PART_FIGURES | PART_INTERVAL)) == 0;
}

static bool has_column(const report_t *report, const figure_t *figure)
{
    bool has_name = figure->column.name, is_table = report->output.format == FORMAT_TABLE;
    if (figure->memory == A_TEXT && is_table && figure->place == KEY(arrival) && !(report->parts & PART_ARRIVAL))
        return false;
    if (is_table && (!figure->column.title || figure->view == (report->full ? BRIEF : FULL)))
        return false;
    return (is_table || has_name) && has_part(report, figure);
}

static void add_column(const report_t *report, layout_t *layout, const figure_t *figure, int quantile)
{
    int place = layout->table.column_count++;
    column_t *column = &layout->columns[place];
    *column = figure->column;
    layout->figures[place] = *figure;
    layout->figures[place].place += (size_t)quantile * sizeof(int64_t);
    if (figure->memory == QUANTILES) {
        double percent = 100 * report->fractions[quantile];
        snprintf(layout->names[place][0], NAME_BYTES, "p%.9g_ns", percent);
        snprintf(layout->names[place][1], NAME_BYTES, "P%.9g(us)", percent);
        column->name = layout->names[place][0];
        column->title = layout->names[place][1];
    }
    if (figure->memory == TAIL) {
        snprintf(layout->names[place][1], NAME_BYTES, "P%.9g%s", 100 * report->fractions[quantile],
                 (report->parts & PART_BANDWIDTH) != 0 ? "(MB/s)"
                 : (report->parts & PART_LATENCY) != 0 ? "Lat(us)"
                                                       : "Total(us)");
        column->title = layout->names[place][1];
    }
    if (report->full && column->divisor > 0)
        column->decimals = FULL_DECIMALS;
    if (column->title && column->width == 0)
        column->width = 2 + (figure->part == PART_LABEL ? report->label_width : report->arrival_width);
}

/* Percentiles are as many columns as are asked for. */
static int count_columns(const report_t *report, const figure_t *figure)
{
    return figure->memory == QUANTILES || figure->memory == TAIL ? report->fraction_count : 1;
}

/* In the table, the figures that OSU has come first, whatever else is there. */
static bool is_osus(const report_t *report, const figure_t *figure)
{
    bool found = false;
    for (int i = 0; report->output.format == FORMAT_TABLE && report->osu_places[i] > 0; i++)
        found |= report->osu_places[i] == figure->place;
    return found;
}

static void add_osu_columns(const report_t *report, layout_t *layout)
{
    for (int i = 0; report->output.format == FORMAT_TABLE && report->osu_places[i] > 0; i++)
        for (int k = 0; k < FIGURES; k++) {
            bool is_there = figures[k].place == report->osu_places[i] && has_part(report, &figures[k]);
            for (int quantile = 0; is_there && quantile < count_columns(report, &figures[k]); quantile++)
                add_column(report, layout, &figures[k], quantile);
        }
}

/* Valid until the next call. */
static const layout_t *lay_out(const report_t *report)
{
    static layout_t layout;
    layout.table = (table_t){.schema = &report_schema, .columns = layout.columns, .output = &report->output};
    for (int i = 0; i < FIGURES; i++) {
        bool is_size = figures[i].place == KEY(size_bytes);
        for (int quantile = 0; quantile < count_columns(report, &figures[i]); quantile++)
            if (has_column(report, &figures[i]) && !is_osus(report, &figures[i]) && !(is_size && report->has_no_size))
                add_column(report, &layout, &figures[i], quantile);
        if (is_size)
            add_osu_columns(report, &layout);
    }
    return &layout;
}

static bool is_skewed(const analysis_t *analysis)
{
    return analysis->mean_ns > 2 * analysis->median_ns || analysis->median_ns > 2 * analysis->mean_ns;
}

static cell_t cell_of(const figure_t *figure, const row_t *row)
{
    const void *place = (const char *)row + figure->place;
    bool is_there = (figure->part & ~row->parts) == 0;
    if (figure->memory == A_TEXT)
        return (cell_t){*(const char *const *)place, 0};
    if (figure->memory == A_MARK)
        return (cell_t){is_there && is_skewed(&row->analysis) ? "!" : "", 0};
    bool is_double = figure->memory == A_DOUBLE || figure->memory == TAIL;
    double number = figure->memory == AN_INT ? *(const int *)place
                    : is_double              ? *(const double *)place
                                             : (double)*(const int64_t *)place;
    return (cell_t){is_there && isfinite(number) ? NULL : "", number};
}

/* ---- Head */

static const char *value_of(const head_t *head, const char *key)
{
    for (const head_item_t *item = head->items; item < head->items + head->count; item++)
        if (strcmp(item->key, key) == 0)
            return item->value;
    return "unknown";
}

/* In the table, what a reader needs at once; programs get all. */
static void print_brief_head(FILE *file, const head_t *head)
{
#define VALUE(key) value_of(head, key)
    const char *crowded = strcmp(VALUE("oversubscribed"), "1") == 0 ? ", more ranks than processors" : "";
    fprintf(file, "# %s, %s, %s ranks on %s node%s%s, %s\n", VALUE("program"), VALUE("mpi_library"), VALUE("ranks"),
            VALUE("nodes"), strcmp(VALUE("nodes"), "1") == 0 ? "" : "s", crowded, VALUE("processor"));
    fprintf(file, "# clock %s, bound %s ns, resolution %s ns; barrier %s; order: %s; seed %s; %s\n",
            VALUE("clock_used"), VALUE("clock_bound_ns"), VALUE("resolution_ns"), VALUE("barrier_used"), VALUE("order"),
            VALUE("seed"), VALUE("date"));
    if (strcmp(VALUE("begun_by"), "unknown") != 0)
        fprintf(file, "# begun by %s\n", VALUE("begun_by"));
    if (strcmp(VALUE("note"), "unknown") != 0)
        fprintf(file, "# %s\n", VALUE("note"));
#undef VALUE
}

void report_head(const report_t *report, const head_t *head)
{
    if (report->output.format == FORMAT_TABLE)
        print_brief_head(report->output.file, head);
    else
        table_head(&lay_out(report)->table, head->items, head->count);
    output_flush(report->output.file);
}

/* Prints what there is, after what it is. */
static void print_trait(FILE *file, const char *what, const char *trait)
{
    if (trait[0] != '\0')
        fprintf(file, ", %s%s", what, trait);
}

void report_job(const report_t *report, const row_keys_t *keys, const char *function)
{
    FILE *file = report->output.file;
    bool is_labeled = (report->parts & PART_LABEL) != 0;
    if (report->output.format != FORMAT_TABLE)
        return;
    fprintf(file, "# %s%s%s: %d %s of %s", is_labeled ? keys->label : "", is_labeled ? ", " : "", function, keys->ranks,
            keys->ranks == 1 ? "rank" : "ranks", keys->comm);
    print_trait(file, "", keys->datatype);
    print_trait(file, "", keys->reduction);
    print_trait(file, "root ", keys->root);
    print_trait(file, "buffers ", keys->buffers);
    print_trait(file, "cache ", keys->cache);
    print_trait(file, "release ", keys->release);
    print_trait(file, "barrier ", keys->barrier);
    print_trait(file, "messages at once ", keys->messages);
    print_trait(file, "pairs ", keys->pairs);
    print_trait(file, "layout ", keys->layout);
    print_trait(file, "neighborhood ", keys->neighborhood);
    print_trait(file, "threads ", keys->threads);
    print_trait(file, "forks ", keys->forks);
    print_trait(file, "partitions ", keys->partitions);
    print_trait(file, "window ", keys->window);
    print_trait(file, "synchronization ", keys->synchronization);
    fprintf(file, ", %s, %s run times\n", keys->cadence, keys->run_time);
}

/* ---- Rows */

void report_titles(const report_t *report)
{
    if (report->output.format != FORMAT_TABLE)
        return;
    fputs("# Sizes in bytes, times in us of valid samples; !: mean and median differ more than twofold\n",
          report->output.file);
    table_head(&lay_out(report)->table, NULL, 0);
}

static void print_error_row(const report_t *report, const row_t *row)
{
    FILE *file = report->output.file;
    fprintf(file, "%10" PRId64 "  error: no valid sample: %" PRId64 " missed and %" PRId64 " late",
            row->keys.size_bytes, row->analysis.missed, row->analysis.late);
    if (report->parts & PART_LABEL)
        fprintf(file, "; job %s", row->keys.label);
    if (report->parts & PART_ARRIVAL)
        fprintf(file, "; arrival %s", row->keys.arrival);
    if (row->wrong > 0)
        fprintf(file, "; wrong elements: %" PRId64, row->wrong);
    fputc('\n', file);
    output_flush(file);
}

static void print_row(const report_t *report, const row_t *row)
{
    const layout_t *layout = lay_out(report);
    cell_t cells[MAX_COLUMNS];
    if (report->output.format == FORMAT_TABLE && row->analysis.valid == 0) {
        print_error_row(report, row);
        return;
    }
    for (int i = 0; i < layout->table.column_count; i++)
        cells[i] = cell_of(&layout->figures[i], row);
    table_row(&layout->table, cells);
}

void report_row(report_t *report, const row_t *row)
{
    if (report->output.format != FORMAT_TABLE || !(report->parts & PART_LABEL)) {
        print_row(report, row);
        return;
    }
    report->kept = or_exit(array_grow(report->kept, report->kept_count, sizeof report->kept[0]));
    report->kept[report->kept_count++] = *row;
}

void report_end(report_t *report)
{
    for (int job = 1, printed = 0; printed < report->kept_count; job++)
        for (const row_t *row = report->kept; row < report->kept + report->kept_count; row++)
            if (strtol(row->keys.label, NULL, 10) == job) {
                print_row(report, row);
                printed++;
            }
    free(report->kept);
    report->kept = NULL;
    report->kept_count = 0;
}

/* ---- Raw times */

void report_raw_head(const output_t *raw)
{
    const table_t table = TABLE(report_raw_schema, raw);
    table_head(&table, NULL, 0);
}

void report_raw(const output_t *raw, const row_keys_t *keys, const samples_t *before, const call_note_t *notes)
{
    const table_t table = TABLE(report_raw_schema, raw);
    static const char *const marks[] = {[MARK_VALID] = "valid", [MARK_LATE] = "late", [MARK_MISSED] = "missed"};
    for (int rank = 0; rank < before->ranks; rank++)
        table_row(&table, (cell_t[]){{keys->operation, 0},
                                     {keys->release, 0},
                                     {keys->barrier, 0},
                                     {NULL, (double)keys->size_bytes},
                                     {NULL, (double)before->calls},
                                     {NULL, rank},
                                     {NULL, (double)notes[rank].start_ns},
                                     {NULL, (double)notes[rank].end_ns},
                                     {marks[notes[rank].mark], 0},
                                     {keys->arrival, 0},
                                     {before->imposes ? NULL : "", (double)notes[rank].target_ns},
                                     {keys->label, 0}});
}
