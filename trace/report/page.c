/* SPDX-License-Identifier: BSD-3-Clause */
/* page.c - print the tables and charts of the page. */
#include "trace/report/page.h"

#include "pure/order_statistics.h"
#include "common/cli/text.h"
#include "common/page/page.h"
#include "pure/text.h"
#include "pure/units.h"
#include "trace/report/answer.h"
#include "trace/report/ended.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_CURVES = 6, MAX_POINTS = 240, TITLE_BYTES = 768 };

/* ---- Tables: the rows that other programs read */

/* first: as page_table has it. */
static void print_table(const page_t *page, const findings_t *found, table_printer_t *table, const char *caption,
                        const char *const *first)
{
    sheet_t sheet = {.schema = NULL};
    table(NULL, found, &sheet);
    if (sheet.row_count > 0)
        page_table(page, &sheet, caption, first, 0);
    else
        fputs("<p>There are none.</p>\n", page->file);
    sheet_free(&sheet);
}

static int column_of(sheet_t *sheet, const char *name)
{
    int place = sheet_column(sheet, name);
    if (place < 0)
        sheet_add_column(sheet, &(column_t){.name = name, .unit = "", .type = TYPE_TEXT, .doc = ""});
    return place < 0 ? sheet->column_count - 1 : place;
}

/* What a process tells of itself: lines of a key and its value. Takes the cells' texts over, or only the columns. */
static void read_process(const char *text, sheet_t *sheet, cell_t *cells)
{
    for (const char *line = text; line && *line != '\0';) {
        size_t length = strcspn(line, "\n"), key_length = strcspn(line, " \n");
        size_t at = key_length + (line[key_length] == ' ');
        char *key = or_exit(strndup(line, key_length)), *value = or_exit(strndup(line + at, length - at));
        int place = column_of(sheet, key);
        if (cells)
            cells[place] = (cell_t){sheet_text(sheet, value), 0};
        free(key);
        free(value);
        line += length + (line[length] == '\n');
    }
}

static sheet_t process_sheet(const trace *of)
{
    static const column_t counts[] = {
        {"rank", "", ROLE_KEY, TYPE_INTEGER, "in MPI_COMM_WORLD", NULL, 0, 0, 0},
        {"clock_records", "", ROLE_FIGURE, TYPE_INTEGER, "how often its clock was recorded", NULL, 0, 0, 0},
        {"events", "", ROLE_FIGURE, TYPE_INTEGER, "that were recorded", NULL, 0, 0, 0},
        {"dropped", "", ROLE_FIGURE, TYPE_INTEGER, "that were not", NULL, 0, 0, 0}};
    enum { COUNTS = sizeof counts / sizeof counts[0] };
    sheet_t sheet = {.schema = NULL};
    for (int i = 0; i < COUNTS; i++)
        sheet_add_column(&sheet, &counts[i]);
    for (int rank = 0; rank < of->size; rank++)
        read_process(of->processes[rank].text, &sheet, NULL);
    cell_t *cells = or_exit(calloc((size_t)sheet.column_count, sizeof cells[0]));
    for (int rank = 0; rank < of->size; rank++) {
        const trace_process *process = &of->processes[rank];
        const double numbers[COUNTS] = {rank, (double)process->record_count, (double)process->end.events,
                                        (double)process->end.dropped};
        for (int i = 0; i < sheet.column_count; i++)
            cells[i] = i < COUNTS ? (cell_t){NULL, numbers[i]} : (cell_t){"", 0};
        read_process(process->text, &sheet, cells);
        sheet_add(&sheet, cells);
    }
    free(cells);
    return sheet;
}

/* ---- Charts over the run: times over time */

static sheet_t curves_sheet(void)
{
    static const column_t columns[] = {{"curve", "", ROLE_KEY, TYPE_TEXT, "", NULL, 0, 0, 0},
                                       {"time_ns", "ns", ROLE_KEY, TYPE_NUMBER, "", NULL, 0, 1, 0},
                                       {"value_ns", "ns", ROLE_FIGURE, TYPE_NUMBER, "", NULL, 0, 1, 0},
                                       {"low_ns", "ns", ROLE_FIGURE, TYPE_NUMBER, "", NULL, 0, 1, 0},
                                       {"high_ns", "ns", ROLE_FIGURE, TYPE_NUMBER, "", NULL, 0, 1, 0}};
    sheet_t sheet = {.schema = NULL};
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
        sheet_add_column(&sheet, &columns[i]);
    return sheet;
}

