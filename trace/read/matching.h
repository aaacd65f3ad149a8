/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * matching.h - the steps of trace_match: messages.c and collectives.c take from each process what may have a
 * counterpart, and join what belongs together; cut.c leaves out in between what is not in a part of the run.
 */
#ifndef TRACE_MATCHING_H
#define TRACE_MATCHING_H

#include "trace/read/calls.h"

/* One end of a message: the event by which it is matched, and the one that completed it; at NULL: nobody saw that. */
typedef struct {
    int source, destination; /* ranks in MPI_COMM_WORLD */
    uint32_t context;
    int32_t tag;
    uint64_t parts;   /* which request in parts, or 0 */
    uint32_t number;  /* its place among the ends of its stream: of what is above, recorded or not */
    uint32_t skipped; /* not 0: it stands for so many ends that were not recorded */
    trace_point begun, done;
    trace_point last_part; /* as in calls.h */
} message_end;

typedef struct {
    size_t count, lost; /* lost: more ends, of messages in parts, and nobody knows of which request */
    size_t last;        /* where those of the last process begin, by stream and place */
    message_end *ends;
} end_list;

/* A part of a call of a collective operation, and the call as all processes name it. */
typedef struct {
    trace_call call; /* without its parts */
    uint32_t number; /* on this communicator, or of a persistent request; */
    int32_t made;    /* that one's on this communicator, or 0 */
    int place;       /* in it */
    trace_part part; /* leave.at: NULL if its end is not known */
} call_part;

typedef struct {
    size_t count;
    size_t last; /* where those of the last process begin */
    call_part *list;
} part_list;

typedef struct {
    end_list sends, receives;
    part_list parts;
} matching;

/* Take the ends and parts of the next process, by rank, all of whose events are there. */
void matching_add(matching *to, const trace_process *process);

/* Join all. What was taken is freed. */
void matching_join(matching *taken, const trace *of, trace_matches *matches);

/* The parts of these that are about messages. */
void matching_add_messages(matching *to, const trace_process *process, const call_requests *requests);
void matching_join_messages(matching *taken, const trace *of, trace_matches *matches);

/* The SEND of the end of a message. */
static inline trace_point message_send(const message_end *send)
{
    return send->begun.at->events[send->begun.event].kind == TRACE_ENTER ? send->done : send->begun;
}

#endif
