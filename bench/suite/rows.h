/* SPDX-License-Identifier: BSD-3-Clause */
/* rows.h - the figures of a row from the samples of its calls, and where they go. Nothing here measures. */
#ifndef SUITE_ROWS_H
#define SUITE_ROWS_H

#include "bench/suite/communicator.h"
#include "bench/suite/measure.h"
#include "bench/suite/report.h"

/* A job's row, on rank 0, and what the rows of its size are compared with: the medians without delays. */
typedef struct job_row {
    row_t figures;
    double together_ns;  /* run time; 0: not known */
    double from_last_ns; /* from the last arrival; NaN: not known */
} job_row_t;

/* row_pairs - the pairs of ranks that a job has in all groups, or of fans the ranks in the middle. */
int row_pairs(const communicator_t *communicator, const job_t *job);

/* row_take - the figures of calls that were measured. bound_ns: of the global clock, with imposed arrivals. */
void row_take(job_row_t *row, measurement_t *measurement, const communicator_t *communicator, const report_t *report,
              double bound_ns);

/* row_write - write a row whose figures were taken. Returns whether it has valid samples, and right results. */
bool row_write(const job_row_t *row, const measurement_t *measurement, report_t *report);

/* row_begin_line - begin a line on standard error. */
void row_begin_line(const measurement_t *measurement);

#endif