/* low, high: NAN for none. */
static void add_point(sheet_t *sheet, const char *curve, double time_ns, double value_ns, double low, double high)
{
    sheet_add(sheet, (cell_t[]){{curve, 0},
                                {NULL, time_ns},
                                {isfinite(value_ns) ? NULL : "", value_ns},
                                {isfinite(low) ? NULL : "", low},
                                {isfinite(high) ? NULL : "", high}});
}

static void draw(page_t *page, sheet_t *sheet, const char *title, const char *x_title, const char *value_title)
{
    page_charts(page, sheet,
                or_exit(json_pack("[{s:s, s:s, s:s, s:s, s:s, s:[{s:s, s:s, s:s, s:s}]}]", "title", title, "x",
                                  "time_ns", "xTitle", x_title, "valueTitle", value_title, "scale", "log", "measures",
                                  "column", "value_ns", "title", value_title, "low", "low_ns", "high", "high_ns")));
    sheet_free(sheet);
}

/* The median of some calls, and how far they reach. */
static void add_calls(sheet_t *sheet, const char *name, const site_t *site, int64_t from, int64_t to, bool is_bound)
{
    int64_t *values = or_exit(calloc((size_t)(to - from), sizeof values[0]));
    const arrivals_t *arrivals = &site->arrivals;
    for (int64_t call = from; call < to; call++) {
        call_spread_t spread = arrivals_spread(arrivals, call);
        values[call - from] = llround(is_bound ? spread.bound_ns : spread.spread_ns);
    }
    mh_sort(values, to - from);
    add_point(sheet, name, arrivals->enter_ns[(from + to - 1) / 2 * arrivals->ranks],
              (double)quantile(values, to - from, 0.5), to - from > 1 ? (double)values[0] : NAN,
              to - from > 1 ? (double)values[to - from - 1] : NAN);
    free(values);
}

static void add_site(sheet_t *sheet, const site_t *site, int number, bool is_bound)
{
    char name[128];
    int64_t calls = site->arrivals.calls, points = calls < MAX_POINTS ? calls : MAX_POINTS;
    snprintf(name, sizeof name, is_bound ? "bound of the clock at site %d" : "site %d: %s", number, site->function);
    for (int64_t i = 0; i < points; i++)
        add_calls(sheet, name, site, calls * i / points, calls * (i + 1) / points, is_bound);
}

static void print_spreads(page_t *page, const findings_t *found)
{
    const site_t *sites = found->sites.list;
    sheet_t sheet = curves_sheet();
    int count = 0;
    for (int i = 0; i < found->sites.count && count < MAX_CURVES; i++)
        if (sites[i].arrivals.ranks > 1) {
            add_site(&sheet, &sites[i], i + 1, false);
            count++;
        }
    if (count > 0 && sites[0].summary.bound_ns >= 0 && sites[0].arrivals.ranks > 1)
        add_site(&sheet, &sites[0], 1, true);
    if (count > 0)
        draw(page, &sheet, "Spread of arrivals over the run", "time of the call from the end of MPI_Init",
             "from the first arrival to the last");
    else
        sheet_free(&sheet);
}

/* At the records of a process, and in the middle between them, where it is the largest. */
static void add_bounds(sheet_t *sheet, const trace *of, int rank)
{
    char name[32];
    const trace_process *process = &of->processes[rank];
    /* An odd step meets records and the middles between them in turn. */
    size_t steps = 2 * process->record_count - 1, step = (steps / MAX_POINTS + 1) | 1;
    snprintf(name, sizeof name, "rank %d", rank);
    for (size_t i = 0; i < steps; i += step) {
        const trace_clock_record *before = &process->records[i / 2], *after = &process->records[(i + 1) / 2];
        int64_t time_ns = before->pair.at_ns + (after->pair.at_ns - before->pair.at_ns) / 2;
        int64_t offset_ns = before->pair.ahead_ns + (after->pair.ahead_ns - before->pair.ahead_ns) / 2;
        double global_ns = (double)(time_ns + offset_ns);
        if (!of->is_cut || (global_ns >= of->cut_from_ns && global_ns <= of->cut_to_ns))
            add_point(sheet, name, fmax(global_ns, 0), trace_bound_ns(process, time_ns), NAN, NAN);
    }
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
            width.widest_ns = fmax(width.widest_ns, process->records[i].pair.bound_ns);
        if (process->record_count > 0)
            widths[count++] = width;
    }
    qsort(widths, (size_t)count, sizeof widths[0], by_width);
    return count;
}

