/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * csv.c - a line for each event.
 */
#include "common/cli/memory.h"
#include "common/results/table.h"
#include "trace/read/calls.h"
#include "trace/convert/conversion.h"

#include <inttypes.h>
#include <string.h>

static const column_t columns[] = {
    {"rank", "", ROLE_KEY, TYPE_INTEGER, "the process", NULL, 0, 0, 0},
    {"thread", "", ROLE_KEY, TYPE_INTEGER, "its thread, from 0 in the order of their first calls", NULL, 0, 0, 0},
    {"event", "", ROLE_KEY, TYPE_TEXT,
     "what it is: enter, leave, send, send-done, receive-post, receive, canceled, collective, collective-done, "
     "dropped, ready, arrived; of windows and files: put, get, update (a put that is combined with what is there), "
     "lock-shared, lock-exclusive, unlock, flush, flush-local",
     NULL, 0, 0, 0},
    {"name", "", ROLE_KEY, TYPE_TEXT, "the function or region of the event", NULL, 0, 0, 0},
    {"local_ns", "ns", ROLE_FIGURE, TYPE_INTEGER, "when it happened, by the clock of the process", NULL, 0, 0, 0},
    {"global_ns", "ns", ROLE_FIGURE, TYPE_INTEGER, "the same by the clock of rank 0", NULL, 0, 0, 0},
    {"bound_ns", "ns", ROLE_FIGURE, TYPE_NUMBER, "how far the global time may be off", NULL, 0, 1, 0},
    {"partner", "", ROLE_FIGURE, TYPE_INTEGER,
     "the process at the other end of the message, or the target of a window, or the root", NULL, 0, 0, 0},
    {"tag", "", ROLE_FIGURE, TYPE_INTEGER,
     "the tag of the message; -2147483648: MPI_Win_post tells others; -2147483647: MPI_Win_complete does", NULL, 0, 0,
     0},
    {"sent_bytes", "bytes", ROLE_FIGURE, TYPE_INTEGER,
     "what the process sends, contributes to a collective operation, or puts into a window or a file", NULL, 0, 0, 0},
    {"received_bytes", "bytes", ROLE_FIGURE, TYPE_INTEGER,
     "what the process receives, by a message or a collective operation, or gets from a window or a file", NULL, 0, 0,
     0},
    {"comm", "", ROLE_FIGURE, TYPE_INTEGER, "the communicator, window or file: 0 is MPI_COMM_WORLD, 1 MPI_COMM_SELF",
     NULL, 0, 0, 0},
    {"request", "", ROLE_FIGURE, TYPE_INTEGER, "the number of the request on this process", NULL, 0, 0, 0},
    {"message", "", ROLE_FIGURE, TYPE_INTEGER, "the number that a send and its receive share", NULL, 0, 0, 0},
    {"collective", "", ROLE_FIGURE, TYPE_INTEGER, "the number that all processes of a collective call share", NULL, 0,
     0, 0},
    {"count", "", ROLE_FIGURE, TYPE_INTEGER,
     "of a leave: the unsuccessful calls that it stands for, 0 of one call; of dropped: the events", NULL, 0, 0, 0},
    {"place", "", ROLE_FIGURE, TYPE_TEXT,
     "the call site: line or function and offset, address in parentheses, and object; or an address", NULL, 0, 0, 0},
    {"wait", "", ROLE_FIGURE, TYPE_TEXT,
     "in the row where a call begins that waits: the kind of wait, as in mpix-trace-waits", NULL, 0, 0, 0},
    {"waited_ns", "ns", ROLE_FIGURE, TYPE_INTEGER, "in this row: how long the call waits", NULL, 0, 0, 0},
    {"wait_bound_ns", "ns", ROLE_FIGURE, TYPE_NUMBER, "in this row: by how much the clocks may make the wait wrong",
     NULL, 0, 1, 0},
    {"late_rank", "", ROLE_FIGURE, TYPE_INTEGER, "in this row: the process that the call waits for", NULL, 0, 0, 0},
    {"charged_before_ns", "ns", ROLE_FIGURE, TYPE_INTEGER,
     "in the row where a call begins: how long all others wait because of the computation before it", NULL, 0, 0, 0},
    {"charged_in_ns", "ns", ROLE_FIGURE, TYPE_INTEGER,
     "in the row where a call begins: how long all others wait because of the call itself", NULL, 0, 0, 0},
};
const schema_t events_schema =
    SCHEMA("mpix-trace-events",
           "Written by `mpix_trace_convert --format csv`, which has no json: a row for each event, grouped by thread.",
           columns);

