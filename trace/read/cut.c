/* SPDX-License-Identifier: BSD-3-Clause */
/* cut.c - leave out what is not in a part of the run. */
#include "common/cli/room.h"
#include "trace/read/calls.h"

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

/* Of the program: MPI_Init has ended. */
static double first_ns(const trace *of)
{
    double first = INFINITY;
    for (const trace_location *at = NULL; (at = trace_next_location(of, at));)
        first = at->count > 0 ? fmin(first, at->global_ns[0]) : first;
    return fmax(first, of->zero_ns);
}

/* Which events are kept, and when the location begins and ends: not within a call. */
static void choose(const trace *of, trace_location *at, kept_events *kept)
{
    *kept = (kept_events){0, at->count};
    for (size_t k = 0; k < kept->end; k++) {
        const size_t leave = at->calls[k] != CALL_NONE && is_call(of, &at->events[k]) ? at->calls[k] : k;
        if (at->global_ns[k] < at->begin_ns) {
            kept->first = leave + 1;
            at->begin_ns = fmax(at->begin_ns, at->global_ns[leave]);
        } else if (at->global_ns[leave] > at->end_ns) {
            kept->end = k;
            at->end_ns = fmin(at->end_ns, at->global_ns[k]);
        }
        k = leave;
    }
    at->end_ns = fmax(at->begin_ns, at->end_ns);
    kept->end = kept->end > kept->first ? kept->end : kept->first;
}

static void cut_location(trace_location *at, const kept_events *kept)
{
    at->count = kept->end - kept->first;
    memmove(at->events, at->events + kept->first, at->count * sizeof *at->events);
    memmove(at->global_ns, at->global_ns + kept->first, at->count * sizeof *at->global_ns);
    calls_find(at);
}

/* Returns whether an event is kept, with its new position. */
static bool move(const kept_events *kept, trace_point *point)
{
    const kept_events *its = &kept[point->at->index];
    const bool is_kept = point->event >= its->first && point->event < its->end;
    point->event -= its->first;
    return is_kept;
}

static void cut_messages(const kept_events *kept, trace_matches *matches)
{
    size_t count = 0;
    for (size_t i = 0; i < matches->message_count; i++) {
        trace_message message = matches->messages[i];
        if (message.sent.at && !move(kept, &message.sent))
            message.sent.at = NULL;
        if (move(kept, &message.send) && move(kept, &message.receive) && move(kept, &message.post))
            matches->messages[count++] = message;
    }
    matches->message_count = count;
}

static bool move_part(const kept_events *kept, trace_part *part)
{
    trace_point record = {part->enter.at, part->record};
    const bool is_kept =
        move(kept, &part->enter) && move(kept, &record) && move(kept, &part->wait) && move(kept, &part->leave);
    part->record = record.event;
    return is_kept;
}

static void cut_calls(const kept_events *kept, trace_matches *matches)
{
    size_t count = 0;
    for (size_t i = 0; i < matches->call_count; i++) {
        trace_call call = matches->calls[i];
        bool is_whole = true;
        for (int k = 0; k < call.count && is_whole; k++)
            is_whole = move_part(kept, &call.parts[k]);
        if (is_whole)
            matches->calls[count++] = call;
    }
    matches->call_count = count;
}

void trace_cut(trace *of, trace_matches *matches, double from_ns, double to_ns)
{
    const double begin_ns = fmax(from_ns, first_ns(of));
    kept_events *kept = need(calloc(of->location_count + 1, sizeof *kept));
    for (trace_location *at = NULL; (at = trace_next_location(of, at));) {
        at->begin_ns = begin_ns;
        at->end_ns = at->count > 0 ? fmin(to_ns, at->global_ns[at->count - 1]) : begin_ns;
        choose(of, at, &kept[at->index]);
    }
    cut_messages(kept, matches);
    cut_calls(kept, matches);
    for (trace_location *at = NULL; (at = trace_next_location(of, at));)
        cut_location(at, &kept[at->index]);
    of->is_cut = true;
    of->cut_from_ns = from_ns;
    of->cut_to_ns = to_ns;
    free(kept);
}
