/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * back.h - the parts of the back: back.c has what the front calls and how a recording begins and ends; clock.c the
 * clock records; buffer.c the events in memory; file.c what is written; calls.c, messages.c, requests.c, collectives.c
 * and communicators.c what calls mean; table.c finds what belongs to a handle; sites.c names addresses, by symbols.c.
 *
 * On the way of an event nothing is allocated, and no lock is taken.
 */
#ifndef TRACE_BACK_H
#define TRACE_BACK_H

#include "clock/base_clock.h"
#include "trace/format.h"
#include "trace/recorder.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/types.h>
#include <sys/uio.h>

/* What few events need, out of the way of the others. */
#define TRACE_RARE __attribute__((noinline, cold))

/* ---- Options, the same on all processes (options.c) */

typedef struct {
    char folder[4096];
    char only[4096]; /* patterns of names; empty: all but MPI_Wtime and MPI_Wtick */
    int64_t buffer_bytes;
    int64_t from_ns, to_ns; /* global time */
} trace_options;

void mh_trace_read_options(trace_options *options);

/* ---- What the parts share (back.c) */

typedef struct {
    MPI_Comm world; /* a twin of MPI_COMM_WORLD */
    int rank, size;
    pid_t pid;
    trace_options options;
    mh_base_clock clock;
    _Atomic int64_t from_ns, to_ns; /* by the local clock: what is before and after is not recorded */
    bool *is_wanted;                /* by id of the function */
    uint16_t clock_id, flush_id, first_region_id;
    bool has_threads; /* MPI_THREAD_MULTIPLE */
} trace_recording;
extern trace_recording mh_trace;

static inline int64_t mh_trace_now_ns(void)
{
    return mh_base_clock_now_ns(&mh_trace.clock);
}

/*
 * While a lock is held, no handler runs of a signal that comes from elsewhere: it may call MPI, and come here again.
 * Nor is the thread canceled. errno stays as it was.
 */
typedef struct {
    pthread_mutex_t mutex;
    sigset_t blocked; /* this and the others: before */
    int cancel_state, error;
} trace_lock;
#define TRACE_LOCK                         \
    {                                      \
        .mutex = PTHREAD_MUTEX_INITIALIZER \
    }

/* At the end of a program, the thread that holds the lock may no longer exist. */
typedef enum { TRACE_AT_ONCE, TRACE_IN_A_SECOND, TRACE_AT_ANY_TIME } trace_patience;

/* Returns whether it is held. */
bool mh_trace_lock(trace_lock *lock, trace_patience patience);
void mh_trace_unlock(trace_lock *lock);

/* Call it with a lock held if a file was too large: the signal, which the kernel sends too, would end most programs. */
void mh_trace_take_file_signal(void);

/* A line on standard error. */
void mh_trace_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- Events in memory (buffer.c) */

enum { TRACE_CHUNK_EVENTS = 2047 };
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
    int64_t enter_ns, leave_ns;
    uint16_t id;
} trace_run;

struct trace_thread {
    trace_event *next, *end; /* room in the last chunk */
    trace_chunk *last;
    uint16_t open_id; /* of the function whose ENTER is the last one; 0: its LEAVE is there */
    uint16_t run_count;
    int rounds;             /* of its end */
    int64_t last_ns;        /* when its last call was left */
    _Atomic bool has_ended; /* so that another one may go on with it */
    _Atomic uint64_t events, dropped;
    int64_t full_ns;            /* when the first one was dropped */
    bool is_finished;           /* this has been written */
    trace_chunk *_Atomic first; /* the next one to be flushed; NULL: the thread has none yet */
    int64_t room;               /* in these, for calls with several requests */
    MPI_Request *requests;
    MPI_Status *statuses;
    int64_t *slots;
    trace_run runs[TRACE_RUNS];
} __attribute__((aligned(128)));

/* Zeros that take no memory until they are used; NULL if there is no room. */
void *mh_trace_map(size_t bytes);

/* Returns false if there is no memory. */
bool mh_trace_open_buffer(int64_t bytes);

/* For the calling thread, until it ends. NULL if there are too many: they are counted. */
TRACE_RARE trace_thread *mh_trace_new_thread(void);

/* Room for one more event. Returns false if there is none: the event is counted. */
TRACE_RARE bool mh_trace_make_room(trace_thread *thread, int64_t time_ns);

static inline void mh_trace_put(trace_thread *thread, trace_event event)
{
    if (thread->next == thread->end && !mh_trace_make_room(thread, event.time_ns))
        return;
    *thread->next++ = event;
    atomic_store_explicit(&thread->last->used, (uint32_t)(thread->next - thread->last->events), memory_order_release);
}

bool mh_trace_is_half_full(void);

/* Write what is in memory. If it must not wait, it is left to another thread that does so. */
void mh_trace_flush(trace_patience patience);

/* At an end without MPI_Finalize: also what was dropped. */
void mh_trace_flush_abruptly(void);

/* At the end, when no thread records any more: the same, and what is still kept back. */
void mh_trace_flush_last(void);

/* Over all threads. */
void mh_trace_count(uint64_t *events, uint64_t *dropped, uint64_t *lost_threads);

/* ---- The file (file.c). What fails is remembered; nothing is written from then on */

