/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpix_report - results of the measuring tools as one page of HTML, which needs nothing else.
 */
#include "common/cli/options.h"
#include "common/cli/output.h"
#include "bench/report/report.h"

#include <stddef.h>
#include <sys/stat.h>

typedef struct report_settings {
    const char *output_path;
    const char *title;
    text_list_t paths;
} report_settings_t;

#define FIELD(field) offsetof(report_settings_t, field)

static const option_spec_t options[] = {
    FILE_OPTION('o', "output", FIELD(output_path), .doc = "write to FILE instead of standard output",
                .more = "A file of results that is to be read is refused."),
    {0, "title", "TEXT", OPTION_TEXT, FIELD(title), .doc = "the title of the page",
     .default_doc = "what was measured, how many ranks, the host, the MPI library, and the date, if all have the same"},
};

static const option_spec_t operand = {0, "results", "FILE|DIR", OPTION_TEXTS, .place = FIELD(paths)};

static const char notes[] =
    "A FILE is what a measuring tool writes with --format json. A DIR is a campaign with its manifest, or has files\n"
    "that end in .json, of which each counts as a launch. The page of a campaign begins with the verdicts of\n"
    "mpix_compare on its variants. The page needs no network and no other file.\n"
    "\n"
    "Exit status: 0 if all is well, 1 if a file cannot be read, is none of these, or the page cannot be written,\n"
    "2 for a bad option.\n";

static const program_spec_t program =
    PROGRAM_SPEC("mpix_report", "Makes one page of HTML from results of the measuring tools.", .operand = &operand,
                 .usage = "mpix_report [OPTION]... FILE|DIR...");

static bool is_same_file(const char *path, const struct stat *other)
{
    struct stat status;
    return stat(path, &status) == 0 && status.st_dev == other->st_dev && status.st_ino == other->st_ino;
}

/* Whether a path leads to a file that was read. */
static bool is_read(const source_t *sources, int count, const char *path)
{
    struct stat status;
    if (!path || stat(path, &status) != 0 || !S_ISREG(status.st_mode))
        return false;
    for (const source_t *source = sources; source < sources + count; source++) {
        char *manifest = folder_join(source->path, manifest_name);
        bool found = source->manifest && is_same_file(manifest, &status);
        free(manifest);
        for (int i = 0; i < source->variant_count; i++)
            for (int k = 0; k < source->variants[i].count; k++)
                found = found || is_same_file(source->variants[i].launches[k].path, &status);
        if (found)
            return true;
    }
    return false;
}

static int write_page(const source_t *sources, int count, const report_settings_t *settings)
{
    if (is_read(sources, count, settings->output_path)) {
        options_refuse(program.name, "option --output: \"%.200s\" is not allowed, it has results: give another file",
                       settings->output_path);
        return STATUS_BAD_OPTION;
    }
    FILE *file = output_create(settings->output_path, "--output", program.name);
    if (!file)
        return STATUS_BAD_OPTION;
    report_print(file, sources, count, settings->title);
    return output_finish(file, settings->output_path, program.name) ? STATUS_GOOD : STATUS_FAILED;
}

static int report(const report_settings_t *settings)
{
    source_t *sources = or_exit(calloc((size_t)settings->paths.count + 1, sizeof sources[0]));
    char complaint[COMPLAINT_BYTES];
    int status = STATUS_GOOD, count = 0;
    for (; status == STATUS_GOOD && count < settings->paths.count; count++)
        if (!source_read(settings->paths.texts[count], report_wants, program.name, &sources[count], complaint)) {
            fprintf(stderr, "%s: %s\n", program.name, complaint);
            status = STATUS_FAILED;
        }
    if (status == STATUS_GOOD)
        status = write_page(sources, count, settings);
    for (int i = 0; i < count; i++)
        source_free(&sources[i]);
    free(sources);
    return status;
}

int main(int argc, char **argv)
{
    report_settings_t settings = {0};
    output_begin();
    options_outcome_t outcome = options_parse(&program, argc, argv, &settings);
    if (outcome == OPTIONS_RUN && settings.paths.count == 0)
        outcome = options_refuse(program.name, "nothing to report: give files or directories of results");
    return outcome == OPTIONS_RUN ? report(&settings) : output_answer(outcome, program.name);
}
