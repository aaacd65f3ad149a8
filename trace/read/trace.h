/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace.h - a trace in memory, as the tools see it: read.c reads it, clock.c gives its events global times, messages.c
 * and collectives.c say which events belong together, logical_clock.c moves them into an order that could have been.
 */
#ifndef TRACE_TRACE_H
#define TRACE_TRACE_H

#include "trace/shared/trace_format.h"

#include <stdbool.h>
#include <stddef.h>

enum { TRACE_MESSAGE_SIZE = 512 };

typedef struct {
    uint32_t context; /* with the lowest of ranks: the same communicator on all processes */
    int size;
    bool is_inter;
    bool is_foreign; /* it has processes of other jobs */
    int *ranks;      /* in MPI_COMM_WORLD; -1: of another job */
    int lowest;      /* of this job's; -1: there is none */
    int place;       /* of this process among them; -1: it is none of them; of an intercommunicator, in both groups */
    int local_size, local_lowest; /* of an intercommunicator: of the group of this process; size 0: it is not known */
    int neighbor_count;
    int *neighbors; /* from which it gets something in neighborhood operations: places among them, or -1 */
} trace_communicator;

/* Events of one thread. */
typedef struct {
    struct trace_process *process;
    int rank, thread;
    size_t index; /* among those of all processes, by rank and thread */
    size_t count;
    int64_t first_ns; /* local, of the first event, before events are read */
    trace_event last; /* of all that were read, also after a cut */
    size_t room;      /* while events are read */
    trace_event *events;
    uint32_t *calls;         /* of each event; see calls.h */
    double *global_ns;       /* of each event, after trace_set_times; less trace.start_ns */
    double begin_ns, end_ns; /* in a part of the run: of what is left, as global_ns */
    size_t looks_before;     /* how often the recorder had looked after the clocks in this thread before the part */
} trace_location;

typedef struct {
    uint64_t address;
    char *symbol;
} trace_site;

/* Of calls that come to a place from several callers: its text ends in " from CALLER". */
typedef struct {
    trace_site site;
    const char *caller; /* in its text: FILE:LINE FUNCTION, or FUNCTION+OFFSET */
} trace_called_site;

/* Who calls a function, by return addresses from the inside. */
typedef struct {
    uint64_t number;
    uint32_t count, shown; /* shown: the frame by which people know the place */
    uint16_t function;
    uint64_t *frames;
    const trace_site *site; /* of that frame, or one of the called sites of the process; NULL: it is not known */
} trace_call_path;

/* One process. */
typedef struct trace_process {
    char *text; /* "KEY VALUE\n" lines */
    size_t location_count, communicator_count, record_count, site_count, path_count, called_count, name_count;
    trace_location *locations;
    trace_communicator *communicators; /* by id; size 0: not known. Events have others, or TRACE_NO_COMM */
    trace_clock_record *records;       /* by time */
    trace_site *sites;                 /* by address */
    trace_call_path *paths;            /* by number */
    trace_called_site *called;         /* for paths; files do not have them */
    char **names;                      /* by its own ids, which events do not have any more; NULL: no such id */
    uint16_t *ids;                     /* by its own ids: those of all processes */
    trace_end end;
    trace_now *now; /* of each thread that was seen; ids of names are common ones */
    size_t now_count;
    bool is_finished;  /* it called MPI_Finalize */
    bool is_torn;      /* the file ended within a block */
    double rate_limit; /* its clock and that of rank 0 differ in rate by at most this ratio, */
    double wander;     /* and this changes within s seconds by at most wander (1 + s); INFINITY: to anything */
} trace_process;

typedef struct {
    int size; /* processes */
    uint64_t job;
    trace_process *processes;
    size_t location_count; /* of all processes */
    size_t name_count;
    char **names;     /* by id; those of all processes, and no event has another */
    int64_t start_ns; /* what global times are counted from: keeps them small enough for doubles; none is below 0 */
    double zero_ns;   /* a global time: the end of MPI_Init, from which mpix_trace counts; without records 0 */
    double last_ns;   /* a global time: the last event of those that have them */
    bool is_cut;      /* to what is between these times: */
    bool has_start;   /* the part begins with the run, and has MPI_Init */
    double cut_from_ns, cut_to_ns;
} trace;

