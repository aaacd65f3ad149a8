/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * perfetto.c - the trace event format of Chrome in JSON, which Perfetto reads too: a slice for each call, an arrow for
 * each message, a curve of the clock's bound for each process; and beside each thread its waits and what others wait
 * for, with an arrow from the call that was waited for.
 */
#include "common/cli/options.h"
#include "common/results/table.h"
#include "trace/read/calls.h"
#include "trace/convert/conversion.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- Events */

/* Numbers of processes and threads, which are not 0: viewers take thread 0 for an idle one. The first thread has the
 * number of its process, which makes it the main thread. Behind each thread comes the track of its waits. */
static int process_number(int rank)
{
    return rank + 1;
}

static int64_t thread_track(const conversion *job, const trace_location *location)
{
    return process_number(location->rank) + 2 * (int64_t)location->thread * job->of->size;
}

static int64_t wait_track(const conversion *job, const trace_location *location)
{
    return thread_track(job, location) + job->of->size;
}

static int64_t time_ns(const trace_location *location, size_t event)
{
    return llround(location->global_ns[event]);
}

/* In microseconds, exactly: a slice that ends where the one around it ends does not end later by rounding. */
static void put_time(FILE *file, const char *key, int64_t ns)
{
    fprintf(file, ",\"%s\":%" PRId64 ".%03d", key, ns / 1000, (int)(ns % 1000));
}

/*
 * An event on a track.
 *
 * took_ns   of a slice; below 0: it is none
 * rest      an object, whose members follow; taken over
 */
static void put_event(const conversion *job, const char *phase, int rank, int64_t track, int64_t at_ns, int64_t took_ns,
                      json_t *rest)
{
    fprintf(job->file, ",\n{\"ph\":\"%s\",\"pid\":%d,\"tid\":%" PRId64, phase, process_number(rank), track);
    put_time(job->file, "ts", at_ns);
    if (took_ns >= 0)
        put_time(job->file, "dur", took_ns);
    fputc(',', job->file);
    json_dumpf(or_exit(rest), job->file, JSON_COMPACT | JSON_EMBED | JSON_REAL_PRECISION(15));
    fputc('}', job->file);
    json_decref(rest);
}

static void put_point(const conversion *job, const char *phase, const trace_location *location, int64_t at_ns,
                      json_t *rest)
{
    put_event(job, phase, location->rank, thread_track(job, location), at_ns, -1, rest);
}

/* ---- Arguments of a slice */

static void set_number(json_t *object, const char *key, int64_t number)
{
    json_object_set_new(object, key, or_exit(json_integer(number)));
}

/* The partner is a rank of MPI_COMM_WORLD. */
static void set_partner(json_t *object, const char *key, const trace_process *process, const trace_event *event)
{
    int partner = trace_partner(process, event);
    if (partner >= 0)
        set_number(object, key, partner);
}

/* What happens within a call, itself. */
typedef struct {
    int sends, receives;
    int64_t sent_bytes, received_bytes;
    const trace_event *send, *receive, *collective, *access; /* the first of each */
} contents;

static contents contents_of(const trace_location *location, size_t enter, size_t leave)
{
    contents inside = {0};
    for (size_t i = enter + 1; i < leave; i++) {
        const trace_event *event = &location->events[i];
        if (location->calls[i] != enter || trace_is_signal(event))
            continue;
        if (event->kind == TRACE_SEND && inside.sends++ == 0)
            inside.send = event;
        if (event->kind == TRACE_RECEIVE && inside.receives++ == 0)
            inside.receive = event;
        if (event->kind == TRACE_COLLECTIVE && !inside.collective)
            inside.collective = event;
        if (event->kind == TRACE_ACCESS && !inside.access)
            inside.access = event;
        if (trace_gives_bytes(event))
            inside.sent_bytes += (int64_t)event->value;
        if (trace_takes_bytes(event))
            inside.received_bytes += (int64_t)event->value;
    }
    return inside;
}

/* One message in detail, of several how many. */
static void set_messages(json_t *arguments, const trace_process *process, const contents *inside)
{
    if (inside->sends == 1) {
        set_partner(arguments, "destination", process, inside->send);
        set_number(arguments, "send_tag", inside->send->tag);
    } else if (inside->sends > 1) {
        set_number(arguments, "sends", inside->sends);
    }
    if (inside->receives == 1) {
        set_partner(arguments, "source", process, inside->receive);
        set_number(arguments, "receive_tag", inside->receive->tag);
    } else if (inside->receives > 1) {
        set_number(arguments, "receives", inside->receives);
    }
    if (inside->access)
        set_partner(arguments, "target", process, inside->access);
    const bool has_bytes = inside->access && inside->access->mode <= TRACE_UPDATE;
    if (inside->sends > 0 || inside->collective || has_bytes)
        set_number(arguments, "sent_bytes", inside->sent_bytes);
    if (inside->receives > 0 || inside->collective || has_bytes)
        set_number(arguments, "received_bytes", inside->received_bytes);
}

