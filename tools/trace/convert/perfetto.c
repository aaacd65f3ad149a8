/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * perfetto.c - the trace event format of Chrome in JSON, which Perfetto reads too: a slice for each call, an arrow for
 * each message, a curve of the clock's bound for each process; and beside each thread its waits and what others wait
 * for, with an arrow from the call that was waited for.
 */
#include "common/options.h"
#include "results/table.h"
#include "trace/calls.h"
#include "trace/convert/conversion.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The location whose slices are written, and the calls of its events. */
typedef struct {
    conversion *job;
    const trace_location *location;
    const size_t *calls;
} writer;

/* ---- Parts of an event */

/* Numbers of processes and threads, which are not 0: viewers take thread 0 for an idle one. The first thread has the
 * number of its process, which makes it the main thread. Behind each thread comes the track of its waits. */
static int process_number(int rank)
{
    return rank + 1;
}

static int64_t thread_number(const conversion *job, int rank, uint32_t thread)
{
    return process_number(rank) + 2 * (int64_t)thread * job->of->size;
}

static int64_t wait_track(const conversion *job, const trace_location *location)
{
    return thread_number(job, location->rank, (uint32_t)location->thread) + job->of->size;
}

/* In microseconds, exactly: a slice that ends where the one around it ends does not end later by rounding. */
static void put_time(FILE *file, const char *key, int64_t time_ns)
{
    fprintf(file, ",\"%s\":%" PRId64 ".%03d", key, time_ns / 1000, (int)(time_ns % 1000));
}

static int64_t time_ns(const trace_location *location, size_t event)
{
    return llround(location->global_ns[event]);
}

/* The first of an event, up to its time. */
static void begin_on_track(const conversion *job, const char *phase, int rank, int64_t track, int64_t at_ns)
{
    fprintf(job->file, ",\n{\"ph\":\"%s\",\"pid\":%d,\"tid\":%" PRId64, phase, process_number(rank), track);
    put_time(job->file, "ts", at_ns);
}

static void begin_event(const conversion *job, const char *phase, const trace_location *location, int64_t at_ns)
{
    begin_on_track(job, phase, location->rank, thread_number(job, location->rank, (uint32_t)location->thread), at_ns);
}

static void put_name(FILE *file, const char *name)
{
    fputs(",\"name\":", file);
    json_print(file, json_text(name));
}

/* ---- Arguments of a slice */

static void put_key(FILE *file, bool *is_first, const char *key)
{
    fprintf(file, "%s\"%s\":", *is_first ? "" : ",", key);
    *is_first = false;
}

static void put_number(FILE *file, bool *is_first, const char *key, int64_t number)
{
    put_key(file, is_first, key);
    fprintf(file, "%" PRId64, number);
}

static void put_comm(const writer *from, bool *is_first, const trace_event *event)
{
    char name[COMMUNICATOR_NAME_SIZE];
    int common = communicators_common(&from->job->communicators, from->location->rank, event->id);
    put_key(from->job->file, is_first, "comm");
    json_print(from->job->file, json_text(communicators_name(common, name)));
}

/* The partner is a rank of MPI_COMM_WORLD. */
static void put_partner(const writer *from, bool *is_first, const char *key, const trace_event *event)
{
    int partner = trace_partner(&from->job->of->processes[from->location->rank], event);
    if (partner >= 0)
        put_number(from->job->file, is_first, key, partner);
}

/* What happens within a call, itself. */
typedef struct {
    int sends, receives;
    int64_t sent_bytes, received_bytes;
    const trace_event *send, *receive, *collective; /* the first of each */
} contents;