/*
 * What follows ends the program without memory.
 *
 * Read a folder. On failure false, and `message` says which file is wrong, and what is. What is torn is left out.
 */
bool trace_read(trace *read, const char *folder, char message[TRACE_MESSAGE_SIZE]);

/*
 * The same in two steps: all but events, of which it is known then how many there are; then those of each process. When
 * events cannot be read, the trace is to be freed.
 */
bool trace_read_outline(trace *read, const char *folder, char message[TRACE_MESSAGE_SIZE]);
bool trace_read_events(trace *read, const char *folder, int rank, char message[TRACE_MESSAGE_SIZE]);
void trace_free(trace *read);
void trace_free_process(trace_process *process);

/* Write a trace: as it is, with corrected times perhaps. The folder is made if need be. On failure as trace_read. */
bool trace_write(const trace *of, const char *folder, char message[TRACE_MESSAGE_SIZE]);

/* What is wrong with a readable trace, a line on standard error for each: torn files, dropped events, missing clock
 * records, long times without them. */
void trace_warn(const trace *of, const char *program);

/* The value of a key in the text of a process, or "". Up to its line's end: copied to `value`. */
const char *trace_text(const trace_process *process, const char *key, char *value, size_t size);

/* When the first process stopped at the limit of the trace, in seconds after MPI_Init; below 0: none did. */
double trace_limit_s(const trace *of);

/* Whether a name is of what mpix_trace did itself: it synchronized clocks, or wrote events. */
bool trace_is_recorder(const char *name);

/* Whether a name is of a time in which the program had switched recording off. */
bool trace_is_unrecorded(const char *name);

/* The location after another one, by rank and thread; after NULL the first. NULL: that was the last one. */
trace_location *trace_next_location(const trace *of, const trace_location *last);

/* The site of a call by the number of the path to it; NULL: it is not known. And that at an address. */
const trace_site *trace_find_site(const trace_process *process, uint64_t number);
const trace_site *trace_find_address(const trace_process *process, uint64_t address);

/* The number of such a site among all of the process: those that are in files come first. Its caller; NULL: there is
 * none. */
size_t trace_site_number(const trace_process *process, const trace_site *site);
const char *trace_site_caller(const trace_process *process, const trace_site *site);

/* The bytes of FILE:LINE at the beginning of a place, 0 if it begins otherwise; and of that or of FUNCTION+OFFSET,
 * without the address and the object. */
size_t trace_line_bytes(const char *symbol);
int trace_place_bytes(const char *symbol);

/* The partner of an event as rank in MPI_COMM_WORLD; -1: there is none, or it is not known. */
int trace_partner(const trace_process *process, const trace_event *event);

/* Whether an event is of a message that no program sent: it says what MPI_Win_post or MPI_Win_complete tells others. */
static inline bool trace_is_signal(const trace_event *event)
{
    return event->tag <= TRACE_TAG_COMPLETE &&
           (event->kind == TRACE_SEND || event->kind == TRACE_RECEIVE || event->kind == TRACE_RECEIVE_POST);
}

/* Whether the value of an event is bytes that the process sends, contributes or puts; or that it receives or gets. */
static inline bool trace_gives_bytes(const trace_event *event)
{
    return event->kind == TRACE_SEND || event->kind == TRACE_COLLECTIVE ||
           (event->kind == TRACE_ACCESS && (event->mode == TRACE_PUT || event->mode == TRACE_UPDATE));
}

static inline bool trace_takes_bytes(const trace_event *event)
{
    return event->kind == TRACE_RECEIVE || event->kind == TRACE_COLLECTIVE_OUT ||
           (event->kind == TRACE_ACCESS && event->mode == TRACE_GET);
}

