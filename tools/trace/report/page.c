/* SPDX-License-Identifier: BSD-3-Clause */
/* page.c - print the tables and charts of the page. */
#include "trace/report/page.h"

#include "common/output.h"
#include "common/statistics.h"
#include "page/html.h"
#include "page/rows.h"
#include "page/svg.h"
#include "trace/report/tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_CURVES = 6, MAX_POINTS = 240 };

typedef struct page {
    FILE *file;
    const trace_view_t *view;
    int figures; /* so far */
} page_t;

/* ---- Tables: the rows that other programs read */

typedef enum rows_kind { FUNCTION_ROWS, SITE_ROWS } rows_kind_t;

static json_t *make_rows(const trace_view_t *view, rows_kind_t kind)
{
    char *text = NULL;
    size_t bytes = 0;
    output_t output = {.format = FORMAT_JSON, .file = need(open_memstream(&text, &bytes))};
    if (kind == SITE_ROWS)
        tables_sites(&output, view->sites);
    else
        tables_functions(&output, view->profile);
    fclose(output.file);
    json_t *rows = need(json_array());
    char *line = strchr(need(text), '\n'); /* the first one says what they are */
    for (char *end; line && (end = strchr(++line, '\n')) != NULL; line = end)
        json_array_append_new(rows, need(json_loadb(line, (size_t)(end - line), 0, NULL)));
    free(text);
    return rows;
}

static void print_rows(const page_t *page, rows_kind_t kind, const char *caption)
{
    json_t *rows = make_rows(page->view, kind);
    if (json_array_size(rows) > 0)
        html_table(page->file, rows, caption, NULL);
    else
        fputs("<p>There are none.</p>\n", page->file);
    json_decref(rows);
}

/* What each process tells of itself. */
static json_t *process_rows(const trace *of)
{
    json_t *rows = need(json_array());
    for (int rank = 0; rank < of->size; rank++) {
        const trace_process *process = &of->processes[rank];
        json_t *row = need(json_object());
        json_object_set_new(row, "rank", need(json_integer(rank)));
        for (const char *line = process->text; line && *line != '\0';) {
            size_t length = strcspn(line, "\n"), key_length = strcspn(line, " \n");
            char *key = need(strndup(line, key_length));
            char *value = need(strndup(line + key_length, length - key_length));
            json_object_set_new(row, key, text_value(value[0] == ' ' ? value + 1 : value));
            free(key);
            free(value);
            line += length + (line[length] == '\n');
        }
        json_object_set_new(row, "clock_records", need(json_integer((json_int_t)process->record_count)));
        json_object_set_new(row, "events", need(json_integer((json_int_t)process->end.events)));
        json_object_set_new(row, "dropped", need(json_integer((json_int_t)process->end.dropped)));
        json_array_append_new(rows, row);
    }
    return rows;
}

/* ---- Charts over the run */

static series_t make_series(const char *name, int look, int points)
{
    return (series_t){
        .name = need(strdup(name)), .look = look, .points = need(calloc((size_t)points, sizeof(point_t)))};
}

/* Times over time. Frees the series. */
static void draw(page_t *page, picture_t picture)
{
    picture.place_axis = (axis_t){.unit = UNIT_TIME};
    picture.value_axis = (axis_t){.unit = UNIT_TIME, .scale = SCALE_LOG};
    svg_figure(page->file, &picture, ++page->figures);
    for (int i = 0; i < picture.series_count; i++) {
        free(picture.series[i].name);
        free(picture.series[i].points);
    }
}

/* The median of some calls, and how far they reach. */
static point_t make_point(const site_t *site, int64_t from, int64_t to, bool is_bound)
{
    int64_t *values = need(calloc((size_t)(to - from), sizeof values[0]));
    const arrivals_t *arrivals = &site->arrivals;
    for (int64_t call = from; call < to; call++) {
        call_spread_t spread = arrivals_spread(arrivals, call);
        values[call - from] = llround(is_bound ? spread.bound_ns : spread.spread_ns);
    }
    mh_sort(values, to - from);
    point_t point = {.place = arrivals->enter_ns[(from + to - 1) / 2 * arrivals->ranks], .note = ""};
    point.value = (double)quantile(values, to - from, 0.5);
    point.low = to - from > 1 ? (double)values[0] : NAN;
    point.high = to - from > 1 ? (double)values[to - from - 1] : NAN;
    free(values);
    return point;
}

static series_t site_series(const site_t *site, int number, int look, bool is_bound)
{
    char name[128];
    int64_t calls = site->arrivals.calls, points = calls < MAX_POINTS ? calls : MAX_POINTS;
    snprintf(name, sizeof name, is_bound ? "bound of the clock at site %d" : "site %d: %s", number, site->function);
    series_t series = make_series(name, look, (int)points);
    for (int64_t i = 0; i < points; i++)
        series.points[series.count++] = make_point(site, calls * i / points, calls * (i + 1) / points, is_bound);
    return series;
}

static void print_spreads(page_t *page)
{
    series_t series[MAX_CURVES + 1];
    int count = 0;
    for (int i = 0; i < page->view->sites->count && count < MAX_CURVES; i++)
        if (page->view->sites->list[i].arrivals.ranks > 1)
            series[count++] = site_series(&page->view->sites->list[i], i + 1, i, false);
    if (count == 0)
        return;
    if (page->view->sites->list[0].summary.bound_ns >= 0 && page->view->sites->list[0].arrivals.ranks > 1)
        series[count++] = site_series(&page->view->sites->list[0], 1, MAX_CURVES, true);
    draw(page, (picture_t){.title = "Spread of arrivals over the run",
                           .place_title = "time of the call from the end of MPI_Init",
                           .value_title = "from the first arrival to the last",
                           .series = series,
                           .series_count = count});
}

