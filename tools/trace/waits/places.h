/* SPDX-License-Identifier: BSD-3-Clause */
/* places.h - the places in a program from which functions are called: the same on all processes. */
#ifndef TRACE_PLACES_H
#define TRACE_PLACES_H

#include "trace/trace.h"

typedef struct place {
    uint16_t function; /* its name in the trace */
    const char *text;  /* as trace_format.h says; NULL: only the address is known */
    uint64_t address;  /* on the first process that was there */
} place;

typedef struct {
    size_t count, slot_count;
    place *list;
    size_t *slots; /* of a hash table: a place, plus 1; 0: free */
} places;

/* The place of an ENTER, which is added if it is new. SIZE_MAX without memory. */
size_t places_find(places *known, const trace_process *process, const trace_event *enter);
void places_free(places *known);

#endif
