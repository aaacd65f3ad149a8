/* SPDX-License-Identifier: BSD-3-Clause */
/* report.c - print the rows as a table, CSV or JSON, and the raw times. */
#include "bench/report.h"

#include "common/output.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>

static const char schema[] = "mpix-bench";
enum { NAME_BYTES = 24, BRIEF_DECIMALS = 2, FULL_DECIMALS = 3 };

/* What a value is, and the type of its place: from KIND_COUNT on int64_t, from KIND_MEAN on double. */
typedef enum kind {
    KIND_TEXT, /* const char *, "" for none */
    KIND_RANK, /* int */
    KIND_COUNT,
    KIND_TIME,      /* ns, likewise the next two */
    KIND_QUANTILES, /* as many columns as there are fractions */
    KIND_MEAN,
    KIND_RATIO,
    KIND_FACTOR /* near 1 */
} kind_t;

/* Who sees a column: programs, and readers of the table as it is or in full. */
enum { DATA = 1, BRIEF = 2, FULL = 4, TABLES = BRIEF | FULL, ALL = DATA | TABLES };

typedef struct figure {
    int views;
    const char *name;
    const char *title;
    kind_t kind;
    unsigned part; /* of reports and rows; 0: all have it */
    size_t place;  /* in row_t */
} figure_t;

#define FIELD(field) offsetof(row_t, field)
#define KEY(field) FIELD(keys.field)
#define FIGURE(field) FIELD(analysis.field)
#define ARRIVAL(field) FIELD(arrival.field)
#define OVERLAP(field) FIELD(overlap.field)

static const figure_t figures[] = {
    {DATA, "operation", "", KIND_TEXT, 0, KEY(operation)},
    {DATA, "release", "", KIND_TEXT, 0, KEY(release)},
    {DATA, "barrier", "", KIND_TEXT, 0, KEY(barrier)},
    {DATA, "cadence", "", KIND_TEXT, 0, KEY(cadence)},
    {DATA, "comm", "", KIND_TEXT, 0, KEY(comm)},
    {DATA, "ranks", "", KIND_RANK, 0, KEY(ranks)},
    {DATA, "datatype", "", KIND_TEXT, 0, KEY(datatype)},
    {DATA, "reduction", "", KIND_TEXT, 0, KEY(reduction)},
    {DATA, "root", "", KIND_TEXT, 0, KEY(root)},
    {DATA, "buffers", "", KIND_TEXT, 0, KEY(buffers)},
    {DATA, "cache", "", KIND_TEXT, 0, KEY(cache)},
    {DATA, "run_time", "", KIND_TEXT, 0, KEY(run_time)},
    {ALL, "size_bytes", "Size", KIND_COUNT, 0, KEY(size_bytes)},
    {TABLES, "", "Job", KIND_TEXT, PART_LABEL, KEY(label)},
    {TABLES, "", "Arrival", KIND_TEXT, PART_ARRIVAL, KEY(arrival)},
    {DATA, "valid", "", KIND_COUNT, 0, FIGURE(valid)},
    {DATA, "missed", "", KIND_COUNT, 0, FIGURE(missed)},
    {DATA, "late", "", KIND_COUNT, 0, FIGURE(late)},
    {ALL, "avg_ns", "Avg(us)", KIND_MEAN, PART_FIGURES, FIGURE(avg_ns)},
    {ALL, "max_mean_ns", "MaxMean(us)", KIND_MEAN, PART_FIGURES, FIGURE(max_mean_ns)},
    {ALL, "makespan_ns", "Makespan(us)", KIND_MEAN, PART_FIGURES, FIGURE(makespan_ns)},
    {DATA | FULL, "mean_ns", "Mean(us)", KIND_MEAN, PART_FIGURES, FIGURE(mean_ns)},
    {DATA | FULL, "deviation_ns", "SD(us)", KIND_MEAN, PART_FIGURES, FIGURE(deviation_ns)},
    {DATA | FULL, "min_ns", "Min(us)", KIND_TIME, PART_FIGURES, FIGURE(min_ns)},
    {DATA | FULL, "max_ns", "Max(us)", KIND_TIME, PART_FIGURES, FIGURE(max_ns)},
    {ALL, "median_ns", "Median(us)", KIND_MEAN, PART_FIGURES, FIGURE(median_ns)},
    {BRIEF, "", "+/-(us)", KIND_MEAN, PART_INTERVAL, FIGURE(interval_ns)},
    {DATA | FULL, "median_low_ns", "Low95(us)", KIND_TIME, PART_INTERVAL, FIGURE(median_low_ns)},
    {DATA | FULL, "median_high_ns", "High95(us)", KIND_TIME, PART_INTERVAL, FIGURE(median_high_ns)},
    {DATA | FULL, "p%.9g_ns", "P%.9g(us)", KIND_QUANTILES, PART_FIGURES, FIGURE(quantile_ns)},
    {DATA | FULL, "slowest_rank", "Slowest", KIND_RANK, PART_FIGURES, FIGURE(slowest_rank)},
    {DATA | FULL, "fastest_rank", "Fastest", KIND_RANK, PART_FIGURES, FIGURE(fastest_rank)},
    {DATA, "arrival", "", KIND_TEXT, 0, KEY(arrival)},
    {TABLES, "", "Valid", KIND_COUNT, 0, FIGURE(valid)},
    {FULL, "", "Missed", KIND_COUNT, 0, FIGURE(missed)},
    {FULL, "", "Late", KIND_COUNT, 0, FIGURE(late)},
    {BRIEF, "", "Discarded", KIND_COUNT, 0, FIGURE(discarded)},
    {ALL, "latency_ns", "Latency(us)", KIND_MEAN, PART_LATENCY, FIELD(latency_ns)},
    {ALL, "mb_per_s", "MB/s", KIND_RATIO, PART_BANDWIDTH, FIELD(mb_per_s)},
    {ALL, "pure_ns", "Pure(us)", KIND_MEAN, PART_OVERLAP, OVERLAP(pure_ns)},
    {DATA | FULL, "compute_ns", "Compute(us)", KIND_MEAN, PART_OVERLAP, OVERLAP(compute_ns)},
    {ALL, "total_ns", "Total(us)", KIND_MEAN, PART_OVERLAP, OVERLAP(total_ns)},
    {ALL, "overlap_percent", "Overlap(%)", KIND_RATIO, PART_OVERLAP, OVERLAP(percent)},
    {ALL, "from_first_ns", "FromFirst(us)", KIND_MEAN, PART_ARRIVAL, ARRIVAL(from_first_ns)},
    {ALL, "from_last_ns", "FromLast(us)", KIND_MEAN, PART_ARRIVAL, ARRIVAL(from_last_ns)},
    {ALL, "in_call_ns", "InCall(us)", KIND_MEAN, PART_ARRIVAL, ARRIVAL(in_call_ns)},
    {ALL, "robustness", "Robustness", KIND_FACTOR, PART_ARRIVAL, ARRIVAL(robustness)},
    {DATA | FULL, "arrival_span_ns", "Span(us)", KIND_TIME, PART_ARRIVAL, ARRIVAL(span_ns)},
    {DATA | FULL, "arrival_error_ns", "Error(us)", KIND_TIME, PART_ARRIVAL, ARRIVAL(error_ns)},
    {DATA | FULL, "arrival_error_p99_ns", "ErrorP99(us)", KIND_TIME, PART_ARRIVAL, ARRIVAL(error_p99_ns)},
    {DATA | FULL, "arrival_bound_ns", "Bound(us)", KIND_MEAN, PART_ARRIVAL, ARRIVAL(bound_ns)},
    {ALL, "wrong", "Wrong", KIND_COUNT, PART_VALIDATION, FIELD(wrong)},
};
enum { FIGURES = sizeof figures / sizeof figures[0], MAX_COLUMNS = FIGURES + MAX_QUANTILES };

