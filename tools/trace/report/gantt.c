/* SPDX-License-Identifier: BSD-3-Clause */
/* gantt.c - choose an interval that can be drawn, and draw it. */
#include "trace/report/gantt.h"

#include "page/html.h"
#include "page/svg.h"
#include "trace/report/profile.h"
#include "trace/report/sites.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A page stays below some megabytes with so many. */
enum { MAX_BARS = 6000, MAX_LINES = 3000, USUAL_CALLS_PER_LANE = 24, USUAL_CALLS = 1500 };
enum { COLORS = 10, TOP = 14, LEFT = 64, RIGHT_MARGIN = 32, BOTTOM_MARGIN = 54, MAX_LANE = 24, MIN_LANE = 3 };
/* All lanes together are about as high, if there are so many that they have to be low. */
#define USUAL_HEIGHT 600.0

typedef struct bar {
    const trace_location *location;
    span_t span;
} bar_t;

/* As many as there are; kept only where there is room for a list. */
typedef struct bar_list {
    size_t count;
    bar_t *list;
} bar_list_t;

typedef struct chart {
    FILE *file;
    const trace *of;
    interval_t interval;
    frame_t frame;
    axis_t axis;
    double lane_height;
    bar_list_t bars;
} chart_t;

/* ---- Calls. The lane of a location is its index */

static bool is_within(const interval_t *interval, const trace_location *location, const span_t *span)
{
    return location->global_ns[span->leave] >= interval->from_ns && location->global_ns[span->enter] < interval->to_ns;
}

static bool take_location(const interval_t *interval, const trace_location *location, bar_list_t *bars)
{
    span_walk_t walk;
    span_t span;
    bool good = span_begin(&walk, location);
    while (good && span_next(&walk, &span)) {
        if (!is_within(interval, location, &span))
            continue;
        if (bars->list)
            bars->list[bars->count] = (bar_t){location, span};
        bars->count++;
    }
    span_end(&walk);
    return good;
}

/* Counts the calls in an interval, and keeps them if there is a list. False without memory. */
static bool take_bars(const trace *of, const interval_t *interval, bar_list_t *bars)
{
    bars->count = 0;
    for (const trace_location *at = NULL; (at = trace_next_location(of, at)) != NULL;)
        if (!take_location(interval, at, bars))
            return false;
    return true;
}

static bool list_bars(const trace *of, const interval_t *interval, bar_list_t *bars)
{
    *bars = (bar_list_t){0};
    if (!take_bars(of, interval, bars))
        return false;
    bars->list = calloc(bars->count + 1, sizeof bars->list[0]);
    return bars->list && take_bars(of, interval, bars);
}

/* ---- Intervals */

static bool sets_up(const char *name)
{
    return strncmp(name, "MPI_Init", strlen("MPI_Init")) == 0 || strcmp(name, "clock") == 0;
}

static int by_enter(const void *left, const void *right)
{
    const bar_t *a = left, *b = right;
    double a_ns = a->location->global_ns[a->span.enter], b_ns = b->location->global_ns[b->span.enter];
    return (a_ns > b_ns) - (a_ns < b_ns);
}

bool gantt_usual(const trace *of, interval_t *interval)
{
    const interval_t all = {-INFINITY, INFINITY};
    size_t kept = 0, wanted = of->location_count * USUAL_CALLS_PER_LANE;
    bar_list_t bars;
    if (!list_bars(of, &all, &bars)) {
        free(bars.list);
        return false;
    }
    for (size_t i = 0; i < bars.count; i++)
        if (!sets_up(of->names[bars.list[i].span.id]) && !bars.list[i].span.is_open)
            bars.list[kept++] = bars.list[i];
    qsort(bars.list, kept, sizeof bars.list[0], by_enter);
    if (wanted > USUAL_CALLS)
        wanted = USUAL_CALLS;
    *interval = (interval_t){INFINITY, -INFINITY};
    for (size_t i = 0; i < kept && i < wanted; i++) {
        const bar_t *bar = &bars.list[i];
        interval->from_ns = fmin(interval->from_ns, bar->location->global_ns[bar->span.enter]);
        interval->to_ns = fmax(interval->to_ns, bar->location->global_ns[bar->span.leave]);
    }
    free(bars.list);
    return kept > 0;
}