static void print_bounds(page_t *page, const trace *of)
{
    width_t *widths = or_exit(calloc((size_t)of->size + 1, sizeof widths[0]));
    int ranks = sort_by_width(of, widths);
    sheet_t sheet = curves_sheet();
    for (int i = 0; i < ranks && i < MAX_CURVES; i++)
        add_bounds(&sheet, of, widths[i].rank);
    free(widths);
    if (sheet.row_count > 0) {
        draw(page, &sheet, "Bound of the global clock", "time from the end of MPI_Init",
             "no more than this from rank 0");
    } else {
        sheet_free(&sheet);
        fprintf(page->file, "<p>There is no record of the clock%s.</p>\n",
                of->is_cut ? " in this part of the run" : "");
    }
}

/* ---- Sections */

static void begin(const page_t *page, const char *id, const char *title, const char *text)
{
    fprintf(page->file, "<section id=\"%s\">\n<h2>%s</h2>\n<p>%s</p>\n", id, title, text);
}

/* Draws what gantt_data made, and says what is left out. */
static void draw_lanes(page_t *page, const trace *of, json_t *data, size_t step)
{
    const size_t drawn = json_array_size(json_object_get(data, "lanes"));
    page_draw(page, data);
    if (drawn < of->location_count)
        fprintf(page->file, "<p>There are too many threads: %zu of %zu are shown.</p>\n", drawn, of->location_count);
    if (step > 1)
        fprintf(page->file, "<p>There are too many messages: one of %zu is shown.</p>\n", step);
}

/* The causes that have a sentence, whose links lead here. */
static void print_worst(page_t *page, const findings_t *found, int causes)
{
    for (int i = 0; i < causes; i++) {
        size_t step = 1;
        json_t *data = worst_data(&found->waits, &found->matches, (size_t)i, &step);
        fprintf(page->file, "<div id=\"cause-%d\">\n", i + 1);
        draw_lanes(page, &found->of, data, step);
        fputs("</div>\n", page->file);
    }
}

static void print_ended(page_t *page, const trace *of)
{
    char *ended = ended_say(of);
    for (char *line = ended, *end; (end = strchr(line, '\n')); line = end + 1) {
        *end = '\0';
        fputs("<p>", page->file);
        page_text(page, line);
        fputs("</p>\n", page->file);
    }
    free(ended);
}

static void print_waits(page_t *page, const findings_t *found)
{
    answer_t answer;
    static const char *const shown[] = {"cause",   "rank", "does", "charged_ns", "of_run_percent",
                                        "gain_ns", "from", "to",   NULL};
    answer_make(&answer, &found->waits);
    fputs("<section id=\"waits\">\n<h2>Who waits for whom</h2>\n", page->file);
    print_ended(page, &found->of);
    for (int i = 0; i < answer.count; i++) {
        fputs("<p>", page->file);
        page_text(page, answer.sentences[i].text);
        if (answer.sentences[i].kind == ANSWER_CAUSE)
            fprintf(page->file, " <a href=\"#cause-%zu\">When others wait longest for it</a>",
                    answer.sentences[i].cause + 1);
        if (answer.sentences[i].kind == ANSWER_UNSEEN)
            fputs(" They may wait for other ranks, and the trace does not tell for which.", page->file);
        fputs("</p>\n", page->file);
    }
    json_t *overview = overview_data(&found->waits, answer.causes);
    if (overview)
        page_draw(page, overview);
    print_table(page, found, tables_short_causes, "Causes of waits, the greatest first", shown);
    print_table(page, found, tables_waits, "Waits by call site, the longest first", NULL);
    print_worst(page, found, answer.causes);
    fputs("</section>\n", page->file);
}

static void print_sites(page_t *page, const findings_t *found)
{
    static const char *const shown[] = {"site",     "function",  "ranks",        "calls",   "spread_median_ns",
                                        "bound_ns", "last_rank", "last_percent", "wait_ns", "pattern",
                                        "place",    NULL};
    begin(
        page, "sites", "Arrivals at collective calls",
        "The spread is the time from the first arrival to the last. A spread that is not above the bound of the clock "
        "may be an error of the clock. A pattern is what mpix_bench --arrival imposes.");
    print_spreads(page, found);
    print_table(page, found, tables_sites, "Call sites, where processes waited longest first", shown);
    fputs("</section>\n", page->file);
}

