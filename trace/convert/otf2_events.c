/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * otf2_events.c - the events of a location as OTF2 has them: calls, messages, requests, collective operations, what
 * processes tell each other of windows, and the clock's bound as a metric.
 */
#include "trace/convert/otf2_private.h"

#include "common/cli/memory.h"

/* The location whose events are written. */
typedef struct {
    otf2_writer *to;
    const trace_location *location;
    OTF2_EvtWriter *events;
    OTF2_AttributeList *attributes;
    unsigned char *waits_for; /* by position of an ENTER: what the call waits for; of the enumeration below */
    OTF2_TimeStamp last;      /* written */
} writer;

enum { NO_OPERATION, COLLECTIVE_OPERATION, FENCE };

static bool check(const writer *from, OTF2_ErrorCode code)
{
    return otf2_check(from->to, code);
}

static uint64_t event_time_ns(writer *from, size_t i)
{
    const conversion *job = from->to->job;
    int64_t time_ns = job->is_local ? from->location->events[i].time_ns
                                    : conversion_global_ns(job, from->location, i) + from->to->moved_ns;
    if (time_ns > (int64_t)from->last)
        from->last = (uint64_t)time_ns;
    return from->last;
}

static int comm_of(const writer *from, const trace_event *event)
{
    return communicators_common(&from->to->job->communicators, from->location->rank, event->id);
}

static uint32_t partner_of(const writer *from, const trace_event *event)
{
    return (uint32_t)communicators_place(&from->to->job->communicators, from->location->rank, event);
}

/* What a COLLECTIVE is. Of one with a request, which may be of another thread, its call began last before it. */
static otf2_function function_of(const writer *from, const trace_location *location, size_t record)
{
    const uint32_t call = location->calls[record];
    size_t after = location->events[record].request != 0 ? record : call != CALL_NONE ? (size_t)call + 1 : 0;
    while (after > 0 && location->events[after - 1].kind != TRACE_ENTER)
        after--;
    if (after == 0)
        return (otf2_function){.has_operation = false};
    return otf2_function_of(from->to->job->of->names[call_operation(location, after - 1, record)]);
}

static void mark_collectives(writer *from)
{
    for (size_t i = 0; i < from->location->count; i++) {
        const trace_event *event = &from->location->events[i];
        if (event->kind != TRACE_COLLECTIVE || event->request != 0 || comm_of(from, event) == COMMUNICATOR_UNKNOWN)
            continue;
        const otf2_function function = function_of(from, from->location, i);
        if (function.has_operation || function.is_fence)
            from->waits_for[from->location->calls[i]] = function.is_fence ? FENCE : COLLECTIVE_OPERATION;
    }
}

/* ---- Calls */

/* Regions are numbered as they come. */
static OTF2_RegionRef region_of(writer *from, uint16_t id)
{
    otf2_writer *to = from->to;
    if (to->regions[id] == OTF2_UNDEFINED_REGION) {
        to->region_names[to->region_count] = id;
        to->regions[id] = to->region_count++;
    }
    return to->regions[id];
}

static void put_enter(writer *from, size_t i)
{
    const trace_event *event = &from->location->events[i];
    OTF2_TimeStamp time = event_time_ns(from, i);
    const trace_process *process = from->location->process;
    const trace_site *site = trace_find_site(process, event->value);
    if (site)
        check(from, OTF2_AttributeList_AddStringRef(from->attributes, OTF2_ATTRIBUTE_SITE,
                                                    (OTF2_StringRef)(OTF2_FIRST_SITE_STRING +
                                                                     (uint64_t)(site - process->sites) +
                                                                     from->to->first_site[from->location->rank])));
    check(from, OTF2_EvtWriter_Enter(from->events, from->attributes, time, region_of(from, event->id)));
    if (from->waits_for[i] == COLLECTIVE_OPERATION)
        check(from, OTF2_EvtWriter_MpiCollectiveBegin(from->events, NULL, time));
    else if (from->waits_for[i] == FENCE)
        check(from, OTF2_EvtWriter_RmaCollectiveBegin(from->events, NULL, time));
}

static void put_leave(writer *from, size_t i)
{
    const trace_event *event = &from->location->events[i];
    if (from->location->calls[i] == CALL_NONE) {
        from->to->job->left_out[LEFT_END]++;
        return;
    }
    if (event->value > 0)
        check(from, OTF2_AttributeList_AddUint64(from->attributes, OTF2_ATTRIBUTE_POLLS, event->value));
    check(from,
          OTF2_EvtWriter_Leave(from->events, from->attributes, event_time_ns(from, i), region_of(from, event->id)));
}