bool gantt_fit(const trace *of, interval_t *interval)
{
    bool is_short = true;
    for (bar_list_t bars = {0}; take_bars(of, interval, &bars) && bars.count > MAX_BARS; is_short = false) {
        double part = fmin(0.9, (double)MAX_BARS / (double)bars.count);
        double length_ns = interval->to_ns - interval->from_ns;
        if (!(length_ns > 1))
            break;
        interval->to_ns = interval->from_ns + part * length_ns;
    }
    return !is_short;
}

/* ---- Drawing */

static double x_of(const chart_t *chart, double global_ns)
{
    double part = axis_place(&chart->axis, global_ns - chart->interval.from_ns);
    return chart->frame.left + fmin(fmax(part, 0), 1) * (chart->frame.right - chart->frame.left);
}

static double y_of(const chart_t *chart, size_t lane)
{
    return chart->frame.top + chart->lane_height * (double)lane;
}

/* What a call sent, received, or took part in first. */
static void print_partner(const chart_t *chart, const bar_t *bar)
{
    const trace_process *process = &chart->of->processes[bar->location->rank];
    char bytes[VALUE_BYTES];
    /* A call that was never left seems to contain all later ones. */
    for (size_t i = bar->span.enter; !bar->span.is_open && i <= bar->span.leave; i++) {
        const trace_event *event = &bar->location->events[i];
        int partner = event->kind == TRACE_SEND || event->kind == TRACE_RECEIVE || event->kind == TRACE_COLLECTIVE
                          ? trace_partner(process, event)
                          : -1;
        if (partner < 0)
            continue;
        value_text((double)event->value, UNIT_BYTES, bytes);
        if (event->kind == TRACE_COLLECTIVE)
            fprintf(chart->file, "\nroot %d, %s", partner, bytes);
        else
            fprintf(chart->file, "\n%s rank %d, tag %d, %s", event->kind == TRACE_SEND ? "to" : "from", partner,
                    event->tag, bytes);
        return;
    }
}

static void print_bar(const chart_t *chart, const bar_t *bar, const char *name)
{
    double enter_ns = bar->location->global_ns[bar->span.enter], leave_ns = bar->location->global_ns[bar->span.leave];
    double left = x_of(chart, enter_ns), right = x_of(chart, leave_ns), margin = chart->lane_height > 8 ? 3 : 0.5;
    char from[VALUE_BYTES], took[VALUE_BYTES];
    margin += fmin(2, chart->lane_height / 8) * fmin(bar->span.depth, 2);
    value_text(enter_ns - chart->interval.from_ns, UNIT_TIME, from);
    value_text(leave_ns - enter_ns, UNIT_TIME, took);
    fprintf(
        chart->file,
        "<rect class=\"call\" x=\"%.4f\" y=\"%.2f\" width=\"%.4f\" height=\"%.2f\" data-rank=\"%d\" data-from=\"%.0f\" "
        "data-took=\"%.0f\"><title>",
        left, y_of(chart, bar->location->index) + margin, right - left, chart->lane_height - 2 * margin,
        bar->location->rank, enter_ns - chart->interval.from_ns, leave_ns - enter_ns);
    html_text(chart->file, name);
    fprintf(chart->file, "\nrank %d, %s from %s%s", bar->location->rank, took, from,
            bar->span.is_open ? ", never left" : "");
    print_partner(chart, bar);
    fputs("</title></rect>\n", chart->file);
}

