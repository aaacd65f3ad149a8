/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * source.h - files of results that belong together: campaigns, which have a manifest of what was launched when; other
 * folders, of which each file is a launch of one variant; and single files, which are one launch. By Jansson.
 */
#ifndef SOURCE_H
#define SOURCE_H

#include "common/results/results.h"

/* The schema of a manifest, and the status of a run that is done. */
extern const char manifest_schema[], run_done[];
enum { MANIFEST_VERSION = 1 };

/* folder_is - whether a path leads to a folder. */
bool folder_is(const char *path);

/* folder_join - the path of a file in a folder. The caller frees it. */
char *folder_join(const char *folder, const char *file);

/*
 * folder_manifest - read the manifest of a folder.
 *
 * manifest   out, to be freed by the caller: NULL if the folder has none, and after an error
 *
 * Returns false after a complaint.
 */
bool folder_manifest(const char *folder, json_t **manifest, char complaint[COMPLAINT_BYTES]);

/* manifest_check - whether a value is a manifest of a version that can be read. Returns false after a complaint. */
bool manifest_check(const json_t *manifest, const char *path, char complaint[COMPLAINT_BYTES]);

/* variant_named - of variants as a manifest has them, the one of this name, or NULL. */
const json_t *variant_named(const json_t *variants, const char *name);

/* run_is_done - whether a run of a manifest is done. */
bool run_is_done(const json_t *run);

/* run_path - the path of a run's results. The caller frees it. NULL after a complaint. */
char *run_path(const char *folder, const json_t *run, char complaint[COMPLAINT_BYTES]);

/* A launch and its results. */
typedef struct measured {
    char *path;
    result_file_t file;
    json_int_t number; /* of the variant */
    json_int_t block;  /* of the source, in which each variant is launched once; -1: none */
} measured_t;

typedef struct variant {
    char *name;
    measured_t *launches;
    int count;
} variant_t;

typedef struct source {
    char *path;
    bool is_folder;
    json_t *manifest; /* NULL if there is none */
    variant_t *variants;
    int variant_count;
    int missing; /* launches without results */
} source_t;

/* source_wants_t - whether files of a schema are of use. */
typedef bool source_wants_t(const char *schema);

/*
 * source_read - read a file, a folder of files, or what is done of a campaign. Other files in a folder without a
 * manifest are left out, each with a message.
 *
 * program   for messages
 * source    out, to be freed by the caller, after an error too
 *
 * Returns false after a complaint.
 */
bool source_read(const char *path, source_wants_t *wants, const char *program, source_t *source,
                 char complaint[COMPLAINT_BYTES]);
void source_free(source_t *source);

/* source_variant - the variant of this name, or NULL. */
const variant_t *source_variant(const source_t *source, const char *name);

#endif
