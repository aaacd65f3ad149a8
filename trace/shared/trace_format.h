/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * format.h - the raw form of a trace, which the recorder writes and the tools of trace/read read. No MPI here.
 *
 * A trace is a folder with one file per process, rank-N.mpixtrace. A file is a trace_file_head, and blocks. A block is
 * a trace_block_head, then its payload of `bytes` bytes, padded with zeros to a multiple of 8. Numbers are of the
 * machine that wrote them. A block is written whole by one write, so a file that ends early ends in a torn block, which
 * a reader leaves out.
 */
#ifndef TRACE_FORMAT_H
#define TRACE_FORMAT_H

#include "mpix_clock_reader.h"

#include <stdint.h>

#define TRACE_MAGIC "mpixtrac"
#define TRACE_FILE_PATTERN "rank-%d.mpixtrace"
enum { TRACE_VERSION = 7, TRACE_BYTE_ORDER = 0x01020304 };

typedef struct {
    char magic[8];       /* TRACE_MAGIC, without its end */
    uint32_t byte_order; /* TRACE_BYTE_ORDER, as this machine writes it */
    uint32_t version;
    int32_t rank, size; /* in MPI_COMM_WORLD */
    uint64_t job;       /* a number that all files of a job have in common, and no other job has */
} trace_file_head;

typedef enum {
    TRACE_BLOCK_TEXT = 1,  /* "KEY VALUE\n" lines: what was run, where, by which MPI library and clock */
    TRACE_BLOCK_NAMES,     /* uint32_t id, uint32_t length, then the name: of functions and user regions */
    TRACE_BLOCK_COMM,      /* one trace_comm, and trace_range[]: its ranks */
    TRACE_BLOCK_SITES,     /* uint64_t address, uint32_t length, 4 zeros, then the place as text, padded to 8 */
    TRACE_BLOCK_CLOCK,     /* trace_clock_record[] */
    TRACE_BLOCK_EVENTS,    /* trace_event[] of one thread; those of a thread never decrease in time */
    TRACE_BLOCK_END,       /* one trace_end: MPI_Finalize was called */
    TRACE_BLOCK_NOW,       /* trace_now[]: what threads were doing when they were last seen; the last block counts */
    TRACE_BLOCK_NEIGHBORS, /* uint32_t id of a communicator that is known, then int32_t[]: from which of its ranks this
                              process gets something in neighborhood operations, in the order of its topology; -1: from
                              nobody, as beyond an end of a Cartesian one */
    TRACE_BLOCK_PATHS      /* trace_path_head, then uint64_t addresses[count], and so on */
} trace_block_kind;

typedef struct {
    uint32_t kind;   /* trace_block_kind */
    uint32_t thread; /* of events; counted from 0 as they first called MPI */
    uint64_t bytes;  /* of the payload, without padding */
} trace_block_head;

/* A communicator, a window or a file. Its ranks are of MPI_COMM_WORLD, or -1. MPI_COMM_WORLD is 0, MPI_COMM_SELF 1. */
typedef struct {
    uint32_t id;      /* on this process */
    uint32_t context; /* the same on all processes of this communicator, another one for others that overlap with it;
                         0 for MPI_COMM_WORLD. The lowest world rank is the name space: (lowest rank, context). */
    int32_t size;
    int32_t is_inter; /* ranks are those of the remote group then */
} trace_comm;

/* The path of callers to a call of a function: return addresses, those of sites, from the inside. */
typedef struct {
    uint64_t number; /* by which ENTER events and states name it */
    uint32_t function, count;
} trace_path_head;

/* So many ranks, each `step` after the one before. Most communicators have one range, however large they are. */
typedef struct {
    int32_t first, step, count;
} trace_range;

/* The range with which ranks begin, as long as it can be. Of `size` ranks there are at most size / 2 + 1 ranges. */
static inline trace_range trace_first_range(const int32_t *ranks, int32_t size)
{
    trace_range range = {ranks[0], size > 1 ? ranks[1] - ranks[0] : 0, 1};
    while (range.count < size && ranks[range.count] - ranks[range.count - 1] == range.step)
        range.count++;
    return range;
}

/*
 * Texts. Those that tools read beside what they show: mpix_harmonize_clock_used and
 * mpix_harmonize_wander_max_ppb_per_s, as MPIX_Harmonize_get_info names them, for what the clock may do between two
 * records; call_ps: what it costs to record a call; lost_count: there were more kinds of messages that were not
 * recorded than TRACE_SKIPPED can tell of; limit_ns: the global time when the limit of the trace was met; ranks: those
 * whose calls are recorded, as 0,4-7.
 * Blocks of names and sites have one entry after the other; names without padding between them.
 *
 * A place is "symbol+offset (address) in object", or "+address in object" where no symbol is known. addr2line takes
 * the address. A line of a script is "file:line function in path". Where nothing is known, it is empty.
 */

/* What the process knew of its clock: at MPI_Init, at collective calls over all processes, and at MPI_Finalize. */
typedef struct {
    mpix_clock_pair pair; /* local, and the clock of rank 0 */
    int64_t burst_ns;     /* how long the measurement took that ended here; 0: none, the clock was only read */
} trace_clock_record;

