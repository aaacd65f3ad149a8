/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * layout.h - which elements of the memory of a message are its data: a derived datatype. No MPI but for the datatype.
 */
#ifndef LAYOUT_H
#define LAYOUT_H

#include "bench/suite/pair_list.h"

#include <mpi.h>

typedef enum layout_kind {
    LAYOUT_PLAIN,      /* all, without a derived datatype */
    LAYOUT_CONTIGUOUS, /* all */
    LAYOUT_VECTOR,     /* equal blocks in equal distances */
    LAYOUT_INDEXED     /* blocks of a file */
} layout_kind_t;

enum { LAYOUT_TEXT_BYTES = 256 };

/* All zero: plain. */
typedef struct layout {
    layout_kind_t kind;
    int stride; /* from block to block, in elements; likewise the next one */
    int block;
    int list;                     /* of pairs: where a block begins, its length */
    char text[LAYOUT_TEXT_BYTES]; /* as it was given */
} layout_t;

/*
 * layout_parse - cont, vect:STRIDE:BLOCK or indx:FILE, whose lines are DISPLACEMENT, LENGTH.
 *
 * lists   the blocks of a file are added to it
 * why     out: one clause that says what is wrong, and what is allowed
 */
bool layout_parse(layout_t *layout, pair_lists_t *lists, const char *text, char why[PAIR_LIST_WHY_BYTES]);

/*
 * layout_block - a block of data, in elements, of a message that is so many elements long with its gaps. Only whole
 * blocks of a file are in it.
 *
 * list     that of the layout if it has one
 * number   from 0 on; is set to the next one
 *
 * Returns false after the last one.
 */
bool layout_block(const layout_t *layout, const pair_list_t *list, int elements, int64_t *number, number_pair_t *block);

/* layout_data - how many elements are data. */
int64_t layout_data(const layout_t *layout, const pair_list_t *list, int elements);

/*
 * layout_type - make the datatype of a message, which as a whole is as long as the message with its gaps. Returns an
 * MPI error code. bytes: of an element
 */
int layout_type(const layout_t *layout, const pair_list_t *list, int elements, MPI_Datatype element, int bytes,
                MPI_Datatype *type);

#endif
