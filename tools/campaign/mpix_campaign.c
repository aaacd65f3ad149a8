/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpix_campaign - several commands that measure the same thing in different ways, each launched many times, in random
 * order, so that changes of the machine affect all of them alike.
 */
#include "campaign/description.h"
#include "campaign/launch.h"
#include "campaign/manifest.h"
#include "common/options.h"
#include "common/output.h"
#include "common/variables.h"
#include "results/source.h"
#include "common/world.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LAST_LINES = 5, SIGNALED = 128, TEXT_BYTES = 64 };

typedef struct settings {
    text_list_t files;
    const char *directory;
    int64_t launches;
    int64_t seed;
    int64_t retries;
    double timeout_s; /* or ABSENT */
} settings_t;

typedef struct campaign {
    manifest_t manifest;
    settings_t settings;
    bool is_terminal; /* standard error */
} campaign_t;

static const char program_name[] = "mpix_campaign";

#define FIELD(field) offsetof(settings_t, field)

static const option_spec_t options[] = {
    {'o', "output", "DIR", OPTION_TEXT, FIELD(directory), 0, 0, NULL, "campaign",
     "the folder of the campaign; if it has a campaign, this\none continues"},
    {0, "launches", "N", OPTION_INTEGER, FIELD(launches), 1, MAX_LAUNCHES, NULL, NULL,
     "launches of each variant (default 10, or as before)"},
    {0, "seed", "N", OPTION_INTEGER, FIELD(seed), 0, 1e15, NULL, NULL,
     "the seed of the order (default 1, or as before)"},
    {0, "retries", "N", OPTION_INTEGER, FIELD(retries), 0, 1000, NULL, "0",
     "repeat a launch whose command fails at most N times"},
    {0, "timeout-s", "S", OPTION_DECIMAL, FIELD(timeout_s), 0.001, 1e9, NULL, NULL,
     "seconds that a launch may take (default no limit)"},
};
static const option_spec_t operand = {0, "file", "FILE", OPTION_TEXTS, FIELD(files), 0, 0, NULL, NULL, ""};

static const char usage[] = "mpix_campaign [OPTION]... [FILE]\n"
                            "       mpix_campaign [OPTION]... -- COMMAND... [-- COMMAND...]...";
static const char notes[] =
    "A line of FILE is NAME: [VARIABLE=VALUE]... COMMAND [ARGUMENT]...; # begins a comment. A line with the name *\n"
    "has what all lines after it share. Variables and a name may also precede each command after --; variants without\n"
    "a name are called A, B, C and so on. A command must print results for programs: use mpix_bench --format json.\n"
    "\n"
    "Each block has each variant once, in random order. Launch I of variant NAME is in DIR/NAME/I.json, and\n"
    "DIR/manifest.json says what is done. Without FILE and commands, the campaign in DIR continues.\n"
    "\n"
    "Exit status: 0 if all launches are done, 1 if a command failed, 2 for a bad option, 128 and the number of a\n"
    "signal that ended the campaign. What was measured is kept, and the same command continues from there.\n";

/* ---- Telling */

/* A duration for people. */
static const char *describe_time(int64_t ns, char text[TEXT_BYTES])
{
    long long seconds = (long long)(ns / 1000000000);
    if (seconds >= 3600)
        snprintf(text, TEXT_BYTES, "%lld h %lld min", seconds / 3600, seconds % 3600 / 60);
    else if (seconds >= 60)
        snprintf(text, TEXT_BYTES, "%lld min %lld s", seconds / 60, seconds % 60);
    else
        snprintf(text, TEXT_BYTES, "%lld s", seconds);
    return text;
}

static const char *variant_name(const json_t *run)
{
    return text_at(run, "variant");
}

static int launch_number(const json_t *run)
{
    return (int)json_integer_value(json_object_get(run, "launch"));
}

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
        tally.left += !run_is_done(run, NULL);
    }
    return tally;
}

/* By the mean of each variant's launches, or by the mean of all if a variant has none. Returns -1 if nothing is known.
 * */
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
    char text[TEXT_BYTES], left[2 * TEXT_BYTES] = "", line[5 * TEXT_BYTES];
    int64_t left_ns = estimate_left_ns(&campaign->manifest);
    if (!campaign->is_terminal)
        return;
    if (left_ns >= 0)
        snprintf(left, sizeof left, ", about %s left", describe_time(left_ns, text));
    snprintf(line, sizeof line, "%d of %d launches done%s; %s, launch %d", manifest_count_done(&campaign->manifest),
             (int)json_array_size(campaign->manifest.runs), left, variant_name(run), launch_number(run));
    clear_progress(campaign);
    fprintf(stderr, "%.*s", output_columns() - 1, line);
    fflush(stderr);
}

