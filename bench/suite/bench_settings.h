/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bench_settings.h - what stands in the options' table of mpix_bench.
 */
#ifndef BENCH_SETTINGS_H
#define BENCH_SETTINGS_H

#include "common/cli/options.h"
#include "common/results/result_files.h"

#include <stdint.h>

/* Texts are of use where they were read only. */
typedef struct bench_settings {
    text_list_t operations;
    size_list_t sizes;
    double size_factor;        /* or ABSENT */
    int64_t iterations;        /* or ABSENT */
    int64_t warmup;            /* or ABSENT */
    int64_t validation_warmup; /* or ABSENT */
    int64_t max_repeat;
    double time_slice_s; /* or ABSENT */
    double ci_percent;   /* or ABSENT: does not matter */
    int64_t release;     /* release_kind_t */
    int64_t barrier;     /* of barriers; or ABSENT */
    double window_us;    /* 0: to be found; or ABSENT */
    int64_t datatype;    /* or ABSENT, likewise the next two */
    int64_t reduction;
    int64_t root;       /* those that rotate are -1, as ROOT_ROTATES */
    int64_t messages;   /* at once; or ABSENT, likewise the next one */
    int64_t pairs;      /* 0: all */
    int64_t matrix;     /* each two ranks are a job */
    int64_t partitions; /* or ABSENT, likewise the next four */
    int64_t senders;    /* threads, or processes forked */
    int64_t receivers;
    int64_t window; /* window_kind_t */
    int64_t synchronization;
    const char *neighborhood; /* NULL: the usual one */
    const char *layout;       /* NULL: none; likewise the next one */
    const char *file;
    int64_t file_sync; /* storage_sync_t; or ABSENT */
    int64_t in_place;
    int64_t cache;
    int64_t run_time;
    const char *comm;
    const char *arrival; /* NULL: none was given */
    int64_t overlap;
    int64_t test_calls; /* or ABSENT */
    int64_t validation;
    int64_t mem_limit_bytes; /* per process; ABSENT: the usual one, to which caches are fitted */
    int64_t shuffle;
    /* What concerns all jobs, and stands on the command line only: from list to the end. */
    int64_t list;
    const char *jobs;
    int64_t seed;
    number_list_t tail; /* percentiles */
    int64_t full;
    results_t results;
} bench_settings_t;

enum { MAX_MESSAGES = 65536, MAX_TEST_CALLS = 1000000 };

#endif
