/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "report/read.h"

#include "report/rows.h"

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char manifest_name[] = "manifest.json", manifest_schema[] = "mpix-campaign";
enum { MANIFEST_VERSION = 1, RESULTS_VERSION = 1 };

/* Prints the one line about a file, without line ends that may be in it. Returns false. */
__attribute__((format(printf, 2, 3))) static bool refuse(const char *path, const char *format, ...)
{
    char *text = NULL, *line = NULL;
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0 || asprintf(&line, "mpix_report: %s: %s", path, text) < 0)
        line = NULL;
    va_end(arguments);
    for (char *next = need(line); *next != '\0'; next++)
        if ((unsigned char)*next < ' ')
            *next = ' ';
    fprintf(stderr, "%s\n", line);
    free(text);
    free(line);
    return false;
}

static char *join(const char *directory, const char *name)
{
    char *path = NULL;
    bool has_slash = directory[0] != '\0' && directory[strlen(directory) - 1] == '/';
    if (name[0] == '/')
        return need(strdup(name));
    return asprintf(&path, "%s%s%s", directory, has_slash ? "" : "/", name) < 0 ? need(NULL) : path;
}

/* ---- One file */

/* What the first line says of all others: its provenance, and what else it has. */
static bool take_head(source_t *source, const json_t *line)
{
    const json_t *version = json_object_get(line, "version");
    json_t *head = need(json_deep_copy(line));
    json_t *provenance = json_object_get(head, "provenance");
    if (json_is_object(provenance)) {
        json_object_update_missing(head, provenance);
        json_object_del(head, "provenance");
    }
    source->head = head;
    if (version != NULL && json_integer_value(version) != RESULTS_VERSION)
        return refuse(source->path, "line 1: the schema has another version; allowed is version %d", RESULTS_VERSION);
    return true;
}

static bool take_row(source_t *source, json_t *row, int line)
{
    const kind_t *kind = json_is_object(row) ? kind_of(row) : NULL;
    if (kind == NULL || (source->kind != NULL && source->kind != kind))
        return refuse(source->path, "line %d: not a row of the JSON that %s writes%s", line,
                      source->kind != NULL ? source->kind->tool : kind_tools(),
                      source->kind != NULL ? ", as the lines before" : "");
    source->kind = kind;
    json_array_append(source->rows, row);
    return true;
}

static bool take_line(source_t *source, const char *text, size_t length, int line)
{
    json_error_t error;
    bool good = true;
    if (strspn(text, " \t\r\n") == length)
        return true;
    json_t *value = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
    if (value == NULL)
        return refuse(source->path, "line %d is torn or not JSON (%s); allowed is what %s writes with --format json",
                      line, error.text, kind_tools());
    bool is_head = json_object_get(value, "provenance") != NULL || json_object_get(value, "schema") != NULL;
    if (is_head && source->head == NULL && json_array_size(source->rows) == 0)
        good = take_head(source, value);
    else
        good = take_row(source, value, line);
    json_decref(value);
    return good;
}

static bool read_lines(source_t *source)
{
    FILE *file = fopen(source->path, "r");
    char *text = NULL;
    size_t bytes = 0;
    ssize_t length;
    bool good = true;
    if (file == NULL)
        return refuse(source->path, "cannot be read: %s", strerror(errno));
    for (int line = 1; good && (length = getline(&text, &bytes, file)) >= 0; line++)
        good = take_line(source, text, (size_t)length, line);
    if (good && ferror(file))
        good = refuse(source->path, "cannot be read: %s", strerror(errno));
    free(text);
    fclose(file);
    if (good && json_array_size(source->rows) == 0)
        good = refuse(source->path, "has no results; allowed is what %s writes with --format json", kind_tools());
    return good;
}

/* campaign, variant: NULL of a file by itself. */
static bool read_file(sources_t *sources, const char *path, const char *campaign, const char *variant,
                      json_int_t launch)
{
    sources->list = need(realloc(sources->list, (size_t)(sources->count + 1) * sizeof(sources->list[0])));
    source_t *source = &sources->list[sources->count++];
    *source = (source_t){.path = need(strdup(path)), .launch = launch, .rows = need(json_array())};
    if (campaign != NULL) {
        source->campaign = need(strdup(campaign));
        source->variant = need(strdup(variant));
    }
    return read_lines(source);
}

/* ---- A directory */

