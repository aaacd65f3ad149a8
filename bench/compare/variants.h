/* SPDX-License-Identifier: BSD-3-Clause */
/* variants.h - which launches a command line compares. */
#ifndef VARIANTS_H
#define VARIANTS_H

#include "common/cli/options.h"
#include "common/results/source.h"

/* Variants that are compared, or one of which the guidelines are checked. */
typedef struct variants {
    int count;
    bool in_blocks;    /* launch i of all variants is of the same block */
    int left_out;      /* blocks that are not complete */
    variant_t list[2]; /* their launches belong to the sources */
    source_t sources[2];
} variants_t;

/* variants_wants - whether files of a schema can be compared. */
bool variants_wants(const char *schema);

/*
 * variants_read - find and read all files.
 *
 * operands   what the command line names: so many variants, or a campaign of so many
 * count      1 or 2
 * variants   out, to be freed by the caller, after an error too
 *
 * Returns false after a complaint.
 */
bool variants_read(const text_list_t *operands, int count, variants_t *variants, char complaint[COMPLAINT_BYTES]);

/*
 * variants_pair - two variants of one source, by the blocks in which both are done if the source has some.
 *
 * variants   out: without sources of its own. To be freed by the caller
 *
 * Returns false after a complaint: there are no launches.
 */
bool variants_pair(const source_t *source, const variant_t *base, const variant_t *judged, variants_t *variants,
                   char complaint[COMPLAINT_BYTES]);

void variants_free(variants_t *variants);

#endif