/* The columns that a report has, and the figure in each. That of a quantile has the quantile's own name and place. */
typedef struct layout {
    table_t table;
    column_t columns[MAX_COLUMNS];
    figure_t figures[MAX_COLUMNS];
    char names[MAX_COLUMNS][NAME_BYTES];
} layout_t;

/* ---- Columns */

static bool has_column(const report_t *report, const figure_t *figure)
{
    int view = report->output.format != FORMAT_TABLE ? DATA : report->full ? FULL : BRIEF;
    return (figure->views & view) != 0 && (figure->part & ~(report->parts | PART_FIGURES | PART_INTERVAL)) == 0;
}

static int width_of(const report_t *report, const figure_t *figure, int place)
{
    if (figure->kind == KIND_TEXT)
        return 2 + (figure->part == PART_LABEL ? report->label_width : report->arrival_width);
    return figure->kind == KIND_RANK ? 9 : place == 0 ? 10 : 12;
}

static void add_column(const report_t *report, layout_t *layout, const figure_t *figure, int quantile)
{
    int place = layout->table.column_count++;
    const char *text = report->output.format == FORMAT_TABLE ? figure->title : figure->name;
    bool is_time = figure->kind >= KIND_TIME && figure->kind <= KIND_MEAN;
    column_t *column = &layout->columns[place];
    if (figure->kind == KIND_QUANTILES) {
        snprintf(layout->names[place], NAME_BYTES, text, 100 * report->fractions[quantile]);
        text = layout->names[place];
    }
    *column = (column_t){.title = text, .name = text, .width = width_of(report, figure, place)};
    if (is_time && report->output.format == FORMAT_TABLE) {
        column->width = 14;
        column->decimals = report->full ? FULL_DECIMALS : BRIEF_DECIMALS;
        column->unit = 1e3;
    } else if (figure->kind == KIND_MEAN || figure->kind == KIND_RATIO) {
        column->decimals = 1;
    } else if (figure->kind == KIND_FACTOR) {
        column->decimals = 3;
    }
    layout->figures[place] = *figure;
    layout->figures[place].place += (size_t)quantile * sizeof(int64_t);
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
        for (int k = 0; k < FIGURES; k++)
            if (figures[k].place == report->osu_places[i])
                add_column(report, layout, &figures[k], 0);
}

