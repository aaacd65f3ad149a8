/* SPDX-License-Identifier: BSD-3-Clause */
/* conversion.h - the timestamps of one file: what they are on the global clock, and what is said of them at the end. */
#ifndef CONVERSION_H
#define CONVERSION_H

#include "mpix_clock_reader.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { CONVERT_WHY_BYTES = 400, TIME_TEXT_BYTES = 40 };

/* How far UTC is from written times that count from 1970. */
typedef struct utc_distance {
    bool is_known, is_unknown; /* of some times; neither: no kernel was asked */
    double worst_ns;           /* of those of which it is known */
    int host;                  /* whose kernel says so */
} utc_distance_t;

typedef struct conversion {
    /* The caller sets these. */
    const mpix_clock_file *records;
    const char *path; /* of the input, for messages */
    int host;         /* in the records */
    mpix_clock_id clock;
    bool is_kernels;  /* the kernel took the times, to which no time namespace adds anything */
    int64_t unit_ns;  /* of times in the input */
    int64_t start_ns; /* what times are relative to: added to each */
    bool since_start; /* written times begin at global time 0, not in 1970 */
    /* What came. */
    int64_t times, extrapolated, ambiguous, worst_ns;
    const char *torn; /* what it ends within, which is left out; NULL: it is whole */
    utc_distance_t utc;
    char why[CONVERT_WHY_BYTES]; /* what is wrong, if something is */
} conversion_t;

/* convert_fail - set why, with the path before it. Returns false. */
bool convert_fail(conversion_t *conversion, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* convert_time - one time, in nanoseconds of its clock; *when is in nanoseconds, too. Returns false if it cannot be. */
typedef struct converted {
    int64_t ns; /* since 1970, or since global time 0 */
    int64_t bound_ns;
    int how;
} converted_t;
bool convert_time(conversion_t *conversion, int64_t reading, converted_t *to);

/*
 * convert_number - the same of a decimal number in the unit of the input, which is never rounded through a floating
 * number: -12.5, 1.5e3. The text need not end behind it.
 */
bool convert_number(conversion_t *conversion, const char *text, size_t length, converted_t *to);

/* decimal_parse - such a number in nanoseconds; digits beyond are cut off. Returns false if it is none. */
bool decimal_parse(const char *text, int64_t unit_ns, const char **end, int64_t *ns);

/* decimal_print - nanoseconds in another unit, with all digits. */
void decimal_print(int64_t ns, int64_t unit_ns, char text[TIME_TEXT_BYTES]);

/* how_text - "", "extrapolated", "ambiguous", "extrapolated+ambiguous". */
const char *how_text(int how);

/* ---- The formats. Each returns false after convert_fail */

/* Text in columns, separated by commas, with their names in the first line; column: a name, or a number from 1. */
bool convert_csv(conversion_t *conversion, FILE *from, FILE *to, const char *column);

/* Any text: what a pattern finds is replaced in each line. pattern: NULL for a number with a decimal point; format: of
 * strptime, or NULL for a decimal number. */
bool convert_text(conversion_t *conversion, FILE *from, FILE *to, const char *pattern, const char *format,
                  int64_t *lines_without);

/* Captured packets: pcap and pcapng. */
bool convert_packets(conversion_t *conversion, FILE *from, FILE *to);

/*
 * Events of Chrome's JSON, as Perfetto reads it, of several files into one. Processes, flows and asynchronous events
 * get numbers that are the host's own, unless flows are shared or their ids are global (id2).
 */
typedef struct chrome_output {
    FILE *to;
    bool shares_flows;
    int64_t inputs; /* of how many files */
    int64_t files, events;
    char *keys; /* of the object around the events, for the end; NULL: none */
    size_t keys_bytes;
} chrome_output_t;
bool chrome_begin(chrome_output_t *output);
bool convert_chrome(conversion_t *conversion, FILE *from, chrome_output_t *output);
bool chrome_end(chrome_output_t *output);

#endif