static contents contents_of(const writer *from, size_t enter, size_t leave)
{
    contents inside = {0};
    for (size_t i = enter + 1; i < leave; i++) {
        const trace_event *event = &from->location->events[i];
        if (from->calls[i] != enter || trace_is_signal(event))
            continue;
        if (event->kind == TRACE_SEND && inside.sends++ == 0)
            inside.send = event;
        if (event->kind == TRACE_RECEIVE && inside.receives++ == 0)
            inside.receive = event;
        if (event->kind == TRACE_COLLECTIVE && !inside.collective)
            inside.collective = event;
        if (event->kind == TRACE_SEND || event->kind == TRACE_COLLECTIVE)
            inside.sent_bytes += (int64_t)event->value;
        if (event->kind == TRACE_RECEIVE || event->kind == TRACE_COLLECTIVE_OUT)
            inside.received_bytes += (int64_t)event->value;
    }
    return inside;
}

/* One message in detail, of several how many. */
static void put_messages(const writer *from, bool *is_first, const contents *inside)
{
    FILE *file = from->job->file;
    if (inside->sends == 1) {
        put_partner(from, is_first, "destination", inside->send);
        put_number(file, is_first, "send_tag", inside->send->tag);
    } else if (inside->sends > 1) {
        put_number(file, is_first, "sends", inside->sends);
    }
    if (inside->receives == 1) {
        put_partner(from, is_first, "source", inside->receive);
        put_number(file, is_first, "receive_tag", inside->receive->tag);
    } else if (inside->receives > 1) {
        put_number(file, is_first, "receives", inside->receives);
    }
    if (inside->sends > 0 || inside->collective)
        put_number(file, is_first, "sent_bytes", inside->sent_bytes);
    if (inside->receives > 0 || inside->collective)
        put_number(file, is_first, "received_bytes", inside->received_bytes);
}

static void put_arguments(const writer *from, size_t enter, size_t leave)
{
    FILE *file = from->job->file;
    const trace_event *events = from->location->events;
    bool is_first = true, is_mpi = strncmp(from->job->of->names[events[enter].id], "MPI", 3) == 0;
    contents inside = is_mpi ? contents_of(from, enter, leave) : (contents){0};
    const trace_event *any = inside.collective ? inside.collective : inside.send ? inside.send : inside.receive;
    const trace_site *site = trace_find_site(&from->job->of->processes[from->location->rank], events[enter].value);
    fputs(",\"args\":{", file);
    put_messages(from, &is_first, &inside);
    if (inside.collective)
        put_partner(from, &is_first, "root", inside.collective);
    if (any)
        put_comm(from, &is_first, any);
    if (from->calls[enter] == CALL_NONE) {
        put_key(file, &is_first, "unfinished");
        fputs("true", file);
    } else if (events[leave].value > 0) {
        put_number(file, &is_first, "unsuccessful_calls", (int64_t)events[leave].value);
    }
    if (site) {
        put_key(file, &is_first, "call_site");
        json_print(file, json_text(site->symbol));
    }
    fputs("}", file);
}

/* ---- Events */

static const char *category_of(const char *name)
{
    bool is_recorder = strcmp(name, "clock") == 0 || strcmp(name, "flush") == 0;
    return strncmp(name, "MPI", 3) == 0 ? "MPI" : is_recorder ? "recorder" : "user";
}

/* A call that was never left lasts as long as there are events. */
static void put_slice(const writer *from, size_t enter)
{
    const trace_location *location = from->location;
    const char *name = from->job->of->names[location->events[enter].id];
    size_t leave = from->calls[enter] != CALL_NONE ? from->calls[enter] : location->count - 1;
    int64_t start_ns = time_ns(location, enter);
    begin_event(from->job, "X", location, start_ns);
    put_time(from->job->file, "dur", time_ns(location, leave) - start_ns);
    put_name(from->job->file, name);
    fprintf(from->job->file, ",\"cat\":\"%s\"", category_of(name));
    put_arguments(from, enter, leave);
    fputs("}", from->job->file);
}

static void put_dropped(const writer *from, size_t event)
{
    begin_event(from->job, "i", from->location, time_ns(from->location, event));
    put_name(from->job->file, "events dropped from here on");
    fprintf(from->job->file, ",\"s\":\"t\",\"args\":{\"events\":%" PRIu64 "}}", from->location->events[event].value);
}

