/* SPDX-License-Identifier: BSD-3-Clause */
/* buffer.h - events in memory. */
#ifndef RECORD_BUFFER_H
#define RECORD_BUFFER_H

#include "trace/shared/trace_format.h"
#include "trace/shared/interposer.h"
#include "trace/record/recording.h"

#include <string.h>

enum { TRACE_CHUNK_EVENTS = 2047, TRACE_MAX_THREADS = 512 };
typedef struct trace_chunk {
    struct trace_chunk *_Atomic next; /* of the same thread; then this one is complete */
    _Atomic uint32_t used;
    uint32_t flushed, link; /* link: of the list of free ones */
    _Alignas(sizeof(trace_event)) trace_event events[TRACE_CHUNK_EVENTS];
} trace_chunk;

/*
 * Unsuccessful calls of one function at one place. A loop may make them at several places in turn: then the runs are
 * within each other, in the order of their first calls. Runs one after the other are not.
 */
enum { TRACE_RUNS = 8 };
typedef struct {
    uint64_t site, count;
    int64_t recent_ns; /* the first call since the last long time between two */
    int64_t enter_ns, leave_ns;
    uint16_t id;
} trace_run;

/* Of calls in error handlers and other callbacks of calls. */
enum { TRACE_DEPTH = 8 };

/* What calls with several requests need for them. */
typedef struct {
    int64_t size;
    int64_t *slots;
    MPI_Request *requests;
    MPI_Status *statuses;
} trace_room;

struct trace_thread {
    trace_event *next, *end; /* room in the last chunk */
    trace_chunk *last;
    trace_doing doing;
    const trace_event *seen;        /* next, when it was looked for the last time whether the thread is quiet */
    uint16_t open_ids[TRACE_DEPTH]; /* of functions whose LEAVE is not there yet, each within the one before */
    uint16_t open_count;
    uint16_t run_count;
    int rounds;          /* of its end */
    int64_t last_ns;     /* when its last call was left */
    int64_t in_calls_ns; /* by the program's calls, not those in their callbacks: all together, */
    int64_t longest_ns;  /* and the longest one */
    uint16_t longest_id;
    int64_t put_ns;         /* of its last event */
    _Atomic bool has_ended; /* so that another one may go on with it */
    _Atomic uint64_t events, dropped;
    int64_t full_ns;               /* when the first one was dropped */
    bool is_finished;              /* this has been written */
    trace_chunk *_Atomic first;    /* the next one to be flushed; NULL: the thread has none yet */
    trace_room rooms[TRACE_DEPTH]; /* of calls, of calls in their callbacks, and so on */
    trace_run runs[TRACE_RUNS];
} __attribute__((aligned(128)));

/* Returns false if there is no memory. */
bool mh_trace_open_buffer(int64_t bytes);

/* Of the trace, in bytes: with less, a process that is recorded would stop at its first events. */
int64_t mh_trace_least_limit(void);

/* For the calling thread, until it ends. NULL if there are too many: they are counted. */
TRACE_RARE trace_thread *mh_trace_new_thread(void);

/* Room for one more event. Returns false if there is none: the event is counted. */
TRACE_RARE bool mh_trace_make_room(trace_thread *thread, int64_t time_ns);

/* Members of an event that are bits of one number. */
static inline uint32_t trace_bits(const trace_event *event)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return (uint32_t)event->id | (uint32_t)event->kind << 24 | (uint32_t)event->mode << 29;
#else
    return (uint32_t)event->id << 8 | (uint32_t)event->kind << 3 | (uint32_t)event->mode;
#endif
}

/*
 * An event that is known late has the time of those in callbacks of its call, which came before it. Each member is
 * stored from a register, and the bits at once: a processor waits for what it loads as one number just after it was
 * stored in parts.
 */
__attribute__((always_inline)) static inline void mh_trace_put(trace_thread *thread, trace_event event)
{
    const uint32_t bits = trace_bits(&event);
    const int64_t time_ns = event.time_ns > thread->put_ns ? event.time_ns : thread->put_ns;
    thread->put_ns = time_ns;
    if (thread->next == thread->end && !mh_trace_make_room(thread, time_ns))
        return;
    trace_event *next = thread->next++;
    next->time_ns = time_ns;
    next->value = event.value;
    next->partner = event.partner;
    next->tag = event.tag;
    next->request = event.request;
    memcpy((char *)(next + 1) - sizeof bits, &bits, sizeof bits);
    atomic_store_explicit(&thread->last->used, (uint32_t)(thread->next - thread->last->events), memory_order_release);
}

bool mh_trace_is_half_full(void);

/* Calls it with each thread of the program that has made a call of MPI. */
void mh_trace_for_each_thread(void (*its)(trace_thread *thread));

/*
 * Write what is in memory; at the end of the program, also how many events were dropped. If it must not wait, it is
 * left to another thread that does so.
 */
void mh_trace_flush(trace_patience patience, bool is_last);

/* What is written under one lock with the events of threads that have put none since the last time: they may wait for
 * ever. Of all threads, if nothing was written for long. */
bool mh_trace_begin_flush(trace_patience patience);
void mh_trace_flush_quiet(void);
void mh_trace_end_flush(void);

/* Over all threads. lost_threads: so many were too many. */
typedef struct {
    uint64_t events, dropped, lost_threads;
} trace_counts;
trace_counts mh_trace_count(void);

#endif
