/* SPDX-License-Identifier: BSD-3-Clause */
/* result_files.h - all files that a measuring tool writes: its rows, and each single measurement. */
#ifndef RESULT_FILES_H
#define RESULT_FILES_H

#include "common/cli/output.h"
#include "common/results/table.h"
#include "common/mpi/world.h"

/* Part of a program's settings: the options fill in formats and paths. */
typedef struct results {
    output_t output;
    output_t raw; /* its file is NULL if there is none */
} results_t;

/* The lines of a program's options table for a results_t at an offset in its settings. */
#define RESULTS_OPTIONS(place, ...)                        \
    OUTPUT_OPTIONS((place) + offsetof(results_t, output)), \
        FILE_OPTION(0, "raw", (place) + offsetof(results_t, raw) + offsetof(output_t, path), __VA_ARGS__)

/*
 * results_open - open all files before anything is measured, and after all that may be refused: what they had is lost.
 * Collective. Returns a status, after a line if bad.
 */
int results_open(results_t *results, const world_t *world);

/* results_close - close all. Returns the status, or STATUS_FAILED after a line if that failed. */
int results_close(results_t *results, const world_t *world, int status);

#endif
