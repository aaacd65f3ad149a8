/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * otf2_events.c - the events of a location as OTF2 has them: calls, messages, requests, collective operations, accesses
 * of windows and files, what processes tell each other of windows, and the clock's bound as a metric.
 */
#include "trace/convert/otf2_private.h"

#include "common/cli/memory.h"

#include <string.h>

/* What a call did to a window and was not complete with it: it asked for a lock, or began an operation. */
typedef struct {
    int comm;
    uint32_t target; /* OTF2_UNDEFINED_UINT32: all */
    uint64_t number; /* of an operation */
    bool is_lock;
    OTF2_LockType type;
} open_access;

/* The location whose events are written. */
typedef struct {
    otf2_writer *to;
    const trace_location *location;
    OTF2_EvtWriter *events;
    OTF2_AttributeList *attributes;
    unsigned char *waits_for; /* by position of an ENTER: what the call waits for; of the enumeration below */
    uint32_t *begins;         /* by position of an ENTER: that of the lock or the access of a file in it; 0: none */
    size_t open_count;
    open_access *open;   /* in their order */
    OTF2_TimeStamp last; /* written */
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

/* ---- Accesses of windows and files */

static uint32_t number_of(otf2_numbers *of, int comm)
{
    if (of->numbers[comm] == 0) {
        of->comms[of->count++] = comm;
        of->numbers[comm] = of->count;
    }
    return of->numbers[comm] - 1;
}

static OTF2_RmaWinRef window_of(const writer *from, int comm)
{
    return number_of(&from->to->windows, comm);
}

static OTF2_IoHandleRef file_of(const writer *from, int comm)
{
    return number_of(&from->to->files, comm);
}

static bool is_lock(const trace_event *event)
{
    return event->mode == TRACE_LOCK_SHARED || event->mode == TRACE_LOCK_EXCLUSIVE;
}

static bool is_of_file(const trace_event *event)
{
    return event->partner < 0 && event->mode <= TRACE_UPDATE;
}

static OTF2_LockType lock_type(const trace_event *event)
{
    return event->mode == TRACE_LOCK_EXCLUSIVE ? OTF2_LOCK_EXCLUSIVE : OTF2_LOCK_SHARED;
}

/* Another one for each access of the job. */
static uint64_t access_number(const writer *from, size_t i)
{
    return (uint64_t)from->location->index << 32 | i;
}

static void mark_accesses(writer *from)
{
    for (size_t i = 0; i < from->location->count; i++) {
        const trace_event *event = &from->location->events[i];
        const uint32_t call = from->location->calls[i];
        if (event->kind == TRACE_ACCESS && call != CALL_NONE && (is_lock(event) || is_of_file(event)) &&
            comm_of(from, event) != COMMUNICATOR_UNKNOWN)
            from->begins[call] = (uint32_t)i;
    }
}

static const char *caller_of(const writer *from, size_t i)
{
    const uint32_t call = from->location->calls[i];
    return call != CALL_NONE ? from->to->job->of->names[from->location->events[call].id] : "";
}

static bool is_waiting(const char *function)
{
    return strncmp(function, "MPI_File_i", strlen("MPI_File_i")) != 0 && !strstr(function, "_begin");
}

static OTF2_IoOperationFlag flags_of(const char *function)
{
    OTF2_IoOperationFlag flags = OTF2_IO_OPERATION_FLAG_NONE;
    if (!is_waiting(function))
        flags |= OTF2_IO_OPERATION_FLAG_NON_BLOCKING;
    if (strstr(function, "_all") || strstr(function, "_ordered"))
        flags |= OTF2_IO_OPERATION_FLAG_COLLECTIVE;
    return flags;
}

/* At the beginning of the call. */
static void begin_access(writer *from, size_t i, OTF2_TimeStamp time)
{
    const trace_event *event = &from->location->events[i];
    const int comm = comm_of(from, event);
    if (is_lock(event))
        check(from, OTF2_EvtWriter_RmaRequestLock(from->events, NULL, time, window_of(from, comm),
                                                  partner_of(from, event), 0, lock_type(event)));
    else
        check(from, OTF2_EvtWriter_IoOperationBegin(
                        from->events, NULL, time, file_of(from, comm),
                        event->mode == TRACE_GET ? OTF2_IO_OPERATION_MODE_READ : OTF2_IO_OPERATION_MODE_WRITE,
                        flags_of(caller_of(from, i)), event->value, access_number(from, i)));
}

static void end_file_access(writer *from, size_t i, OTF2_TimeStamp time, int comm)
{
    const OTF2_IoHandleRef file = file_of(from, comm);
    if (from->location->calls[i] == CALL_NONE || from->begins[from->location->calls[i]] != i) {
        from->to->job->left_out[LEFT_ACCESS]++;
    } else if (is_waiting(caller_of(from, i))) {
        check(from, OTF2_EvtWriter_IoOperationComplete(from->events, NULL, time, file, from->location->events[i].value,
                                                       access_number(from, i)));
    } else {
        check(from, OTF2_EvtWriter_IoOperationIssued(from->events, NULL, time, file, access_number(from, i)));
        from->to->job->left_out[LEFT_FILE_END]++;
    }
}

static void keep_open(writer *from, open_access one)
{
    from->open = grow_or_exit(from->open, from->open_count, sizeof *from->open);
    from->open[from->open_count++] = one;
}

/* Of one target, or all: locks are held, and operations complete. */
static void complete_accesses(writer *from, OTF2_TimeStamp time, int comm, uint32_t target)
{
    size_t kept = 0;
    for (size_t i = 0; i < from->open_count; i++) {
        const open_access one = from->open[i];
        if (one.comm != comm ||
            (one.target != target && one.target != OTF2_UNDEFINED_UINT32 && target != OTF2_UNDEFINED_UINT32))
            from->open[kept++] = one;
        else if (one.is_lock)
            check(from, OTF2_EvtWriter_RmaAcquireLock(from->events, NULL, time, window_of(from, comm), one.target, 0,
                                                      one.type));
        else
            check(from,
                  OTF2_EvtWriter_RmaOpCompleteRemote(from->events, NULL, time, window_of(from, comm), one.number));
    }
    from->open_count = kept;
}

/* MPI_Get_accumulate and its like are two events. */
static bool is_of_both_ways(const writer *from, size_t put, size_t get)
{
    const trace_event *events = from->location->events;
    return get < from->location->count && events[put].kind == TRACE_ACCESS && events[put].mode == TRACE_UPDATE &&
           events[get].kind == TRACE_ACCESS && events[get].mode == TRACE_GET &&
           from->location->calls[put] == from->location->calls[get];
}

static OTF2_RmaAtomicType atomic_type(const char *function, bool is_of_both_ways)
{
    return strcmp(function, "MPI_Compare_and_swap") == 0 ? OTF2_RMA_ATOMIC_TYPE_COMPARE_AND_SWAP
           : is_of_both_ways                             ? OTF2_RMA_ATOMIC_TYPE_FETCH_AND_ACCUMULATE
                                                         : OTF2_RMA_ATOMIC_TYPE_ACCUMULATE;
}

static void put_operation(writer *from, size_t i, OTF2_TimeStamp time, int comm)
{
    const trace_event *event = &from->location->events[i];
    const OTF2_RmaWinRef window = window_of(from, comm);
    const uint32_t target = partner_of(from, event);
    const uint64_t number = access_number(from, i);
    const bool has_get = is_of_both_ways(from, i, i + 1);
    if (event->mode == TRACE_PUT)
        check(from, OTF2_EvtWriter_RmaPut(from->events, NULL, time, window, target, event->value, number));
    else if (event->mode == TRACE_GET)
        check(from, OTF2_EvtWriter_RmaGet(from->events, NULL, time, window, target, event->value, number));
    else
        check(from, OTF2_EvtWriter_RmaAtomic(from->events, NULL, time, window, target,
                                             atomic_type(caller_of(from, i), has_get), event->value,
                                             has_get ? event[1].value : 0, number));
    keep_open(from, (open_access){.comm = comm, .target = target, .number = number});
}

static void put_access(writer *from, size_t i)
{
    const trace_event *event = &from->location->events[i];
    const OTF2_TimeStamp time = event_time_ns(from, i);
    const int comm = comm_of(from, event);
    const uint32_t target = partner_of(from, event);
    if (i > 0 && is_of_both_ways(from, i - 1, i))
        return;
    if (comm == COMMUNICATOR_UNKNOWN) {
        from->to->job->left_out[LEFT_ACCESS]++;
    } else if (is_of_file(event)) {
        end_file_access(from, i, time, comm);
    } else if (is_lock(event)) {
        keep_open(from, (open_access){.comm = comm, .target = target, .is_lock = true, .type = lock_type(event)});
    } else if (event->mode <= TRACE_UPDATE) {
        put_operation(from, i, time, comm);
    } else if (event->mode == TRACE_FLUSH_LOCAL) {
        from->to->job->left_out[LEFT_LOCAL]++;
    } else {
        complete_accesses(from, time, comm, target);
        if (event->mode == TRACE_UNLOCK)
            check(from, OTF2_EvtWriter_RmaReleaseLock(from->events, NULL, time, window_of(from, comm), target, 0));
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
                                                                     trace_site_number(process, site) +
                                                                     from->to->first_site[from->location->rank])));
    check(from, OTF2_EvtWriter_Enter(from->events, from->attributes, time, region_of(from, event->id)));
    if (from->waits_for[i] == COLLECTIVE_OPERATION)
        check(from, OTF2_EvtWriter_MpiCollectiveBegin(from->events, NULL, time));
    else if (from->waits_for[i] == FENCE)
        check(from, OTF2_EvtWriter_RmaCollectiveBegin(from->events, NULL, time));
    if (from->begins[i] != 0)
        begin_access(from, from->begins[i], time);
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
    /* At the end of MPI_Win_complete. */
    if (comm != COMMUNICATOR_UNKNOWN && event->kind == TRACE_RECEIVE && event->tag == TRACE_TAG_POST)
        complete_accesses(from, event_time_ns(from, i), comm, partner_of(from, event));
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