/* Prints the end of what a command said. */
static void print_last_lines(const char *path)
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
        fprintf(stderr, "%s: its last messages, all of which are in %s:\n", program_name, path);
    for (int i = count > LAST_LINES ? count - LAST_LINES : 0; i < count; i++) {
        char *line = lines[i % LAST_LINES];
        line[strcspn(line, "\n")] = '\0';
        fprintf(stderr, "  %s\n", line);
    }
    for (int i = 0; i < LAST_LINES; i++)
        free(lines[i]);
}

/* What came of a launch that is not good. */
static void tell_failure(const campaign_t *campaign, const json_t *run, const launch_t *launch)
{
    const json_t *variant = variant_of(campaign, run);
    const char *command = json_string_value(json_array_get(json_object_get(variant, "command"), 0));
    char messages[PATH_BYTES], part[PATH_BYTES];
    manifest_path(&campaign->manifest, run, ".part", part);
    manifest_path(&campaign->manifest, run, ".err", messages);
    clear_progress(campaign);
    fprintf(stderr, "%s: variant %s, launch %d: ", program_name, variant_name(run), launch_number(run));
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
        fprintf(stderr, "cannot write %s: %s\n", part, strerror(launch->number));
        break;
    case LAUNCH_TIMED_OUT:
        fprintf(stderr, "the command took longer than --timeout-s %g\n", campaign->settings.timeout_s);
        break;
    case LAUNCH_INTERRUPTED:
        fprintf(stderr, "interrupted by signal %d (%s)\n", launch->number, strsignal(launch->number));
        return;
    }
    print_last_lines(messages);
}

/* ---- Measuring */

static bool make_folder(const campaign_t *campaign, const json_t *run)
{
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "%s/%s", campaign->manifest.directory, variant_name(run));
    if (mkdir(path, 0777) == 0 || errno == EEXIST)
        return true;
    fprintf(stderr, "%s: cannot make the folder %s: %s\n", program_name, path, strerror(errno));
    return false;
}

/* Puts the output of a command that succeeded in its place. */
static bool keep(campaign_t *campaign, json_t *run, const launch_t *launch)
{
    char path[PATH_BYTES], part[PATH_BYTES], messages[PATH_BYTES], complaint[COMPLAINT_BYTES];
    struct stat status;
    int64_t bytes;
    manifest_path(&campaign->manifest, run, "", path);
    manifest_path(&campaign->manifest, run, ".part", part);
    manifest_path(&campaign->manifest, run, ".err", messages);
    if (!manifest_look_at(part, &bytes, complaint)) {
        clear_progress(campaign);
        fprintf(stderr, "%s: variant %s, launch %d: its output cannot be used: %s\n", program_name, variant_name(run),
                launch_number(run), complaint);
        return false;
    }
    if (rename(part, path) != 0) {
        clear_progress(campaign);
        fprintf(stderr, "%s: cannot rename %s: %s\n", program_name, part, strerror(errno));
        return false;
    }
    if (stat(messages, &status) == 0 && status.st_size == 0)
        unlink(messages);
    manifest_set_done(run, bytes, launch->started_s, launch->duration_ns);
    return true;
}

/* Whether another try may end otherwise. */
static bool may_succeed(const launch_t *launch)
{
    return launch->end == LAUNCH_EXITED || launch->end == LAUNCH_KILLED || launch->end == LAUNCH_TIMED_OUT;
}

static bool measure(campaign_t *campaign, json_t *run)
{
    char part[PATH_BYTES], messages[PATH_BYTES];
    launch_t launch = {0};
    manifest_path(&campaign->manifest, run, ".part", part);
    manifest_path(&campaign->manifest, run, ".err", messages);
    if (!make_folder(campaign, run))
        return false;
    for (int64_t tries_left = campaign->settings.retries; tries_left >= 0; tries_left--) {
        show_progress(campaign, run);
        launch = launch_run(variant_of(campaign, run), part, messages, campaign->settings.timeout_s);
        bool has_succeeded = launch.end == LAUNCH_EXITED && launch.number == 0;
        /* A batch system may end the command and this program at once. */
        if (!has_succeeded && launch_signal() != 0)
            launch.end = LAUNCH_INTERRUPTED, launch.number = launch_signal();
        if (has_succeeded && keep(campaign, run, &launch))
            return true;
        if (!has_succeeded)
            tell_failure(campaign, run, &launch);
        if (has_succeeded || !may_succeed(&launch))
            break;
    }
    if (launch.end == LAUNCH_NOT_WRITTEN)
        unlink(part); /* the manifest needs the room */
    if (launch.end != LAUNCH_INTERRUPTED)
        json_object_set_new(run, "status", json_string("failed"));
    return false;
}

