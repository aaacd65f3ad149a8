/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * report.h - what is measured, as a table, comma-separated values, or lines of JSON; and the raw times. No MPI.
 */
#ifndef REPORT_H
#define REPORT_H

#include "bench/suite/analysis.h"
#include "common/results/table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The independent variables of a row: the first columns of CSV, in this order. */
typedef struct row_keys {
    const char *label;     /* which job, in tables of several */
    const char *operation; /* short name */
    const char *release;   /* scheme */
    const char *barrier;   /* algorithm, "" if the scheme has none */
    const char *cadence;   /* "isolated" or "streaming" */
    const char *comm;      /* which communicator, as --comm names it */
    int ranks;
    const char *datatype;     /* "" if none */
    const char *reduction;    /* "" if none */
    const char *root;         /* "0", "rotating", "" */
    const char *buffers;      /* "separate" or "in place" */
    const char *cache;        /* warm, rotate, cold */
    const char *run_time;     /* local, makespan */
    const char *messages;     /* at once; "" where there are not many */
    const char *pairs;        /* of ranks, "" if there are none */
    int rank, partner;        /* of a matrix */
    const char *layout;       /* of messages with a derived datatype, else "" */
    const char *neighborhood; /* "" if there is none */
    const char *threads;      /* of both of a pair; "" if there are not several */
    const char *forks;        /* likewise processes that they have forked */
    const char *partitions;   /* of a message; "" if there are none */
    const char *window;       /* of one-sided operations, else "", likewise the next one */
    const char *synchronization;
    int64_t size_bytes;
    const char *arrival; /* the pattern, "" if the scheme imposes none */
} row_keys_t;

/* Of non-blocking forms: how much of the operation passed while the processor was busy with something else. */
typedef struct overlap {
    double pure_ns;    /* median of the operation alone, the largest of the ranks */
    double compute_ns; /* what was computed between start and completion */
    double total_ns;   /* median of both together */
    double percent;    /* 100 * (1 - (total - compute) / pure), from 0 to 100 */
} overlap_t;

/* Figures that a row may have, and columns that a report may have; all reports have the first two. */
enum {
    PART_FIGURES = 1,
    PART_INTERVAL = 2,
    PART_LATENCY = 4, /* a message's time: of a call, or half of it if a call is one there and one back */
    PART_BANDWIDTH = 8,
    PART_OVERLAP = 16,
    PART_ARRIVAL = 32,
    PART_VALIDATION = 64,
    PART_LABEL = 128,
    PART_RATE = 256, /* messages per second */
    PART_TAIL = 512, /* percentiles of OSU's figure */
    PART_LAYOUT = 1024,
    PART_MATRIX = 2048,
    PART_LOAD = 4096
};

typedef struct row {
    row_keys_t keys;
    unsigned parts;
    analysis_t analysis;
    overlap_t overlap;
    arrival_figures_t arrival;
    double latency_ns;          /* of one message: the median run time or half of it */
    double mb_per_s;            /* by the median run time, likewise the next one */
    double messages_per_s;      /* of all pairs */
    double tail[MAX_QUANTILES]; /* of latencies or run times in us, or of bandwidths in MB/s */
    int64_t data_bytes;         /* of a message with gaps */
    int64_t wrong;              /* elements found wrong by validation */
    double others_percent;      /* what other programs took of the processors' time; likewise the next one */
    double steal_percent;       /* the hypervisor */
} row_t;

enum { OSU_FIGURES = 8 };
typedef struct report {
    output_t output;
    bool full;       /* the table has all columns */
    unsigned parts;  /* of which there are columns */
    int label_width; /* characters of the longest label; likewise the next one */
    int arrival_width;
    /* Places in row_t of what stands behind the size in the table, as in that of OSU; 0 after the last. Without a size
     * if has_no_size. */
    size_t osu_places[OSU_FIGURES + 1];
    bool has_no_size;
    double fractions[MAX_QUANTILES]; /* quantiles shown */
    int fraction_count;
    row_t *kept; /* of several jobs in the table, until the last of them is measured */
    int kept_count;
} report_t;

/* The columns of results, and of raw files. */
extern const schema_t report_schema, report_raw_schema;

/* report_head - the head: all provenance and the columns; in the table a few lines. */
void report_head(const report_t *report, const head_t *head);

/* report_job - in the table, lines that name a job. function: MPI's */
void report_job(const report_t *report, const row_keys_t *keys, const char *function);

/* report_titles - in the table, the line of titles, after the jobs whose rows follow. */
void report_titles(const report_t *report);

/*
 * report_row - one row. In the table, rows of several jobs, whose labels begin with the numbers of the jobs from 1 on,
 * are printed job by job by report_end, as long as their texts are there; else at once. Without a valid sample an error
 * row: counts, no figures. A value that does not exist is "-" in the table, empty in CSV, null in JSON, never NaN.
 * Numbers have a point, whatever the locale. Whether the file could be written is for its owner to ask.
 */
void report_row(report_t *report, const row_t *row);
void report_end(report_t *report);

/* report_raw_head, report_raw - the times of a call, a line for each rank. */
void report_raw_head(const output_t *raw);
void report_raw(const output_t *raw, const row_keys_t *keys, const samples_t *before, const call_note_t *notes);

#endif
