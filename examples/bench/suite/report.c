/* SPDX-License-Identifier: BSD-3-Clause */
#include "suite/report.h"

#include "common/quote.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

enum { VALUE_BYTES = 400, NAME_BYTES = 24, SIZES_WIDTH = 10, BRIEF_DECIMALS = 2, FULL_DECIMALS = 3 };

/* A row, and what the table derives from it. */
typedef struct shown {
    row_t row;
    double interval_ns; /* how far the bounds of the median's interval are from it, the farther one */
    double latency_ns;  /* of one message, by the rank that waits for all: its mean is the greatest */
    int64_t discarded;
} shown_t;

/* What a value is, and the type of its place. */
typedef enum kind {
    KIND_TEXT,     /* const char *, "" for none */
    KIND_RANK,     /* int */
    KIND_COUNT,    /* int64_t */
    KIND_TIME,     /* int64_t, ns */
    KIND_MEAN,     /* double, ns */
    KIND_PERCENT,  /* double */
    KIND_QUANTILES /* as many columns as there are fractions */
} kind_t;

/* When there is a value, and whether there is a column. */
typedef enum part { PART_KEYS, PART_FIGURES, PART_INTERVAL, PART_LATENCY, PART_OVERLAP, PART_VALIDATION } part_t;

typedef struct column {
    const char *name;
    kind_t kind;
    part_t part;
    size_t place; /* in shown_t */
} column_t;

#define ROW(field) offsetof(shown_t, row.field)
#define FIGURE(field) ROW(analysis.field)

static const column_t data_columns[] = {
    {"operation", KIND_TEXT, PART_KEYS, ROW(keys.operation)},
    {"release", KIND_TEXT, PART_KEYS, ROW(keys.release)},
    {"barrier", KIND_TEXT, PART_KEYS, ROW(keys.barrier)},
    {"cadence", KIND_TEXT, PART_KEYS, ROW(keys.cadence)},
    {"comm", KIND_TEXT, PART_KEYS, ROW(keys.comm)},
    {"ranks", KIND_RANK, PART_KEYS, ROW(keys.ranks)},
    {"datatype", KIND_TEXT, PART_KEYS, ROW(keys.datatype)},
    {"reduction", KIND_TEXT, PART_KEYS, ROW(keys.reduction)},
    {"root", KIND_TEXT, PART_KEYS, ROW(keys.root)},
    {"buffers", KIND_TEXT, PART_KEYS, ROW(keys.buffers)},
    {"cache", KIND_TEXT, PART_KEYS, ROW(keys.cache)},
    {"run_time", KIND_TEXT, PART_KEYS, ROW(keys.run_time)},
    {"size_bytes", KIND_COUNT, PART_KEYS, ROW(keys.size_bytes)},
    {"valid", KIND_COUNT, PART_KEYS, FIGURE(valid)},
    {"missed", KIND_COUNT, PART_KEYS, FIGURE(missed)},
    {"late", KIND_COUNT, PART_KEYS, FIGURE(late)},
    {"avg_ns", KIND_MEAN, PART_FIGURES, FIGURE(avg_ns)},
    {"max_mean_ns", KIND_MEAN, PART_FIGURES, FIGURE(max_mean_ns)},
    {"makespan_ns", KIND_MEAN, PART_FIGURES, FIGURE(makespan_ns)},
    {"mean_ns", KIND_MEAN, PART_FIGURES, FIGURE(mean_ns)},
    {"deviation_ns", KIND_MEAN, PART_FIGURES, FIGURE(deviation_ns)},
    {"min_ns", KIND_TIME, PART_FIGURES, FIGURE(least_ns)},
    {"max_ns", KIND_TIME, PART_FIGURES, FIGURE(most_ns)},
    {"median_ns", KIND_MEAN, PART_FIGURES, FIGURE(median_ns)},
    {"median_low_ns", KIND_TIME, PART_INTERVAL, FIGURE(median_low_ns)},
    {"median_high_ns", KIND_TIME, PART_INTERVAL, FIGURE(median_high_ns)},
    {"p%s_ns", KIND_QUANTILES, PART_FIGURES, FIGURE(quantile_ns)},
    {"slowest_rank", KIND_RANK, PART_FIGURES, FIGURE(slowest_rank)},
    {"fastest_rank", KIND_RANK, PART_FIGURES, FIGURE(fastest_rank)},
    {"latency_ns", KIND_MEAN, PART_LATENCY, offsetof(shown_t, latency_ns)},
    {"pure_ns", KIND_MEAN, PART_OVERLAP, ROW(overlap.pure_ns)},
    {"compute_ns", KIND_MEAN, PART_OVERLAP, ROW(overlap.compute_ns)},
    {"total_ns", KIND_MEAN, PART_OVERLAP, ROW(overlap.total_ns)},
    {"overlap_percent", KIND_PERCENT, PART_OVERLAP, ROW(overlap.percent)},
    {"wrong", KIND_COUNT, PART_VALIDATION, ROW(wrong)},
};

