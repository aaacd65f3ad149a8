/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * clock_history.h - what the clocks of this host were on the global clock, of the last synchronizations, and now. Pure;
 * no MPI, no clock.
 *
 * A record and looks are kept for each synchronization, and all that is newer than the oldest one of so many. What a
 * conversion learns passes: the next record and look take its place. But now and then it is kept, too, so that a
 * process that rarely synchronizes knows what clocks did meanwhile. Where the global clock was found wrong, a record
 * without a bound stands between what was known before and after.
 */
#ifndef MH_CLOCK_HISTORY_H
#define MH_CLOCK_HISTORY_H

#include "pure/clock_writer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A look at a host this often or more often finds when the kernel changed a clock. */
#define MH_HISTORY_LOOK_NS (5 * MH_NS_PER_MS)

/*
 * What a conversion learns is kept if it is so much later than what was kept last, and by a part of the time since the
 * last synchronization: one of as many as are remembered. So it is not much where nobody synchronizes for months.
 */
#define MH_HISTORY_APART_NS MH_NS_PER_S

/* All zero at first. */
typedef struct mh_clock_history {
    mpix_clock_file *file;                  /* NULL: not begun */
    mh_look_filter filters[MPIX_CLOCK_IDS]; /* of the looks that are kept */
    int passing_looks[MPIX_CLOCK_IDS];      /* at the end, which the filter may write otherwise */
    bool record_passes;                     /* the last one */
    size_t most;                            /* synchronizations that are remembered at least, 2 or more */
    int64_t *synced_raw_ns;                 /* when these were, at most twice as many */
    size_t syncs, capacity;
} mh_clock_history;

/* MONOTONIC_RAW and the global clock at one instant. */
typedef struct mh_history_record {
    int64_t raw_ns, time_ns;
    int64_t bound_ns; /* MH_TIME_UNKNOWN_NS: not known */
} mh_history_record;

/* Begin. unix_ns: Unix time at global time 0. Returns false if memory lacks. */
bool mh_clock_history_begin(mh_clock_history *history, int64_t unix_ns);

void mh_clock_history_free(mh_clock_history *history);

/* The clock was synchronized; looks and a record from then, which are not older than raw_ns, follow. */
void mh_clock_history_sync(mh_clock_history *history, int64_t raw_ns);

/* What is added is left out if memory lacks. passes: it is what a conversion learns. */
void mh_clock_history_add(mh_clock_history *history, mh_history_record record, bool passes);
void mh_clock_history_look(mh_clock_history *history, mpix_clock_id clock, mh_look look, bool passes);

/* The records from after a time were wrong. */
void mh_clock_history_drop_after(mh_clock_history *history, int64_t raw_ns);

/* How the host is named in a file, and what its time namespace adds to clocks. */
typedef struct mh_host_names {
    const char *name, *boot;
    int64_t namespace_ns[MPIX_CLOCK_IDS];
} mh_host_names;

/*
 * What is kept, so that lines are made of it while others add to the history. The caller may add what the kernel says
 * of UTC.
 */
typedef struct mh_history_copy {
    mpix_clock_pair *records;
    mpix_clock_look *looks[MPIX_CLOCK_IDS];
    size_t record_count, look_counts[MPIX_CLOCK_IDS];
    bool has_utc;
    mpix_clock_utc_look utc;
    int64_t tai_s;
} mh_history_copy;

/* Returns false, and there is nothing to free, if memory lacks. */
bool mh_clock_history_copy(const mh_clock_history *history, mh_history_copy *copy);
void mh_history_copy_free(mh_history_copy *copy);

/* The lines of this host in a file of clock records, to be freed. NULL if memory lacks. */
char *mh_history_copy_lines(const mh_history_copy *copy, const mh_host_names *names, size_t *bytes);

/* Whether the clock is known to have had this reading before the last look. Else a new look tells more. */
bool mh_clock_history_has(const mh_clock_history *history, mpix_clock_id clock, int64_t reading_ns);

/* The global time at a reading. There is a record, and a look at the clock. */
mpix_clock_time mh_clock_history_convert(const mh_clock_history *history, mpix_clock_id clock, int64_t reading_ns);

#endif
