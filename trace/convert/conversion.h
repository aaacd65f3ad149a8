/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * conversion.h - what the formats of mpix_trace_convert have in common: the trace, and what was found in it; and the
 * formats.
 */
#ifndef TRACE_CONVERT_CONVERSION_H
#define TRACE_CONVERT_CONVERSION_H

#include "common/mpi/world.h"
#include "trace/convert/comm_numbers.h"
#include "trace/read/trace.h"
#include "trace/waits/analysis.h"

#include <stdio.h>

/* What a format cannot express. */
typedef enum {
    LEFT_END,        /* the end of a region that is not the innermost one */
    LEFT_MESSAGE,    /* a message whose communicator or partner is not known */
    LEFT_COLLECTIVE, /* a collective operation that OTF2 does not have, or whose communicator is not known */
    LEFT_COMPLETION, /* of a collective operation whose begin is not in the trace */
    LEFT_ACCESS,     /* of a window or a file that is not known */
    LEFT_LOCAL,      /* MPI_Win_flush_local: what is complete at this end */
    LEFT_FILE_END,   /* of an operation of a file whose call did not wait */
    LEFT_KINDS
} left_out;

typedef struct {
    const char *program; /* for messages */
    const trace *of;     /* with global times, or for Perfetto with those that are asked for */
    bool is_local;       /* OTF2: local times are written, and what a reader adds to them */
    const char *path;    /* of the output, as the user gave it; NULL: standard output */
    FILE *file;          /* of the formats that are one file */
    communicators communicators;
    wait_analysis waits;         /* of the formats that show them, by global times */
    size_t left_out[LEFT_KINDS]; /* out: how many events of each kind */
    size_t backward;             /* out: messages that arrive before they are sent */
} conversion;

/*
 * The formats. Each writes all of the trace, and on failure a line to standard error; what a FILE did not take is
 * noticed where it is closed. Each returns a status of the program: STATUS_BAD_OPTION where it cannot write the format,
 * or not to this place.
 */
int convert_to_csv(conversion *job);
extern const struct schema events_schema; /* its columns */
int convert_to_perfetto(conversion *job);
int convert_to_otf2(conversion *job);

/* The global time of an event in whole nanoseconds. */
int64_t conversion_global_ns(const conversion *job, const trace_location *location, size_t event);

enum { HOST_NAME_SIZE = 256 };

/*
 * bound_to_show - whether the bound of an event's global time is worth a point in a curve: it differs by a tenth from
 * that of the last point, or only one of them is known.
 *
 * last_ns   of the last point, 0 before the first; out: of this one, INFINITY: not known
 */
bool bound_to_show(const trace_location *location, size_t event, double *last_ns);

#endif
