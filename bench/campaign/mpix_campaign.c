/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpix_campaign - several commands that measure the same thing in different ways, each launched many times, in random
 * order, so that changes of the machine affect all of them alike.
 */
#include "bench/campaign/campaign.h"
#include "bench/campaign/description.h"
#include "bench/campaign/launch.h"
#include "common/cli/options.h"
#include "common/cli/output.h"
#include "common/cli/variables.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { SIGNALED = 128 };

typedef struct campaign_settings {
    text_list_t files;
    const char *directory;
    int64_t launches;
    int64_t seed;
    int64_t retries;
    double timeout_s; /* or ABSENT */
} campaign_settings_t;

static const char program_name[] = "mpix_campaign";

#define FIELD(field) offsetof(campaign_settings_t, field)

static const option_spec_t options[] = {
    {'o', "output", "DIR", OPTION_TEXT, FIELD(directory), .default_text = "campaign",
     .doc = "the folder of the campaign; if it has a campaign, this one continues",
     .more = "Its parent folder must exist."},
    {0, "launches", "N", OPTION_INTEGER, FIELD(launches), .min = 1, .max = MAX_LAUNCHES,
     .default_doc = "10, or as before if the campaign is continued", .doc = "launches of each variant"},
    {0, "seed", "N", OPTION_INTEGER, FIELD(seed), .max = 1e15, .default_doc = "1, or as before",
     .doc = "the seed of the order"},
    {0, "retries", "N", OPTION_INTEGER, FIELD(retries), .max = 1000, .default_text = "0",
     .doc = "how often, at most, a launch is repeated whose command fails, or takes too long"},
    {0, "timeout-s", "S", OPTION_DECIMAL, FIELD(timeout_s), .min = 0.001, .max = 1e9, .default_doc = "no limit",
     .doc = "the time that a launch may take", .more = "A command that takes longer is ended, and has failed."},
};
static const option_spec_t operand = {0, "file", "FILE", OPTION_TEXTS, .place = FIELD(files)};

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
static json_t *read_variants(const campaign_settings_t *settings, int count, char **commands, bool *good)
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

static int run(const campaign_settings_t *settings, const json_t *variants)
{
    campaign_t campaign = {
        .manifest = {.program = program_name, .directory = settings->directory, .folder = -1},
        .retries = settings->retries,
        .timeout_s = settings->timeout_s,
        .is_terminal = isatty(STDERR_FILENO) == 1,
    };
    manifest_t *manifest = &campaign.manifest;
    int status = STATUS_BAD_OPTION;
    if (manifest_open(manifest, variants, settings->launches, settings->seed)) {
        print_head(manifest);
        launch_prepare();
        bool is_done = campaign_run(&campaign);
        int all = (int)json_array_size(manifest->runs);
        status = is_done ? STATUS_GOOD : launch_signal() != 0 ? SIGNALED + launch_signal() : STATUS_FAILED;
        if (is_done)
            printf("# All %d launches are done\n", all);
        else
            fprintf(stderr, "%s: %d of %d launches are done and kept in %s; the same command goes on from there\n",
                    program_name, manifest_count_done(manifest), all, manifest->directory);
    }
    manifest_close(manifest);
    return status;
}

int main(int argc, char **argv)
{
    static campaign_settings_t settings;
    const program_spec_t spec =
        PROGRAM_SPEC(program_name, "Launches several commands many times each, in random order.", .operand = &operand,
                     .usage = usage);
    int commands = find_commands(argc, argv), status = STATUS_BAD_OPTION;
    bool good = false;
    output_begin();
    options_outcome_t outcome = options_parse(&spec, commands, argv, &settings);
    if (outcome == OPTIONS_RUN) {
        variables_check(program_name);
        json_t *variants =
            read_variants(&settings, argc - commands - 1, commands < argc ? argv + commands + 1 : NULL, &good);
        if (good)
            status = run(&settings, variants);
        json_decref(variants);
    } else if (outcome == OPTIONS_ANSWERED) {
        status = STATUS_GOOD;
    }
    return output_finish(stdout, NULL, program_name) || status != STATUS_GOOD ? status : STATUS_FAILED;
}