static const column_t brief_columns[] = {
    {"Size", KIND_COUNT, PART_KEYS, ROW(keys.size_bytes)},
    {"Avg(us)", KIND_MEAN, PART_FIGURES, FIGURE(avg_ns)},
    {"MaxMean(us)", KIND_MEAN, PART_FIGURES, FIGURE(max_mean_ns)},
    {"Makespan(us)", KIND_MEAN, PART_FIGURES, FIGURE(makespan_ns)},
    {"Median(us)", KIND_MEAN, PART_FIGURES, FIGURE(median_ns)},
    {"+/-(us)", KIND_MEAN, PART_INTERVAL, offsetof(shown_t, interval_ns)},
    {"Valid", KIND_COUNT, PART_KEYS, FIGURE(valid)},
    {"Discarded", KIND_COUNT, PART_KEYS, offsetof(shown_t, discarded)},
    {"Latency(us)", KIND_MEAN, PART_LATENCY, offsetof(shown_t, latency_ns)},
    {"Pure(us)", KIND_MEAN, PART_OVERLAP, ROW(overlap.pure_ns)},
    {"Total(us)", KIND_MEAN, PART_OVERLAP, ROW(overlap.total_ns)},
    {"Overlap(%)", KIND_PERCENT, PART_OVERLAP, ROW(overlap.percent)},
    {"Wrong", KIND_COUNT, PART_VALIDATION, ROW(wrong)},
};

static const column_t full_columns[] = {
    {"Size", KIND_COUNT, PART_KEYS, ROW(keys.size_bytes)},
    {"Avg(us)", KIND_MEAN, PART_FIGURES, FIGURE(avg_ns)},
    {"MaxMean(us)", KIND_MEAN, PART_FIGURES, FIGURE(max_mean_ns)},
    {"Makespan(us)", KIND_MEAN, PART_FIGURES, FIGURE(makespan_ns)},
    {"Mean(us)", KIND_MEAN, PART_FIGURES, FIGURE(mean_ns)},
    {"SD(us)", KIND_MEAN, PART_FIGURES, FIGURE(deviation_ns)},
    {"Min(us)", KIND_TIME, PART_FIGURES, FIGURE(least_ns)},
    {"Max(us)", KIND_TIME, PART_FIGURES, FIGURE(most_ns)},
    {"Median(us)", KIND_MEAN, PART_FIGURES, FIGURE(median_ns)},
    {"Low95(us)", KIND_TIME, PART_INTERVAL, FIGURE(median_low_ns)},
    {"High95(us)", KIND_TIME, PART_INTERVAL, FIGURE(median_high_ns)},
    {"P%s(us)", KIND_QUANTILES, PART_FIGURES, FIGURE(quantile_ns)},
    {"Slowest", KIND_RANK, PART_FIGURES, FIGURE(slowest_rank)},
    {"Fastest", KIND_RANK, PART_FIGURES, FIGURE(fastest_rank)},
    {"Valid", KIND_COUNT, PART_KEYS, FIGURE(valid)},
    {"Missed", KIND_COUNT, PART_KEYS, FIGURE(missed)},
    {"Late", KIND_COUNT, PART_KEYS, FIGURE(late)},
    {"Latency(us)", KIND_MEAN, PART_LATENCY, offsetof(shown_t, latency_ns)},
    {"Pure(us)", KIND_MEAN, PART_OVERLAP, ROW(overlap.pure_ns)},
    {"Compute(us)", KIND_MEAN, PART_OVERLAP, ROW(overlap.compute_ns)},
    {"Total(us)", KIND_MEAN, PART_OVERLAP, ROW(overlap.total_ns)},
    {"Overlap(%)", KIND_PERCENT, PART_OVERLAP, ROW(overlap.percent)},
    {"Wrong", KIND_COUNT, PART_VALIDATION, ROW(wrong)},
};

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof((array)[0])))

