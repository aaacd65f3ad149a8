/* SPDX-License-Identifier: BSD-3-Clause */
/* communicators.h - what is known of communicators. */
#ifndef RECORD_COMMUNICATORS_H
#define RECORD_COMMUNICATORS_H

#include "trace/shared/interposer.h"

#include <stdatomic.h>

/* From MPI_Win_post or MPI_Win_start on: the processes at the other end, by their ranks in the window. */
typedef struct {
    int *ranks; /* NULL: no epoch has begun */
    int count;
    uint32_t request; /* of MPI_Win_start */
} trace_epoch;

typedef struct {
    uint32_t id;
    bool is_inter;
    int rank, size; /* size: of the remote group of an intercommunicator */
    uint32_t context;
    int sources, targets;          /* in its topology */
    uint64_t missing;              /* a bit for each of the first neighbors that is none */
    _Atomic uint32_t duplicates;   /* by MPI_Comm_idup */
    _Atomic uint32_t operations;   /* collective ones, recorded or not */
    _Atomic uint32_t persistent;   /* requests for these */
    trace_epoch accessed, exposed; /* of a window */
} trace_known_comm;
enum { TRACE_MAX_MISSING = 64 };

void mh_trace_open_comms(void);
trace_known_comm *mh_trace_comm(MPI_Comm comm); /* never NULL */

/* Of one that is not known: one whose id is TRACE_NO_COMM. */
trace_known_comm *mh_trace_window(MPI_Win window);
trace_known_comm *mh_trace_file(MPI_File file);

uint64_t mh_trace_count_unknown_comms(void); /* with windows and files, beyond what ids can tell apart */
bool mh_trace_is_known(MPI_Comm comm);       /* without asking MPI */
uint32_t mh_trace_comm_id(uintptr_t handle); /* the same; TRACE_NO_COMM if it is not known */
/* MPI_COMM_WORLD and MPI_COMM_SELF. Others are written when they are made or found. */
void mh_trace_write_first_comms(void);

#endif
