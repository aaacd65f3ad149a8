/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * otf2_private.h - the parts of the OTF2 output: otf2.c has the archive and its clocks, otf2_events.c the events,
 * otf2_definitions.c what they refer to, otf2_functions.c what is known of MPI's functions, otf2_writer.c what all of
 * them need.
 */
#ifndef TRACE_CONVERT_OTF2_PRIVATE_H
#define TRACE_CONVERT_OTF2_PRIVATE_H

#include "trace/read/calls.h"
#include "trace/convert/conversion.h"

#include <otf2/otf2.h>

/* Communicators of which events name the window, or the file: OTF2 wants these numbered without gaps, as they come. */
typedef struct {
    uint32_t count;
    int *comms;        /* by number */
    uint32_t *numbers; /* by common number of the communicator, from 1; 0: it has none */
} otf2_numbers;

typedef struct {
    conversion *job;
    OTF2_Archive *archive;
    OTF2_ErrorCode error;          /* the first that a call returned */
    OTF2_ErrorCode cause;          /* the first that the library came upon, which calls may return as another one */
    size_t *first_location;        /* by rank: the index of its first location */
    uint64_t *first_site;          /* by rank: the number of sites of the ranks before it */
    uint64_t *event_counts;        /* by index of a location */
    OTF2_SystemTreeNodeRef *nodes; /* by rank */
    OTF2_RegionRef *regions;       /* by id of a name; undefined until an event names it */
    uint16_t *region_names;        /* by region: the id of its name */
    OTF2_RegionRef region_count;
    otf2_numbers windows, files;
    call_requests requests;  /* of the process whose events are written */
    int64_t moved_ns;        /* added to all global times, as OTF2 has none below 0 */
    uint64_t min_ns, max_ns; /* of times as a reader corrects them */
} otf2_writer;

/* otf2_check - keep the error of a call if it is the first. Returns whether there is none. */
bool otf2_check(otf2_writer *to, OTF2_ErrorCode code);

/* Numbers of definitions. */
OTF2_LocationRef otf2_location_ref(const trace_process *process, int rank, size_t i);
size_t otf2_location_count(const trace_process *process); /* at least one, even if it has no events */
enum { OTF2_NO_STRING, OTF2_FIRST_SITE_STRING };          /* "", then call sites, then what definitions need */
enum { OTF2_ATTRIBUTE_POLLS, OTF2_ATTRIBUTE_SITE };
enum { OTF2_METRIC_BOUND };

/* What a region is, by its name. */
typedef struct {
    OTF2_RegionRole role;
    OTF2_Paradigm paradigm;
    bool is_fence;      /* of a window, by all processes that have it */
    bool has_operation; /* a collective operation that OTF2 knows */
    OTF2_CollectiveOp operation;
} otf2_function;
otf2_function otf2_function_of(const char *name);

/* otf2_put_events - write all events of a location, until an error of OTF2. */
void otf2_put_events(otf2_writer *to, const trace_location *location, OTF2_EvtWriter *events);

/* otf2_put_definitions - write those of the whole job, after all events. */
void otf2_put_definitions(otf2_writer *to, OTF2_GlobalDefWriter *definitions);

#endif