/* A launch whose results are not there yet, or never came, is counted. */
static bool read_run(sources_t *sources, campaign_t *campaign, const char *variant, const json_t *run)
{
    const char *name = json_string_value(json_object_get(run, "file"));
    struct stat status;
    char *path = name != NULL ? join(campaign->path, name) : NULL;
    bool is_done = strcmp(row_text(run, "status"), "done") == 0, good = true;
    if (path != NULL && is_done && stat(path, &status) == 0)
        good = read_file(sources, path, campaign->path, variant, json_integer_value(json_object_get(run, "launch")));
    else
        campaign->missing++;
    free(path);
    return good;
}

/* In the order of the variants. */
static bool read_runs(sources_t *sources, campaign_t *campaign)
{
    json_t *variant, *run;
    size_t i, k;
    json_array_foreach(json_object_get(campaign->manifest, "variants"), i, variant)
    {
        const char *name = row_text(variant, "name");
        json_array_foreach(json_object_get(campaign->manifest, "runs"), k, run)
        {
            if (strcmp(row_text(run, "variant"), name) == 0 && !read_run(sources, campaign, name, run))
                return false;
        }
    }
    return true;
}

static bool read_manifest(sources_t *sources, campaign_t *campaign, const char *path)
{
    json_error_t error;
    int before = sources->count;
    campaign->manifest = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    if (campaign->manifest == NULL)
        return refuse(path, "line %d is torn or not JSON (%s); allowed is the manifest of a campaign", error.line,
                      error.text);
    if (strcmp(row_text(campaign->manifest, "schema"), manifest_schema) != 0 ||
        json_integer_value(json_object_get(campaign->manifest, "version")) != MANIFEST_VERSION)
        return refuse(path, "not a manifest of a campaign; allowed is schema %s of version %d", manifest_schema,
                      MANIFEST_VERSION);
    if (!read_runs(sources, campaign))
        return false;
    return sources->count > before || refuse(campaign->path, "no launch of the campaign has results");
}

static int is_result(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name), ending = strlen(".json");
    return entry->d_name[0] != '.' && length > ending && strcmp(entry->d_name + length - ending, ".json") == 0;
}

/* A directory without a manifest: each of its files is a launch of one variant, which has its name. */
static bool read_launches(sources_t *sources, const char *directory)
{
    struct dirent **entries = NULL;
    int count = scandir(directory, &entries, is_result, versionsort);
    bool good = count > 0;
    char *copy = need(strdup(directory));
    if (count < 0)
        refuse(directory, "cannot be read: %s", strerror(errno));
    else if (count == 0)
        refuse(directory, "has neither %s nor a file that ends in .json; allowed are directories that do",
               manifest_name);
    for (int i = 0; i < count; i++) {
        char *path = join(directory, entries[i]->d_name);
        good = good && read_file(sources, path, directory, basename(copy), i + 1);
        free(path);
        free(entries[i]);
    }
    free(entries);
    free(copy);
    return good;
}

static bool read_directory(sources_t *sources, const char *directory)
{
    size_t bytes = (size_t)(sources->campaign_count + 1) * sizeof(sources->campaigns[0]);
    struct stat status;
    sources->campaigns = need(realloc(sources->campaigns, bytes));
    campaign_t *campaign = &sources->campaigns[sources->campaign_count++];
    *campaign = (campaign_t){.path = need(strdup(directory))};
    char *manifest = join(directory, manifest_name);
    bool good =
        stat(manifest, &status) == 0 ? read_manifest(sources, campaign, manifest) : read_launches(sources, directory);
    free(manifest);
    return good;
}

bool sources_read(sources_t *sources, const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0)
        return refuse(path, "cannot be read: %s", strerror(errno));
    if (strcmp(basename(path), manifest_name) == 0)
        return refuse(path, "is the manifest of a campaign: give its directory");
    return S_ISDIR(status.st_mode) ? read_directory(sources, path) : read_file(sources, path, NULL, NULL, 0);
}

void sources_free(sources_t *sources)
{
    for (int i = 0; i < sources->count; i++) {
        source_t *source = &sources->list[i];
        free(source->path);
        free(source->campaign);
        free(source->variant);
        json_decref(source->head);
        json_decref(source->rows);
    }
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
        char *manifest = join(sources->campaigns[i].path, manifest_name);
        found = found || is_same_file(manifest, &status);
        free(manifest);
    }
    return found;
}
