/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * made_trace.h - traces whose true times are known: a program that never ran, on clocks that are made up. Global time
 * is the true one, in nanoseconds from the start.
 */
#ifndef MADE_TRACE_H
#define MADE_TRACE_H

#include "trace/read/trace.h"

#include <stdint.h>

/* A local clock: true time, and an offset that grows. */
typedef struct {
    int64_t offset_ns;
    double drift;    /* a ratio */
    double swing;    /* by which the drift differs at most, as a sine of the time */
    double period_s; /* of it */
} made_clock;

/* Names of functions; ids are their places. */
typedef enum {
    MADE_SEND = 1,
    MADE_RECV,
    MADE_ISEND,
    MADE_IRECV,
    MADE_WAIT,
    MADE_BARRIER,
    MADE_ALLREDUCE,
    MADE_BCAST,
    MADE_REDUCE,
    MADE_IALLREDUCE,
    MADE_SCAN,
    MADE_ALLTOALLV,
    MADE_INIT,
    MADE_FINALIZE,
    MADE_WIN_POST,
    MADE_WIN_START,
    MADE_WIN_COMPLETE,
    MADE_WIN_WAIT,
    MADE_TEST,
    MADE_NEIGHBOR_ALLGATHER,
    MADE_ALLGATHER,
    MADE_PUT,
    MADE_WIN_LOCK,
    MADE_WIN_FLUSH,
    MADE_WIN_UNLOCK,
    MADE_PROBE,
    MADE_CLOCK, /* of the recorder itself */
    MADE_OFF,   /* it records nothing */
    MADE_NAMES
} made_name;

typedef struct {
    trace trace;
    made_clock *clocks;
    double *now_ns;   /* true time of each process, where its next call begins */
    double **true_ns; /* of each event, by rank */
    size_t *room;
    int32_t calls;    /* of collective operations so far */
    uint64_t site;    /* from where the next calls are called */
    double waited_ns; /* by all so far: until what a call depends on began */
    uint64_t chance;
} made_trace;

/* All processes are in MPI_COMM_WORLD, communicator 0. */
void made_begin(made_trace *made, int size, const made_clock *clocks, uint64_t seed);
void made_free(made_trace *made);

/* Let a rank, and all after it, have no events. */
void made_leave_out(made_trace *made, int rank);

/* Let communicator 1 be an intercommunicator between ranks 0 and 1. */
void made_bridge(made_trace *made);

/* Write it to a folder, and free it. Returns the exit status of a program that does no more, and says what is wrong. */
int made_write(made_trace *made, const char *folder);

/* The local time at a true one. */
int64_t made_local_ns(const made_clock *clock, double true_ns);

/* Add an event of a process at a true time. The other members are as given. */
void made_event(made_trace *made, int rank, double true_ns, trace_event event);

/* Likewise now; and the beginning and the end of a call, from made->site. */
void made_put(made_trace *made, int rank, trace_event event);
void made_enter(made_trace *made, int rank, int function);
void made_leave(made_trace *made, int rank, int function);

/* Let a process compute. */
void made_work(made_trace *made, int rank, double ns);

/* A call of each process in which it neither sends nor receives. */
void made_calls(made_trace *made, made_name function);

/* MPI_Send, which does not wait; returns when it began. MPI_Recv of what was sent then and takes so long. */
double made_send(made_trace *made, int source, int destination, int32_t tag);
void made_receive(made_trace *made, int destination, int source, int32_t tag, double sent_ns, double latency_ns);

/* Both, one after the other. */
void made_message(made_trace *made, int source, int destination, int32_t tag, double latency_ns);

/* A collective operation, whose messages take so long; root -1: all wait for all. */
void made_collective(made_trace *made, made_name function, int root, double latency_ns);

/* Find its calls and matches, as of a trace that was read. */
void made_match(made_trace *made, trace_matches *matches);

/* Clock records each period from the first event to the last, or at both ends only if it is 0; off by at most that. */
void made_records(made_trace *made, double period_ns, double error_ns);

#endif
