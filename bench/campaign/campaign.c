/* SPDX-License-Identifier: BSD-3-Clause */
/* campaign.c - make launches, keep their results, and tell of both. */
#include "bench/campaign/campaign.h"

#include "bench/campaign/launch.h"
#include "common/cli/output.h"
#include "common/cli/text.h"
#include "common/results/source.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LAST_LINES = 5, USUAL_COLUMNS = 80 };

/* ---- Telling */

static const char *variant_name(const json_t *run)
{
    return text_at(run, "variant");
}

static int launch_number(const json_t *run)
{
    return (int)json_integer_value(json_object_get(run, "launch"));
}

/* The files of a run: its results, what its command prints until these are whole, and what it says. */
typedef struct files {
    char path[PATH_BYTES], part[PATH_BYTES], messages[PATH_BYTES];
} files_t;

static const json_t *variant_of(const campaign_t *campaign, const json_t *run)
{
    return variant_named(json_object_get(campaign->manifest.content, "variants"), variant_name(run));
}

/* What is known of some launches. */
typedef struct tally {
    int64_t timed;
    int64_t total_ns; /* of these */
    int64_t left;
} tally_t;

/* Of a variant, or of all if it is NULL. */
static tally_t count_runs(const manifest_t *manifest, const json_t *variant)
{
    const char *name = text_at(variant, "name");
    tally_t tally = {0};
    for (size_t i = 0; i < json_array_size(manifest->runs); i++) {
        const json_t *run = json_array_get(manifest->runs, i), *duration_ns = json_object_get(run, "duration_ns");
        if (variant && strcmp(variant_name(run), name) != 0)
            continue;
        tally.timed += duration_ns != NULL;
        tally.total_ns += json_integer_value(duration_ns);
        tally.left += !run_is_done(run);
    }
    return tally;
}

/* By the mean of each variant's launches; if a variant has none, by the mean of all. -1: nothing is known. */
static int64_t estimate_left_ns(const manifest_t *manifest)
{
    const json_t *variants = json_object_get(manifest->content, "variants");
    const tally_t all = count_runs(manifest, NULL);
    int64_t left_ns = 0;
    for (size_t i = 0; i < json_array_size(variants) && all.timed > 0; i++) {
        tally_t own = count_runs(manifest, json_array_get(variants, i));
        left_ns += own.left * (own.timed > 0 ? own.total_ns / own.timed : all.total_ns / all.timed);
    }
    return all.timed > 0 ? left_ns : -1;
}

static void clear_progress(const campaign_t *campaign)
{
    if (campaign->is_terminal)
        fputs("\r\033[K", stderr);
    fflush(stderr);
}

/* Only before a launch: while one runs, nothing is to disturb it. A line that is wider than the terminal would stay. */
static void show_progress(const campaign_t *campaign, const json_t *run)
{
    char text[TEXT_DURATION_BYTES], left[2 * TEXT_DURATION_BYTES] = "", line[5 * TEXT_DURATION_BYTES];
    int64_t left_ns = estimate_left_ns(&campaign->manifest);
    if (!campaign->is_terminal)
        return;
    if (left_ns >= 0)
        snprintf(left, sizeof left, ", about %s left", text_duration(left_ns, text));
    snprintf(line, sizeof line, "%d of %d launches done%s; %s, launch %d", manifest_count_done(&campaign->manifest),
             (int)json_array_size(campaign->manifest.runs), left, variant_name(run), launch_number(run));
    clear_progress(campaign);
    fprintf(stderr, "%.*s", output_columns(stderr, USUAL_COLUMNS) - 1, line);
    fflush(stderr);
}

/* Prints the end of what a command said. what: its title */
static void print_last_lines(const char *program, const char *what, const char *path)
{
    char *lines[LAST_LINES] = {NULL};
    size_t bytes[LAST_LINES] = {0};
    int count = 0;
    FILE *file = fopen(path, "r");
    while (file && getline(&lines[count % LAST_LINES], &bytes[count % LAST_LINES], file) >= 0)
        count++;
    if (file)
        fclose(file);
    if (count > 0)
        fprintf(stderr, "%s: %s, all of which are in %s:\n", program, what, path);
    for (int i = count > LAST_LINES ? count - LAST_LINES : 0; i < count; i++) {
        char *line = lines[i % LAST_LINES];
        line[strcspn(line, "\n")] = '\0';
        text_clean(line, "\t");
        fprintf(stderr, "  %s\n", line);
    }
    for (int i = 0; i < LAST_LINES; i++)
        free(lines[i]);
}

/* What came of a launch that is not good. */
static void tell_failure(const campaign_t *campaign, const json_t *run, const files_t *files, const launch_t *launch,
                         double timeout_s)
{
    const json_t *variant = variant_of(campaign, run);
    const char *command = json_string_value(json_array_get(json_object_get(variant, "command"), 0));
    clear_progress(campaign);
    fprintf(stderr, "%s: variant %s, launch %d: ", campaign->manifest.program, variant_name(run), launch_number(run));
    switch (launch->end) {
    case LAUNCH_EXITED:
        fprintf(stderr, "the command failed with exit status %d\n", launch->number);
        break;
    case LAUNCH_KILLED:
        fprintf(stderr, "the command was ended by signal %d (%s)\n", launch->number, strsignal(launch->number));
        break;
    case LAUNCH_NOT_STARTED:
        fprintf(stderr, "cannot run \"%s\": %s\n", command, strerror(launch->number));
        break;
    case LAUNCH_NOT_WRITTEN:
        fprintf(stderr, "cannot write %s: %s\n", files->part, strerror(launch->number));
        break;
    case LAUNCH_TIMED_OUT:
        fprintf(stderr,
                timeout_s < 100 ? "the command took longer than %.3g s\n" : "the command took longer than %.0f s\n",
                timeout_s);
        break;
    case LAUNCH_INTERRUPTED:
        fprintf(stderr, "interrupted by signal %d (%s)\n", launch->number, strsignal(launch->number));
        return;
    }
    print_last_lines(campaign->manifest.program, "its last messages", files->messages);
}