static json_t *arguments_of(const conversion *job, const trace_location *location, size_t enter, size_t leave)
{
    json_t *arguments = or_exit(json_object());
    const trace_process *process = location->process;
    const trace_event *events = location->events;
    bool is_mpi = strncmp(job->of->names[events[enter].id], "MPI", 3) == 0;
    contents inside = is_mpi ? contents_of(location, enter, leave) : (contents){0};
    const trace_event *any = inside.collective ? inside.collective
                             : inside.send     ? inside.send
                             : inside.receive  ? inside.receive
                                               : inside.access;
    const trace_site *site = trace_find_site(process, events[enter].value);
    set_messages(arguments, process, &inside);
    if (inside.collective)
        set_partner(arguments, "root", process, inside.collective);
    if (any) {
        char name[COMMUNICATOR_NAME_SIZE];
        int common = communicators_common(&job->communicators, location->rank, any->id);
        json_object_set_new(arguments, "comm", json_text(communicators_name(common, name)));
    }
    if (location->calls[enter] == CALL_NONE)
        json_object_set_new(arguments, "unfinished", json_true());
    else if (events[leave].value > 0)
        set_number(arguments, "unsuccessful_calls", (int64_t)events[leave].value);
    if (site)
        json_object_set_new(arguments, "call_site", json_text(site->symbol));
    return arguments;
}

/* ---- The events of a thread */

static const char *category_of(const char *name)
{
    return strncmp(name, "MPI", 3) == 0 ? "MPI" : trace_is_recorder(name) ? "recorder" : "user";
}

/* A call that was never left lasts as long as there are events. */
static void put_slice(const conversion *job, const trace_location *location, size_t enter)
{
    const char *name = job->of->names[location->events[enter].id];
    size_t leave = location->calls[enter] != CALL_NONE ? location->calls[enter] : location->count - 1;
    int64_t start_ns = time_ns(location, enter);
    put_event(job, "X", location->rank, thread_track(job, location), start_ns, time_ns(location, leave) - start_ns,
              json_pack("{s:o, s:s, s:o}", "name", json_text(name), "cat", category_of(name), "args",
                        arguments_of(job, location, enter, leave)));
}

/* JSON has no infinity. */
static void put_bound(const conversion *job, const trace_location *location, size_t event, double bound_ns)
{
    if (isfinite(bound_ns))
        put_point(
            job, "C", location, time_ns(location, event),
            json_pack("{s:s, s:{s:f}}", "name", "clock bound (ns)", "args", "bound", nearbyint(10 * bound_ns) / 10));
    else
        put_point(job, "i", location, time_ns(location, event),
                  json_pack("{s:s, s:s}", "name", "clock bound unknown from here on", "s", "p"));
}

static void put_location(conversion *job, const trace_location *location)
{
    double bound_ns = 0;
    for (size_t i = 0; i < location->count; i++) {
        const trace_event *event = &location->events[i];
        if (location->thread == 0 && bound_to_show(location, i, &bound_ns))
            put_bound(job, location, i, bound_ns);
        if (event->kind == TRACE_ENTER)
            put_slice(job, location, i);
        else if (event->kind == TRACE_DROPPED)
            put_point(job, "i", location, time_ns(location, i),
                      json_pack("{s:s, s:s, s:{s:I}}", "name", "events dropped from here on", "s", "t", "args",
                                "events", (json_int_t)event->value));
        else if (event->kind == TRACE_LEAVE && location->calls[i] == CALL_NONE)
            job->left_out[LEFT_END]++;
    }
}

/* ---- Arrows */

/* From a point of a thread to a slice of a track. */
static void put_arrow(const conversion *job, const trace_location *from, int64_t from_ns, int rank, int64_t track,
                      int64_t to_ns, size_t number, const char *category, const char *name)
{
    const json_int_t id = (json_int_t)number;
    put_point(job, "s", from, from_ns, json_pack("{s:I, s:s, s:s}", "id", id, "cat", category, "name", name));
    put_event(job, "f", rank, track, to_ns, -1,
              json_pack("{s:I, s:s, s:s, s:s}", "id", id, "cat", category, "name", name, "bp", "e"));
}

/*
 * An arrow ends in the slice that is open at its time. A slice is no longer open at its end, so the arrow ends a
 * nanosecond earlier.
 */
static void put_message(conversion *job, const trace_message *message, size_t number)
{
    const trace_location *source = message->send.at, *destination = message->receive.at;
    int64_t sent_ns = time_ns(source, message->send.event);
    int64_t received_ns = time_ns(destination, message->receive.event);
    if (trace_is_signal(&source->events[message->send.event]))
        return;
    put_arrow(job, source, sent_ns, destination->rank, thread_track(job, destination),
              received_ns > 0 ? received_ns - 1 : 0, number, "message", "message");
    job->backward += received_ns <= sent_ns;
}

/* ---- Waits, and what others wait for */

