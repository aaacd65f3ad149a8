/* SPDX-License-Identifier: BSD-3-Clause */
/* meanings.h - what the analysis knows of functions of MPI, from the same table as the recorder: front/meanings.txt. */
#ifndef TRACE_MEANINGS_H
#define TRACE_MEANINGS_H

#include <stdbool.h>

/*
 * Which processes wait for which others in a collective operation. From WAIT_MEET on, nobody leaves before those whom
 * it waits for have entered. Before WAIT_MEET, two processes may have nothing for each other, so it depends on the
 * counts, asserts and algorithms.
 */
typedef enum {
    WAIT_UNKNOWN,
    WAIT_MAYBE,     /* each process for some of the others */
    WAIT_NEIGHBORS, /* each process for its neighbors in the topology */
    WAIT_FENCE,     /* all for all, but for those of which asserts say that they do not wait */
    WAIT_MEET,      /* all for all */
    WAIT_ALL,       /* all that get something for all that give something */
    WAIT_FROM_ROOT,
    WAIT_TO_ROOT
} operation_wait;

enum {
    MEANS_LOCAL = 1,      /* it waits for no other process */
    MEANS_UNSEEN = 2,     /* it may wait, and the trace does not tell for whom */
    MEANS_TRIAL = 4,      /* it only looks: MPI_Test and the like */
    MEANS_COMPLETES = 8,  /* it waits for requests */
    MEANS_PROBE = 16,     /* it looks for a message, or waits for one, and does not receive it */
    MEANS_QUESTION = 32,  /* programs call it between a probe and its receive */
    MEANS_OPERATION = 64, /* a collective operation */
};

typedef struct {
    const char *name; /* without MPI_; one that ends in * is of all that begin so */
    operation_wait wait;
    unsigned means; /* some of the above; 0: its waits are found by its messages */
} meaning;

/* Of a function in any of its forms: MPI_Bcast, MPI_Ibcast, MPI_Bcast_init, MPI_Bcast_c. NULL: it is not known. */
const meaning *meaning_of(const char *name);

#endif
