/* SPDX-License-Identifier: BSD-3-Clause */
/* launches.c - find the files of the variants, and check that they belong together. */
#include "compare/launches.h"

#include "common/output.h"
#include "common/room.h"
#include "common/text.h"
#include "results/folder.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* What an operand names. */
typedef struct place {
    char path[PATH_MAX];
    char variant[RESULT_TEXT_BYTES]; /* "" where it names none */
    bool is_folder;
    json_t *manifest; /* of a campaign, else NULL */
} place_t;

/* ---- Folders and campaigns */

static bool complain_of_variants(const place_t *place, const char *what, char *complaint)
{
    const json_t *list = json_object_get(place->manifest, "variants");
    complain(complaint, "%.400s has %zu variants, %s:", place->path, json_array_size(list), what);
    for (size_t i = 0; i < json_array_size(list); i++)
        text_append(complaint, COMPLAINT_BYTES, "%s %s:%s", i > 0 ? "," : "", place->path,
                    text_at(json_array_get(list, i), "name"));
    return false;
}

/* FILE, FOLDER, or FOLDER:VARIANT. */
static bool find_place(const char *operand, place_t *place, char *complaint)
{
    const char *colon = strrchr(operand, ':');
    struct stat status;
    *place = (place_t){.is_folder = folder_is(operand)};
    snprintf(place->path, sizeof place->path, "%s", operand);
    if (stat(operand, &status) != 0 && colon) {
        snprintf(place->path, sizeof place->path, "%.*s", (int)(colon - operand), operand);
        snprintf(place->variant, sizeof place->variant, "%s", colon + 1);
        place->is_folder = folder_is(place->path);
        if (!place->is_folder)
            return complain(complaint, "%.400s cannot be read: no such file or folder", operand);
    }
    if (!place->is_folder)
        return true;
    if (!folder_manifest(place->path, &place->manifest, complaint))
        return false;
    if (place->variant[0] == '\0')
        return true;
    if (!place->manifest)
        return complain(complaint, "%.400s has no %s, so it has no variants", place->path, manifest_name);
    return manifest_variant(place->manifest, place->variant) ||
           complain_of_variants(place, "of which one can be named", complaint);
}

/* ---- Launches */

const char launch_first_figure[] = "valid";
static const char schema_name[] = "mpix-bench ", known_schema[] = "mpix-bench 1";

/* Files without a schema are known by their columns. */
static bool is_of_bench(const json_t *row)
{
    return json_is_string(json_object_get(row, "operation")) && json_object_get(row, launch_first_figure);
}

static bool check_results(const launch_t *launch, char *complaint)
{
    const char *schema = text_at(launch->file.provenance, "schema");
    if (schema[0] != '\0' && strcmp(schema, known_schema) != 0)
        return complain(complaint, "%.400s has results of schema \"%.60s\", only \"%s\" can be compared", launch->path,
                        schema, known_schema);
    for (size_t i = 0; i < json_array_size(launch->file.rows); i++)
        if (!is_of_bench(json_array_get(launch->file.rows, i)))
            return complain(complaint, "%.400s has other results than those of mpix_bench", launch->path);
    return true;
}

static void free_launch(launch_t *launch)
{
    free(launch->path);
    result_file_free(&launch->file);
}

/* Takes over the path. */
static bool add_launch(variant_t *variant, char *path, char *complaint)
{
    variant->launches = need(room_for_another(variant->launches, variant->count, sizeof variant->launches[0]));
    launch_t *launch = &variant->launches[variant->count++];
    *launch = (launch_t){.path = path};
    return result_file_read(path, &launch->file, complaint) && check_results(launch, complaint);
}

/* The last file could be read, but is not a launch (a raw file, for example): it is left out. Else returns false. */
static bool leave_out_last(variant_t *variant, const char *complaint)
{
    launch_t *last = &variant->launches[variant->count - 1];
    bool is_named = strncmp(text_at(last->file.provenance, "schema"), schema_name, strlen(schema_name)) == 0;
    if (!last->file.rows || is_named || is_of_bench(json_array_get(last->file.rows, 0)))
        return false;
    fprintf(stderr, "mpix_compare: %s, so it is left out\n", complaint);
    free_launch(last);
    variant->count--;
    return true;
}

static bool read_folder(const char *folder, variant_t *variant, char *complaint)
{
    struct dirent **entries;
    int count = folder_files(folder, &entries, complaint);
    bool good = count > 0;
    for (int i = 0; i < count; i++) {
        good = good && (add_launch(variant, folder_join(folder, entries[i]->d_name), complaint) ||
                        leave_out_last(variant, complaint));
        free(entries[i]);
    }
    free(entries);
    return good && (variant->count > 0 || complain(complaint, "%.400s: no file has results of mpix_bench", folder));
}

/* The finished run of a variant in the block of another run, or NULL. */
static const json_t *find_run(const json_t *manifest, const json_t *other, const char *variant)
{
    const json_t *runs = json_object_get(manifest, "runs"), *block = json_object_get(other, "block");
    for (size_t i = 0; i < json_array_size(runs); i++) {
        const json_t *run = json_array_get(runs, i);
        if (block && json_equal(json_object_get(run, "block"), block) && run_is_done(run, variant))
            return run;
    }
    return NULL;
}

