/* SPDX-License-Identifier: BSD-3-Clause */
/* worst.c - choose an interval around the worst instance of a cause, and mark what is in it. */
#include "common/cli/memory.h"
#include "trace/report/answer.h"
#include "trace/report/page.h"

#include <math.h>

/* What is seen beside the instance, as a part of it. */
#define MARGIN 0.2
enum { TEXT_BYTES = PLACE_BYTES + 64 };

/* If there are too many calls, those before the end of the instance, where others wait. */
static interval_t choose_interval(const trace *of, const gantt_lanes_t *lanes, const cause *cause)
{
    const double from_ns = (double)cause->worst_begin_ns, to_ns = (double)cause->worst_end_ns;
    const double margin_ns = fmax(MARGIN * (to_ns - from_ns), 1);
    interval_t chosen = {from_ns - margin_ns, to_ns + margin_ns}, fitting = chosen;
    while (gantt_fit(of, lanes, &fitting) && chosen.to_ns - chosen.from_ns > 2) {
        const double half_ns = (chosen.to_ns - chosen.from_ns) / 2;
        chosen = (interval_t){fmax(chosen.from_ns, to_ns - half_ns * 0.8), fmin(chosen.to_ns, to_ns + half_ns * 0.2)};
        fitting = chosen;
    }
    return fitting;
}

static void add_mark(json_t *marks, int row, int64_t from_ns, int64_t to_ns, bool is_cause, const char *text,
                     const interval_t *seen)
{
    const double begin_ns = (double)from_ns, end_ns = (double)to_ns;
    if (row < 0 || end_ns < seen->from_ns || begin_ns > seen->to_ns)
        return;
    json_array_append_new(marks, or_exit(json_pack("[i, f, f, b, o]", row, begin_ns - seen->from_ns, end_ns - begin_ns,
                                                   is_cause, json_text(text))));
}

static json_t *list_marks(const wait_analysis *of, const gantt_lanes_t *lanes, const cause *cause,
                          const interval_t *seen)
{
    json_t *marks = or_exit(json_array());
    char text[TEXT_BYTES], place[PLACE_BYTES];
    answer_place(place, &of->graph, cause->key.to);
    snprintf(text, sizeof text, "%s %s", cause->key.is_call ? "in" : "before", place);
    add_mark(marks, lanes->rows[cause->worst_lane], cause->worst_begin_ns, cause->worst_end_ns, true, text, seen);
    for (size_t i = 0; i < of->waits.count; i++) {
        const graph_wait *wait = &of->waits.list[i];
        snprintf(text, sizeof text, "%s, for rank %d", wait_state_names[wait->state],
                 of->graph.lanes[wait->late_lane].location->rank);
        add_mark(marks, lanes->rows[wait->lane], wait->begin_ns, wait->end_ns, false, text, seen);
    }
    return marks;
}

typedef struct {
    size_t count;
    size_t *waits;
} wait_chain;

/* A line for each wait of the chain: from what it waited for to where it ended. */
static json_t *list_chain(const wait_analysis *of, const gantt_lanes_t *lanes, const wait_chain *chain,
                          const interval_t *seen)
{
    json_t *lines = or_exit(json_array());
    for (size_t i = 0; i < chain->count; i++) {
        const graph_wait *wait = &of->waits.list[chain->waits[i]];
        const int64_t late_ns = of->graph.lanes[wait->late_lane].calls[wait->late_call].enter_ns;
        const int late_row = lanes->rows[wait->late_lane], row = lanes->rows[wait->lane];
        if (late_row >= 0 && row >= 0 && (double)wait->end_ns <= seen->to_ns)
            json_array_append_new(
                lines, or_exit(json_pack("[i, f, i, f, s]", late_row, (double)late_ns - seen->from_ns, row,
                                         (double)wait->end_ns - seen->from_ns, wait_state_names[wait->state])));
    }
    return lines;
}

/* The lane of the cause, and those that wait for it, from the first one on. */
static gantt_lanes_t choose_lanes(const wait_analysis *of, const cause *cause, const wait_chain *chain)
{
    size_t *wanted = or_exit(malloc((chain->count + 1) * sizeof *wanted));
    wanted[0] = cause->worst_lane;
    for (size_t i = 0; i < chain->count; i++)
        wanted[i + 1] = of->waits.list[chain->waits[i]].lane;
    const gantt_lanes_t lanes = gantt_choose_lanes(of->graph.of, wanted, chain->count + 1);
    free(wanted);
    return lanes;
}

json_t *worst_data(const wait_analysis *of, const trace_matches *matches, size_t place, size_t *message_step)
{
    const cause *cause = of->order[place];
    const int64_t length_ns = cause->worst_end_ns - cause->worst_begin_ns;
    wait_chain chain;
    chain.waits = chain_find(&of->graph, &of->waits, cause, cause->worst_end_ns + length_ns, &chain.count);
    const gantt_lanes_t lanes = choose_lanes(of, cause, &chain);
    const interval_t seen = choose_interval(of->graph.of, &lanes, cause);
    json_t *data = gantt_data(of->graph.of, matches, &lanes, seen, message_step);
    json_object_set_new(
        data, "title",
        or_exit(json_sprintf("Cause %zu: rank %d, when others wait longest for it", place + 1, cause->key.rank)));
    json_object_set_new(data, "chain", list_chain(of, &lanes, &chain, &seen));
    json_object_set_new(data, "marks", list_marks(of, &lanes, cause, &seen));
    free(lanes.rows);
    free(chain.waits);
    return data;
}
