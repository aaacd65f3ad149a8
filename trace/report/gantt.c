/* SPDX-License-Identifier: BSD-3-Clause */
/* gantt.c - choose an interval that can be drawn, and list what is in it. */
#include "trace/report/page.h"

#include "common/cli/memory.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* A page stays below some megabytes with so many. */
enum { MAX_BARS = 6000, MAX_LINES = 3000, MAX_LANES = 96, USUAL_CALLS_PER_LANE = 24, USUAL_CALLS = 1500 };
enum { TEXT_BYTES = 96 };

typedef struct bar {
    const trace_location *location;
    span_t span;
} bar_t;

typedef struct bar_list {
    size_t count;
    bar_t *list;
} bar_list_t;

/* ---- Lanes */

static void take_lane(gantt_lanes_t *lanes, size_t index)
{
    lanes->count += lanes->rows[index] < 0;
    lanes->rows[index] = 0;
}

gantt_lanes_t gantt_choose_lanes(const trace *of, const size_t *wanted, size_t wanted_count)
{
    const size_t count = of->location_count;
    gantt_lanes_t lanes = {.rows = or_exit(malloc((count + 1) * sizeof *lanes.rows))};
    for (size_t i = 0; i < count; i++)
        lanes.rows[i] = -1;
    for (size_t i = 0; i < wanted_count && lanes.count < MAX_LANES / 2; i++)
        take_lane(&lanes, wanted[i]);
    const size_t others = count <= MAX_LANES ? count : MAX_LANES - lanes.count;
    for (size_t i = 0; i < others; i++)
        take_lane(&lanes, i * count / others);
    /* Rows are in the order of locations. */
    for (size_t i = 0, row = 0; i < count; i++)
        if (lanes.rows[i] >= 0)
            lanes.rows[i] = (int)row++;
    return lanes;
}

static bool is_drawn(const gantt_lanes_t *lanes, const trace_location *location)
{
    return lanes->rows[location->index] >= 0;
}

/* ---- Calls */

static bool is_within(const interval_t *interval, const trace_location *location, const span_t *span)
{
    return location->global_ns[span->leave] >= interval->from_ns && location->global_ns[span->enter] < interval->to_ns;
}

/* The calls in an interval, into a list if it is not NULL. Returns how many. */
static size_t take_bars(const trace *of, const gantt_lanes_t *lanes, const interval_t *interval, bar_t *list)
{
    size_t count = 0;
    span_t span;
    for (const trace_location *at = NULL; (at = trace_next_location(of, at));) {
        span_walk_t walk = {.location = at};
        while (is_drawn(lanes, at) && span_next(&walk, &span)) {
            if (!is_within(interval, at, &span))
                continue;
            if (list)
                list[count] = (bar_t){at, span};
            count++;
        }
    }
    return count;
}