/* ---- Numbers */

/* With a point, whatever the locale has in its place. Writes nothing for what is not a number. */
static void write_number(char text[VALUE_BYTES], double number, int decimals)
{
    int length = 0;
    if (isfinite(number))
        length = snprintf(text, VALUE_BYTES, "%.*f", decimals, number);
    text[length] = '\0';
    if (length > 0 && decimals > 0) {
        size_t whole = strspn(text, "-0123456789");
        text[whole] = '.';
        memmove(text + whole + 1, text + length - decimals, (size_t)decimals + 1);
    }
}

/* Percentages as short as they go: 50, 99.9. */
static void write_percentage(char text[VALUE_BYTES], double fraction)
{
    write_number(text, 100 * fraction, 6);
    size_t length = strlen(text);
    while (length > 0 && text[length - 1] == '0')
        text[--length] = '\0';
    if (length > 0 && text[length - 1] == '.')
        text[length - 1] = '\0';
}

/* ---- Columns */

static bool has_column(const report_t *report, const column_t *column)
{
    return (column->part != PART_LATENCY || report->latency) && (column->part != PART_OVERLAP || report->overlap) &&
           (column->part != PART_VALIDATION || report->validated);
}

static bool has_value(const column_t *column, const shown_t *shown)
{
    switch (column->part) {
    case PART_KEYS:
        return true;
    case PART_FIGURES:
        return shown->row.analysis.valid > 0;
    case PART_INTERVAL:
        return shown->row.analysis.valid > 0 && shown->row.analysis.median_interval;
    case PART_LATENCY:
        return shown->row.analysis.valid > 0 && shown->row.trips > 1;
    case PART_OVERLAP:
        return shown->row.overlap.measured;
    case PART_VALIDATION:
        return shown->row.wrong >= 0;
    }
    return false;
}

/* In nanoseconds for programs, in microseconds for people. */
static void write_time(char text[VALUE_BYTES], const report_t *report, double time_ns, bool whole)
{
    if (report->format == FORMAT_TABLE)
        write_number(text, time_ns / 1e3, report->full ? FULL_DECIMALS : BRIEF_DECIMALS);
    else
        write_number(text, time_ns, whole ? 0 : 1);
}

/* The text of a value, "" where there is none. A text value is returned as it is, others in buffer. */
static const char *value_of(const report_t *report, const column_t *column, const shown_t *shown, int quantile,
                            char buffer[VALUE_BYTES])
{
    const char *place = (const char *)shown + column->place;
    buffer[0] = '\0';
    if (!has_value(column, shown))
        return buffer;
    switch (column->kind) {
    case KIND_TEXT:
        return *(const char *const *)(const void *)place;
    case KIND_RANK:
        snprintf(buffer, VALUE_BYTES, "%d", *(const int *)(const void *)place);
        break;
    case KIND_COUNT:
        snprintf(buffer, VALUE_BYTES, "%" PRId64, *(const int64_t *)(const void *)place);
        break;
    case KIND_TIME:
    case KIND_QUANTILES:
        write_time(buffer, report, (double)((const int64_t *)(const void *)place)[quantile], true);
        break;
    case KIND_MEAN:
        write_time(buffer, report, *(const double *)(const void *)place, false);
        break;
    case KIND_PERCENT:
        write_number(buffer, *(const double *)(const void *)place, 1);
        break;
    }
    return buffer;
}