/* By which clock events get their global times. */
typedef enum {
    TRACE_LOCAL,  /* local clocks as they are, which were set once, at the first record, to the second */
    TRACE_START,  /* the offset of the first record */
    TRACE_LINEAR, /* a line between the first record and the last */
    TRACE_GLOBAL  /* all records, interpolated; beyond them, by the line through the last two, if clocks may be so */
} trace_clock;
void trace_set_times(trace *of, trace_clock by);

/* The same in two steps: from when global times count, by the outline; then the times of each process. */
void trace_set_start(trace *of, trace_clock by);
void trace_set_times_of(trace *of, int rank, trace_clock by);

/* Their names, for options and rows: local, start, linear, global; then NULL. */
extern const char *const trace_clock_names[];

/*
 * The bound of a global time by TRACE_GLOBAL: that of the records around it, and how far a clock may wander between
 * them. INFINITY: there is none, as without records, or where two of them contradict each other.
 */
double trace_bound_ns(const trace_process *process, int64_t time_ns);

/* By how much a local time of a process is after one of another process, by TRACE_GLOBAL. */
double trace_apart_ns(const trace_process *from, int64_t from_ns, const trace_process *to, int64_t to_ns);

/* An event of a thread. */
typedef struct {
    const trace_location *at;
    size_t event;
} trace_point;

/*
 * A message: its SEND, its RECEIVE, and the events that completed its send, if one did, and posted its receive; in
 * parts: the last READY, and the last ARRIVED.
 */
typedef struct {
    trace_point send, sent, receive, post; /* sent.at: NULL if its end is not known */
    trace_point ready, arrived;            /* at NULL: there is none */
} trace_message;

/*
 * What a process did in a collective operation. Where the call did not wait, `leave` is its COLLECTIVE_DONE, and `wait`
 * the ENTER of the call that saw it, both perhaps in another thread; else the LEAVE of the call, and its ENTER again.
 */
typedef struct trace_part {
    trace_point enter, wait, leave;
    size_t record; /* its COLLECTIVE, in the thread of enter */
} trace_part;

/* One call of a collective operation, on all processes. Calls of which a part is missing are left out. */
typedef struct {
    uint16_t function; /* of a persistent request: the one that made it */
    int root;          /* place among the parts; -1: none */
    int count;
    int first_group; /* of an intercommunicator, so many of the parts are of one of its two groups; else 0 */
    int lowest;      /* rank, and the context: these name the communicator */
    uint32_t context;
    trace_part *parts; /* by rank in the communicator, or in both groups, that with the lowest rank first */
} trace_call;

typedef struct {
    size_t message_count, call_count;
    trace_message *messages; /* by source, destination, communicator, tag, and order */
    trace_call *calls;
    trace_part *parts;                                    /* of all calls */
    size_t sends_alone, receives_alone, calls_incomplete; /* whose counterpart is not in the trace */
    size_t messages_at_once; /* of calls of several threads at the same time: which of them are one is not known */
} trace_matches;

/*
 * Match by communicator, source, destination, tag and order, as MPI does, where those that were not recorded count;
 * calls by their number on the communicator.
 */
void trace_match(const trace *of, trace_matches *matches);
void trace_matches_free(trace_matches *matches);

/*
 * Read what is between two times of the run, in seconds from trace.zero_ns, by TRACE_GLOBAL, and match it; the outline
 * is read. Left out are calls that are not wholly between them, messages and collective operations that are not with
 * all their ends, and ends of regions. What is left has the times and the matches that it has in the whole trace, but
 * only one process is in memory whole at a time. Below 0: from the beginning, or to the end. On failure as
 * trace_read_events.
 */
bool trace_read_part(trace *read, trace_matches *matches, const char *folder, double from_s, double to_s,
                     char message[TRACE_MESSAGE_SIZE]);

/* The local time of an event. */
static inline int64_t trace_time_ns(const trace_point *of)
{
    return of->at->events[of->event].time_ns;
}

#endif