/* A call that was never left ends with the last event, so that calls are as parentheses. */
static void leave_open_calls(writer *from)
{
    for (size_t i = from->location->count; i-- > 0;)
        if (from->location->events[i].kind == TRACE_ENTER && from->location->calls[i] == CALL_NONE)
            check(from,
                  OTF2_EvtWriter_Leave(from->events, NULL, from->last, region_of(from, from->location->events[i].id)));
}

/* ---- Messages */

/* MPI_Isendrecv makes one request of two, which OTF2 tells apart: those that receive are odd. */
static uint64_t request_number(const writer *from, const trace_event *event)
{
    const call_request *its = request_of(&from->to->requests, event);
    return 2 * (uint64_t)event->request + (its && its->kind == TRACE_RECEIVE_POST);
}

static void put_message(writer *from, size_t i)
{
    typedef OTF2_ErrorCode waiting(OTF2_EvtWriter *, OTF2_AttributeList *, OTF2_TimeStamp, uint32_t, OTF2_CommRef,
                                   uint32_t, uint64_t);
    typedef OTF2_ErrorCode requested(OTF2_EvtWriter *, OTF2_AttributeList *, OTF2_TimeStamp, uint32_t, OTF2_CommRef,
                                     uint32_t, uint64_t, uint64_t);
    const trace_event *event = &from->location->events[i];
    const bool is_send = event->kind == TRACE_SEND;
    waiting *put = is_send ? OTF2_EvtWriter_MpiSend : OTF2_EvtWriter_MpiRecv;
    requested *put_requested = is_send ? OTF2_EvtWriter_MpiIsend : OTF2_EvtWriter_MpiIrecv;
    const int comm = comm_of(from, event);
    const uint32_t partner = partner_of(from, event), tag = (uint32_t)event->tag;
    const OTF2_TimeStamp time = event_time_ns(from, i);
    if (comm == COMMUNICATOR_UNKNOWN || event->partner < 0)
        from->to->job->left_out[LEFT_MESSAGE]++;
    else if (event->request == 0)
        check(from, put(from->events, NULL, time, partner, (OTF2_CommRef)comm, tag, event->value));
    else
        check(from, put_requested(from->events, NULL, time, partner, (OTF2_CommRef)comm, tag, event->value,
                                  request_number(from, event)));
}

/* What happens to a request and says no more. */
static void put_request(writer *from, size_t i,
                        OTF2_ErrorCode (*put)(OTF2_EvtWriter *, OTF2_AttributeList *, OTF2_TimeStamp, uint64_t))
{
    check(from, put(from->events, NULL, event_time_ns(from, i), request_number(from, &from->location->events[i])));
}

/* ---- Windows */

static OTF2_RmaWinRef window_of(const writer *from, int comm)
{
    from->to->has_windows[comm] = true;
    return (OTF2_RmaWinRef)comm;
}

/* What MPI_Win_post and MPI_Win_complete tell others, and when these know. */
static void put_signal(writer *from, size_t i)
{
    const trace_event *event = &from->location->events[i];
    const int comm = comm_of(from, event);
    if (event->kind == TRACE_RECEIVE_POST)
        return;
    if (comm == COMMUNICATOR_UNKNOWN || event->partner < 0)
        from->to->job->left_out[LEFT_MESSAGE]++;
    else
        check(from, OTF2_EvtWriter_RmaSync(
                        from->events, NULL, event_time_ns(from, i), window_of(from, comm), partner_of(from, event),
                        event->kind == TRACE_SEND ? OTF2_RMA_SYNC_TYPE_NOTIFY_OUT : OTF2_RMA_SYNC_TYPE_NOTIFY_IN));
}

/* ---- Collective operations */

static uint64_t bytes_out(const trace_location *location, size_t i)
{
    const trace_event *out = call_out(location, i);
    return out ? out->value : 0;
}

static uint32_t root_of(const writer *from, const trace_event *event)
{
    if (event->partner >= 0)
        return partner_of(from, event);
    return event->partner == TRACE_ROOT_SELF         ? (uint32_t)OTF2_COLLECTIVE_ROOT_SELF
           : event->partner == TRACE_ROOT_THIS_GROUP ? (uint32_t)OTF2_COLLECTIVE_ROOT_THIS_GROUP
                                                     : (uint32_t)OTF2_COLLECTIVE_ROOT_NONE;
}