static void name_of(const report_t *report, const column_t *column, int quantile, char name[NAME_BYTES])
{
    char percentage[VALUE_BYTES];
    if (column->kind == KIND_QUANTILES) {
        const char *mark = strchr(column->name, '%');
        write_percentage(percentage, report->fractions[quantile]);
        snprintf(name, NAME_BYTES, "%.*s%.12s%.8s", (int)(mark - column->name), column->name, percentage, mark + 2);
    } else {
        snprintf(name, NAME_BYTES, "%s", column->name);
    }
}

static int width_of(const column_t *column, bool first)
{
    bool time = column->kind == KIND_TIME || column->kind == KIND_MEAN || column->kind == KIND_QUANTILES;
    return first ? SIZES_WIDTH : time ? 14 : column->kind == KIND_RANK ? 9 : 12;
}

/* Does something with each column that the report has. shown: NULL for titles */
typedef void (*column_visitor)(const report_t *report, const column_t *column, const shown_t *shown, int quantile,
                               bool first);

static void visit(const report_t *report, const column_t *columns, int count, const shown_t *shown,
                  column_visitor visitor)
{
    for (int i = 0; i < count; i++) {
        int quantiles = columns[i].kind == KIND_QUANTILES ? report->fraction_count : 1;
        if (!has_column(report, &columns[i]))
            continue;
        for (int quantile = 0; quantile < quantiles; quantile++)
            visitor(report, &columns[i], shown, quantile, i == 0);
    }
}

static void visit_all(const report_t *report, const shown_t *shown, column_visitor visitor)
{
    if (report->format != FORMAT_TABLE)
        visit(report, data_columns, COUNT_OF(data_columns), shown, visitor);
    else if (report->full)
        visit(report, full_columns, COUNT_OF(full_columns), shown, visitor);
    else
        visit(report, brief_columns, COUNT_OF(brief_columns), shown, visitor);
}

static void print_title_cell(const report_t *report, const column_t *column, const shown_t *shown, int quantile,
                             bool first)
{
    char name[NAME_BYTES];
    (void)shown;
    name_of(report, column, quantile, name);
    fprintf(report->file, "%c%*s", first ? '#' : ' ', width_of(column, first) - 1, name);
}

static void print_cell(const report_t *report, const column_t *column, const shown_t *shown, int quantile, bool first)
{
    char buffer[VALUE_BYTES];
    const char *value = value_of(report, column, shown, quantile, buffer);
    fprintf(report->file, first ? "%*s" : " %*s", width_of(column, first) - (first ? 0 : 1),
            value[0] == '\0' ? "-" : value);
}

static void print_csv_name(const report_t *report, const column_t *column, const shown_t *shown, int quantile,
                           bool first)
{
    char name[NAME_BYTES];
    (void)shown;
    name_of(report, column, quantile, name);
    fprintf(report->file, "%s%s", first ? "" : ",", name);
}

static void print_csv_value(const report_t *report, const column_t *column, const shown_t *shown, int quantile,
                            bool first)
{
    char buffer[VALUE_BYTES];
    if (!first)
        fputc(',', report->file);
    quote_csv(report->file, value_of(report, column, shown, quantile, buffer));
}