/* JSON has no infinity. */
static void put_bound(const writer *from, size_t event, double bound_ns)
{
    const bool is_known = isfinite(bound_ns);
    begin_event(from->job, is_known ? "C" : "i", from->location, time_ns(from->location, event));
    put_name(from->job->file, is_known ? "clock bound (ns)" : "clock bound unknown from here on");
    if (is_known)
        fprintf(from->job->file, ",\"args\":{\"bound\":%.1f}}", bound_ns);
    else
        fputs(",\"s\":\"p\"}", from->job->file);
}

static bool put_location(conversion *job, const trace_location *location)
{
    size_t *calls = calls_find(location);
    writer from = {job, location, calls};
    double bound_ns = 0;
    for (size_t i = 0; calls && i < location->count; i++) {
        if (location->thread == 0 && bound_to_show(job, location, i, &bound_ns))
            put_bound(&from, i, bound_ns);
        if (location->events[i].kind == TRACE_ENTER)
            put_slice(&from, i);
        else if (location->events[i].kind == TRACE_DROPPED)
            put_dropped(&from, i);
        else if (location->events[i].kind == TRACE_LEAVE && calls[i] == CALL_NONE)
            job->left_out++;
    }
    bool has_memory = calls != NULL;
    free(calls);
    return has_memory;
}

/* ---- Arrows */

/*
 * An arrow ends in the slice that is open at its time. A slice is no longer open at its end, so the arrow ends a
 * nanosecond earlier.
 */
static void put_arrow(conversion *job, const trace_message *message, size_t number)
{
    const trace_location *source = trace_find_location(job->of, message->source, message->source_thread);
    const trace_location *destination = trace_find_location(job->of, message->destination, message->destination_thread);
    int64_t sent_ns = time_ns(source, message->send), received_ns = time_ns(destination, message->receive);
    begin_event(job, "s", source, sent_ns);
    fprintf(job->file, ",\"id\":%zu,\"cat\":\"message\",\"name\":\"message\"}", number);
    begin_event(job, "f", destination, received_ns > 0 ? received_ns - 1 : 0);
    fprintf(job->file, ",\"id\":%zu,\"cat\":\"message\",\"name\":\"message\",\"bp\":\"e\"}", number);
    job->backward += received_ns < sent_ns;
}

static bool is_signal(const trace *of, const trace_message *message)
{
    return trace_is_signal(&trace_find_location(of, message->source, message->source_thread)->events[message->send]);
}

/* ---- Waits, and what others wait for */

/* The arguments follow. */
static void begin_span(const conversion *job, const graph_lane *lane, int64_t from_ns, int64_t to_ns, const char *name,
                       const char *category)
{
    begin_on_track(job, "X", lane->location->rank, wait_track(job, lane->location), from_ns);
    put_time(job->file, "dur", to_ns - from_ns);
    put_name(job->file, name);
    fprintf(job->file, ",\"cat\":\"%s\",\"args\":{", category);
}

static void put_cause(const conversion *job, const graph_lane *lane, int64_t from_ns, int64_t to_ns, const char *name,
                      uint32_t which)
{
    const graph_delay *delay = graph_delay_at(&job->waits.graph, which);
    if (delay->charged_ns <= 0)
        return;
    begin_span(job, lane, from_ns, to_ns, name, "cause");
    fprintf(job->file, "\"others_wait_ns\":%" PRId64 ",\"longer_ns\":%" PRId64 "}}", delay->charged_ns, delay->late_ns);
}