static bar_list_t list_bars(const trace *of, const gantt_lanes_t *lanes, const interval_t *interval)
{
    const size_t count = take_bars(of, lanes, interval, NULL);
    bar_list_t bars = {count, array_or_exit(count, sizeof bars.list[0])};
    take_bars(of, lanes, interval, bars.list);
    return bars;
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

bool gantt_usual(const trace *of, const gantt_lanes_t *lanes, interval_t *interval)
{
    const interval_t all = {-INFINITY, INFINITY};
    size_t kept = 0, wanted = lanes->count * USUAL_CALLS_PER_LANE;
    const bar_list_t bars = list_bars(of, lanes, &all);
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

bool gantt_fit(const trace *of, const gantt_lanes_t *lanes, interval_t *interval)
{
    bool is_short = true;
    for (size_t bars; (bars = take_bars(of, lanes, interval, NULL)) > MAX_BARS; is_short = false) {
        double part = fmin(0.9, (double)MAX_BARS / (double)bars);
        double length_ns = interval->to_ns - interval->from_ns;
        if (!(length_ns > 1))
            break;
        interval->to_ns = interval->from_ns + part * length_ns;
    }
    return !is_short;
}

/* ---- Data of the chart */

/* What a call sent, received, or took part in first; "" for nothing. */
static void write_partner(const bar_t *bar, char text[TEXT_BYTES])
{
    const trace_process *process = bar->location->process;
    snprintf(text, TEXT_BYTES, "%s", bar->span.is_open ? "never left" : "");
    /* A call that was never left seems to contain all later ones. */
    for (size_t i = bar->span.enter; !bar->span.is_open && i <= bar->span.leave; i++) {
        const trace_event *event = &bar->location->events[i];
        bool is_send = event->kind == TRACE_SEND, is_collective = event->kind == TRACE_COLLECTIVE;
        int partner = is_send || is_collective || event->kind == TRACE_RECEIVE ? trace_partner(process, event) : -1;
        if (partner < 0)
            continue;
        if (trace_is_signal(event))
            snprintf(text, TEXT_BYTES, "%s rank %d", is_send ? "to" : "from", partner);
        else if (is_collective)
            snprintf(text, TEXT_BYTES, "root %d, %" PRIu64 " bytes", partner, (uint64_t)event->value);
        else
            snprintf(text, TEXT_BYTES, "%s rank %d, tag %d, %" PRIu64 " bytes", is_send ? "to" : "from", partner,
                     event->tag, (uint64_t)event->value);
        return;
    }
}

static void add(json_t *list, json_t *value)
{
    json_array_append_new(list, or_exit(value));
}

json_t *gantt_lane_name(const trace_location *at)
{
    return or_exit(at->process->location_count > 1 ? json_sprintf("%d.%d", at->rank, at->thread)
                                                   : json_sprintf("%d", at->rank));
}

static json_t *lane_names(const trace *of, const gantt_lanes_t *lanes)
{
    json_t *names = or_exit(json_array());
    for (const trace_location *at = NULL; (at = trace_next_location(of, at)) != NULL;)
        if (is_drawn(lanes, at))
            add(names, gantt_lane_name(at));
    return names;
}

/* The functions in the interval, in the order of their ids, and their calls. Outer calls are drawn first. */
static void list_calls(const trace *of, const gantt_lanes_t *lanes, const bar_list_t *bars, double from_ns,
                       json_t *functions, json_t *calls)
{
    for (size_t id = 0; id < of->name_count; id++) {
        size_t before = json_array_size(calls);
        for (size_t i = 0; i < bars->count; i++) {
            const bar_t *bar = &bars->list[i];
            char text[TEXT_BYTES];
            if (bar->span.id != id)
                continue;
            double enter_ns = bar->location->global_ns[bar->span.enter];
            write_partner(bar, text);
            add(calls, json_pack("[i, I, f, f, i, s]", lanes->rows[bar->location->index],
                                 (json_int_t)json_array_size(functions), enter_ns - from_ns,
                                 bar->location->global_ns[bar->span.leave] - enter_ns, bar->span.depth, text));
        }
        if (json_array_size(calls) > before)
            add(functions, json_text(of->names[id]));
    }
}

/* From the beginning of a send to the end of its receive. */
typedef struct line {
    double send_ns, receive_ns;
} line_t;

static bool find_line(const gantt_lanes_t *lanes, const interval_t *interval, const trace_message *message,
                      line_t *line)
{
    const trace_point *send = &message->send, *receive = &message->receive;
    line->send_ns = send->at->global_ns[send->event];
    line->receive_ns = receive->at->global_ns[receive->event];
    return !trace_is_signal(&send->at->events[send->event]) && is_drawn(lanes, send->at) &&
           is_drawn(lanes, receive->at) && fmax(line->send_ns, line->receive_ns) >= interval->from_ns &&
           fmin(line->send_ns, line->receive_ns) < interval->to_ns;
}

/* If there are too many messages, only every n-th is drawn, so that all ranks have some. *step: n. */
static json_t *list_messages(const trace_matches *matches, const gantt_lanes_t *lanes, const interval_t *interval,
                             size_t *step)
{
    json_t *messages = or_exit(json_array());
    size_t count = 0, drawn = 0;
    line_t line;
    for (size_t i = 0; i < matches->message_count; i++)
        count += find_line(lanes, interval, &matches->messages[i], &line);
    *step = count / MAX_LINES + (count % MAX_LINES != 0);
    for (size_t i = 0; i < matches->message_count; i++) {
        const trace_message *message = &matches->messages[i];
        const trace_location *source = message->send.at, *destination = message->receive.at;
        char text[TEXT_BYTES];
        if (!find_line(lanes, interval, message, &line) || drawn++ % *step != 0)
            continue;
        snprintf(text, sizeof text, "%" PRIu64 " bytes", (uint64_t)source->events[message->send.event].value);
        add(messages, json_pack("[i, f, i, f, s]", lanes->rows[source->index], line.send_ns - interval->from_ns,
                                lanes->rows[destination->index], line.receive_ns - interval->from_ns, text));
    }
    return messages;
}

json_t *gantt_data(const trace *of, const trace_matches *matches, const gantt_lanes_t *lanes, interval_t interval,
                   size_t *message_step)
{
    const bar_list_t bars = list_bars(of, lanes, &interval);
    json_t *functions = or_exit(json_array()), *calls = or_exit(json_array());
    list_calls(of, lanes, &bars, interval.from_ns, functions, calls);
    free(bars.list);
    return or_exit(json_pack(
        "{s:s, s:s, s:o, s:s, s:f, s:o, s:o, s:o, s:o}", "type", "timeline", "title", "Calls and messages", "xTitle",
        json_sprintf("time after %.9f s from the end of MPI_Init, by the global clock",
                     (interval.from_ns - of->zero_ns) / 1e9),
        "laneTitle", "rank", "to", fmax(interval.to_ns - interval.from_ns, 1), "functions", functions, "calls", calls,
        "messages", list_messages(matches, lanes, &interval, message_step), "lanes", lane_names(of, lanes)));
}