static void print_json_value(const report_t *report, const column_t *column, const shown_t *shown, int quantile,
                             bool first)
{
    char buffer[VALUE_BYTES], name[NAME_BYTES];
    const char *value = value_of(report, column, shown, quantile, buffer);
    name_of(report, column, quantile, name);
    fprintf(report->file, "%s\"%s\":", first ? "" : ",", name);
    if (value[0] == '\0')
        fputs("null", report->file);
    else if (column->kind == KIND_TEXT)
        quote_json(report->file, value);
    else
        fputs(value, report->file);
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
    fputs("{\"provenance\":{", file);
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
    if (report->format == FORMAT_JSON)
        print_json_head(report->file, items, item_count);
    else
        for (int i = 0; i < item_count; i++)
            print_comment(report->file, &items[i]);
    if (report->format == FORMAT_CSV) {
        visit_all(report, NULL, print_csv_name);
        fputc('\n', report->file);
    }
    fflush(report->file);
}

/* Prints what there is, after what it is. */
static void print_trait(FILE *file, const char *what, const char *trait)
{
    if (trait[0] != '\0')
        fprintf(file, ", %s%s", what, trait);
}

void report_titles(const report_t *report, const row_keys_t *keys, const char *function)
{
    FILE *file = report->file;
    if (report->format != FORMAT_TABLE)
        return;
    fprintf(file, "#\n# %s: %d %s of %s", function, keys->ranks, keys->ranks == 1 ? "rank" : "ranks", keys->comm);
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
    visit_all(report, NULL, print_title_cell);
    fputc('\n', file);
    fflush(file);
}

/* ---- Rows */

static shown_t derive(const row_t *row)
{
    const analysis_t *analysis = &row->analysis;
    return (shown_t){
        .row = *row,
        .interval_ns = fmax(analysis->median_ns - (double)analysis->median_low_ns,
                            (double)analysis->median_high_ns - analysis->median_ns),
        .latency_ns = analysis->max_mean_ns / (row->trips > 1 ? row->trips : 1),
        .discarded = analysis->missed + analysis->late,
    };
}

static void print_error_row(const report_t *report, const row_t *row)
{
    fprintf(report->file, "%*" PRId64 "  error: no valid sample: %" PRId64 " missed and %" PRId64 " late", SIZES_WIDTH,
            row->keys.size_bytes, row->analysis.missed, row->analysis.late);
    if (row->wrong > 0)
        fprintf(report->file, "; wrong elements: %" PRId64, row->wrong);
}

void report_row(const report_t *report, const row_t *row)
{
    shown_t shown = derive(row);
    if (report->format == FORMAT_JSON)
        fputc('{', report->file);
    if (report->format == FORMAT_TABLE && row->analysis.valid == 0)
        print_error_row(report, row);
    else
        visit_all(report, &shown,
                  report->format == FORMAT_TABLE ? print_cell
                  : report->format == FORMAT_CSV ? print_csv_value
                                                 : print_json_value);
    fputs(report->format == FORMAT_JSON ? "}\n" : "\n", report->file);
    fflush(report->file);
}

/* ---- Raw times */

void report_raw_head(FILE *file)
{
    fputs("operation,release,barrier,size_bytes,call,rank,start_ns,end_ns,mark\n", file);
}

static void print_raw_line(FILE *file, const row_keys_t *keys, const sample_set_t *set, int64_t call, int rank)
{
    static const char *const marks[] = {[MARK_VALID] = "valid", [MARK_LATE] = "late", [MARK_MISSED] = "missed"};
    int64_t place = call * set->ranks + rank;
    quote_csv(file, keys->operation);
    fputc(',', file);
    quote_csv(file, keys->release);
    fputc(',', file);
    quote_csv(file, keys->barrier);
    fprintf(file, ",%" PRId64 ",%" PRId64 ",%d,%" PRId64 ",%" PRId64 ",%s\n", keys->size_bytes, call, rank,
            set->times[place].start_ns, set->times[place].end_ns, marks[set->marks[place]]);
}

void report_raw(FILE *file, const row_keys_t *keys, const sample_set_t *set)
{
    for (int64_t call = 0; call < set->calls; call++)
        for (int rank = 0; rank < set->ranks; rank++)
            print_raw_line(file, keys, set, call, rank);
    fflush(file);
}
