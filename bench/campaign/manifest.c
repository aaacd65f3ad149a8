/* SPDX-License-Identifier: BSD-3-Clause */
/* manifest.c - make, read, check and write the manifest of a campaign. */
#include "bench/campaign/manifest.h"

#include "bench/campaign/description.h"
#include "common/cli/options.h"
#include "common/cli/output.h"
#include "pure/random.h"
#include "common/results/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { DEFAULT_LAUNCHES = 10, DEFAULT_SEED = 1 };

static const char pending[] = "pending";

#define refuse(manifest, ...) (options_refuse((manifest)->program, __VA_ARGS__) == OPTIONS_RUN)

static int64_t number_of(const json_t *object, const char *key)
{
    const json_t *number = json_object_get(object, key);
    return json_is_integer(number) ? json_integer_value(number) : ABSENT;
}

int manifest_count_done(const manifest_t *manifest)
{
    int count = 0;
    for (size_t i = 0; i < json_array_size(manifest->runs); i++)
        count += run_is_done(json_array_get(manifest->runs, i));
    return count;
}

void manifest_path(const manifest_t *manifest, const json_t *run, const char *suffix, char path[PATH_BYTES])
{
    snprintf(path, PATH_BYTES, "%s/%s%s", manifest->directory, text_at(run, "file"), suffix);
}

void manifest_set_done(json_t *run, int64_t bytes, int64_t started_s, int64_t duration_ns)
{
    char date[32];
    time_t started = (time_t)started_s;
    struct tm parts;
    json_object_set_new(run, "status", json_string(run_done));
    json_object_set_new(run, "bytes", json_integer(bytes));
    if (started_s >= 0 && gmtime_r(&started, &parts) && strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &parts) > 0)
        json_object_set_new(run, "started", json_string(date));
    if (duration_ns >= 0)
        json_object_set_new(run, "duration_ns", json_integer(duration_ns));
}

/* ---- The plan */

/* Each variant once, in random order. Blocks are independent of each other, so that more can be added later. */
static void plan_block(json_t *runs, const json_t *variants, int64_t seed, int block)
{
    int order[MAX_VARIANTS], count = (int)json_array_size(variants);
    char file[MAX_NAME_BYTES + 32];
    uint64_t state = (uint64_t)seed;
    state = random_next(&state) + (uint64_t)block;
    for (int i = 0; i < count; i++)
        order[i] = i;
    for (int i = count - 1; i > 0; i--) {
        int other = (int)(random_fraction(&state) * (i + 1)), kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
    for (int i = 0; i < count; i++) {
        const char *name = text_at(json_array_get(variants, (size_t)order[i]), "name");
        snprintf(file, sizeof file, "%s/%04d.json", name, block);
        json_array_append_new(runs,
                              json_pack("{s:i, s:i, s:s, s:i, s:s, s:s}", "position", block * count + i, "block", block,
                                        "variant", name, "launch", block, "file", file, "status", pending));
    }
}

static void plan(manifest_t *manifest, const json_t *variants, int64_t launches, int64_t seed)
{
    char program[64];
    json_t *runs = json_array();
    for (int block = 0; block < launches; block++)
        plan_block(runs, variants, seed, block);
    snprintf(program, sizeof program, "mpix_campaign %s", options_version());
    manifest->content = json_pack("{s:s, s:i, s:s, s:I, s:I, s:O, s:o}", "schema", manifest_schema, "version",
                                  MANIFEST_VERSION, "program", program, "seed", (json_int_t)seed, "launches",
                                  (json_int_t)launches, "variants", variants, "runs", runs);
    manifest->runs = json_object_get(manifest->content, "runs");
}

/* ---- What is there */

static bool is_array_of_texts(const json_t *array)
{
    for (size_t i = 0; i < json_array_size(array); i++)
        if (!json_is_string(json_array_get(array, i)))
            return false;
    return json_array_size(array) > 0;
}

static bool has_texts_only(json_t *object)
{
    for (void *at = json_object_iter(object); at; at = json_object_iter_next(object, at))
        if (!json_is_string(json_object_iter_value(at)))
            return false;
    return json_is_object(object);
}

static bool variants_are_good(const json_t *variants)
{
    for (size_t i = 0; i < json_array_size(variants); i++) {
        const json_t *variant = json_array_get(variants, i);
        if (!description_allows_name(text_at(variant, "name")) ||
            !has_texts_only(json_object_get(variant, "environment")) ||
            !is_array_of_texts(json_object_get(variant, "command")))
            return false;
    }
    return json_array_size(variants) > 0 && json_array_size(variants) <= MAX_VARIANTS;
}

/* But for its runs. */
static bool is_good(const json_t *old)
{
    int64_t launches = number_of(old, "launches");
    return launches > 0 && launches <= MAX_LAUNCHES && number_of(old, "seed") >= 0 &&
           variants_are_good(json_object_get(old, "variants"));
}

/* Returns the name of the first variant that is not the same, or NULL. */
static const char *find_difference(const json_t *old, const json_t *variants)
{
    size_t count = json_array_size(old) > json_array_size(variants) ? json_array_size(old) : json_array_size(variants);
    for (size_t i = 0; i < count; i++) {
        const json_t *there = json_array_get(old, i), *wanted = json_array_get(variants, i);
        if (!there || !wanted || !json_equal(there, wanted))
            return text_at(wanted ? wanted : there, "name");
    }
    return NULL;
}

/* Takes over what is known of each run. Returns false where they are not as planned. */
static bool take_over_runs(manifest_t *manifest, const json_t *old_runs)
{
    static const char *const keys[] = {"status", "bytes", "started", "duration_ns"};
    for (size_t i = 0; i < json_array_size(old_runs); i++) {
        const json_t *old = json_array_get(old_runs, i);
        json_t *run = json_array_get(manifest->runs, i);
        if (!run || strcmp(text_at(old, "file"), text_at(run, "file")) != 0)
            return false;
        for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++)
            if (json_object_get(old, keys[k]))
                json_object_set(run, keys[k], json_object_get(old, keys[k]));
    }
    return true;
}