/* Reads the launches of those variants of a campaign, of the blocks in which all of them are done. */
static bool read_campaign(const place_t *place, const char *const *names, int count, variants_t *variants,
                          variant_t *list, char *complaint)
{
    const json_t *all = json_object_get(place->manifest, "runs");
    for (size_t k = 0; k < json_array_size(all); k++) {
        const json_t *run = json_array_get(all, k), *runs[2] = {NULL, NULL};
        bool complete = true;
        if (strcmp(text_at(run, "variant"), names[0]) != 0)
            continue;
        for (int i = 0; i < count; i++) {
            runs[i] = find_run(place->manifest, run, names[i]);
            complete = complete && runs[i];
        }
        variants->left_out += !complete;
        for (int i = 0; complete && i < count; i++) {
            char *path = run_path(place->path, runs[i], complaint);
            if (!path || !add_launch(&list[i], path, complaint))
                return false;
        }
    }
    return list[0].count > 0 || complain(complaint, "%.400s has no block in which %s%s%s is done", place->path,
                                         names[0], count > 1 ? " and " : "", count > 1 ? names[1] : "");
}

/* ---- Operands */

static char *variant_name(const char *path, const char *name)
{
    size_t bytes = strlen(path) + strlen(name) + 2;
    char *text = need(malloc(bytes));
    snprintf(text, bytes, "%s%s%s", path, name[0] != '\0' ? ":" : "", name);
    return text;
}

/* Two variants of one campaign, named or all it has. */
static bool take_campaign(const place_t *places, int place_count, variants_t *variants, char *complaint)
{
    const json_t *list = json_object_get(places[0].manifest, "variants");
    const char *names[2] = {"", ""};
    for (int i = 0; i < 2; i++) {
        const place_t *place = &places[i < place_count ? i : 0];
        names[i] = place->variant[0] != '\0' ? place->variant : text_at(json_array_get(list, (size_t)i), "name");
        variants->list[i].name = variant_name(place->path, names[i]);
    }
    variants->in_blocks = true;
    return read_campaign(&places[0], names, 2, variants, variants->list, complaint);
}

/* One variant, whatever the other is. */
static bool take_place(const place_t *place, variants_t *variants, variant_t *variant, char *complaint)
{
    const json_t *list = json_object_get(place->manifest, "variants");
    const char *name = place->variant;
    if (place->manifest && name[0] == '\0') {
        if (json_array_size(list) != 1)
            return complain_of_variants(place, "name one", complaint);
        name = text_at(json_array_get(list, 0), "name");
    }
    variant->name = variant_name(place->path, name);
    if (place->manifest)
        return read_campaign(place, &name, 1, variants, variant, complaint);
    return place->is_folder ? read_folder(place->path, variant, complaint)
                            : add_launch(variant, folder_join(NULL, place->path), complaint);
}

static bool are_of_one_campaign(const place_t *places)
{
    struct stat first, second;
    return places[0].variant[0] != '\0' && places[1].variant[0] != '\0' && stat(places[0].path, &first) == 0 &&
           stat(places[1].path, &second) == 0 && first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

static bool take_places(const place_t *places, int place_count, variants_t *variants, char *complaint)
{
    struct stat status;
    if (place_count < variants->count) {
        if (!places[0].manifest && stat(places[0].path, &status) != 0)
            return complain(complaint, "%.400s cannot be read: %s", places[0].path, strerror(errno));
        if (!places[0].manifest || places[0].variant[0] != '\0')
            return complain(complaint, "%.400s is one of two to compare, give the other too", places[0].path);
        if (json_array_size(json_object_get(places[0].manifest, "variants")) != 2)
            return complain_of_variants(&places[0], "name two", complaint);
    }
    if (place_count < variants->count || (place_count == 2 && are_of_one_campaign(places)))
        return take_campaign(places, place_count, variants, complaint);
    for (int i = 0; i < place_count; i++)
        if (!take_place(&places[i], variants, &variants->list[i], complaint))
            return false;
    return true;
}

bool launches_read(const text_list_t *operands, int count, variants_t *variants, char complaint[COMPLAINT_BYTES])
{
    place_t places[2] = {{.manifest = NULL}, {.manifest = NULL}};
    int place_count = (int)operands->count;
    bool good = place_count > 0 && place_count <= count;
    *variants = (variants_t){.count = count};
    if (!good)
        complain(complaint, count == 1 ? "give one file, folder, or variant of a campaign"
                                       : "give two files, folders, or variants of a campaign, or a campaign of two");
    for (int i = 0; good && i < place_count; i++)
        good = find_place(operands->texts[i], &places[i], complaint);
    good = good && take_places(places, place_count, variants, complaint);
    for (int i = 0; i < 2; i++)
        json_decref(places[i].manifest);
    return good;
}

void launches_free(variants_t *variants)
{
    for (int i = 0; i < variants->count; i++) {
        variant_t *variant = &variants->list[i];
        for (int j = 0; j < variant->count; j++)
            free_launch(&variant->launches[j]);
        free(variant->launches);
        free(variant->name);
    }
    *variants = (variants_t){.count = 0};
}