static void print_gantt(page_t *page, const findings_t *found, const interval_t *interval, const gantt_lanes_t *lanes)
{
    size_t step = 1;
    begin(page, "gantt", "An interval in detail",
          "A bar is a call, a line a message from the beginning of its send to the end of its receive.");
    if (interval) {
        json_t *data = gantt_data(&found->of, &found->matches, lanes, *interval, &step);
        draw_lanes(page, &found->of, data, step);
    } else {
        fputs("<p>There are no calls.</p>\n", page->file);
    }
    fputs("</section>\n", page->file);
}

static void print_others(page_t *page, const findings_t *found)
{
    sheet_t processes = process_sheet(&found->of);
    begin(page, "functions", "Time in MPI", "Of the function clock: what synchronizing the clock for the trace took.");
    print_table(page, found, tables_functions, "Time by function: mean, minimum and maximum of the ranks", NULL);
    fputs("</section>\n", page->file);
    begin(page, "clock", "The clock", "How far global times of a rank are from those of rank 0, at most.");
    print_bounds(page, &found->of);
    page_folded(page, &processes, "How it was recorded", true);
    fputs("</section>\n", page->file);
    sheet_free(&processes);
}

static int count_hosts(const trace *of)
{
    char host[128], other[128];
    int count = 0;
    for (int rank = 0; rank < of->size; rank++) {
        bool is_new = true;
        trace_text(&of->processes[rank], "host", host, sizeof host);
        for (int i = 0; i < rank && is_new; i++)
            is_new = strcmp(host, trace_text(&of->processes[i], "host", other, sizeof other)) != 0;
        count += is_new;
    }
    return count;
}

/* What ran, where, with which MPI library, and when, as far as it is known. */
static void name_run(char *title, size_t title_bytes, const trace *of)
{
    const trace_process *first = &of->processes[0];
    char command[256], host[128], mpi[128], epoch[64], date[32] = "";
    int64_t epoch_ns = 0;
    const int hosts = count_hosts(of);
    trace_text(first, "command", command, sizeof command);
    trace_text(first, "host", host, sizeof host);
    trace_text(first, "mpi", mpi, sizeof mpi);
    for (size_t end = strlen(command); end > 0 && command[end - 1] == ' ';)
        command[--end] = '\0';
    snprintf(title, title_bytes, "%s: %d rank%s", command[0] ? command : "Trace", of->size, of->size == 1 ? "" : "s");
    if (hosts == 1 && host[0])
        text_append(title, title_bytes, " on %s", host);
    else if (hosts > 1)
        text_append(title, title_bytes, " on %d hosts", hosts);
    if (mpi[0])
        text_append(title, title_bytes, ", %s", mpi);
    trace_text(first, "mpix_harmonize_clock_epoch_unix_ns", epoch, sizeof epoch);
    const time_t second = mh_parse_whole(epoch, &epoch_ns) == 0 ? (time_t)(epoch_ns / MH_NS_PER_S) : 0;
    struct tm day;
    if (second > 0 && gmtime_r(&second, &day) && strftime(date, sizeof date, "%Y-%m-%d", &day) > 0)
        text_append(title, title_bytes, ", %s", date);
    text_one_line(title);
}

void trace_page_print(FILE *file, const findings_t *found, const char *title, const interval_t *interval,
                      const gantt_lanes_t *lanes)
{
    char run[TITLE_BYTES];
    name_run(run, sizeof run, &found->of);
    page_t page = page_begin(file, "mpix_trace_report", title ? title : run);
    fputs("<nav aria-label=\"Contents\"><ul>\n<li><a href=\"#waits\">Who waits for whom</a></li>\n"
          "<li><a href=\"#sites\">Arrivals at collective calls</a></li>\n"
          "<li><a href=\"#gantt\">An interval in detail</a></li>\n<li><a href=\"#functions\">Time in MPI</a></li>\n"
          "<li><a href=\"#clock\">The clock</a></li>\n</ul></nav>\n",
          file);
    page_main(&page);
    print_waits(&page, found);
    print_sites(&page, found);
    print_gantt(&page, found, interval, lanes);
    print_others(&page, found);
    page_end(&page);
}