/* The wait of a call, and an arrow from the call that it waits for. */
static void put_wait(const conversion *job, const graph_wait *wait, size_t number)
{
    const graph_lane *lane = &job->waits.graph.lanes[wait->lane], *late = &job->waits.graph.lanes[wait->late_lane];
    const graph_call *late_call = &late->calls[wait->late_call];
    begin_span(job, lane, wait->begin_ns, wait->end_ns, wait_state_names[wait->state], "wait");
    fprintf(job->file, "\"late_rank\":%d,\"late_call\":", late->location->rank);
    json_print(job->file, json_text(job->of->names[late->location->events[late_call->enter].id]));
    fprintf(job->file, ",\"bound_ns\":%.1f}}", wait->bound_ns);
    /* A call that ended before the other one began, by clocks that are not exact, has no arrow. */
    if (late_call->enter_ns > wait->end_ns)
        return;
    begin_event(job, "s", late->location, late_call->enter_ns);
    fprintf(job->file, ",\"id\":%zu,\"cat\":\"wait\",\"name\":\"late\"}", number);
    begin_on_track(job, "f", lane->location->rank, wait_track(job, lane->location), wait->end_ns - 1);
    fprintf(job->file, ",\"id\":%zu,\"cat\":\"wait\",\"name\":\"late\",\"bp\":\"e\"}", number);
}

/* first: the number of the first arrow. */
static void put_waits(const conversion *job, const graph_lane *lane, size_t first)
{
    int64_t left_ns = lane->begin_ns;
    for (size_t i = 0; i < lane->count; i++) {
        const graph_call *call = &lane->calls[i];
        const graph_wait *wait = conversion_wait(job, call);
        put_cause(job, lane, left_ns, call->enter_ns, "computation", call->delay_before);
        if (wait)
            put_wait(job, wait, first + call->wait);
        put_cause(job, lane, wait ? wait->end_ns : call->enter_ns, call->leave_ns,
                  job->of->names[lane->location->events[call->enter].id], call->delay_in);
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
    conversion_host(job, rank, host);
    snprintf(name, sizeof name, "rank %d%s%s", rank, host[0] != '\0' ? " on " : "", host);
    fprintf(job->file,
            "%s\n{\"ph\":\"M\",\"pid\":%d,\"name\":\"process_name\",\"args\":{\"name\":", rank > 0 ? "," : "", number);
    json_print(job->file, json_text(name));
    fprintf(job->file, "}},\n{\"ph\":\"M\",\"pid\":%d,\"name\":\"process_sort_index\",\"args\":{\"sort_index\":%d}}",
            number, rank);
    for (size_t i = 0; i < process->location_count; i++) {
        int thread = process->locations[i].thread;
        name_track(job, number, thread_number(job, rank, (uint32_t)thread), "thread", thread);
        if (!job->is_local)
            name_track(job, number, wait_track(job, &process->locations[i]), "waits of thread", thread);
    }
}

static void put_head(const conversion *job)
{
    fputs("{\"displayTimeUnit\":\"ns\",\"otherData\":{\"program\":", job->file);
    json_print(job->file, json_text("mpix_trace_convert"));
    fprintf(job->file, ",\"version\":\"%s\",\"times\":\"%s\"},\n\"traceEvents\":[", options_version(),
            job->is_local ? "local" : "global");
    for (int rank = 0; rank < job->of->size; rank++)
        put_process(job, rank);
}

int convert_to_perfetto(conversion *job)
{
    trace_matches matches = {0};
    bool has_memory =
        trace_match(job->of, &matches) && (job->is_local || analysis_charge(&job->waits, job->of, &matches, true));
    put_head(job);
    for (const trace_location *at = NULL; has_memory && (at = trace_next_location(job->of, at)) != NULL;)
        has_memory = put_location(job, at);
    for (size_t i = 0; has_memory && i < matches.message_count; i++)
        if (!is_signal(job->of, &matches.messages[i]))
            put_arrow(job, &matches.messages[i], i + 1);
    for (size_t i = 0; has_memory && i < job->waits.graph.lane_count; i++)
        put_waits(job, &job->waits.graph.lanes[i], matches.message_count + 1);
    fputs("\n]}\n", job->file);
    analysis_free(&job->waits);
    trace_matches_free(&matches);
    return has_memory ? STATUS_GOOD : conversion_out_of_memory(job);
}
