/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * csv.c - a line for each event.
 */
#include "common/room.h"
#include "results/table.h"
#include "trace/calls.h"
#include "trace/convert/conversion.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const column_t columns[] = {
    {"rank", "", ROLE_KEY, TYPE_INTEGER, "the process", NULL, 0, 0, 0},
    {"thread", "", ROLE_KEY, TYPE_INTEGER, "its thread, from 0 in the order of their first calls", NULL, 0, 0, 0},
    {"event", "", ROLE_KEY, TYPE_TEXT,
     "enter, leave, send, send-done, receive-post, receive, canceled, collective, collective-done, dropped", NULL, 0, 0,
     0},
    {"name", "", ROLE_KEY, TYPE_TEXT, "the function or region of the event", NULL, 0, 0, 0},
    {"local_ns", "ns", ROLE_FIGURE, TYPE_INTEGER, "when it happened, by the clock of the process", NULL, 0, 0, 0},
    {"global_ns", "ns", ROLE_FIGURE, TYPE_INTEGER, "the same by the clock of rank 0", NULL, 0, 0, 0},
    {"bound_ns", "ns", ROLE_FIGURE, TYPE_NUMBER, "how far the global time may be off", NULL, 0, 1, 0},
    {"partner", "", ROLE_FIGURE, TYPE_INTEGER, "the process at the other end of the message, or the root", NULL, 0, 0,
     0},
    {"tag", "", ROLE_FIGURE, TYPE_INTEGER,
     "the tag of the message; -2147483648: MPI_Win_post tells others; -2147483647: MPI_Win_complete does", NULL, 0, 0,
     0},
    {"sent_bytes", "bytes", ROLE_FIGURE, TYPE_INTEGER,
     "what the process sends, or contributes to a collective operation", NULL, 0, 0, 0},
    {"received_bytes", "bytes", ROLE_FIGURE, TYPE_INTEGER,
     "what the process receives, by a message or a collective operation", NULL, 0, 0, 0},
    {"comm", "", ROLE_FIGURE, TYPE_INTEGER, "the communicator: 0 is MPI_COMM_WORLD, 1 MPI_COMM_SELF", NULL, 0, 0, 0},
    {"request", "", ROLE_FIGURE, TYPE_INTEGER, "the number of the request on this process", NULL, 0, 0, 0},
    {"message", "", ROLE_FIGURE, TYPE_INTEGER, "the number that a send and its receive share", NULL, 0, 0, 0},
    {"collective", "", ROLE_FIGURE, TYPE_INTEGER, "the number that all processes of a collective call share", NULL, 0,
     0, 0},
    {"count", "", ROLE_FIGURE, TYPE_INTEGER,
     "of a leave: the unsuccessful calls that it stands for, 0 of one call; of dropped: the events", NULL, 0, 0, 0},
    {"place", "", ROLE_FIGURE, TYPE_TEXT,
     "the call site: line or function and offset, address in parentheses, and object; or an address", NULL, 0, 0, 0},
    {"wait", "", ROLE_FIGURE, TYPE_TEXT, "in the row where a call begins that waits: the state, as in mpix-trace-waits",
     NULL, 0, 0, 0},
    {"waited_ns", "ns", ROLE_FIGURE, TYPE_INTEGER, "how long the call waits", NULL, 0, 0, 0},
    {"wait_bound_ns", "ns", ROLE_FIGURE, TYPE_NUMBER, "by how much the clocks may make the wait wrong", NULL, 0, 1, 0},
    {"late_rank", "", ROLE_FIGURE, TYPE_INTEGER, "the process that the call waits for", NULL, 0, 0, 0},
    {"charged_before_ns", "ns", ROLE_FIGURE, TYPE_INTEGER,
     "how long all others wait because of the computation before the call", NULL, 0, 0, 0},
    {"charged_in_ns", "ns", ROLE_FIGURE, TYPE_INTEGER, "how long all others wait because of the call itself", NULL, 0,
     0, 0},
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
    [TRACE_DROPPED] = "dropped",
};

/* By index of a location, then by position: the number of the message or of the call of a collective operation, from
   0; SIZE_MAX: none. */
typedef size_t *match_numbers;

/* The location whose events are written, and what is known of them by position. */
typedef struct {
    conversion *job;
    const trace_location *location;
    size_t *calls;
    const size_t *matches;
} writer;

/* ---- What belongs together */

static bool has_room(match_numbers *numbers, const trace *of)
{
    for (const trace_location *at = NULL; (at = trace_next_location(of, at)) != NULL;) {
        size_t bytes = room_bytes((int64_t)at->count + 1, sizeof(size_t));
        numbers[at->index] = malloc(bytes);
        if (!numbers[at->index])
            return false;
        memset(numbers[at->index], 0xff, bytes);
    }
    return true;
}

/* Also finds the waits. */
static bool number_matches(conversion *job, match_numbers *numbers)
{
    const trace *of = job->of;
    trace_matches matches = {0};
    bool has_memory =
        trace_match(of, &matches) && analysis_charge(&job->waits, of, &matches, true) && has_room(numbers, of);
    for (size_t i = 0; has_memory && i < matches.message_count; i++) {
        const trace_message *at = &matches.messages[i];
        numbers[trace_find_location(of, at->source, at->source_thread)->index][at->send] = i;
        numbers[trace_find_location(of, at->destination, at->destination_thread)->index][at->receive] = i;
    }
    for (size_t i = 0; has_memory && i < matches.call_count; i++)
        for (int k = 0; k < matches.calls[i].count; k++) {
            const trace_part *part = &matches.calls[i].parts[k];
            numbers[trace_find_location(of, part->rank, part->thread)->index][part->record] = i;
        }
    trace_matches_free(&matches);
    return has_memory;
}

