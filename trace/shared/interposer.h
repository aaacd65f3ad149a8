/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * interposer.h - between the front and the back, which are compiled for one flavor of MPI libraries.
 *
 * The front, libmpix_interpose-FLAVOR.so, is what LD_PRELOAD names. It has a wrapper for each function that this
 * flavor's mpi.h declares, under its MPI_ and its PMPI_ name: Fortran arrives there, by one or the other. Only the
 * header of the MPI library is needed for it, so it does no harm in a shell, a child or any other program. After
 * MPI_Init it opens the back, interpose-FLAVOR.so, which is linked with the MPI library. The back has two parts:
 * harmonize/ replaces barriers and MPI_Wtime (mpix_preload), record/ records calls (mpix_trace).
 *
 * Wrappers are made by wrappers.awk from mpi.h and from meanings.txt, which says what is called here for a function
 * before and after it. What the MPI library and this library call themselves is not the program's.
 */
#ifndef INTERPOSE_INTERPOSER_H
#define INTERPOSE_INTERPOSER_H

#include "trace/shared/choices.h"
#include "trace/shared/descriptors.h"
#include "trace/shared/trace_format.h"

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* Of a thread of the program, in the back. */
typedef struct trace_thread trace_thread;

/* What one request stands for. */
enum { TRACE_SENDS = 1, TRACE_RECEIVES = 2, TRACE_COLLECTS = 4 };
typedef struct {
    uint32_t number; /* in the trace; of a persistent one, of its last start; 0: not started */
    uint32_t comm;
    uint16_t function; /* of a collective operation */
    uint8_t does;      /* TRACE_SENDS and so on */
    uint8_t mode;      /* of an event: trace_mode of trace_format.h */
    bool is_persistent, is_canceled, is_silent;
    int32_t partner, tag; /* as the program gave them, for a receive too; or the root, and which one is persistent */
    uint32_t starts;      /* of a persistent collective operation */
    uint32_t parts;       /* of a message in parts: as TRACE_PARTS tells; 0: not known */
    uint64_t bytes_in, bytes_out;
} trace_request;

/*
 * Where the wrapper of a call is on the stack, and where the caller continues; and whose processes make it together, as
 * what kind of call.
 */
typedef enum { TRACE_ALONE, TRACE_TOGETHER, TRACE_OPERATION } trace_joins;
typedef struct {
    uintptr_t frame, site;
    MPI_Comm comm;
    trace_joins joins;
} trace_place;

/* What a thread is doing, for another thread that looks. Handles are those of the program. */
typedef struct {
    int64_t since_ns; /* as of a trace_now, which this becomes */
    uint64_t site;
    uintptr_t comm, request;
    int32_t partner;
    uint16_t id;
} trace_doing;

/* One call of the program, on the stack of its wrapper. */
typedef struct trace_call {
    struct trace_call *outer; /* in whose error handler, or other callback, the program makes this one; or NULL */
    trace_place place;        /* of that one */
    trace_thread *thread;     /* NULL: there are too many */
    trace_doing *doing;       /* of the thread; NULL likewise */
    int64_t enter_ns, leave_ns;
    uint64_t site;              /* the number of the path to it; 0: none */
    uint16_t id;                /* of the function */
    bool is_silent;             /* nothing of it goes into the trace */
    bool is_trial;              /* MPI_Test and the like: recorded when its success is known */
    bool is_recorded;           /* its ENTER is */
    trace_request started;      /* the request that it makes */
    const MPI_Request *watched; /* those that it may complete, as they were before it; NULL: there is no memory */
    const MPI_Request *handles; /* these in the program */
    int64_t watched_count;
    int64_t *slots;    /* where those are that this call has hidden from other threads; NULL: there are no others */
    int64_t one_slot;  /* the only one of these */
    MPI_Request one;   /* the only one of those */
    MPI_Status status; /* where the program wants none */
} trace_call;

/*
 * What a process contributes to a collective operation, or receives from it. All processes have such a share, or the
 * root or the others alone; or all exchange it with those that are before or after them in the topology.
 */
