/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * check_provenance - what the suite finds out about where it runs, as the heads of CSV and JSON. Arguments of the form
 * MPIR_NAME=VALUE are in the environment as soon as MPI has been initialized.
 */
#include "bench/provenance.h"
#include "bench/report.h"

#include <mpix_harmonize.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEED = 42 };

int main(int argc, char **argv)
{
    static head_t head;
    report_t report = {.output = {.format = FORMAT_CSV, .file = stdout}};
    world_t world;
    int flag;

    world_begin(&world, "check_provenance", &argc, &argv);
    for (int i = 1; i < argc; i++)
        if (strncmp(argv[i], "MPIR_", strlen("MPIR_")) == 0)
            putenv(argv[i]);
    if (argc < 2 || strcmp(argv[1], "unsynchronized") != 0)
        MPIX_Harmonize(world.comm, &flag);
    provenance_collect(&head, &world, argc, argv, SEED);
    if (world.rank == 0) {
        report_head(&report, &head);
        report.output.format = FORMAT_JSON;
        report_head(&report, &head);
    }
    return world_end(&world, STATUS_GOOD);
}
