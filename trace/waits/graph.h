/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * graph.h - what the analysis of waits needs of a trace: calls of each thread one after the other, computation between
 * them, and what each call depends on. Times are global, in whole nanoseconds.
 *
 * A call depends on the beginnings of calls of other threads: of the send whose message it receives, of the receive for
 * which a large send waited, of the calls of all processes of an operation.
 */
#ifndef TRACE_GRAPH_H
#define TRACE_GRAPH_H

#include "trace/read/meanings.h"
#include "trace/read/trace.h"
#include "trace/waits/places.h"

/* Why a process waits, by the names that the field has for it. */
typedef enum {
    STATE_LATE_SENDER,
    STATE_WRONG_ORDER, /* a late sender, but a message that is received later has been sent */
    STATE_LATE_RECEIVER,
    STATE_BARRIER,
    STATE_N_BY_N,
    STATE_NEIGHBOR,
    STATE_FENCE,
    STATE_LATE_POST,
    STATE_LATE_COMPLETE,
    STATE_LOCK,           /* another process has a lock of a window */
    STATE_PROGRESS,       /* another one does nothing for a message, an operation or its window before it calls MPI */
    STATE_LATE_BROADCAST, /* a root that gives is late */
    STATE_EARLY_REDUCE,   /* a root that gets is early */
    STATE_INNER,          /* in an operation with a root, another wait: for whom its algorithm passes data through */
    STATE_INIT,           /* the program is not begun before all have left MPI_Init */
    STATE_CLOCK,          /* mpix_trace looks after the clocks with all processes */
    STATE_FINALIZE,
    STATE_COUNT
} wait_state;
extern const char *const wait_state_names[STATE_COUNT];

/* A program that computes no longer than this between two unsuccessful tests waits. */
enum { GRAPH_POLL_NS = 1000000 };

/* Lists are large, so their indexes have 32 bits; what has more of them ends the program. This is no index: */
#define GRAPH_NONE UINT32_MAX

/* In one call: it has to wait until so long after another call began, or until a gathering is complete. */
typedef struct {
    int64_t after_ns;
    uint32_t next; /* in the list of this call, or GRAPH_NONE */
    uint32_t lane; /* GRAPH_NONE: `call` is a gathering */
    uint32_t call;
    wait_state state : 8;
    bool is_short_send : 1;
} graph_dependency;

/* A call that takes part in a gathering. Its times are copied, so that they lie beside each other. */
typedef struct {
    int64_t enter_ns;
    double bound_ns; /* of the clock of its lane then */
    uint32_t lane;   /* GRAPH_NONE: there is none */
    uint32_t call;
} graph_arrival;

/* The beginnings of all calls of an operation. */
typedef struct {
    uint32_t count;
    graph_arrival last, second; /* the last one, and the last one of the other lanes */
} graph_gathering;

typedef struct {
    uint32_t gathering;
    uint32_t next; /* in the list of this call, or GRAPH_NONE */
} graph_member;

/*
 * A computation, a piece of it, or a call for which others waited: by how much it took longer than theirs, at most, and
 * its charges. Waits may go back to different pieces, so the last piece has how late all are together.
 */
typedef struct {
    uint32_t cause; /* or GRAPH_NONE */
    int64_t late_ns, whole_ns, charged_ns;
} graph_delay;

/* A call that is in no other one. Tests that find nothing are one with the next one, and begin it. */
typedef struct {
    int64_t enter_ns, leave_ns;
    uint32_t enter, leave; /* positions */
    uint32_t place;
    uint32_t dependency, member;     /* the first ones, or GRAPH_NONE */
    uint32_t wait;                   /* or GRAPH_NONE */
    uint32_t delay_before, delay_in; /* the computation before this call, and the call itself, or GRAPH_NONE */
    bool has_partners;               /* it received a message, or took part in a collective operation */
    bool has_completions;            /* a request that is recorded was complete in it, or canceled */
    bool is_matched;                 /* the trace has the other ends of the message, the operation, or all accesses */
    bool is_open;                    /* its last test found nothing */
    bool is_found;                   /* it looked for a message, and it is known which one came meanwhile */
    bool has_unknown_holder;         /* it asks for a lock of a window, and nothing tells who had it before */
    bool is_unclear;                 /* it may have waited for one that computed, or moved data meanwhile */
} graph_call;

