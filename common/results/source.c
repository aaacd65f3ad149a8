/* SPDX-License-Identifier: BSD-3-Clause */
/* source.c - read manifests, and the files of folders. */
#define _GNU_SOURCE
#include "common/results/source.h"

#include "common/cli/memory.h"
#include "common/cli/text.h"

#include <dirent.h>
#include <errno.h>
#include <libgen.h>
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
    char *path = NULL;
    if (asprintf(&path, "%s%s%s", folder, text_ends_in(folder, "/") ? "" : "/", file) < 0)
        path = NULL;
    return or_exit(path);
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
    json_error_t error;
    char *path = folder_join(folder, manifest_name);
    bool is_there = stat(path, &status) == 0 || errno != ENOENT;
    *manifest = is_there ? json_load_file(path, JSON_REJECT_DUPLICATES, &error) : NULL;
    bool good = !is_there || (*manifest ? manifest_check(*manifest, path, complaint)
                                        : complain(complaint, "%.400s, line %d: %s", path, error.line, error.text));
    if (!good) {
        json_decref(*manifest);
        *manifest = NULL;
    }
    free(path);
    return good;
}

const json_t *variant_named(const json_t *variants, const char *name)
{
    for (size_t i = 0; i < json_array_size(variants); i++)
        if (strcmp(text_at(json_array_get(variants, i), "name"), name) == 0)
            return json_array_get(variants, i);
    return NULL;
}

bool run_is_done(const json_t *run)
{
    return strcmp(text_at(run, "status"), run_done) == 0;
}

char *run_path(const char *folder, const json_t *run, char complaint[COMPLAINT_BYTES])
{
    const char *file = text_at(run, "file");
    if (file[0] != '\0' && file[0] != '/' && !strstr(file, ".."))
        return folder_join(folder, file);
    complain(complaint, "%.400s/%s names no file for a run of %.100s", folder, manifest_name, text_at(run, "variant"));
    return NULL;
}

/* ---- Launches */

static variant_t *add_variant(source_t *source, const char *name)
{
    source->variants = or_exit(array_grow(source->variants, source->variant_count, sizeof source->variants[0]));
    variant_t *variant = &source->variants[source->variant_count++];
    *variant = (variant_t){.name = or_exit(strdup(name))};
    return variant;
}

static void free_launch(measured_t *launch)
{
    free(launch->path);
    result_file_free(&launch->file);
}

/* Takes over the path. */
static measured_t *add_launch(variant_t *variant, char *path)
{
    variant->launches = or_exit(array_grow(variant->launches, variant->count, sizeof variant->launches[0]));
    measured_t *launch = &variant->launches[variant->count++];
    *launch = (measured_t){.path = path, .number = variant->count, .block = -1};
    return launch;
}

static bool read_launch(measured_t *launch, source_wants_t *wants, char *complaint)
{
    sheet_t *sheet = &launch->file.sheet;
    bool good = result_file_read(launch->path, &launch->file, complaint);
    if (sheet->schema && sheet->column_count > 0 && !wants(sheet->schema)) {
        launch->file.is_foreign = true;
        return complain(complaint, "%.400s has results of the schema %.60s, which are of no use here", launch->path,
                        sheet->schema);
    }
    if (good)
        sheet_sort(sheet); /* the order of measuring is random */
    return good;
}

/* ---- Folders */

static int has_results(const struct dirent *entry)
{
    const char *suffix = strrchr(entry->d_name, '.');
    return entry->d_name[0] != '.' && suffix && (strcmp(suffix, ".json") == 0 || strcmp(suffix, ".csv") == 0);
}

static bool read_file_of(variant_t *variant, char *path, source_wants_t *wants, const char *program, char *complaint)
{
    measured_t *launch = add_launch(variant, path);
    if (read_launch(launch, wants, complaint))
        return true;
    if (!launch->file.is_foreign)
        return false;
    fprintf(stderr, "%s: %s, so it is left out\n", program, complaint);
    free_launch(launch);
    variant->count--;
    return true;
}

/* Numbers in names count as numbers. */
static bool read_folder(source_t *source, source_wants_t *wants, const char *program, char *complaint)
{
    struct dirent **entries = NULL;
    char *copy = or_exit(strdup(source->path));
    variant_t *variant = add_variant(source, basename(copy));
    int count = scandir(source->path, &entries, has_results, versionsort);
    bool good = count > 0;
    if (count < 0)
        complain(complaint, "%.400s cannot be read: %s", source->path, strerror(errno));
    else if (count == 0)
        complain(complaint, "%.400s has neither %s nor a file of results, *.json", source->path, manifest_name);
    for (int i = 0; i < count; i++) {
        good = good && read_file_of(variant, folder_join(source->path, entries[i]->d_name), wants, program, complaint);
        free(entries[i]);
    }
    free(entries);
    free(copy);
    return good && (variant->count > 0 || complain(complaint, "%.400s: no file has results", source->path));
}

/* A launch whose results are not there yet, or never came, is counted. */
static bool read_run(source_t *source, variant_t *variant, const json_t *run, source_wants_t *wants, char *complaint)
{
    struct stat status;
    const json_t *block = json_object_get(run, "block");
    char *path = run_path(source->path, run, complaint);
    if (!path)
        return false;
    if (!run_is_done(run) || stat(path, &status) != 0) {
        source->missing++;
        free(path);
        return true;
    }
    measured_t *launch = add_launch(variant, path);
    launch->block = json_is_integer(block) ? json_integer_value(block) : -1;
    if (json_is_integer(json_object_get(run, "launch")))
        launch->number = json_integer_value(json_object_get(run, "launch"));
    return read_launch(launch, wants, complaint);
}

static bool read_runs(source_t *source, source_wants_t *wants, char *complaint)
{
    json_t *description, *run;
    size_t i, k;
    int launches = 0;
    json_array_foreach(json_object_get(source->manifest, "variants"), i, description)
    {
        variant_t *variant = add_variant(source, text_at(description, "name"));
        json_array_foreach(json_object_get(source->manifest, "runs"), k, run)
        {
            if (strcmp(text_at(run, "variant"), variant->name) == 0 &&
                !read_run(source, variant, run, wants, complaint))
                return false;
        }
        launches += variant->count;
    }
    return launches > 0 || complain(complaint, "%.400s: no launch of the campaign has results", source->path);
}

bool source_read(const char *path, source_wants_t *wants, const char *program, source_t *source,
                 char complaint[COMPLAINT_BYTES])
{
    *source = (source_t){.path = or_exit(strdup(path)), .is_folder = folder_is(path)};
    if (!source->is_folder)
        return read_launch(add_launch(add_variant(source, path), or_exit(strdup(path))), wants, complaint);
    if (!folder_manifest(path, &source->manifest, complaint))
        return false;
    source->manifest = json_clean(source->manifest);
    return source->manifest ? read_runs(source, wants, complaint) : read_folder(source, wants, program, complaint);
}

const variant_t *source_variant(const source_t *source, const char *name)
{
    for (int i = 0; i < source->variant_count; i++)
        if (strcmp(source->variants[i].name, name) == 0)
            return &source->variants[i];
    return NULL;
}

void source_free(source_t *source)
{
    for (int i = 0; i < source->variant_count; i++) {
        variant_t *variant = &source->variants[i];
        for (int k = 0; k < variant->count; k++)
            free_launch(&variant->launches[k]);
        free(variant->launches);
        free(variant->name);
    }
    free(source->variants);
    free(source->path);
    json_decref(source->manifest);
    *source = (source_t){.path = NULL};
}