static const char *const kind_names[] = {
    [TRACE_ENTER] = "enter",
    [TRACE_LEAVE] = "leave",
    [TRACE_SEND] = "send",
    [TRACE_SEND_DONE] = "send-done",
    [TRACE_RECEIVE_POST] = "receive-post",
    [TRACE_RECEIVE] = "receive",
    [TRACE_CANCELED] = "canceled",
    [TRACE_COLLECTIVE] = "collective",
    [TRACE_COLLECTIVE_OUT] = NULL, /* in the line of the event before */
    [TRACE_COLLECTIVE_DONE] = "collective-done",
    [TRACE_PARTS] = NULL,
    [TRACE_DROPPED] = "dropped",
    [TRACE_READY] = "ready",
    [TRACE_ARRIVED] = "arrived",
    [TRACE_SKIPPED] = NULL, /* which tells how messages are matched */
    [TRACE_ACCESS] = NULL,  /* named by its mode: */
};

static const char *const access_names[] = {
    [TRACE_PUT] = "put",
    [TRACE_GET] = "get",
    [TRACE_UPDATE] = "update",
    [TRACE_LOCK_SHARED] = "lock-shared",
    [TRACE_LOCK_EXCLUSIVE] = "lock-exclusive",
    [TRACE_UNLOCK] = "unlock",
    [TRACE_FLUSH] = "flush",
    [TRACE_FLUSH_LOCAL] = "flush-local",
};

/* NULL: it has no line. */
static const char *name_of(const trace_event *event)
{
    return event->kind == TRACE_ACCESS ? access_names[event->mode] : kind_names[event->kind];
}

/* By index of a location, then by position: the number of the message or of the call of a collective operation, from
   0; SIZE_MAX: none. */
static size_t **number_matches(const trace *of, const trace_matches *matches)
{
    size_t **numbers = or_exit(calloc(of->location_count + 1, sizeof *numbers));
    for (const trace_location *at = NULL; (at = trace_next_location(of, at));) {
        numbers[at->index] = array_or_exit(at->count, sizeof(size_t));
        memset(numbers[at->index], 0xff, at->count * sizeof(size_t));
    }
    for (size_t i = 0; i < matches->message_count; i++) {
        const trace_point *send = &matches->messages[i].send, *receive = &matches->messages[i].receive;
        numbers[send->at->index][send->event] = numbers[receive->at->index][receive->event] = i;
    }
    for (size_t i = 0; i < matches->call_count; i++)
        for (int k = 0; k < matches->calls[i].count; k++) {
            const trace_part *part = &matches->calls[i].parts[k];
            numbers[part->enter.at->index][part->record] = i;
        }
    return numbers;
}

/* ---- Cells */

/* Times since an epoch have more digits than a double. */
enum { TIME_BYTES = 24 };

static cell_t time_cell(char text[TIME_BYTES], int64_t time_ns)
{
    snprintf(text, TIME_BYTES, "%" PRId64, time_ns);
    return text_cell(text);
}

/* The call that begins with an event, or NULL if the analysis of waits has none. */
static const graph_call *call_at(const conversion *job, const trace_location *location, size_t event)
{
    const graph_lane *lane = &job->waits.graph.lanes[location->index];
    const size_t at = graph_call_of(lane, event);
    return at != GRAPH_NONE && lane->calls[at].enter == event ? &lane->calls[at] : NULL;
}