/* Returns 0 or an errno. */
int mh_trace_open_file(uint64_t job);
void mh_trace_write(uint32_t kind, uint32_t thread, const struct iovec *parts, int count);
void mh_trace_write_one(uint32_t kind, const void *payload, size_t bytes);
void mh_trace_write_name(uint32_t id, const char *name);
int mh_trace_file_error(void); /* an errno, or 0 */
void mh_trace_close_file(void);
void mh_trace_remove_file(void); /* if it is this process's own */

/* ---- Call sites (sites.c) */

/* A site in the Fortran interface of the MPI library: where the program called that. Others stay as they are. */
uint64_t mh_trace_program_site(uint64_t site);

/* Under the lock of the flush. */
void mh_trace_note_sites(const trace_event *events, size_t count);
void mh_trace_write_sites(void);

/* ---- Functions in the files of objects (symbols.c). Under the same lock */

/*
 * address: in the object's own numbers; becomes the offset from the function's start. Longer names are cut. Files stay
 * open until they are forgotten. Returns false if the address has no name.
 */
enum { TRACE_NAME_SIZE = 512 };
bool mh_trace_find_symbol(const void *base, const char *path, uintptr_t *address, char name[TRACE_NAME_SIZE]);
void mh_trace_forget_symbols(void);

/* ---- The clock (clock.c) */

/* Collective. Returns false on all processes if the clocks cannot be synchronized. */
bool mh_trace_start_clock(void);

/* A record of what is known now. began_ns: when the synchronization did that ends here. */
void mh_trace_write_clock(int64_t began_ns);

/* By one of its arguments. */
bool mh_trace_was_refused(int result);

/* Whether the call has failed before it took part in anything: then it counts as if it had never been made. */
bool mh_trace_take_back(trace_call *call, int result);

/* The last record. Collective. */
void mh_trace_end_clock(trace_thread *thread);

/* ---- What is known of a handle (table.c) */

enum { TRACE_TABLE_WAYS = 16, TRACE_ABSENT = -1, TRACE_PRESENT = -2, TRACE_NO_ROOM = -3 };
typedef struct {
    _Atomic uint64_t *keys; /* 0: free */
    unsigned bucket_bits;
} trace_table;

bool mh_trace_open_table(trace_table *table, unsigned bucket_bits);
size_t mh_trace_table_size(const trace_table *table);
/* Number of a slot that is the caller's alone until it is published; or TRACE_PRESENT, TRACE_NO_ROOM. */
int64_t mh_trace_reserve(trace_table *table, uint64_t key);
void mh_trace_publish(trace_table *table, int64_t slot, uint64_t key);
int64_t mh_trace_find(const trace_table *table, uint64_t key); /* or TRACE_ABSENT */
void mh_trace_remove(trace_table *table, int64_t slot);
/* For the caller alone, until it is shown again or removed: others find no such key. Returns its slot, or ABSENT. */
int64_t mh_trace_hide(trace_table *table, uint64_t key);
void mh_trace_show(trace_table *table, int64_t slot);
int64_t mh_trace_find_any(const trace_table *table, uint64_t key); /* hidden or not */

/* ---- Communicators (communicators.c) */

typedef struct {
    uint16_t id;
    bool is_inter, has_all; /* all processes of the world, and no others */
    int rank, size;         /* size: of the remote group of an intercommunicator */
    uint32_t context;
    int sources, targets;        /* in its topology */
    uint64_t missing;            /* a bit for each of the first neighbors that is none */
    _Atomic uint32_t duplicates; /* by MPI_Comm_idup */
} trace_known_comm;
enum { TRACE_MAX_MISSING = 64 };

bool mh_trace_open_comms(void);
trace_known_comm *mh_trace_comm(MPI_Comm comm); /* never NULL */

/* Whether its processes are those of MPI_COMM_WORLD: the same on all of them, also if one has no memory for more. */
bool mh_trace_has_all(MPI_Comm comm);
/* MPI_COMM_WORLD and MPI_COMM_SELF. Others are written when they are made or found. */
void mh_trace_write_first_comms(void);

/* ---- Calls (calls.c) */

/* Record that the call was entered, if that was left open. */
void mh_trace_record_enter(trace_call *call);
/* When it returned: now, if this is asked for the first time. */
int64_t mh_trace_leave_ns(trace_call *call);
/* Write what was kept back: the end of a call that was left by a jump, before now_ns, and runs of unsuccessful calls.
 * */
void mh_trace_settle(trace_thread *thread, int64_t now_ns);
void mh_trace_put_region(trace_thread *thread, uint16_t id, bool enters);
void mh_trace_write_regions(void); /* names of those that were entered since the last time */
trace_thread *mh_trace_thread_of(trace_call *call);

/* ---- Messages (messages.c), requests (requests.c), collective operations (collectives.c) */

void mh_trace_learn_sizes(void); /* of types */
int64_t mh_trace_bytes(int64_t count, MPI_Datatype type);
uint32_t mh_trace_new_request(trace_call *call, uint8_t does);
void mh_trace_put_send(trace_call *call, const trace_request *message);
void mh_trace_put_post(trace_call *call, uint32_t request, uint16_t comm, int partner, int tag);
void mh_trace_put_receive(trace_call *call, uint16_t comm, uint32_t request, const MPI_Status *status);
void mh_trace_put_collective(trace_call *call, const trace_request *its);
_Atomic uint32_t *mh_trace_collective_count(MPI_Comm comm); /* on it */
bool mh_trace_open_requests(void);
void mh_trace_keep_message(const trace_request *its, const MPI_Message *message);
trace_request mh_trace_take_message(const MPI_Message *message);

#endif