typedef enum { TRACE_ON_ALL, TRACE_ON_ROOT, TRACE_ON_OTHERS, TRACE_ON_SOURCES, TRACE_ON_TARGETS } trace_whose;
typedef enum { TRACE_ONCE, TRACE_EACH, TRACE_LISTED, TRACE_OWN_OF_LIST } trace_times;
typedef struct {
    trace_whose whose;
    trace_times times;
    const void *buffer;
    int64_t count;      /* to or from one process */
    const void *counts; /* in its place, for each process, if listed */
    size_t count_bytes; /* of one of these */
    MPI_Datatype type;
    const MPI_Datatype *types; /* in its place, for each process, or NULL */
} trace_share;

/* ---- What the front calls of the back, in part by back.c. It does not link with these, but finds their table */

/* What is done to the program from MPI_Init on. */
enum { INTERPOSE_HARMONIZES = 1, INTERPOSE_RECORDS = 2 };

/* ---- Of mpix_preload */

/*
 * After MPI_Init, and before MPI_Finalize, collectively over the world. Returns NULL, or a reason why nothing is
 * replaced: on all processes if on one.
 */
const char *mh_preload_begin(void);
void mh_preload_end(void);
/* A barrier of the program. Returns whether it is done; otherwise the real one must be called. */
bool mh_preload_barrier(MPI_Comm comm);
/* A communicator that MPI has made, or taken in a collective call. */
void mh_preload_know(MPI_Comm comm);
/* One that MPI is making: it may not be asked about it until the program uses it. */
void mh_preload_expect(MPI_Comm comm);
/* After a collective call: whether the clocks are to be checked now, the same on all processes; and the check. */
bool mh_preload_is_look_due(MPI_Comm comm, int result);
void mh_preload_look(void);
/* Returns false if the program's MPI_Wtime is not replaced. */
bool mh_preload_wtime(double *seconds);
/* Of MPI_WTIME_IS_GLOBAL, if it is to be true. */
bool mh_preload_is_wtime_keyval(int keyval, bool is_of_fortran);

/* ---- Of mpix_trace */

/*
 * The same. functions: so many names, by their ids less 1; is_wanted: by id; call: MPI_Init, which was entered and left
 * at these times. Returns NULL, or a reason why nothing is recorded.
 */
const char *mh_trace_begin(const char *const *functions, const bool *is_wanted, int count, int64_t entered_raw_ns,
                           int64_t left_raw_ns, trace_call *call);
void mh_trace_end(trace_call *call);
void mh_trace_finish(trace_call *call); /* after MPI_Finalize */
bool mh_trace_is_wanted(int id);        /* by name: MPI_Wtime and MPI_Wtick */

/*
 * Before and after a call that all processes of a communicator make; or when it is known that one of them was left by a
 * jump, which may have been refused: it counts as made.
 */
void mh_trace_before_together(trace_call *call);
void mh_trace_after_together(trace_call *call, int result, MPI_Comm comm);
void mh_trace_left_together(trace_call *call, MPI_Comm comm, bool is_operation);
/* What the number of a path to a call stands for: return addresses, from the inside. Before the call; maybe again. */
void mh_trace_note_path(uint64_t path, int function, const uintptr_t *addresses, int count);
/* A number for a line of a script, which takes the place of an address in a path. 0: there is no room. */
uint64_t mh_trace_define_line(const char *text);
void mh_trace_enter(trace_call *call); /* thread, id, site and is_trial are set */
void mh_trace_returned(trace_call *call);
void mh_trace_leave(trace_call *call);

/*
 * Messages and requests. Recorded after the call, with the time when it was entered: MPI may refuse it, and must not be
 * asked about handles that it refused.
 */
void mh_trace_send(trace_call *call, int result, int64_t count, MPI_Datatype type, int partner, int tag, MPI_Comm comm);
void mh_trace_isend(trace_call *call, int result, int64_t count, MPI_Datatype type, int partner, int tag,
                    MPI_Comm comm);
void mh_trace_irecv(trace_call *call, int result, int partner, int tag, MPI_Comm comm);
void mh_trace_receive(trace_call *call, int result, MPI_Comm comm, const MPI_Status *status);
void mh_trace_keep(trace_call *call, int result, MPI_Request request);

/* Messages of MPI_Mprobe. */
void mh_trace_probed(trace_call *call, int result, int found, int partner, int tag, MPI_Comm comm, MPI_Message message);
void mh_trace_take(trace_call *call, MPI_Message message); /* before it is received */
void mh_trace_receive_taken(trace_call *call, int result, const MPI_Status *status);
void mh_trace_irecv_taken(trace_call *call, MPI_Message message);

