/* SPDX-License-Identifier: BSD-3-Clause */
/* answer.h - what a trace says in a few sentences: who waits for whom, why, and what it would gain to change it. */
#ifndef TRACE_ANSWER_H
#define TRACE_ANSWER_H

#include "trace/waits/analysis.h"

/* A name of C++ may fill a place. */
enum { PLACE_BYTES = 1024, ANSWER_SENTENCES = 6, ANSWER_BYTES = 3 * PLACE_BYTES };

/* What a sentence is about. */
typedef enum {
    ANSWER_NOTHING, /* nothing can be told */
    ANSWER_UNSEEN,  /* what is not attributed */
    ANSWER_CAUSE,
    ANSWER_WAITS, /* all of them */
    ANSWER_TIMES  /* what ranks do all the time */
} answer_kind;
extern const char *const answer_kind_names[];

typedef struct answer {
    int count;
    int causes; /* so many of the first causes have a sentence */
    struct {
        answer_kind kind;
        size_t cause; /* its place in the order of causes */
        char text[ANSWER_BYTES];
    } sentences[ANSWER_SENTENCES];
} answer_t;

/* answer_make - at most ANSWER_SENTENCES sentences. What they say of a cause they say if it is worth it. */
void answer_make(answer_t *answer, const wait_analysis *of);

/* answer_place - a call site for people: MPI_Recv at main+0x20 (0x1020) in program. */
void answer_place(char text[PLACE_BYTES], const graph *of, size_t place);

#endif