/* The bars of a function, so that a click on its name hides them. Outer calls are drawn first. */
static void print_function(const chart_t *chart, uint16_t id, int number)
{
    fprintf(chart->file, "<g class=\"series c%d\" data-series=\"", number % COLORS);
    html_text(chart->file, chart->of->names[id]);
    fputs("\">\n<g class=\"shapes\">\n", chart->file);
    for (size_t i = 0; i < chart->bars.count; i++)
        if (chart->bars.list[i].span.id == id)
            print_bar(chart, &chart->bars.list[i], chart->of->names[id]);
    fputs("</g>\n</g>\n", chart->file);
}

/* The lines of an interval. */
typedef struct line {
    const trace_location *source, *destination;
    double send_ns, receive_ns;
} line_t;

static bool find_line(const chart_t *chart, const trace_message *message, line_t *line)
{
    line->source = trace_find_location(chart->of, message->source, message->source_thread);
    line->destination = trace_find_location(chart->of, message->destination, message->destination_thread);
    line->send_ns = line->source->global_ns[message->send];
    line->receive_ns = line->destination->global_ns[message->receive];
    return fmax(line->send_ns, line->receive_ns) >= chart->interval.from_ns &&
           fmin(line->send_ns, line->receive_ns) < chart->interval.to_ns;
}

static void print_line(const chart_t *chart, const trace_message *message, const line_t *line)
{
    double middle = chart->lane_height / 2;
    char bytes[VALUE_BYTES], took[VALUE_BYTES];
    value_text((double)line->source->events[message->send].value, UNIT_BYTES, bytes);
    value_text(line->receive_ns - line->send_ns, UNIT_TIME, took);
    fprintf(chart->file,
            "<path class=\"call line\" d=\"M%.4f %.2fL%.4f %.2f\"><title>message, %s\nfrom rank %d to rank %d, "
            "%s after its send began</title></path>\n",
            x_of(chart, line->send_ns), y_of(chart, line->source->index) + middle, x_of(chart, line->receive_ns),
            y_of(chart, line->destination->index) + middle, bytes, message->source, message->destination, took);
}

/* If there are too many messages, only every n-th is drawn, so that all ranks have some. Returns n. */
static size_t print_messages(const chart_t *chart, const trace_matches *matches)
{
    size_t count = 0, drawn = 0;
    line_t line;
    for (size_t i = 0; i < matches->message_count; i++)
        count += find_line(chart, &matches->messages[i], &line);
    const size_t step = count / MAX_LINES + (count % MAX_LINES != 0);
    fputs("<g class=\"series\" data-series=\"messages\">\n<g class=\"shapes\">\n", chart->file);
    for (size_t i = 0; i < matches->message_count; i++)
        if (find_line(chart, &matches->messages[i], &line) && drawn++ % step == 0)
            print_line(chart, &matches->messages[i], &line);
    fputs("</g>\n</g>\n", chart->file);
    return step;
}

static void print_lanes(const chart_t *chart)
{
    size_t each = (size_t)ceil(16 / chart->lane_height);
    fputs("<g class=\"names\">\n", chart->file);
    for (const trace_location *at = NULL; (at = trace_next_location(chart->of, at)) != NULL;) {
        if (at->index % each != 0)
            continue;
        fprintf(chart->file, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%d", LEFT - 8,
                y_of(chart, at->index) + chart->lane_height / 2 + 4, at->rank);
        if (chart->of->processes[at->rank].location_count > 1)
            fprintf(chart->file, ".%d", at->thread);
        fputs("</text>\n", chart->file);
    }
    fprintf(chart->file, "</g>\n<path class=\"frame\" d=\"M%g %gV%gH%g\"/>\n", chart->frame.left, chart->frame.top,
            chart->frame.bottom, chart->frame.right);
    fprintf(chart->file,
            "<text class=\"title\" transform=\"translate(16 %g) rotate(-90)\" text-anchor=\"middle\">rank</text>\n",
            (chart->frame.top + chart->frame.bottom) / 2);
}

