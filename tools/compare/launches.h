/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * launches.h - the files of mpix_bench's results that a command line names, each one launch: a file, all of a folder,
 * or those of a variant of a campaign.
 *
 * A campaign is a folder with a file manifest.json, which says in which order its variants were launched: in blocks, in
 * each of which every variant was launched once.
 */
#ifndef LAUNCHES_H
#define LAUNCHES_H

#include "common/options.h"
#include "results/results.h"

/* The first column of results that does not say what was measured. */
extern const char launch_first_figure[];

typedef struct launch {
    char *path;
    result_file_t file;
} launch_t;

/* The launches that make one side of a comparison. */
typedef struct variant {
    char *name;
    launch_t *launches;
    int count;
} variant_t;

typedef struct variants {
    int count;
    bool in_blocks; /* launch i of all variants is of the same block */
    int left_out;   /* blocks that are not complete */
    variant_t list[2];
} variants_t;

/*
 * launches_read - find and read all files. Files of a folder that have other contents are left out, each with a
 * message.
 *
 * operands   what the command line names: so many variants, or a campaign of so many
 * count      1 or 2
 * variants   out, to be freed by the caller, after an error too
 *
 * Returns false after a complaint.
 */
bool launches_read(const text_list_t *operands, int count, variants_t *variants, char complaint[COMPLAINT_BYTES]);

void launches_free(variants_t *variants);

#endif