/* At the records of a process, and in the middle between them, where it is the largest. */
static series_t bound_series(const trace *of, int rank, int look)
{
    char name[32];
    const trace_process *process = &of->processes[rank];
    /* An odd step meets records and the middles between them in turn. */
    size_t steps = 2 * process->record_count - 1, step = (steps / MAX_POINTS + 1) | 1;
    snprintf(name, sizeof name, "rank %d", rank);
    series_t series = make_series(name, look, (int)(steps / step + 1));
    for (size_t i = 0; i < steps; i += step) {
        const trace_clock_record *before = &process->records[i / 2], *after = &process->records[(i + 1) / 2];
        int64_t time_ns = before->time_ns + (after->time_ns - before->time_ns) / 2;
        int64_t offset_ns =
            before->global_less_local_ns + (after->global_less_local_ns - before->global_less_local_ns) / 2;
        double bound_ns = trace_bound_ns(process, time_ns);
        series.points[series.count++] = (point_t){.place = fmax((double)(time_ns + offset_ns), 0),
                                                  .value = isfinite(bound_ns) ? bound_ns : NAN,
                                                  .low = NAN,
                                                  .high = NAN,
                                                  .note = ""};
    }
    return series;
}

/* A rank, and the widest bound of its records. */
typedef struct width {
    int rank;
    double widest_ns;
} width_t;

static int by_width(const void *left, const void *right)
{
    const width_t *a = left, *b = right;
    return a->widest_ns != b->widest_ns ? (a->widest_ns < b->widest_ns) - (a->widest_ns > b->widest_ns)
                                        : a->rank - b->rank;
}

/* The ranks that have records, those with the widest bounds first. Returns how many. */
static int sort_by_width(const trace *of, width_t *widths)
{
    int count = 0;
    for (int rank = 0; rank < of->size; rank++) {
        const trace_process *process = &of->processes[rank];
        width_t width = {.rank = rank};
        for (size_t i = 0; i < process->record_count; i++)
            width.widest_ns = fmax(width.widest_ns, process->records[i].bound_ns);
        if (process->record_count > 0)
            widths[count++] = width;
    }
    qsort(widths, (size_t)count, sizeof widths[0], by_width);
    return count;
}

static void print_bounds(page_t *page)
{
    const trace *of = page->view->of;
    series_t series[MAX_CURVES];
    width_t *widths = need(calloc((size_t)of->size + 1, sizeof widths[0]));
    int ranks = sort_by_width(of, widths), count = 0;
    for (; count < ranks && count < MAX_CURVES; count++)
        series[count] = bound_series(of, widths[count].rank, count);
    free(widths);
    if (count == 0) {
        fputs("<p>There is no record of the clock.</p>\n", page->file);
        return;
    }
    draw(page, (picture_t){.title = "Bound of the global clock",
                           .place_title = "time from the end of MPI_Init",
                           .value_title = "no more than this from rank 0",
                           .series = series,
                           .series_count = count});
}

/* ---- Sections */

static void begin(const page_t *page, const char *id, const char *title, const char *text)
{
    fprintf(page->file, "<section id=\"%s\">\n<h2>%s</h2>\n<p>%s</p>\n", id, title, text);
}

static void print_sites(page_t *page)
{
    begin(
        page, "sites", "Arrivals at collective calls",
        "The spread is the time from the first arrival to the last. A spread that is not above the bound of the clock "
        "may be an error of the clock. A pattern is what mpix_bench --arrival imposes.");
    print_spreads(page);
    print_rows(page, SITE_ROWS, "Call sites, where processes waited longest first");
    fputs("</section>\n", page->file);
}

static bool print_gantt(page_t *page)
{
    begin(page, "gantt", "An interval in detail",
          "A bar is a call, a line a message from the beginning of its send to the end of its receive.");
    bool good = !page->view->has_interval || gantt_figure(page->file, page->view->of, page->view->matches,
                                                          page->view->interval, page->view->clock, ++page->figures);
    fputs(page->view->has_interval ? "</section>\n" : "<p>There are no calls.</p>\n</section>\n", page->file);
    return good;
}

static void print_others(page_t *page)
{
    begin(page, "functions", "Time in MPI", "Of the function clock: what synchronizing the clock for the trace took.");
    print_rows(page, FUNCTION_ROWS, "Time by function: mean, minimum and maximum of the ranks");
    fputs("</section>\n", page->file);
    begin(page, "clock", "The clock", "How far global times of a rank are from those of rank 0, at most.");
    if (page->view->has_bounds)
        print_bounds(page);
    else
        fputs("<p>Times on this page are not of the global clock, and have no bound.</p>\n", page->file);
    json_t *rows = process_rows(page->view->of);
    fputs("<details class=\"print\"><summary>How it was recorded</summary>\n", page->file);
    html_table(page->file, rows, "Processes", NULL);
    fputs("</details>\n</section>\n", page->file);
    json_decref(rows);
}

bool trace_page_print(FILE *file, const trace_view_t *view)
{
    page_t page = {.file = file, .view = view};
    html_begin(file, "mpix_trace_report", view->title);
    fputs("<nav aria-label=\"Contents\"><ul>\n<li><a href=\"#sites\">Arrivals at collective calls</a></li>\n"
          "<li><a href=\"#gantt\">An interval in detail</a></li>\n<li><a href=\"#functions\">Time in MPI</a></li>\n"
          "<li><a href=\"#clock\">The clock</a></li>\n</ul></nav>\n</header>\n<main>\n",
          file);
    print_sites(&page);
    bool good = print_gantt(&page);
    print_others(&page);
    html_end(file, "mpix_trace_report");
    return good;
}