static int run_all(campaign_t *campaign)
{
    for (size_t i = 0; i < json_array_size(campaign->manifest.runs) && launch_signal() == 0; i++) {
        json_t *run = json_array_get(campaign->manifest.runs, i);
        if (run_is_done(run, NULL))
            continue;
        bool good = measure(campaign, run);
        if (!manifest_write(&campaign->manifest) || !good)
            break;
    }
    int done = manifest_count_done(&campaign->manifest), all = (int)json_array_size(campaign->manifest.runs);
    clear_progress(campaign);
    if (done == all) {
        printf("# All %d launches are done\n", all);
        return STATUS_GOOD;
    }
    fprintf(stderr, "%s: %d of %d launches are done and kept in %s; the same command goes on from there\n",
            program_name, done, all, campaign->manifest.directory);
    return launch_signal() != 0 ? SIGNALED + launch_signal() : STATUS_FAILED;
}

/* ---- Beginning */

/* The place of the first "--", or argc if there is none. */
static int find_commands(int argc, char **argv)
{
    int place = 1;
    while (place < argc && strcmp(argv[place], "--") != 0)
        place++;
    return place;
}

/* The variants that the command line names; NULL if it names none, or after a line. */
static json_t *read_variants(const settings_t *settings, int count, char **commands, bool *good)
{
    json_t *variants = NULL;
    *good = true;
    if (settings->files.count > 1 || (settings->files.count > 0 && commands))
        options_refuse(program_name, "argument \"%.60s\" is not allowed, give one FILE, or -- and commands",
                       settings->files.texts[settings->files.count - 1]);
    else if (commands)
        variants = description_of_words(program_name, count, commands);
    else if (settings->files.count > 0)
        variants = description_of_file(program_name, settings->files.texts[0]);
    else
        return NULL;
    *good = variants != NULL;
    return variants;
}

static void print_head(const manifest_t *manifest)
{
    const json_t *content = manifest->content;
    int done = manifest_count_done(manifest);
    printf("# Variants: %d, launches of each: %d, seed: %lld, folder: %s",
           (int)json_array_size(json_object_get(content, "variants")),
           (int)json_integer_value(json_object_get(content, "launches")),
           (long long)json_integer_value(json_object_get(content, "seed")), manifest->directory);
    printf(done > 0 ? "; %d of %d launches are done\n" : "\n", done, (int)json_array_size(manifest->runs));
    fflush(stdout);
}

static int begin(campaign_t *campaign, const json_t *variants)
{
    const settings_t *settings = &campaign->settings;
    campaign->manifest = (manifest_t){.program = program_name, .directory = settings->directory, .folder = -1};
    if (!manifest_open(&campaign->manifest, variants, settings->launches, settings->seed))
        return STATUS_BAD_OPTION;
    print_head(&campaign->manifest);
    launch_prepare();
    return run_all(campaign);
}

int main(int argc, char **argv)
{
    campaign_t campaign = {.manifest = {.folder = -1}, .is_terminal = isatty(STDERR_FILENO) == 1};
    const program_spec_t spec =
        PROGRAM_SPEC(program_name, "Launches several commands many times each, in random order.", .operand = &operand,
                     .usage = usage);
    int commands = find_commands(argc, argv), status = STATUS_BAD_OPTION;
    bool good = false;
    output_begin();
    options_outcome_t outcome = options_parse(&spec, commands, argv, &campaign.settings);
    if (outcome == OPTIONS_RUN) {
        variables_check(program_name);
        json_t *variants =
            read_variants(&campaign.settings, argc - commands - 1, commands < argc ? argv + commands + 1 : NULL, &good);
        if (good)
            status = begin(&campaign, variants);
        json_decref(variants);
        manifest_close(&campaign.manifest);
    } else if (outcome == OPTIONS_ANSWERED) {
        status = STATUS_GOOD;
    }
    return output_finish(stdout, NULL, program_name) || status != STATUS_GOOD ? status : STATUS_FAILED;
}
