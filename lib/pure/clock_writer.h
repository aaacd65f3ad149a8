/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * clock_writer.h - which looks at a clock a file of clock records needs, and its lines. Pure; no MPI, no clock.
 *
 * mpix_clock_reader.h reads the file; mpix_clock_reader(3) describes it.
 */
#ifndef MH_CLOCK_WRITER_H
#define MH_CLOCK_WRITER_H

#include "mpix_clock_reader.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef mpix_clock_look mh_look;

/*
 * Of frequent looks, those that are written: where the rate of the clock changes, or the clock was set, or nobody
 * looked for a while, the looks on both sides. All zero at first, but look_ns.
 */
typedef struct mh_look_filter {
    int64_t look_ns; /* how often there is a look; twice as long without one is a gap */
    bool has_written, has_last;
    mh_look written, last; /* last: not written yet */
    double least, most;    /* raw nanoseconds per unit of the clock, that explain all looks since the written one */
    int64_t between;       /* looks between written and last */
    int64_t bend_ns;       /* the tolerance of these */
} mh_look_filter;

/* Add a look. Returns how many looks are to be written now, at most two. */
int mh_look_filter_add(mh_look_filter *filter, mh_look look, mh_look written[2]);

/* Write what was seen last, so that the file is up to date. Returns how many looks are to be written, at most one. */
int mh_look_filter_flush(mh_look_filter *filter, mh_look written[1]);

enum { MH_CLOCK_LINE_BYTES = 1024 };

/*
 * The lines of a file, each ended by a newline and a null character. They return its length without the null character.
 *
 * unix_ns   the time of the reference host since 1970 at global time 0
 * tai_s     how far TAI is ahead of UTC, says the kernel; 0: nobody told it
 */
size_t mh_clock_head_line(char line[MH_CLOCK_LINE_BYTES], int64_t unix_ns, int64_t rate_limit_ppb,
                          int64_t wander_ppb_per_s);
size_t mh_clock_host_line(char line[MH_CLOCK_LINE_BYTES], const char *host, const char *boot, int64_t look_ns,
                          const int64_t namespace_ns[MPIX_CLOCK_IDS]);
size_t mh_clock_record_line(char line[MH_CLOCK_LINE_BYTES], const char *host, int64_t raw_ns, int64_t global_ns,
                            int64_t half_ns);
size_t mh_clock_look_line(char line[MH_CLOCK_LINE_BYTES], const char *host, mpix_clock_id clock, mh_look look);
size_t mh_clock_utc_line(char line[MH_CLOCK_LINE_BYTES], const char *host, mpix_clock_utc_look look, int64_t tai_s);

#endif
