/* SPDX-License-Identifier: BSD-3-Clause */
/* result_files.c - open all files before a measurement, and close them after it. */
#include "common/results/result_files.h"

/* Opens a file for writing on rank 0, if an option named one. Collective. Returns a status, after a line if bad. */
static int create(const world_t *world, const char *option, output_t *output)
{
    bool opens = world->rank == 0 && output->path;
    if (opens)
        output->file = output_create(output->path, option, world->program);
    return world_all(world, !opens || output->file) ? STATUS_GOOD : STATUS_BAD_OPTION;
}

/* On rank 0, which has the paths. */
static bool files_are_good(const results_t *results, const world_t *world)
{
    const output_option_t options[] = {{"--output", results->output.path}, {"--raw", results->raw.path}};
    return world->rank != 0 || outputs_check(options, 2, world->program);
}

int results_open(results_t *results, const world_t *world)
{
    if (!world_all(world, files_are_good(results, world)))
        return STATUS_BAD_OPTION;
    results->output.file = stdout;
    results->raw.format = results->output.format == FORMAT_JSON ? FORMAT_JSON : FORMAT_CSV;
    results->raw.is_buffered = true;
    int status = create(world, "--output", &results->output);
    return status == STATUS_GOOD ? create(world, "--raw", &results->raw) : status;
}

int results_close(results_t *results, const world_t *world, int status)
{
    output_t *outputs[] = {&results->output, &results->raw};
    for (int i = 0; i < 2; i++) {
        FILE *file = outputs[i]->file;
        if (file && file != stdout && !output_finish(file, outputs[i]->path, world->program))
            status = STATUS_FAILED;
    }
    return status;
}