/* ---- Measuring */

static bool make_folder(const campaign_t *campaign, const json_t *run)
{
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "%s/%s", campaign->manifest.directory, variant_name(run));
    if (mkdir(path, 0777) == 0 || errno == EEXIST)
        return true;
    fprintf(stderr, "%s: cannot make the folder %s: %s\n", campaign->manifest.program, path, strerror(errno));
    return false;
}

/* Puts the output of a command that succeeded in its place. */
static bool keep(campaign_t *campaign, json_t *run, const files_t *files, const launch_t *launch)
{
    char complaint[COMPLAINT_BYTES];
    struct stat status;
    int64_t bytes;
    if (!manifest_look_at(files->part, &bytes, complaint)) {
        clear_progress(campaign);
        fprintf(stderr, "%s: variant %s, launch %d: its output cannot be used: %s\n", campaign->manifest.program,
                variant_name(run), launch_number(run), complaint);
        return false;
    }
    if (rename(files->part, files->path) != 0) {
        clear_progress(campaign);
        fprintf(stderr, "%s: cannot rename %s: %s\n", campaign->manifest.program, files->part, strerror(errno));
        return false;
    }
    if (stat(files->messages, &status) == 0 && status.st_size == 0)
        unlink(files->messages);
    else if (!campaign->has_told) {
        clear_progress(campaign);
        print_last_lines(campaign->manifest.program, "messages of a launch", files->messages);
        campaign->has_told = true;
    }
    manifest_set_done(run, bytes, launch->started_s, launch->duration_ns);
    return true;
}

/* Whether another try may end otherwise. */
static bool may_succeed(const launch_t *launch)
{
    return launch->end == LAUNCH_EXITED || launch->end == LAUNCH_KILLED || launch->end == LAUNCH_TIMED_OUT;
}

static bool is_over(const campaign_t *campaign)
{
    return campaign->left_s > 0 && campaign->left_s <= CAMPAIGN_LEAST_S;
}

/* Makes a launch that may take no longer than its own time, and than what is left for all. */
static launch_t launch_in_time(campaign_t *campaign, const json_t *run, const files_t *files, double *timeout_s)
{
    bool shares = campaign->left_s > 0;
    *timeout_s = campaign->timeout_s;
    if (shares && (*timeout_s <= 0 || campaign->left_s < *timeout_s))
        *timeout_s = campaign->left_s;
    launch_t launch = launch_run(variant_of(campaign, run), files->part, files->messages, *timeout_s);
    if (shares)
        campaign->left_s = fmax(campaign->left_s - (double)launch.duration_ns / 1e9, CAMPAIGN_LEAST_S);
    return launch;
}

static bool measure(campaign_t *campaign, json_t *run)
{
    files_t files;
    launch_t launch = {0};
    double timeout_s;
    manifest_path(&campaign->manifest, run, "", files.path);
    manifest_path(&campaign->manifest, run, ".part", files.part);
    manifest_path(&campaign->manifest, run, ".err", files.messages);
    if (is_over(campaign) || !make_folder(campaign, run))
        return false;
    for (int64_t tries_left = campaign->retries; tries_left >= 0; tries_left--) {
        show_progress(campaign, run);
        launch = launch_in_time(campaign, run, &files, &timeout_s);
        bool has_succeeded = launch.end == LAUNCH_EXITED && launch.number == 0;
        /* A batch system may end the command and this program at once. */
        if (!has_succeeded && launch_signal() != 0)
            launch.end = LAUNCH_INTERRUPTED, launch.number = launch_signal();
        if (has_succeeded && keep(campaign, run, &files, &launch))
            return true;
        if (!has_succeeded)
            tell_failure(campaign, run, &files, &launch, timeout_s);
        if (has_succeeded || is_over(campaign) || !may_succeed(&launch))
            break;
    }
    if (launch.end == LAUNCH_NOT_WRITTEN)
        unlink(files.part); /* the manifest needs the room */
    if (launch.end != LAUNCH_INTERRUPTED)
        json_object_set_new(run, "status", json_string("failed"));
    return false;
}

bool campaign_run(campaign_t *campaign)
{
    const manifest_t *manifest = &campaign->manifest;
    bool good = true;
    for (size_t i = 0; i < json_array_size(manifest->runs) && good && launch_signal() == 0; i++) {
        json_t *run = json_array_get(manifest->runs, i);
        if (run_is_done(run))
            continue;
        bool is_measured = measure(campaign, run);
        good = manifest_write(manifest) && is_measured;
    }
    clear_progress(campaign);
    return manifest_count_done(manifest) == (int)json_array_size(manifest->runs);
}
