/* SPDX-License-Identifier: BSD-3-Clause */
/* folder.c - read manifests and list the files of a folder. */
#define _GNU_SOURCE
#include "results/folder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

const char manifest_schema[] = "mpix-campaign", run_done[] = "done";

bool folder_is(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

char *folder_join(const char *folder, const char *file)
{
    const char *start = folder ? folder : "";
    bool has_slash = start[0] == '\0' || start[strlen(start) - 1] == '/';
    size_t bytes = strlen(start) + strlen(file) + 2;
    char *path = need(malloc(bytes));
    snprintf(path, bytes, "%s%s%s", start, has_slash ? "" : "/", file);
    return path;
}

/* ---- Campaigns */

bool manifest_check(const json_t *manifest, const char *path, char complaint[COMPLAINT_BYTES])
{
    if (strcmp(text_at(manifest, "schema"), manifest_schema) != 0 ||
        !json_is_array(json_object_get(manifest, "variants")) || !json_is_array(json_object_get(manifest, "runs")))
        return complain(complaint, "%.400s is not a manifest of a campaign", path);
    return json_integer_value(json_object_get(manifest, "version")) == MANIFEST_VERSION ||
           complain(complaint, "%.400s is not of version %d, the only one known", path, MANIFEST_VERSION);
}

bool folder_manifest(const char *folder, json_t **manifest, char complaint[COMPLAINT_BYTES])
{
    struct stat status;
    char *path = folder_join(folder, manifest_name);
    *manifest = NULL;
    bool is_there = stat(path, &status) == 0 || errno != ENOENT;
    if (is_there)
        *manifest = result_load(path, complaint);
    bool good = !is_there || (*manifest && manifest_check(*manifest, path, complaint));
    if (!good) {
        json_decref(*manifest);
        *manifest = NULL;
    }
    free(path);
    return good;
}

const json_t *manifest_variant(const json_t *manifest, const char *name)
{
    const json_t *variants = json_object_get(manifest, "variants");
    for (size_t i = 0; i < json_array_size(variants); i++)
        if (strcmp(text_at(json_array_get(variants, i), "name"), name) == 0)
            return json_array_get(variants, i);
    return NULL;
}

bool run_is_done(const json_t *run, const char *variant)
{
    return (!variant || strcmp(text_at(run, "variant"), variant) == 0) && strcmp(text_at(run, "status"), run_done) == 0;
}

char *run_path(const char *folder, const json_t *run, char complaint[COMPLAINT_BYTES])
{
    const char *file = text_at(run, "file");
    if (file[0] != '\0' && file[0] != '/' && !strstr(file, ".."))
        return folder_join(folder, file);
    complain(complaint, "%.400s/%s names no file for a run of %.100s", folder, manifest_name, text_at(run, "variant"));
    return NULL;
}

/* ---- Files */

static int has_results(const struct dirent *entry)
{
    const char *suffix = strrchr(entry->d_name, '.');
    return entry->d_name[0] != '.' && suffix && (strcmp(suffix, ".json") == 0 || strcmp(suffix, ".csv") == 0);
}

int folder_files(const char *folder, struct dirent ***entries, char complaint[COMPLAINT_BYTES])
{
    *entries = NULL;
    int count = scandir(folder, entries, has_results, versionsort);
    if (count < 0)
        complain(complaint, "%.400s cannot be read: %s", folder, strerror(errno));
    else if (count == 0)
        complain(complaint, "%.400s has neither %s nor a file of results, *.json or *.csv", folder, manifest_name);
    return count;
}
