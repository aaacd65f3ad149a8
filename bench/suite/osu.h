/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * osu.h - options of the OSU micro-benchmarks that mpix_bench has by another name, with other values, or not at all.
 * Those of OSU 7.4, for programs that use the memory of the host; bench/test/osu_options.txt lists them all.
 */
#ifndef OSU_H
#define OSU_H

#include "bench/suite/bench_settings.h"
#include "bench/suite/operation.h"

#include <stdbool.h>
#include <stdint.h>

enum { MAX_TYPES = 32, NOTE_BYTES = 200 };

/* A command line. That of mpix_bench has nothing but what stands first. */
typedef struct osu_command {
    bench_settings_t bench;
    /* As they were given: NULL, 0 or ABSENT if they were not. */
    const char *validation;
    const char *root;
    const char *calls; /* of MPI_Test, or threads, or processes */
    text_list_t type_names;
    number_list_t tail;
    int64_t print_rate;
    int64_t buffers;
    int64_t session;
    /* What osu_take makes of them. */
    int64_t types[MAX_TYPES]; /* of datatypes: a table for each */
    int type_count;           /* 0: the usual one */
    bool shows_tail, shows_rate;
    char note[NOTE_BYTES]; /* how the results differ from OSU's, and what to give to OSU; "": they do not */
} osu_command_t;

/* Their rows, whose places are in osu_command_t. */
extern const option_spec_t osu_options[];
extern const int osu_option_count;

/* osu_begin - what a command line has before it is read. is_osu: OSU's options will be */
osu_command_t osu_begin(bool is_osu);

/* osu_take - put into the settings of mpix_bench what was given. Returns false after a line if this is not allowed. */
bool osu_take(osu_command_t *command, const char *speaker, const operation_t *operation);

/* osu_advice - what to do about an argument that OSU's programs take, but that names no operation; NULL: nothing. */
const char *osu_advice(const char *argument);

#endif