static void put_fence(writer *from, OTF2_TimeStamp time, int comm)
{
    complete_accesses(from, time, comm, OTF2_UNDEFINED_UINT32);
    check(from, OTF2_EvtWriter_RmaCollectiveEnd(from->events, NULL, time, OTF2_COLLECTIVE_OP_BARRIER,
                                                OTF2_RMA_SYNC_LEVEL_PROCESS | OTF2_RMA_SYNC_LEVEL_MEMORY,
                                                window_of(from, comm), OTF2_COLLECTIVE_ROOT_NONE, 0, 0));
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
        put_fence(from, time, comm);
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
        break;
    case TRACE_ACCESS:
        put_access(from, i);
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
                   .waits_for = or_exit(calloc(location->count + 1, sizeof *from.waits_for)),
                   .begins = zeros_or_exit(location->count + 1, sizeof *from.begins)};
    double bound_ns = 0;
    mark_collectives(&from);
    mark_accesses(&from);
    for (size_t i = 0; to->error == OTF2_SUCCESS && i < location->count; i++) {
        if (location->thread == 0 && bound_to_show(location, i, &bound_ns))
            put_bound(&from, i, bound_ns);
        put_event(&from, i);
    }
    leave_open_calls(&from);
    OTF2_AttributeList_Delete(from.attributes);
    free(from.waits_for);
    free(from.begins);
    free(from.open);
}