/* Valid until the next call. */
static const layout_t *lay_out(const report_t *report)
{
    static layout_t layout;
    layout.table = (table_t){.columns = layout.columns, .output = &report->output, .schema = schema};
    for (int i = 0; i < FIGURES; i++) {
        bool is_size = figures[i].place == KEY(size_bytes);
        for (int quantile = 0; quantile < (figures[i].kind == KIND_QUANTILES ? report->fraction_count : 1); quantile++)
            if (has_column(report, &figures[i]) && !is_osus(report, &figures[i]) && !(is_size && report->has_no_size))
                add_column(report, &layout, &figures[i], quantile);
        if (is_size)
            add_osu_columns(report, &layout);
    }
    return &layout;
}

static cell_t cell_of(const figure_t *figure, const row_t *row)
{
    const void *place = (const char *)row + figure->place;
    if (figure->kind == KIND_TEXT)
        return (cell_t){*(const char *const *)place, 0};
    double number = figure->kind == KIND_RANK   ? *(const int *)place
                    : figure->kind >= KIND_MEAN ? *(const double *)place
                                                : (double)*(const int64_t *)place;
    return (cell_t){(figure->part & ~row->parts) == 0 && isfinite(number) ? NULL : "", number};
}

/* ---- Head */

/* One line, whatever is in the value. */
static void print_comment(FILE *file, const provenance_item_t *item)
{
    fprintf(file, "# %s: ", item->key);
    for (const char *next = item->value; *next != '\0'; next++)
        fputc((unsigned char)*next < ' ' ? ' ' : *next, file);
    fputc('\n', file);
}

static void print_json_head(FILE *file, const provenance_item_t *items, int item_count)
{
    schema_begin(file, schema);
    for (int i = 0; i < item_count; i++) {
        fputs(i > 0 ? "," : "", file);
        quote_json(file, items[i].key);
        fputc(':', file);
        quote_json(file, items[i].value);
    }
    fputs("}}\n", file);
}

void report_head(const report_t *report, const provenance_item_t *items, int item_count)
{
    if (report->output.format == FORMAT_JSON)
        print_json_head(report->output.file, items, item_count);
    for (int i = 0; i < item_count && report->output.format != FORMAT_JSON; i++)
        print_comment(report->output.file, &items[i]);
    if (report->output.format == FORMAT_CSV)
        table_head(&lay_out(report)->table);
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
    fprintf(file, "#\n# %s%s%s: %d %s of %s", is_labeled ? keys->label : "", is_labeled ? ", " : "", function,
            keys->ranks, keys->ranks == 1 ? "rank" : "ranks", keys->comm);
    print_trait(file, "", keys->datatype);
    print_trait(file, "", keys->reduction);
    print_trait(file, "root ", keys->root);
    print_trait(file, "buffers ", keys->buffers);
    print_trait(file, "cache ", keys->cache);
    fprintf(file, "\n# Release: %s", keys->release);
    if (keys->barrier[0] != '\0')
        fprintf(file, " (%s)", keys->barrier);
    fprintf(file, "\n# Cadence: %s\n", keys->cadence);
    fprintf(file, "# Sizes in bytes, times in us of valid samples; distribution: of %s run times\n", keys->run_time);
}

void report_titles(const report_t *report)
{
    if (report->output.format == FORMAT_TABLE)
        table_head(&lay_out(report)->table);
}

/* ---- Rows */

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

void report_row(const report_t *report, const row_t *row)
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

/* ---- Raw times */

void report_raw_head(FILE *file)
{
    fputs("operation,release,barrier,size_bytes,call,rank,start_ns,end_ns,mark,arrival,target_ns,job\n", file);
}

void report_raw(FILE *file, const row_keys_t *keys, const samples_t *before, const call_note_t *notes)
{
    static const char *const marks[] = {[MARK_VALID] = "valid", [MARK_LATE] = "late", [MARK_MISSED] = "missed"};
    for (int rank = 0; rank < before->ranks; rank++) {
        fprintf(file, "%s,%s,%s,%" PRId64 ",%" PRId64 ",%d,%" PRId64 ",%" PRId64 ",%s,%s,", keys->operation,
                keys->release, keys->barrier, keys->size_bytes, before->calls, rank, notes[rank].start_ns,
                notes[rank].end_ns, marks[notes[rank].mark], keys->arrival);
        if (before->imposes)
            fprintf(file, "%" PRId64, notes[rank].target_ns);
        fprintf(file, ",%s\n", keys->label);
    }
}
