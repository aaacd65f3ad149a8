/* SPDX-License-Identifier: BSD-3-Clause */
/* planted.h - what the kinds of planted share: the place of a rank, what it computes, and how it calls MPI. */
#ifndef PLANTED_H
#define PLANTED_H

#include "generated/functions.h"

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

enum {
    MOST_RANKS = 64,
    BIG = 1 << 20,    /* numbers in a message that waits for its receiver */
    WORK_NS = 5000000 /* what each rank computes in an iteration */
};

extern int rank, ranks, left, right, root, late_rank, status;
extern int in[BIG], out[BIG];
extern MPI_Comm world;
extern MPI_Request request, requests[2];
extern MPI_Status statuses[2];

/* A call from this place comes next. */
void note(const char *function, const char *file, int line);
/* What is added to the status keeps the compiler from a jump in place of the call, which has no line then. */
#define CALL(function, ...) (note("MPI_" #function, __FILE__, __LINE__), (void)(status |= MPI_##function(__VA_ARGS__)))

/* The late rank is late, if it is to be in this iteration. */
void be_late_in_turn(void);

void spend(int64_t ns);

/* What each rank computes in an iteration, and the delay. */
void work(void);

/* Wait for the request. */
void complete(void);

#define BLOCKING(name, function, ...) \
    static void name(void)            \
    {                                 \
        work();                       \
        CALL(function, __VA_ARGS__);  \
    }
#define NONBLOCKING(name, function, ...)       \
    static void name(void)                     \
    {                                          \
        work();                                \
        CALL(function, __VA_ARGS__, &request); \
        complete();                            \
    }

/*
 * ROOT_LATE: the root is the late rank, else another one; FIRST_LATE: rank 0 is late, whichever rank is asked for;
 * USES_...: what the family sets up for it; AT_...: the delay is not in the iterations.
 */
enum {
    ROOT_LATE = 1,
    FIRST_LATE = 2,
    USES_WINDOW = 4,
    USES_FILE = 8,
    USES_RING = 16,
    USES_PARTS = 32, /* an intercommunicator of rank 0 and the others, too */
    AT_BEGIN = 64,
    AT_FIRST = 128,
    AT_END = 256
};
typedef struct {
    const char *name;
    const char *lacks;     /* functions of MPI that this library has not; NULL: it has all */
    void (*iterate)(void); /* NULL: it lacks some */
    const char *state;     /* how others wait, in the words of mpix_trace_report */
    int traits;
} kind;

#define KIND(which, ...)                                       \
    {                                                          \
        .name = #which, .iterate = which, .state = __VA_ARGS__ \
    }
/* mpi.h does not declare what it takes. */
#define MISSING(what, which, ...)                           \
    {                                                       \
        .name = #which, .lacks = what, .state = __VA_ARGS__ \
    }

/* The kinds of a file. */
typedef struct {
    const kind *kinds;
    int count;
    void (*set_up)(int traits), (*clean_up)(int traits); /* NULL: there is nothing to do */
} family;
extern const family messages, collectives, windows, communicators, files;

#endif