static void print_key(const chart_t *chart, const char *name, int number, bool is_line)
{
    fprintf(chart->file, "<li class=\"c%d\"><svg class=\"key\" viewBox=\"0 0 28 12\" aria-hidden=\"true\">",
            number % COLORS);
    fputs(is_line ? "<path class=\"call line\" d=\"M1 11L27 1\"/>"
                  : "<rect class=\"call\" x=\"2\" y=\"1\" width=\"24\" height=\"10\"/>",
          chart->file);
    fputs("</svg> <span>", chart->file);
    html_text(chart->file, name);
    fputs("</span></li>\n", chart->file);
}

static void print_legend(const chart_t *chart, const uint16_t *ids, int count, bool has_messages)
{
    fputs("<ul class=\"legend\">\n", chart->file);
    for (int i = 0; i < count; i++)
        print_key(chart, chart->of->names[ids[i]], i, false);
    if (has_messages)
        print_key(chart, "messages", 0, true);
    fputs("</ul>\n", chart->file);
}

/* The functions in the interval, in the order of their ids. */
static int find_functions(const chart_t *chart, uint16_t *ids)
{
    int count = 0;
    for (size_t id = 0; id < chart->of->name_count; id++) {
        bool is_there = false;
        for (size_t i = 0; i < chart->bars.count && !is_there; i++)
            is_there = chart->bars.list[i].span.id == id;
        if (is_there)
            ids[count++] = (uint16_t)id;
    }
    return count;
}

static void set_frame(chart_t *chart)
{
    double lanes = (double)chart->of->location_count;
    chart->lane_height = fmin(MAX_LANE, fmax(MIN_LANE, USUAL_HEIGHT / fmax(lanes, 1)));
    chart->frame = (frame_t){LEFT, SVG_WIDTH - RIGHT_MARGIN, TOP, TOP + chart->lane_height * lanes, 0};
    chart->frame.height = (int)chart->frame.bottom + BOTTOM_MARGIN;
    chart->axis = (axis_t){.unit = UNIT_TIME, .max = fmax(chart->interval.to_ns - chart->interval.from_ns, 1)};
}

static void draw(const chart_t *chart, const trace_matches *matches, const char *clock, const uint16_t *ids,
                 int functions, int number)
{
    char from[VALUE_BYTES], title[128];
    snprintf(from, sizeof from, "%.9f", (chart->interval.from_ns - chart->of->zero_ns) / 1e9);
    svg_open(chart->file, "Calls and messages", number, &chart->frame);
    svg_axis(chart->file, &chart->frame, &chart->axis, true);
    print_lanes(chart);
    snprintf(title, sizeof title, "time after %s s from the end of MPI_Init, by %s", from, clock);
    fprintf(chart->file, "<text class=\"title\" x=\"%g\" y=\"%d\" text-anchor=\"middle\">",
            (chart->frame.left + chart->frame.right) / 2, chart->frame.height - 10);
    html_text(chart->file, title);
    fprintf(chart->file, "</text>\n<g clip-path=\"url(#clip-%d)\">\n", number);
    for (int i = 0; i < functions; i++)
        print_function(chart, ids[i], i);
    size_t step = print_messages(chart, matches);
    fputs("</g>\n</svg>\n", chart->file);
    print_legend(chart, ids, functions, true);
    fputs("</figure>\n", chart->file);
    if (step > 1)
        fprintf(chart->file, "<p>There are too many messages: one of %zu is shown.</p>\n", step);
}

bool gantt_figure(FILE *file, const trace *of, const trace_matches *matches, interval_t interval, const char *clock,
                  int number)
{
    chart_t chart = {.file = file, .of = of, .interval = interval};
    uint16_t *ids = calloc(of->name_count + 1, sizeof ids[0]);
    bool good = list_bars(of, &interval, &chart.bars) && ids;
    if (good) {
        set_frame(&chart);
        draw(&chart, matches, clock, ids, find_functions(&chart, ids), number);
    }
    free(chart.bars.list);
    free(ids);
    return good;
}
