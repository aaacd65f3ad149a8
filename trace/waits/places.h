/* SPDX-License-Identifier: BSD-3-Clause */
/* places.h - the places in a program from which functions are called: the same on all processes. */
#ifndef TRACE_PLACES_H
#define TRACE_PLACES_H

#include "trace/read/keys.h"
#include "trace/read/trace.h"

typedef struct place {
    uint16_t function;  /* its name in the trace */
    const char *text;   /* as trace_format.h says; NULL: only the address is known */
    uint64_t address;   /* on the first process that was there */
    const char *caller; /* in the text; NULL: it names none */
} place;

typedef struct {
    size_t count;
    place *list;
    keys numbers; /* of places in the list */
} places;

/* The place of an ENTER; and an order of places, as for qsort. */
place place_of(trace_point enter);
int place_compare(const void *left, const void *right);

/* The index of the place of an ENTER, which is added if it is new. */
size_t places_find(places *known, trace_point enter);
void places_free(places *known);

#endif
