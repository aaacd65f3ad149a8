/* SPDX-License-Identifier: BSD-3-Clause */
/* check_trace_forms.h - what the parts of check_trace_forms share: communicators, and what is to be recorded. */
#ifndef CHECK_TRACE_FORMS_H
#define CHECK_TRACE_FORMS_H

#include <mpi.h>
#include <stdio.h>

/* As they are numbered: in the order in which they are made. */
enum { WORLD, OWN, TWIN, GRAPH, LINE, AGAIN, BRIDGE, WINDOW, PASSIVE, FILE_OF_TWIN, COMMS };
enum { INT = sizeof(int), DOUBLE = sizeof(double), ROOT_SELF = -2 };

/* Open MPI 5 has them, though it says MPI 3. */
#if MPI_VERSION >= 4 || (defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION >= 5)
#define HAVE_PERSISTENT 1
#endif

extern int rank, peer, requests;
extern MPI_Comm twin;
extern double in[64], out[64];

/* What a process puts into a collective operation, and what it gets: bytes. */
typedef struct {
    int comm, root;
    unsigned put, got;
} volume;
#define IS(comm_, root_, put_, got_) ((volume){comm_, root_, put_, got_})

void expect_call(const char *name);
void expect_event(const char *kind, int partner, int tag, unsigned bytes, int comm, int request);
void expect_collective(const char *name, volume its, int request);

#define CALL(name, ...) (expect_call("MPI_" #name), MPI_##name(__VA_ARGS__))
#define WAITING(name, its, ...) (CALL(name, __VA_ARGS__), expect_collective("MPI_" #name, its, 0))

/* Messages in all their forms, on twin. */
void do_messages(void);

#endif
