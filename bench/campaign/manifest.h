/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * manifest.h - a campaign's folder, and its file manifest.json, which says what was planned and what is done. No MPI.
 *
 * The manifest has all that a campaign knows, so a campaign can continue after it was killed. It is written to another
 * file and renamed, after each launch. common/doc/results.md describes its keys.
 */
#ifndef MANIFEST_H
#define MANIFEST_H

#include "common/results/results.h"

#include <stdint.h>

enum { PATH_BYTES = 4096, MAX_LAUNCHES = 10000 };

typedef struct manifest {
    const char *program; /* for messages */
    const char *directory;
    json_t *content;
    json_t *runs; /* in the content, in the order of their launches */
    int folder;   /* open, and locked against others */
} manifest_t;

/*
 * manifest_open - make the folder, or continue the campaign that is there. Torn files are reported and count as not
 * measured; complete files count as measured.
 *
 * manifest   out
 * variants   as description.h makes them; NULL: those of the manifest that is there
 * launches   of each variant; ABSENT: as before, or the default
 * seed       of the order; ABSENT: as before, or another one each time
 *
 * Returns true, or false after one line on standard error. Either way, manifest_close frees what there is.
 */
bool manifest_open(manifest_t *manifest, const json_t *variants, int64_t launches, int64_t seed);

void manifest_close(manifest_t *manifest);

/* manifest_write - returns true, or false after one line on standard error; then the old file is still there. */
bool manifest_write(const manifest_t *manifest);

/* manifest_count_done - how many launches have been measured. */
int manifest_count_done(const manifest_t *manifest);

/* manifest_path - where a run's output is, with a suffix for other files of the run, or "". */
void manifest_path(const manifest_t *manifest, const json_t *run, const char *suffix, char path[PATH_BYTES]);

/* manifest_look_at - whether a file has whole results, and its size, ABSENT of none. False after a complaint. */
bool manifest_look_at(const char *path, int64_t *bytes, char complaint[COMPLAINT_BYTES]);

/* manifest_set_done - note that a run's output is in its place. Numbers that are not known are negative. */
void manifest_set_done(json_t *run, int64_t bytes, int64_t started_s, int64_t duration_ns);

#endif