/* ---- Cells. Each begins with its comma. */

static void put_number(FILE *file, bool is_there, int64_t number)
{
    if (is_there)
        fprintf(file, ",%" PRId64, number);
    else
        fputc(',', file);
}

static void put_text(FILE *file, const char *text)
{
    fputc(',', file);
    quote_csv(file, text);
}

static void put_communicator(const writer *to, const trace_event *event, bool is_there)
{
    int common = is_there ? communicators_common(&to->job->communicators, to->location->rank, event->id) : -1;
    put_number(to->job->file, common != COMMUNICATOR_UNKNOWN, common);
}

static void put_name(const writer *to, size_t i)
{
    const trace_event *events = to->location->events;
    bool is_end = events[i].kind == TRACE_ENTER || events[i].kind == TRACE_LEAVE;
    size_t enter = is_end ? i : to->calls[i];
    put_text(to->job->file, enter != CALL_NONE ? to->job->of->names[events[enter].id] : "");
}

static void put_times(const writer *to, size_t i)
{
    const trace_event *event = &to->location->events[i];
    double bound_ns = trace_bound_ns(&to->job->of->processes[to->location->rank], event->time_ns);
    put_number(to->job->file, true, event->time_ns);
    put_number(to->job->file, true, conversion_global_ns(to->job, to->location, i));
    fprintf(to->job->file, isfinite(bound_ns) ? ",%.1f" : ",", bound_ns);
}

static void put_message(const writer *to, size_t i)
{
    FILE *file = to->job->file;
    const trace_event *event = &to->location->events[i];
    bool is_send = event->kind == TRACE_SEND, is_receive = event->kind == TRACE_RECEIVE;
    bool is_collective = event->kind == TRACE_COLLECTIVE, has_comm = is_send || is_receive || is_collective;
    const trace_event *out = is_collective ? call_out(to->location, i) : is_receive ? event : NULL;
    int partner = has_comm ? trace_partner(&to->job->of->processes[to->location->rank], event) : -1;
    put_number(file, partner >= 0, partner);
    put_number(file, is_send || is_receive, event->tag);
    put_number(file, is_send || is_collective, (int64_t)event->value);
    put_number(file, out != NULL, out ? (int64_t)out->value : 0);
    put_communicator(to, event, has_comm);
    put_number(file, event->request != 0, event->request);
    put_number(file, to->matches[i] != SIZE_MAX && !is_collective, (int64_t)to->matches[i]);
    put_number(file, to->matches[i] != SIZE_MAX && is_collective, (int64_t)to->matches[i]);
}

static void put_wait(const writer *to, size_t i)
{
    FILE *file = to->job->file;
    const bool is_enter = to->location->events[i].kind == TRACE_ENTER;
    const graph_call *call = is_enter ? conversion_call(to->job, to->location, i) : NULL;
    const graph_wait *wait = conversion_wait(to->job, call);
    put_text(file, wait ? wait_state_names[wait->state] : "");
    put_number(file, wait, wait ? wait->end_ns - wait->begin_ns : 0);
    fprintf(file, wait ? ",%.1f" : ",", wait ? wait->bound_ns : 0);
    put_number(file, wait, wait ? to->job->waits.graph.lanes[wait->late_lane].location->rank : 0);
    const int64_t before_ns = call ? graph_delay_at(&to->job->waits.graph, call->delay_before)->charged_ns : 0;
    const int64_t in_ns = call ? graph_delay_at(&to->job->waits.graph, call->delay_in)->charged_ns : 0;
    put_number(file, before_ns > 0, before_ns);
    put_number(file, in_ns > 0, in_ns);
}

static void put_event(const writer *to, size_t i)
{
    FILE *file = to->job->file;
    const trace_event *event = &to->location->events[i];
    const trace_process *process = &to->job->of->processes[to->location->rank];
    const trace_site *site = event->kind == TRACE_ENTER ? trace_find_site(process, event->value) : NULL;
    fprintf(file, "%d,%d,%s", to->location->rank, to->location->thread, kind_names[event->kind]);
    put_name(to, i);
    put_times(to, i);
    put_message(to, i);
    put_number(file, event->kind == TRACE_LEAVE || event->kind == TRACE_DROPPED, (int64_t)event->value);
    put_text(file, site ? site->symbol : "");
    put_wait(to, i);
    fputc('\n', file);
}

/* ---- All events */

static bool put_location(conversion *job, const trace_location *location, const size_t *matches)
{
    writer to = {job, location, calls_find(location), matches};
    for (size_t i = 0; to.calls && i < location->count; i++)
        if (kind_names[location->events[i].kind])
            put_event(&to, i);
    bool has_memory = to.calls != NULL;
    free(to.calls);
    return has_memory;
}

int convert_to_csv(conversion *job)
{
    match_numbers *numbers = calloc(job->of->location_count + 1, sizeof *numbers);
    bool has_memory = numbers && number_matches(job, numbers);
    const output_t output = {.format = FORMAT_CSV, .file = job->file};
    const table_t table = TABLE(events_schema, &output);
    table_head(&table, NULL, 0);
    for (const trace_location *at = NULL; has_memory && (at = trace_next_location(job->of, at)) != NULL;)
        has_memory = put_location(job, at, numbers[at->index]);
    for (size_t i = 0; numbers && i < job->of->location_count; i++)
        free(numbers[i]);
    free(numbers);
    analysis_free(&job->waits);
    return has_memory ? STATUS_GOOD : conversion_out_of_memory(job);
}