void mh_trace_start(trace_call *call, int count, const MPI_Request *requests);
void mh_trace_ready(trace_call *call, int result, MPI_Request request);                 /* MPI_Pready and its like */
void mh_trace_arrived(trace_call *call, int result, int is_there, MPI_Request request); /* MPI_Parrived */
void mh_trace_cancel(MPI_Request request);
void mh_trace_forget(MPI_Request request);

/* Requests that a call may complete: before it, with room for statuses if the program wants none; and after it. */
MPI_Status *mh_trace_watch(trace_call *call, int64_t count, const MPI_Request *requests, MPI_Status *statuses);
void mh_trace_done(trace_call *call, int result, int is_done, int64_t count, const int *indices,
                   const MPI_Status *statuses); /* so many, by their indices or all */
void mh_trace_some(trace_call *call, int result, const int *count, const int *indices, const MPI_Status *statuses);
void mh_trace_tried(trace_call *call, int result, int found); /* other trials */

void mh_trace_collective(trace_call *call, int result, MPI_Comm comm, int root, trace_share in, trace_share out);
void mh_trace_icollective(trace_call *call, int result, MPI_Comm comm, int root, trace_share in, trace_share out);

void mh_trace_make_comm(int result, MPI_Comm comm);
void mh_trace_imake_comm(int result, MPI_Comm parent, MPI_Comm comm);
void mh_trace_drop_comm(MPI_Comm comm);                          /* before it is freed */
void mh_trace_made(trace_call *call, int result, MPI_Comm comm); /* by its processes together, and no others */

/* A window, or a file, is a communicator for itself: of the processes of the one that it is made on. */
void mh_trace_make_win(int result, MPI_Comm comm, MPI_Win window);
void mh_trace_make_file(int result, MPI_Comm comm, MPI_File file);
void mh_trace_drop_win(trace_call *call, MPI_Win window); /* before it is freed, */
void mh_trace_drop_file(trace_call *call, MPI_File file); /* or closed; */
void mh_trace_dropped(trace_call *call, int result);      /* and after it */
/* What all processes of a communicator, window or file do together, and has no bytes. */
void mh_trace_meet(trace_call *call, int result, MPI_Comm comm);
void mh_trace_fence(trace_call *call, int result, MPI_Win window);
void mh_trace_share(trace_call *call, int result, MPI_File file);
void mh_trace_post(trace_call *call, int result, MPI_Group group, MPI_Win window);
void mh_trace_access(trace_call *call, int result, MPI_Group group, MPI_Win window); /* MPI_Win_start */
void mh_trace_accessed(trace_call *call, int result, MPI_Win window);                /* MPI_Win_complete */
void mh_trace_exposed(trace_call *call, int result, int is_done, MPI_Win window);    /* MPI_Win_wait, MPI_Win_test */

/* Bytes between this process and a target of a window, or a file; and locks, unlocks and flushes, of all targets if
   the target is MPI_ANY_SOURCE. */
void mh_trace_transfer(trace_call *call, int result, trace_access mode, int64_t count, MPI_Datatype type, int target,
                       MPI_Win window);
void mh_trace_update(trace_call *call, int result, MPI_Op op, int64_t count, MPI_Datatype type, int target,
                     MPI_Win window); /* nothing for MPI_NO_OP */
void mh_trace_transfer_file(trace_call *call, int result, trace_access mode, int64_t count, MPI_Datatype type,
                            MPI_File file);
void mh_trace_synchronize(trace_call *call, int result, trace_access mode, int target, MPI_Win window);

void mh_trace_region(trace_call *call, int level);
void mh_trace_named_region(trace_call *call, const char *name, bool enters);
void mh_trace_clock_region(trace_call *call, bool enters);
void mh_trace_abort(void); /* MPI ends the program */

