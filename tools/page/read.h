/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * read.h - what is reported: files of results, and directories that have many of them: a campaign, by its manifest, or
 * files that are a launch each.
 */
#ifndef READ_H
#define READ_H

#include "page/kinds.h"

#include <jansson.h>
#include <stdbool.h>

/* What a file has. */
typedef struct source {
    char *path;
    const kind_t *kind;
    json_t *head;   /* an object: how it was measured; empty if the file does not say */
    json_t *rows;   /* an array of objects */
    char *campaign; /* its directory; NULL of a file that was given by itself */
    char *variant;  /* of the campaign */
    json_int_t launch;
} source_t;

/* A directory that was given. */
typedef struct campaign {
    char *path;
    json_t *manifest; /* an object; NULL of a directory without one */
    int missing;      /* launches that have no results */
} campaign_t;

typedef struct sources {
    source_t *list;
    int count;
    campaign_t *campaigns;
    int campaign_count;
} sources_t;

/*
 * sources_read - read a file, or all files of a directory.
 *
 * sources   in and out: those read are added
 *
 * Returns false after one line on standard error about a file that cannot be read or is none of these.
 */
bool sources_read(sources_t *sources, const char *path);

/* sources_free - free all that was read. */
void sources_free(sources_t *sources);

/* sources_has - whether a path leads to a file that was read, manifests included. */
bool sources_has(const sources_t *sources, const char *path);

#endif
