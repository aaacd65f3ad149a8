/* SPDX-License-Identifier: BSD-3-Clause */
/* read.c - read files and folders of results, and refuse other files. */
#define _GNU_SOURCE
#include "page/read.h"

#include "common/room.h"
#include "page/rows.h"
#include "results/folder.h"

#include <errno.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { RESULTS_VERSION = 1 };

/* ---- One file */

static void free_source(source_t *source)
{
    free(source->path);
    free(source->campaign);
    free(source->variant);
    json_decref(source->head);
    json_decref(source->rows);
}

static bool check_version(const source_t *source, char *complaint)
{
    const char *version = strrchr(text_at(source->head, "schema"), ' ');
    return !version || atoi(version) == RESULTS_VERSION ||
           complain(complaint, "%.400s has a schema of another version than %d, the only one known", source->path,
                    RESULTS_VERSION);
}

static bool find_kind(source_t *source, char *complaint)
{
    for (size_t i = 0; i < json_array_size(source->rows); i++) {
        const kind_t *kind = kind_of(json_array_get(source->rows, i));
        if (!kind || (i > 0 && source->kind != kind))
            return complain(complaint, "%.400s, row %zu is not one that %s writes with --format json or csv%s",
                            source->path, i + 1, i > 0 ? source->kind->tool : kind_tools(),
                            i > 0 ? ", as the rows before" : "");
        source->kind = kind;
    }
    return true;
}

/* Takes over the path. campaign, variant: NULL of a file by itself. */
static bool read_file(sources_t *sources, char *path, const char *campaign, const char *variant, json_int_t launch,
                      char *complaint)
{
    result_file_t file;
    sources->list = need(room_for_another(sources->list, sources->count, sizeof sources->list[0]));
    source_t *source = &sources->list[sources->count++];
    *source = (source_t){.path = need(path), .launch = launch};
    if (campaign) {
        source->campaign = need(strdup(campaign));
        source->variant = need(strdup(variant));
    }
    bool good = result_file_read(path, &file, complaint);
    source->head = file.provenance;
    source->rows = file.rows;
    return good && find_kind(source, complaint) && check_version(source, complaint);
}

/* ---- A directory */

/* A launch whose results are not there yet, or never came, is counted. */
static bool read_run(sources_t *sources, campaign_t *campaign, const char *variant, const json_t *run, char *complaint)
{
    struct stat status;
    char *path = run_path(campaign->path, run, complaint);
    if (!path)
        return false;
    if (run_is_done(run, variant) && stat(path, &status) == 0)
        return read_file(sources, path, campaign->path, variant, json_integer_value(json_object_get(run, "launch")),
                         complaint);
    campaign->missing++;
    free(path);
    return true;
}

/* In the order of the variants. */
static bool read_runs(sources_t *sources, campaign_t *campaign, char *complaint)
{
    json_t *variant, *run;
    size_t i, k;
    int before = sources->count;
    json_array_foreach(json_object_get(campaign->manifest, "variants"), i, variant)
    {
        const char *name = text_at(variant, "name");
        json_array_foreach(json_object_get(campaign->manifest, "runs"), k, run)
        {
            if (strcmp(text_at(run, "variant"), name) == 0 && !read_run(sources, campaign, name, run, complaint))
                return false;
        }
    }
    return sources->count > before ||
           complain(complaint, "%.400s: no launch of the campaign has results", campaign->path);
}

/* The last source could be read, but has no results (a raw file, for example): it is left out. Else returns false. */
static bool leave_out_last(sources_t *sources, const char *complaint)
{
    source_t *last = &sources->list[sources->count - 1];
    if (!last->rows || last->kind)
        return false;
    fprintf(stderr, "mpix_report: %s, so it is left out\n", complaint);
    free_source(last);
    sources->count--;
    return true;
}

/* A directory without a manifest: each of its files is a launch of one variant, which has its name. */
static bool read_launches(sources_t *sources, const char *directory, char *complaint)
{
    struct dirent **entries;
    char *copy = need(strdup(directory));
    int count = folder_files(directory, &entries, complaint), before = sources->count;
    bool good = count > 0;
    for (int i = 0; i < count; i++) {
        good = good && (read_file(sources, folder_join(directory, entries[i]->d_name), directory, basename(copy),
                                  sources->count - before + 1, complaint) ||
                        leave_out_last(sources, complaint));
        free(entries[i]);
    }
    free(entries);
    free(copy);
    return good && (sources->count > before || complain(complaint, "%.400s: no file has results", directory));
}

static bool read_directory(sources_t *sources, const char *directory, char *complaint)
{
    campaign_t *list = need(room_for_another(sources->campaigns, sources->campaign_count, sizeof list[0]));
    campaign_t *campaign = &list[sources->campaign_count++];
    sources->campaigns = list;
    *campaign = (campaign_t){.path = need(strdup(directory))};
    return folder_manifest(directory, &campaign->manifest, complaint) &&
           (campaign->manifest ? read_runs(sources, campaign, complaint)
                               : read_launches(sources, directory, complaint));
}

bool sources_read(sources_t *sources, const char *path)
{
    char complaint[COMPLAINT_BYTES];
    bool good = folder_is(path) ? read_directory(sources, path, complaint)
                                : read_file(sources, strdup(path), NULL, NULL, 0, complaint);
    if (!good)
        fprintf(stderr, "mpix_report: %s\n", complaint);
    return good;
}

void sources_free(sources_t *sources)
{
    for (int i = 0; i < sources->count; i++)
        free_source(&sources->list[i]);
    for (int i = 0; i < sources->campaign_count; i++) {
        free(sources->campaigns[i].path);
        json_decref(sources->campaigns[i].manifest);
    }
    free(sources->list);
    free(sources->campaigns);
}

static bool is_same_file(const char *path, const struct stat *other)
{
    struct stat status;
    return stat(path, &status) == 0 && status.st_dev == other->st_dev && status.st_ino == other->st_ino;
}

bool sources_has(const sources_t *sources, const char *path)
{
    struct stat status;
    bool found = false;
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode))
        return false;
    for (int i = 0; i < sources->count; i++)
        found = found || is_same_file(sources->list[i].path, &status);
    for (int i = 0; i < sources->campaign_count; i++) {
        char *manifest = need(folder_join(sources->campaigns[i].path, manifest_name));
        found = found || is_same_file(manifest, &status);
        free(manifest);
    }
    return found;
}