static void put_event(const conversion *job, const table_t *table, const trace_location *at, size_t i, size_t match)
{
    const trace_event *event = &at->events[i];
    const trace_process *process = at->process;
    const bool is_enter = event->kind == TRACE_ENTER, is_leave = event->kind == TRACE_LEAVE;
    const bool is_send = event->kind == TRACE_SEND, is_receive = event->kind == TRACE_RECEIVE;
    const bool is_collective = event->kind == TRACE_COLLECTIVE, is_access = event->kind == TRACE_ACCESS;
    const bool has_comm = is_send || is_receive || is_collective || is_access;
    const bool has_count = is_leave || event->kind == TRACE_DROPPED;
    const size_t enter = is_enter || is_leave ? i : at->calls[i];
    const trace_event *out = is_collective ? call_out(at, i) : trace_takes_bytes(event) ? event : NULL;
    const int partner = has_comm ? trace_partner(process, event) : -1;
    const int comm = has_comm ? communicators_common(&job->communicators, at->rank, event->id) : COMMUNICATOR_UNKNOWN;
    const trace_site *site = is_enter ? trace_find_site(process, event->value) : NULL;
    const graph_call *call = is_enter ? call_at(job, at, i) : NULL;
    const graph_wait *wait = call && call->wait != GRAPH_NONE ? &job->waits.waits.list[call->wait] : NULL;
    const graph *of = &job->waits.graph;
    const double before_ns = call ? (double)graph_delay_at(of, call->delay_before)->charged_ns : 0;
    const double in_ns = call ? (double)graph_delay_at(of, call->delay_in)->charged_ns : 0;
    char local[TIME_BYTES], global[TIME_BYTES];
    const cell_t cells[] = {
        number_cell(at->rank),
        number_cell(at->thread),
        text_cell(name_of(event)),
        text_cell(enter != CALL_NONE ? job->of->names[at->events[enter].id] : ""),
        time_cell(local, event->time_ns),
        time_cell(global, conversion_global_ns(job, at, i)),
        number_cell(trace_bound_ns(process, event->time_ns)),
        number_cell(partner >= 0 ? (double)partner : NAN),
        number_cell(is_send || is_receive ? (double)event->tag : NAN),
        number_cell(trace_gives_bytes(event) ? (double)event->value : NAN),
        number_cell(out ? (double)out->value : NAN),
        number_cell(comm != COMMUNICATOR_UNKNOWN ? (double)comm : NAN),
        number_cell(event->request != 0 ? (double)event->request : NAN),
        number_cell(match != SIZE_MAX && !is_collective ? (double)match : NAN),
        number_cell(match != SIZE_MAX && is_collective ? (double)match : NAN),
        number_cell(has_count ? (double)event->value : NAN),
        text_cell(site ? site->symbol : ""),
        text_cell(wait ? wait_state_names[wait->state] : ""),
        number_cell(wait ? (double)(wait->end_ns - wait->begin_ns) : NAN),
        number_cell(wait ? wait->bound_ns : NAN),
        number_cell(wait ? (double)of->lanes[wait->late_lane].location->rank : NAN),
        number_cell(before_ns > 0 ? before_ns : NAN),
        number_cell(in_ns > 0 ? in_ns : NAN),
    };
    table_row(table, cells);
}

int convert_to_csv(conversion *job)
{
    const output_t output = {.format = FORMAT_CSV, .file = job->file, .is_buffered = true};
    const table_t table = TABLE(events_schema, &output);
    trace_matches matches;
    trace_match(job->of, &matches);
    analysis_charge(&job->waits, job->of, &matches);
    size_t **numbers = number_matches(job->of, &matches);
    trace_matches_free(&matches);
    table_head(&table, NULL, 0);
    for (const trace_location *at = NULL; (at = trace_next_location(job->of, at));) {
        for (size_t i = 0; i < at->count; i++)
            if (name_of(&at->events[i]))
                put_event(job, &table, at, i, numbers[at->index][i]);
        free(numbers[at->index]);
    }
    free(numbers);
    analysis_free(&job->waits);
    return STATUS_GOOD;
}