static bool resume(manifest_t *manifest, const json_t *old, const json_t *variants, int64_t launches, int64_t seed)
{
    const json_t *old_variants = json_object_get(old, "variants");
    int64_t old_seed = number_of(old, "seed"), old_launches = number_of(old, "launches");
    const char *differs = variants ? find_difference(old_variants, variants) : NULL;
    if (!is_good(old))
        return refuse(manifest, "%s/%s is not a manifest of a campaign, give another --output", manifest->directory,
                      manifest_name);
    if (differs)
        return refuse(manifest, "%s has another campaign (variant \"%s\" differs), give another --output",
                      manifest->directory, differs);
    if (seed != ABSENT && seed != old_seed)
        return refuse(manifest, "option --seed: %lld is not allowed, the campaign in %s has %lld", (long long)seed,
                      manifest->directory, (long long)old_seed);
    if (launches != ABSENT && launches < old_launches)
        return refuse(manifest, "option --launches: %lld is not allowed, the campaign in %s has %lld, give no fewer",
                      (long long)launches, manifest->directory, (long long)old_launches);
    plan(manifest, old_variants, launches != ABSENT ? launches : old_launches, old_seed);
    return take_over_runs(manifest, json_object_get(old, "runs")) ||
           refuse(manifest, "%s/%s has runs that are not in its plan, give another --output", manifest->directory,
                  manifest_name);
}

bool manifest_look_at(const char *path, int64_t *bytes, char complaint[COMPLAINT_BYTES])
{
    struct stat status;
    result_file_t file;
    *bytes = stat(path, &status) == 0 ? status.st_size : ABSENT;
    bool good = result_file_read(path, &file, complaint);
    result_file_free(&file);
    return good;
}

