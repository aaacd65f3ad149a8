/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * folder.h - folders of results: campaigns, which have a manifest of what was launched when, and others, of which each
 * file is a launch. By Jansson.
 */
#ifndef FOLDER_H
#define FOLDER_H

#include "results/results.h"

#include <dirent.h>

/* The schema of a manifest, and the status of a run that is done. */
extern const char manifest_schema[], run_done[];
enum { MANIFEST_VERSION = 1 };

/* folder_is - whether a path leads to a folder. */
bool folder_is(const char *path);

/* folder_join - the path of a file in a folder; folder NULL: of the file. The caller frees it. */
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

/* manifest_variant - the variant of this name, or NULL. */
const json_t *manifest_variant(const json_t *manifest, const char *name);

/* run_is_done - whether a run of a manifest is done, and is of a variant; NULL: of any. */
bool run_is_done(const json_t *run, const char *variant);

/* run_path - the path of a run's results. The caller frees it. NULL after a complaint. */
char *run_path(const char *folder, const json_t *run, char complaint[COMPLAINT_BYTES]);

/*
 * folder_files - the files of results in a folder, by name; numbers in names count as numbers.
 *
 * entries   out: to be freed by the caller, as those of scandir
 *
 * Returns how many; 0 or less after a complaint.
 */
int folder_files(const char *folder, struct dirent ***entries, char complaint[COMPLAINT_BYTES]);

#endif