/* clang-format off */
#define TRACE_OPERATIONS(OF)                                                                                       \
    OF(finish) OF(before_together) OF(after_together) OF(left_together) OF(is_wanted) OF(enter) OF(returned)       \
    OF(leave) OF(send) OF(isend) OF(irecv) OF(receive) OF(keep) OF(probed) OF(take) OF(receive_taken)              \
    OF(irecv_taken) OF(start) OF(ready) OF(arrived) OF(cancel) OF(forget) OF(watch) OF(done) OF(some) OF(tried)    \
    OF(collective) OF(icollective) OF(make_comm) OF(imake_comm) OF(drop_comm) OF(made) OF(make_win)                \
    OF(make_file) OF(drop_win) OF(drop_file) OF(dropped) OF(meet) OF(share) OF(fence) OF(post) OF(access)          \
    OF(accessed) OF(exposed) OF(transfer) OF(update) OF(transfer_file) OF(synchronize) OF(region) OF(abort)        \
    OF(note_path) OF(named_region) OF(define_line)
/* clang-format on */
#define TRACE_OPERATION(name) __typeof__(mh_trace_##name) *name;
typedef struct {
    const char *code, *code_end; /* of the back: it calls MPI, too */
    /* After MPI_Init, whose id and site the call has. Returns what is done: INTERPOSE_RECORDS and so on. */
    int (*begin)(const interpose_choices *choices, interpose_file standard_error, int64_t entered_raw_ns,
                 trace_call *call);
    void (*end)(trace_call *call); /* before MPI_Finalize; both are collective over the world */
    void (*spawn)(void);           /* the program starts processes, by any communicator */
    __typeof__(mh_preload_barrier) *barrier;
    __typeof__(mh_preload_know) *know, *expect;
    void (*after_collective)(trace_call *recorded, MPI_Comm comm, int result); /* recorded: NULL if the call is not */
    __typeof__(mh_preload_wtime) *wtime;
    __typeof__(mh_preload_is_wtime_keyval) *is_wtime_keyval;
    TRACE_OPERATIONS(TRACE_OPERATION)
} interpose_back;

/* What there is before a clock has been chosen. */
static inline int64_t trace_raw_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Where to look in a table of 1 << bits. The multiplier is the golden ratio: neighbors among handles are spread. */
static inline uint64_t trace_hash(uint64_t number, unsigned bits)
{
    return number * UINT64_C(0x9e3779b97f4a7c15) >> (64 - bits);
}

/* What a pointer of the program points to. MPI refuses a call that has none; 0 is no handle. */
#define TRACE_AT(pointer) ((pointer) ? *(pointer) : 0)

/* For whom a call waits: for a message from or to a process; with a partner below 0, for others of a communicator. */
static inline void trace_note_partner(const trace_call *call, int partner, MPI_Comm comm)
{
    if (call->doing) {
        call->doing->partner = partner;
        call->doing->comm = (uintptr_t)comm;
    }
}
#define TRACE_FOR(call, partner, comm) trace_note_partner(call, partner, comm)

/* Where a status is to go, if it has to be read afterwards. */
#define TRACE_STATUS(call, wanted) \
    ((call)->status.MPI_SOURCE = MPI_PROC_NULL, (wanted) == MPI_STATUS_IGNORE ? &(call)->status : (wanted))

/* Shares of collective operations, for meanings.txt. OWN is that of this process in a list. */
#define TRACE_NOTHING ((trace_share){0}) /* the type of no bytes is never asked for */
#define TRACE_SHARE(whose_, times_, buffer_, count_, type_) \
    ((trace_share){                                         \
        .whose = TRACE_ON_##whose_, .times = TRACE_##times_, .buffer = buffer_, .count = count_, .type = type_})
#define TRACE_ANY_LIST(whose_, times_, buffer_, counts_, ...) \
    ((trace_share){.whose = TRACE_ON_##whose_,                \
                   .times = TRACE_##times_,                   \
                   .buffer = buffer_,                         \
                   .counts = counts_,                         \
                   .count_bytes = sizeof *(counts_),          \
                   __VA_ARGS__})
#define TRACE_LIST(whose_, buffer_, counts_, type_) TRACE_ANY_LIST(whose_, LISTED, buffer_, counts_, .type = type_)
#define TRACE_OWN(buffer_, counts_, type_) TRACE_ANY_LIST(ALL, OWN_OF_LIST, buffer_, counts_, .type = type_)
#define TRACE_LISTS(whose_, buffer_, counts_, types_) TRACE_ANY_LIST(whose_, LISTED, buffer_, counts_, .types = types_)

#endif