/* Believes the files, not the manifest: a kill may have come between both. */
static void compare_with_files(manifest_t *manifest)
{
    for (size_t i = 0; i < json_array_size(manifest->runs); i++) {
        json_t *run = json_array_get(manifest->runs, i);
        char path[PATH_BYTES], complaint[COMPLAINT_BYTES];
        int64_t bytes, noted_bytes = run_is_done(run) ? number_of(run, "bytes") : ABSENT;
        manifest_path(manifest, run, "", path);
        bool is_whole = manifest_look_at(path, &bytes, complaint);
        if (is_whole && noted_bytes != ABSENT && noted_bytes != bytes)
            is_whole = complain(complaint, "%.400s has %lld bytes instead of %lld", path, (long long)bytes,
                                (long long)noted_bytes);
        if (is_whole && !run_is_done(run))
            manifest_set_done(run, bytes, ABSENT, ABSENT);
        if (!is_whole && (run_is_done(run) || bytes != ABSENT))
            fprintf(stderr, "%s: %s, so it is measured again\n", manifest->program, complaint);
        if (!is_whole)
            json_object_set_new(run, "status", json_string(pending));
    }
}

/* ---- Files */

static bool has_no_campaign(const manifest_t *manifest)
{
    return refuse(manifest, "there is no campaign in \"%.200s\", give a FILE, or -- and commands", manifest->directory);
}

/* may_make: where there is none. */
static bool open_folder(manifest_t *manifest, bool may_make)
{
    if (!may_make && !folder_is(manifest->directory))
        return has_no_campaign(manifest);
    if (mkdir(manifest->directory, 0777) == 0 || errno == EEXIST)
        manifest->folder = open(manifest->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (manifest->folder < 0)
        return refuse(manifest, "option --output: \"%.200s\" cannot be used: %s", manifest->directory, strerror(errno));
    return flock(manifest->folder, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK ||
           refuse(manifest, "option --output: another %s is at work in %.200s", manifest->program, manifest->directory);
}

/* Results of something else are not overwritten. */
static bool nothing_is_in_the_way(const manifest_t *manifest)
{
    char path[PATH_BYTES];
    for (size_t i = 0; i < json_array_size(manifest->runs); i++) {
        manifest_path(manifest, json_array_get(manifest->runs, i), "", path);
        if (access(path, F_OK) == 0)
            return refuse(manifest, "%s is there already, and no %s: give another --output", path, manifest_name);
    }
    return true;
}

bool manifest_open(manifest_t *manifest, const json_t *variants, int64_t launches, int64_t seed)
{
    char complaint[COMPLAINT_BYTES];
    json_t *old;
    bool good = false;
    if (!open_folder(manifest, variants != NULL))
        return false;
    if (!folder_manifest(manifest->directory, &old, complaint))
        return refuse(manifest, "%s, give another --output", complaint);
    if (!old && variants) {
        plan(manifest, variants, launches != ABSENT ? launches : DEFAULT_LAUNCHES,
             seed != ABSENT ? seed : DEFAULT_SEED);
        good = nothing_is_in_the_way(manifest);
    } else if (!old) {
        has_no_campaign(manifest);
    } else if (resume(manifest, old, variants, launches, seed)) {
        compare_with_files(manifest);
        good = true;
    }
    json_decref(old);
    return good && manifest_write(manifest);
}

void manifest_close(manifest_t *manifest)
{
    json_decref(manifest->content);
    manifest->content = manifest->runs = NULL;
    if (manifest->folder >= 0)
        close(manifest->folder);
    manifest->folder = -1;
}

/* Says what failed with a file. Is false. */
static bool tell(const manifest_t *manifest, const char *what, const char *path, int why)
{
    fprintf(stderr, "%s: cannot %s %s: %s\n", manifest->program, what, path, strerror(why));
    return false;
}

bool manifest_write(const manifest_t *manifest)
{
    char path[PATH_BYTES], part[PATH_BYTES];
    snprintf(path, sizeof path, "%s/%s", manifest->directory, manifest_name);
    snprintf(part, sizeof part, "%s/%s.part", manifest->directory, manifest_name);
    FILE *file = fopen(part, "w");
    if (!file)
        return tell(manifest, "write", part, errno);
    bool is_whole = json_dumpf(manifest->content, file, JSON_INDENT(1)) == 0 && fputc('\n', file) != EOF &&
                    fflush(file) == 0 && fsync(fileno(file)) == 0;
    int why = errno;
    if (!output_finish(file, part, manifest->program))
        return false;
    if (!is_whole)
        return tell(manifest, "write", part, why);
    return rename(part, path) == 0 || tell(manifest, "rename", part, errno);
}
