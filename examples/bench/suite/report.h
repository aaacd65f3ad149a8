/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * report.h - what is measured, as a table, comma-separated values, or lines of JSON; and the raw times. No MPI.
 */
#ifndef REPORT_H
#define REPORT_H

#include "common/output.h"
#include "suite/analysis.h"
#include "suite/arrival.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* The independent variables of a row: the first columns of CSV, in this order. */
typedef struct row_keys {
    const char *operation; /* short name */
    const char *release;   /* scheme */
    const char *barrier;   /* algorithm, "" where the scheme has none */
    const char *cadence;   /* "isolated" or "streaming" */
    const char *comm;      /* which communicator, as --comm names it */
    int ranks;
    const char *datatype;  /* "" where none */
    const char *reduction; /* "" where none */
    const char *root;      /* "0", "rotating", "" */
    const char *buffers;   /* "separate" or "in place" */
    const char *cache;     /* warm, rotate, cold */
    const char *run_time;  /* local, makespan */
    int64_t size_bytes;
    const char *arrival; /* the pattern, "" where the scheme imposes none */
} row_keys_t;

/* Of non-blocking forms: how much of the operation passed while the processor was busy with something else. */
typedef struct overlap {
    bool measured;
    double pure_ns;    /* median of the operation alone, the greatest of the ranks */
    double compute_ns; /* what was computed between start and completion */
    double total_ns;   /* median of both together */
    double percent;    /* 100 * (1 - (total - compute) / pure), from 0 to 100 */
} overlap_t;

typedef struct row {
    row_keys_t keys;
    analysis_t analysis;
    overlap_t overlap;
    arrival_figures_t arrival;
    int trips;           /* messages in turn that a call is: 2 for a ping-pong, whose latency is half of the call */
    int64_t moved_bytes; /* of a call that is measured for its bandwidth, else 0 */
    int64_t wrong;       /* elements found wrong by validation; -1: not validated */
} row_t;

/* What the header says, in pairs. Longer values, of command lines and of the MPI library's choices, are cut off. */
enum { PROVENANCE_BYTES = 2048 };
typedef struct provenance_item {
    const char *key; /* in JSON: lower case with underscores */
    char value[PROVENANCE_BYTES];
} provenance_item_t;

typedef struct report {
    output_t output;
    bool full;               /* the table has all columns */
    bool overlap;            /* there are the columns of overlap */
    bool arrival;            /* likewise of imposed arrivals */
    bool validated;          /* likewise of validation */
    bool latency;            /* likewise a message's time, if a call is several messages in turn */
    bool bandwidth;          /* likewise what is moved per time, if a call is many messages at once */
    const double *fractions; /* quantiles shown */
    int fraction_count;
} report_t;

/* report_head - the header: comment lines of provenance (JSON: one object) and titles. */
void report_head(const report_t *report, const provenance_item_t *items, int item_count);

/*
 * report_titles - in the table, where a new operation or scheme begins: lines that name it, and the line of titles.
 *
 * function   the MPI function
 */
void report_titles(const report_t *report, const row_keys_t *keys, const char *function);

/*
 * report_row - one row. Without a valid sample an error row: counts, no figures. What there is no value for is "-" in
 * the table, empty in CSV, null in JSON, so never NaN. Numbers have a point, whatever the locale. Whether the file
 * could be written is for its owner to ask.
 */
void report_row(const report_t *report, const row_t *row);

/*
 * report_raw_head, report_raw - the times as comma-separated values, a line for each rank of each call.
 *
 * targets_ns   when ranks were to start, or NULL
 */
void report_raw_head(FILE *file);
void report_raw(FILE *file, const row_keys_t *keys, const sample_set_t *set, const int64_t *targets_ns);

#endif /* REPORT_H */
