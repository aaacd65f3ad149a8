/* SPDX-License-Identifier: BSD-3-Clause */
#include "results.h"

int results_open(results_t *results, const world_t *world)
{
    int status = plot_open(&results->plot, world, results->plot_path);
    if (status == STATUS_GOOD)
        status = output_open(&results->output, world);
    return status == STATUS_GOOD ? output_create(world, "--raw", results->raw.path, &results->raw.file) : status;
}

int results_close(results_t *results, const world_t *world, int status)
{
    plot_close(&results->plot);
    if (output_close(&results->output, world) != STATUS_GOOD)
        status = STATUS_FAILED;
    return output_close(&results->raw, world) == STATUS_GOOD ? status : STATUS_FAILED;
}