static void put_collective(writer *from, size_t i)
{
    const trace_event *event = &from->location->events[i];
    otf2_function function = function_of(from, from->location, i);
    int comm = comm_of(from, event);
    OTF2_TimeStamp time = event_time_ns(from, i);
    if (!(function.has_operation || function.is_fence) || comm == COMMUNICATOR_UNKNOWN)
        from->to->job->left_out[LEFT_COLLECTIVE]++;
    else if (function.is_fence)
        check(from, OTF2_EvtWriter_RmaCollectiveEnd(from->events, NULL, time, OTF2_COLLECTIVE_OP_BARRIER,
                                                    OTF2_RMA_SYNC_LEVEL_PROCESS | OTF2_RMA_SYNC_LEVEL_MEMORY,
                                                    window_of(from, comm), OTF2_COLLECTIVE_ROOT_NONE, 0, 0));
    else if (event->request != 0)
        check(from, OTF2_EvtWriter_NonBlockingCollectiveRequest(from->events, NULL, time, request_number(from, event)));
    else
        check(from, OTF2_EvtWriter_MpiCollectiveEnd(from->events, NULL, time, function.operation, (OTF2_CommRef)comm,
                                                    root_of(from, event), event->value, bytes_out(from->location, i)));
}

static void put_collective_done(writer *from, size_t i)
{
    const call_request *its = request_of(&from->to->requests, &from->location->events[i]);
    if (!its) {
        from->to->job->left_out[LEFT_COMPLETION]++;
        return;
    }
    const trace_event *event = &its->begun.at->events[its->begun.event];
    otf2_function function = function_of(from, its->begun.at, its->begun.event);
    int comm = comm_of(from, event);
    if (function.has_operation && comm != COMMUNICATOR_UNKNOWN)
        check(from, OTF2_EvtWriter_NonBlockingCollectiveComplete(
                        from->events, NULL, event_time_ns(from, i), function.operation, (OTF2_CommRef)comm,
                        root_of(from, event), event->value, bytes_out(its->begun.at, its->begun.event),
                        request_number(from, event)));
}

/* ---- All events */

static void put_bound(writer *from, size_t i, double bound_ns)
{
    OTF2_Type type = OTF2_TYPE_DOUBLE;
    OTF2_MetricValue value = {.floating_point = bound_ns};
    check(from, OTF2_EvtWriter_Metric(from->events, NULL, event_time_ns(from, i), OTF2_METRIC_BOUND, 1, &type, &value));
}

static void put_event(writer *from, size_t i)
{
    const trace_event *event = &from->location->events[i];
    if (trace_is_signal(event)) {
        put_signal(from, i);
        return;
    }
    switch ((trace_event_kind)event->kind) {
    case TRACE_ENTER:
        put_enter(from, i);
        break;
    case TRACE_LEAVE:
        put_leave(from, i);
        break;
    case TRACE_SEND:
    case TRACE_RECEIVE:
        put_message(from, i);
        break;
    case TRACE_SEND_DONE:
        put_request(from, i, OTF2_EvtWriter_MpiIsendComplete);
        break;
    case TRACE_RECEIVE_POST:
        put_request(from, i, OTF2_EvtWriter_MpiIrecvRequest);
        break;
    case TRACE_CANCELED:
        put_request(from, i, OTF2_EvtWriter_MpiRequestCancelled);
        break;
    case TRACE_COLLECTIVE:
        put_collective(from, i);
        break;
    case TRACE_COLLECTIVE_OUT: /* part of the event before */
    case TRACE_PARTS:
    case TRACE_READY:
    case TRACE_ARRIVED:
    case TRACE_SKIPPED:
    case TRACE_ACCESS:
        break;
    case TRACE_COLLECTIVE_DONE:
        put_collective_done(from, i);
        break;
    case TRACE_DROPPED:
        check(from, OTF2_EvtWriter_MeasurementOnOff(from->events, NULL, event_time_ns(from, i), OTF2_MEASUREMENT_OFF));
        break;
    }
}

void otf2_put_events(otf2_writer *to, const trace_location *location, OTF2_EvtWriter *events)
{
    writer from = {.to = to,
                   .location = location,
                   .events = events,
                   .attributes = or_exit(OTF2_AttributeList_New()),
                   .waits_for = or_exit(calloc(location->count + 1, sizeof *from.waits_for))};
    double bound_ns = 0;
    mark_collectives(&from);
    for (size_t i = 0; to->error == OTF2_SUCCESS && i < location->count; i++) {
        if (location->thread == 0 && bound_to_show(location, i, &bound_ns))
            put_bound(&from, i, bound_ns);
        put_event(&from, i);
    }
    leave_open_calls(&from);
    OTF2_AttributeList_Delete(from.attributes);
    free(from.waits_for);
}
