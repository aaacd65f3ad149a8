/* SPDX-License-Identifier: BSD-3-Clause */
/* history.h - the clocks of this host beside a communicator's global clock, now and at earlier synchronizations. */
#ifndef MH_HISTORY_H
#define MH_HISTORY_H

#include "pure/clock_history.h"
#include "sync/comm_clock.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Any thread may convert while one thread adds. */
typedef struct mh_history {
    pthread_mutex_t lock; /* of all below; held for microseconds, or to copy what is kept, and not in MPI */
    mh_clock_history kept;
    int64_t synced_raw_ns;      /* the record of the last synchronization */
    int64_t disruptions, moves; /* of the clock, then */
} mh_history;

void mh_history_init(mh_history *history);
void mh_history_free(mh_history *history);

/* Keep how the clocks are now, after a synchronization, and before, of `most` at least, if there is memory. Local. */
void mh_history_keep(mh_history *history, mh_comm_clock *clock, size_t most);

/* The global time at which a clock had a reading. Returns false if memory lacks. Local; any thread. */
bool mh_history_convert(mh_history *history, mh_comm_clock *clock, mpix_clock_id id, int64_t reading_ns,
                        mpix_clock_time *time);

/*
 * How the clocks of this host are now, what the kernel says of UTC, and what is kept, as lines of a file of clock
 * records, to be freed. NULL if memory lacks. Local.
 */
char *mh_history_lines(mh_history *history, mh_comm_clock *clock, const mh_host_names *names, size_t *bytes);

/* The settings of the clock have changed: what is kept has the new limits. Local. */
void mh_history_limit(mh_history *history, const mh_comm_clock *clock);

/* The limits that hold for the interpolation. */
void mh_history_limits(const mh_comm_clock *clock, double *rate_limit, double *wander_per_s);

#endif
