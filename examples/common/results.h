/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * results.h - where a program's results go: the table, a row for each single measurement, a chart.
 */
#ifndef RESULTS_H
#define RESULTS_H

#include "output.h"
#include "plot.h"

/* Part of a program's settings: the options fill in formats and paths. */
typedef struct results {
    output_t output;
    output_t raw; /* its file is NULL if there is none */
    const char *plot_path;
    plot_file_t plot;
} results_t;

#define RESULTS_NONE                                   \
    {                                                  \
        .raw.format = FORMAT_CSV, .plot = PLOT_NO_FILE \
    }

/* The lines of a program's options table for a results_t at an offset in its settings. */
#define RESULTS_OPTIONS(place, raw_doc)                                                                \
    OUTPUT_OPTIONS((place) + offsetof(results_t, output)),                                             \
        {0, "raw", "FILE", OPTION_TEXT, (place) + offsetof(results_t, raw) + offsetof(output_t, path), \
         0, 0,     NULL,   raw_doc},                                                                   \
        PLOT_OPTION((place) + offsetof(results_t, plot_path))

/* results_open - open all files before anything is measured.
 * Collective. Returns a status, after a line if it is bad. */
int results_open(results_t *results, const world_t *world);

/* results_close - close them. Returns the status, or STATUS_FAILED after a line if one could not be written. */
int results_close(results_t *results, const world_t *world, int status);

#endif /* RESULTS_H */