typedef enum {
    TRACE_ENTER = 1,      /* value: the number of the path to the call, or 0; id: function or region */
    TRACE_LEAVE,          /* id; value: how many unsuccessful calls this stands for, 0 for one ordinary call */
    TRACE_SEND,           /* after its ENTER and of the same time, or that of calls in callbacks: partner, tag, bytes in
                            value, comm in id; request: not 0 if the call does not wait (Isend, persistent) */
    TRACE_SEND_DONE,      /* that request is complete; before the LEAVE of the call that saw it, of the same time */
    TRACE_RECEIVE_POST,   /* a receive that does not wait: request, comm; partner and tag, or below 0 if any will do */
    TRACE_RECEIVE,        /* before its LEAVE and of the same time: partner, tag, bytes, comm; request or 0 */
    TRACE_CANCELED,       /* that request */
    TRACE_COLLECTIVE,     /* before its LEAVE and of the same time: partner is the root or a trace_root, value the bytes
                            that this process put in, comm in id; tag: how many calls of collective operations this
                            process has made on it with this one, recorded or not, but without those that MPI refused;
                            or of a persistent request, how often it was started.
                            A call that does not wait: request, at the ENTER; see DONE */
    TRACE_COLLECTIVE_OUT, /* follows COLLECTIVE: value is the bytes that this process got, id the function, of a
                            persistent request the one that made it; tag: how many such requests for operations were
                            made on the communicator with this one, 0 if it is none */
    TRACE_COLLECTIVE_DONE, /* that request is complete */
    TRACE_PARTS,           /* follows SEND or RECEIVE_POST of a message in parts; value: how many requests in parts this
                              process has made with this one for the same partner, tag and communicator; not there if
                              the process has lost count */
    TRACE_DROPPED,         /* value: events of this thread that did not fit; the buffer was full from here on */
    TRACE_READY,           /* a part of that request, a send in parts, may be sent: after its ENTER, and of its time */
    TRACE_ARRIVED,         /* a part of that request, a receive in parts, is there: before its LEAVE, and of its time */
    TRACE_SKIPPED,         /* before a SEND, RECEIVE_POST or RECEIVE with this partner, tag and communicator: value: so
                              many messages were sent or received before it, and not recorded; mode: a trace_way;
                              request: of the RECEIVE */
    TRACE_ACCESS           /* before its LEAVE and of the same time: what the call does to a window or a file, which is
                              in id; mode: a trace_access; partner: the rank of the target in the window, or below 0:
                              all, or a file; value: bytes, which need not be there yet */
} trace_event_kind;

/*
 * Tags of signals, which are messages without bytes that no program sends. MPI_Win_post sends one to each origin.
 * MPI_Win_start posts one receive for all of them. MPI_Win_complete receives one from each target, though it may return
 * before the target sent it, and sends a signal to each target, which MPI_Win_wait or MPI_Win_test receives.
 */
enum { TRACE_TAG_POST = INT32_MIN, TRACE_TAG_COMPLETE = INT32_MIN + 1 };

/* How a message is sent: as the MPI library likes, after its receive has begun, from a buffer of the program, or in
   parts, as only a receive of MPI_Precv_init takes it. */
typedef enum { TRACE_STANDARD, TRACE_SYNCHRONOUS, TRACE_BUFFERED, TRACE_PARTITIONED } trace_mode;

typedef enum { TRACE_WAY_SENT, TRACE_WAY_RECEIVED } trace_way;

/* Bytes that go to a window or a file, come from it, or go to a window to be combined with what is there; and the calls
   of passive targets, which have none. MPI_Get_accumulate and its like are an UPDATE and a GET. */
typedef enum {
    TRACE_PUT,
    TRACE_GET,
    TRACE_UPDATE,
    TRACE_LOCK_SHARED,
    TRACE_LOCK_EXCLUSIVE,
    TRACE_UNLOCK,
    TRACE_FLUSH,
    TRACE_FLUSH_LOCAL
} trace_access;

/* In the place of a root. The last two are of intercommunicators: this process, or another one of its group. */
typedef enum { TRACE_ROOT_NONE = -1, TRACE_ROOT_SELF = -2, TRACE_ROOT_THIS_GROUP = -3 } trace_root;

typedef struct {
    int64_t time_ns; /* of the local base clock */
    uint64_t value;
    int32_t partner; /* rank in the communicator, resolved: never MPI_ANY_SOURCE; below 0: none */
    int32_t tag;
    uint32_t request;  /* counted by the process from 1 */
    uint32_t id : 24;  /* function, region, or communicator */
    uint32_t kind : 5; /* trace_event_kind */
    uint32_t mode : 3; /* of SEND: trace_mode; of RECEIVE_POST: TRACE_PARTITIONED, or 0; of SKIPPED: trace_way; of
                          ACCESS: trace_access */
} trace_event;

/* If more time passes between two unsuccessful calls, the program may have computed, which ends a series of them. */
enum { TRACE_POLL_GAP_NS = 50000 };

/* Names have ids from 1: functions of MPI by name ("MPI_Send"); then "clock" and "flush", which are what synchronizing
   and writing took; "unrecorded", from MPI_Pcontrol(0) to MPI_Pcontrol(1); user regions, "region NAME", last. NO_COMM
   stands for a communicator that is not known. */
enum { TRACE_MAX_NAME = UINT16_MAX, TRACE_NO_COMM = (1 << 24) - 1 };

typedef struct {
    int64_t time_ns; /* local, at MPI_Finalize */
    uint64_t events, dropped;
} trace_end;

/* What a thread was doing: for traces of programs that were ended. */
typedef struct {
    int64_t seen_ns;  /* local */
    int64_t since_ns; /* when it entered the call in which it was, or left the last one */
    uint64_t site;    /* of the call, as of ENTER */
    uint32_t thread;
    uint32_t id;      /* of the function; 0: it was in no call */
    uint32_t polls;   /* not 0: it has made so many unsuccessful calls of the function there, from since_ns on */
    uint32_t comm;    /* on which the call is, or TRACE_NO_COMM */
    int32_t partner;  /* for which it waits, as rank in the communicator; below 0: any, or none is known */
    uint32_t request; /* for which it waits; 0: it is none, or there are several */
} trace_now;

_Static_assert(sizeof(trace_event) == 32, "an event has 32 bytes");

#endif