/*
 * A thread, from the beginning of the run on, or of the part of it, to the end of MPI_Finalize; without that, to its
 * last event, or the end of the part.
 *
 * The first call of a thread that called MPI_Init is that, and the next one what the recorder did there before the
 * program went on. What both take when all processes are there is no part of the run. The last call of a thread that
 * called MPI_Finalize begins where the program called it, and ends no later than the last one of these begins.
 */
typedef struct {
    const trace_location *location;
    int64_t begin_ns, end_ns;
    bool has_init, has_finalize;
    size_t count, dependency_count;
    graph_call *calls;
    graph_dependency *dependencies;
} graph_lane;

/* What a name is of; NAME_CLOCK, NAME_FLUSH: what mpix_trace did itself; NAME_OFF: it was to record nothing. */
typedef enum { NAME_REGION, NAME_CALL, NAME_CLOCK, NAME_FLUSH, NAME_INIT, NAME_FINALIZE, NAME_OFF } graph_name_kind;

typedef struct {
    const trace *of;
    size_t lane_count;
    graph_lane *lanes; /* by index of the location */
    int64_t begin_ns, end_ns;
    bool is_too_long; /* for sums of times: its clocks are wrong, so nothing can be said of its waits */
    places places;
    graph_name_kind *kinds;   /* by name */
    const meaning **meanings; /* by name; NULL: nothing is known of it */
    size_t gathering_count, member_count;
    graph_gathering *gatherings;
    graph_member *members;
    size_t delay_count;
    graph_delay *delays;
} graph;

/* Calls, without dependencies. Global times are set. What is made must outlive the graph. */
void graph_make(graph *made, const trace *of);
void graph_free(graph *made);

/* The call of a lane that an event is in, or GRAPH_NONE. */
size_t graph_call_of(const graph_lane *lane, size_t event);

/* The global time of an event. */
int64_t graph_time_ns(const graph_lane *lane, size_t event);

/* How wrong the clock of a lane may be when a call begins. */
double graph_bound_ns(const graph *of, size_t lane, size_t call);

/* Whether the second call of a lane is what the recorder did in MPI_Init. */
bool graph_has_init_clock(const graph *of, const graph_lane *lane);

/* Whether a lane does anything: a thread without events may compute all the time in a part of the run. */
bool graph_runs(const graph_lane *lane);

/* What a lane computes between two calls of the program. Calls of the recorder cut it into pieces. */
typedef struct {
    size_t from, to;    /* places of these two calls; GRAPH_NONE: where the lane begins, or ends */
    size_t first, last; /* the calls before which its first and its last piece are; at the end, last is the count */
    int64_t ns;         /* of all pieces */
} graph_computation;

/* The computation of which a piece is before a call. */
graph_computation graph_computation_at(const graph *of, size_t lane, size_t call);

/* How long a lane computes before a call: one piece. */
int64_t graph_piece_ns(const graph_lane *lane, size_t call);

/* How long a lane computes before a test, after one that found nothing, and longer than it would wait; else 0. */
int64_t graph_polled_ns(const graph *of, const graph_lane *lane, size_t call);

/* The delay of an index; without one, it is of no cause, and 0. */
const graph_delay *graph_delay_at(const graph *of, uint32_t delay);

/* Whether a call is the recorder's own: it synchronized clocks, or wrote events. */
bool graph_is_recorder(const graph *of, const graph_call *call);

/* Whether a call stands for a time of which nothing was recorded. */
bool graph_is_off(const graph *of, const graph_call *call);

/* Whether the function that is called has one of the flags of meanings.h. */
bool graph_means(const graph *of, const graph_call *call, unsigned means);

/* The name of the function that is called. */
const char *graph_name(const graph *of, const graph_call *call);

/* Let a call depend on one more. */
void graph_depend(graph_lane *lane, size_t call, graph_dependency on);

/* Room for another one in such a list. */
void *graph_room(void *list, size_t count, size_t bytes);

#endif
