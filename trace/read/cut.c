/* SPDX-License-Identifier: BSD-3-Clause */
/* cut.c - read a part of the run. */
#include "common/cli/memory.h"
#include "trace/read/matching.h"

#include <math.h>
#include <string.h>

/* Of the events of a location: from the first one to before the end. */
typedef struct {
    size_t first, end;
} kept_events;

/* Regions go on around the part, calls are in it or not. */
static bool is_call(const trace *of, const trace_event *event)
{
    return event->kind == TRACE_ENTER && strncmp(of->names[event->id], "region ", strlen("region ")) != 0;
}

/* Which events are kept, and when the location begins and ends: not within a call. */
static kept_events choose(const trace *of, trace_location *at)
{
    kept_events kept = {0, at->count};
    at->begin_ns = fmax(of->cut_from_ns, fmax(0, of->zero_ns));
    if (of->has_start && at->count > 0)
        at->begin_ns = fmin(at->begin_ns, at->global_ns[0]);
    at->end_ns = at->count > 0 ? fmin(of->cut_to_ns, at->global_ns[at->count - 1]) : at->begin_ns;
    for (size_t k = 0; k < kept.end; k++) {
        const size_t leave = at->calls[k] != CALL_NONE && is_call(of, &at->events[k]) ? at->calls[k] : k;
        if (at->global_ns[k] < at->begin_ns) {
            kept.first = leave + 1;
            at->begin_ns = fmax(at->begin_ns, at->global_ns[leave]);
        } else if (at->global_ns[leave] > at->end_ns) {
            kept.end = k;
            at->end_ns = fmin(at->end_ns, at->global_ns[k]);
        }
        k = leave;
    }
    at->end_ns = fmax(at->begin_ns, at->end_ns);
    for (size_t k = 0; k < kept.first && k < at->count; k++)
        at->looks_before += at->events[k].kind == TRACE_ENTER && strcmp(of->names[at->events[k].id], "clock") == 0;
    kept.end = kept.end > kept.first ? kept.end : kept.first;
    return kept;
}

/* Returns whether an event is kept, with its new position. kept: by location of the process. */
static bool move(const kept_events *kept, trace_point *point)
{
    if (!point->at)
        return false;
    const kept_events *its = &kept[point->at - point->at->process->locations];
    const bool is_kept = point->event >= its->first && point->event < its->end;
    point->event -= its->first;
    return is_kept;
}

static void cut_sends(const kept_events *kept, end_list *sends)
{
    size_t count = sends->last;
    for (size_t i = sends->last; i < sends->count; i++) {
        message_end send = sends->ends[i];
        trace_point event = message_send(&send);
        if (!move(kept, &send.done))
            send.done.at = NULL;
        if (!move(kept, &send.last_part))
            send.last_part.at = NULL;
        if (move(kept, &event) && move(kept, &send.begun))
            sends->ends[count++] = send;
    }
    sends->count = count;
}

static void cut_receives(const kept_events *kept, end_list *receives)
{
    size_t count = receives->last;
    for (size_t i = receives->last; i < receives->count; i++) {
        message_end receive = receives->ends[i];
        if (!move(kept, &receive.last_part))
            receive.last_part.at = NULL;
        if (move(kept, &receive.begun) && move(kept, &receive.done))
            receives->ends[count++] = receive;
    }
    receives->count = count;
}

static void cut_parts(const kept_events *kept, part_list *parts)
{
    size_t count = parts->last;
    for (size_t i = parts->last; i < parts->count; i++) {
        call_part its = parts->list[i];
        trace_point record = {its.part.enter.at, its.part.record};
        if (!move(kept, &its.part.enter) || !move(kept, &record) || !move(kept, &its.part.wait) ||
            !move(kept, &its.part.leave))
            continue;
        its.part.record = record.event;
        parts->list[count++] = its;
    }
    parts->count = count;
}

/* What is left is moved into memory of its size. */
static void cut_location(trace_location *at, const kept_events *kept)
{
    trace_event *events = at->events;
    double *global_ns = at->global_ns;
    at->count = kept->end - kept->first;
    at->events = array_or_exit(at->count, sizeof *events);
    at->global_ns = array_or_exit(at->count, sizeof *global_ns);
    memcpy(at->events, events + kept->first, at->count * sizeof *events);
    memcpy(at->global_ns, global_ns + kept->first, at->count * sizeof *global_ns);
    free(events);
    free(global_ns);
    calls_find(at);
}

static void add_part(const trace *of, trace_process *process, matching *to)
{
    kept_events *kept = array_or_exit(process->location_count, sizeof *kept);
    for (size_t i = 0; i < process->location_count; i++)
        kept[i] = choose(of, &process->locations[i]);
    matching_add(to, process);
    cut_sends(kept, &to->sends);
    cut_receives(kept, &to->receives);
    cut_parts(kept, &to->parts);
    for (size_t i = 0; i < process->location_count; i++)
        cut_location(&process->locations[i], &kept[i]);
    free(kept);
}

bool trace_read_part(trace *read, trace_matches *matches, const char *folder, double from_s, double to_s,
                     char message[TRACE_MESSAGE_SIZE])
{
    matching all = {.sends = {.count = 0}};
    bool is_good = true;
    trace_set_start(read, TRACE_GLOBAL);
    read->is_cut = true;
    read->has_start = from_s <= 0;
    read->cut_from_ns = from_s >= 0 ? read->zero_ns + from_s * 1e9 : 0;
    read->cut_to_ns = to_s >= 0 ? read->zero_ns + to_s * 1e9 : INFINITY;
    for (int rank = 0; rank < read->size && is_good; rank++) {
        is_good = trace_read_events(read, folder, rank, message);
        if (is_good) {
            trace_set_times_of(read, rank, TRACE_GLOBAL);
            add_part(read, &read->processes[rank], &all);
        }
    }
    matching_join(&all, read, matches);
    return is_good;
}
