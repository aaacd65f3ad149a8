/* SPDX-License-Identifier: BSD-3-Clause */
/* overview.c - add up times in the cells of a picture: a row for one or several threads, a column for a time. */
#include "trace/report/page.h"

/* A page has some hundred kilobytes of it at most. */
enum { COLUMNS = 500, MAX_ROWS = 200 };

/* What a thread does, beside computing. */
typedef enum { WAITS, IS_LATE, CALLS, RUNS, STATES } state;

typedef struct {
    const graph *of;
    double column_ns;
    size_t lanes_per_row, row_count;
    double (*ns)[STATES][COLUMNS]; /* by row */
} picture;

static picture begin_picture(const graph *of)
{
    const size_t per_row = (of->lane_count + MAX_ROWS - 1) / MAX_ROWS;
    picture made = {.of = of,
                    .column_ns = (double)(of->end_ns - of->begin_ns) / COLUMNS,
                    .lanes_per_row = per_row,
                    .row_count = (of->lane_count + per_row - 1) / per_row};
    made.ns = or_exit(calloc(made.row_count, sizeof *made.ns));
    return made;
}

static void add_time(picture *to, size_t lane, state what, int64_t from_ns, int64_t to_ns)
{
    double *columns = to->ns[lane / to->lanes_per_row][what];
    double from = (double)(from_ns - to->of->begin_ns) / to->column_ns;
    const double end = (double)(to_ns - to->of->begin_ns) / to->column_ns;
    for (int at = (int)from; from < end && at < COLUMNS; from = ++at)
        columns[at] += ((end < at + 1 ? end : at + 1) - from) * to->column_ns;
}

/* What is late is the end of a computation, or of a call. */
static void add_call(picture *to, const wait_analysis *waits, size_t lane, const graph_call *call, int64_t free_ns)
{
    const graph_delay *before = graph_delay_at(to->of, call->delay_before);
    const graph_delay *in = graph_delay_at(to->of, call->delay_in);
    int64_t late_from_ns = call->enter_ns - before->late_ns, begin_ns = call->enter_ns;
    if (before->charged_ns > 0)
        add_time(to, lane, IS_LATE, late_from_ns > free_ns ? late_from_ns : free_ns, call->enter_ns);
    if (call->wait != GRAPH_NONE) {
        const graph_wait *wait = &waits->waits.list[call->wait];
        add_time(to, lane, WAITS, wait->begin_ns, wait->end_ns);
        add_time(to, lane, CALLS, begin_ns, wait->begin_ns);
        begin_ns = wait->end_ns;
    }
    late_from_ns = call->leave_ns - (in->charged_ns > 0 ? in->late_ns : 0);
    late_from_ns = late_from_ns > begin_ns ? late_from_ns : begin_ns;
    add_time(to, lane, CALLS, begin_ns, late_from_ns);
    add_time(to, lane, IS_LATE, late_from_ns, call->leave_ns);
}

static void add_lane(picture *to, const wait_analysis *waits, size_t index)
{
    const graph_lane *lane = &to->of->lanes[index];
    int64_t free_ns = lane->begin_ns;
    if (graph_runs(lane))
        add_time(to, index, RUNS, lane->begin_ns, lane->end_ns);
    for (size_t i = 0; i < lane->count; i++) {
        add_call(to, waits, index, &lane->calls[i], free_ns);
        free_ns = lane->calls[i].leave_ns;
    }
}

/* ---- Data of the picture */

/* Shares of a row's time, from 0 to 61, as a digit or letter for each column. What there is at all is not 0. */
static json_t *row_text(const double ns[COLUMNS], double whole_ns)
{
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    char text[COLUMNS + 1] = "";
    for (int i = 0; i < COLUMNS; i++) {
        const double share = ns[i] / whole_ns;
        text[i] = digits[share > 0 ? 1 + (int)(60 * (share < 1 ? share : 1)) : 0];
    }
    return or_exit(json_stringn(text, COLUMNS));
}

static json_t *list_rows(const picture *of)
{
    json_t *rows = or_exit(json_array());
    for (size_t row = 0; row < of->row_count; row++) {
        const size_t left = of->of->lane_count - row * of->lanes_per_row;
        const double lanes = (double)(left < of->lanes_per_row ? left : of->lanes_per_row);
        json_t *states = or_exit(json_array());
        for (state what = 0; what < STATES; what++)
            json_array_append_new(states, row_text(of->ns[row][what], lanes * of->column_ns));
        json_array_append_new(rows, states);
    }
    return rows;
}

/* The first and the last thread of each row. */
static json_t *list_names(const picture *of)
{
    json_t *names = or_exit(json_array());
    for (size_t row = 0; row < of->row_count; row++) {
        const size_t first = row * of->lanes_per_row, next = first + of->lanes_per_row;
        const size_t last = (next < of->of->lane_count ? next : of->of->lane_count) - 1;
        json_array_append_new(names, or_exit(json_pack("[o, o]", gantt_lane_name(of->of->lanes[first].location),
                                                       gantt_lane_name(of->of->lanes[last].location))));
    }
    return names;
}

static json_t *list_links(const picture *of, const wait_analysis *waits, int linked)
{
    json_t *links = or_exit(json_array());
    for (int i = 0; i < linked; i++) {
        const cause *at = waits->order[i];
        json_array_append_new(links, or_exit(json_pack("[I, f, f]", (json_int_t)(at->worst_lane / of->lanes_per_row),
                                                       (double)(at->worst_begin_ns - of->of->begin_ns),
                                                       (double)(at->worst_end_ns - of->of->begin_ns))));
    }
    return links;
}

json_t *overview_data(const wait_analysis *of, int linked)
{
    if (of->graph.is_too_long || of->graph.end_ns <= of->graph.begin_ns || of->graph.lane_count == 0)
        return NULL;
    picture picture = begin_picture(&of->graph);
    for (size_t lane = 0; lane < of->graph.lane_count; lane++)
        add_lane(&picture, of, lane);
    json_t *data = or_exit(json_pack(
        "{s:s, s:s, s:s, s:s, s:f, s:f, s:o, s:o, s:o}", "type", "overview", "title", "The whole run", "xTitle",
        "time from the end of MPI_Init, by the global clock", "laneTitle", "rank", "from",
        (double)of->graph.begin_ns - of->graph.of->zero_ns, "to", (double)of->graph.end_ns - of->graph.of->zero_ns,
        "names", list_names(&picture), "rows", list_rows(&picture), "links", list_links(&picture, of, linked)));
    free(picture.ns);
    return data;
}