static void put_cause(const conversion *job, const graph_lane *lane, int64_t from_ns, int64_t to_ns, const char *name,
                      uint32_t which)
{
    const graph_delay *delay = graph_delay_at(&job->waits.graph, which);
    if (delay->charged_ns > 0)
        put_event(job, "X", lane->location->rank, wait_track(job, lane->location), from_ns, to_ns - from_ns,
                  json_pack("{s:o, s:s, s:{s:I, s:I}}", "name", json_text(name), "cat", "cause", "args",
                            "others_wait_ns", (json_int_t)delay->charged_ns, "longer_ns", (json_int_t)delay->late_ns));
}

/* The wait of a call, and an arrow to this from the call that it waits for, with whose beginning the wait ends. */
static void put_wait(const conversion *job, const graph_wait *wait, size_t number)
{
    const graph *of = &job->waits.graph;
    const trace_location *waits = of->lanes[wait->lane].location, *late = of->lanes[wait->late_lane].location;
    const graph_call *late_call = &of->lanes[wait->late_lane].calls[wait->late_call];
    const int64_t track = wait_track(job, waits);
    put_event(job, "X", waits->rank, track, wait->begin_ns, wait->end_ns - wait->begin_ns,
              json_pack("{s:s, s:s, s:{s:i, s:o, s:f}}", "name", wait_state_names[wait->state], "cat", "wait", "args",
                        "late_rank", late->rank, "late_call", json_text(graph_name(of, late_call)), "bound_ns",
                        nearbyint(10 * wait->bound_ns) / 10));
    /* A call that ended before the other one began, by clocks that are not exact, has no arrow. */
    const int64_t began_ns = time_ns(late, late_call->enter);
    if (late_call->enter_ns <= wait->end_ns)
        put_arrow(job, late, began_ns, waits->rank, thread_track(job, waits),
                  wait->end_ns > began_ns ? wait->end_ns : began_ns, number, "wait", "late");
}

/* first: the number of the first arrow. */
static void put_waits(const conversion *job, const graph_lane *lane, size_t first)
{
    int64_t left_ns = lane->begin_ns;
    for (size_t i = 0; i < lane->count; i++) {
        const graph_call *call = &lane->calls[i];
        put_cause(job, lane, left_ns, call->enter_ns, "computation", call->delay_before);
        if (call->wait != GRAPH_NONE)
            put_wait(job, &job->waits.waits.list[call->wait], first + call->wait);
        put_cause(job, lane, waits_end_ns(&job->waits.waits, call), call->leave_ns, graph_name(&job->waits.graph, call),
                  call->delay_in);
        left_ns = call->leave_ns;
    }
}

/* ---- The whole */

static void name_track(const conversion *job, int number, int64_t track, const char *text, int thread)
{
    fprintf(job->file,
            ",\n{\"ph\":\"M\",\"pid\":%d,\"tid\":%" PRId64 ",\"name\":\"thread_name\",\"args\":{\"name\":\"%s %d\"}}",
            number, track, text, thread);
}

/* Names, and an order by rank. */
static void put_process(const conversion *job, int rank)
{
    char host[HOST_NAME_SIZE], name[HOST_NAME_SIZE + 32];
    const trace_process *process = &job->of->processes[rank];
    int number = process_number(rank);
    trace_text(process, "host", host, sizeof host);
    snprintf(name, sizeof name, "rank %d%s%s", rank, host[0] != '\0' ? " on " : "", host);
    fprintf(job->file,
            "%s\n{\"ph\":\"M\",\"pid\":%d,\"name\":\"process_name\",\"args\":{\"name\":", rank > 0 ? "," : "", number);
    json_print(job->file, json_text(name));
    fprintf(job->file, "}},\n{\"ph\":\"M\",\"pid\":%d,\"name\":\"process_sort_index\",\"args\":{\"sort_index\":%d}}",
            number, rank);
    for (size_t i = 0; i < process->location_count; i++) {
        const trace_location *at = &process->locations[i];
        name_track(job, number, thread_track(job, at), "thread", at->thread);
        if (!job->is_local)
            name_track(job, number, wait_track(job, at), "waits of thread", at->thread);
    }
}

int convert_to_perfetto(conversion *job)
{
    trace_matches matches;
    trace_match(job->of, &matches);
    if (!job->is_local)
        analysis_charge(&job->waits, job->of, &matches);
    fprintf(job->file,
            "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"program\":\"mpix_trace_convert\",\"version\":\"%s\","
            "\"times\":\"%s\"},\n\"traceEvents\":[",
            options_version(), job->is_local ? "local" : "global");
    for (int rank = 0; rank < job->of->size; rank++)
        put_process(job, rank);
    for (const trace_location *at = NULL; (at = trace_next_location(job->of, at));)
        put_location(job, at);
    for (size_t i = 0; i < matches.message_count; i++)
        put_message(job, &matches.messages[i], i + 1);
    for (size_t i = 0; i < job->waits.graph.lane_count; i++)
        put_waits(job, &job->waits.graph.lanes[i], matches.message_count + 1);
    fputs("\n]}\n", job->file);
    analysis_free(&job->waits);
    trace_matches_free(&matches);
    return STATUS_GOOD;
}
