/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * schedule.h - when the clocks are to be synchronized again, and how long that took so far. Pure; no MPI.
 *
 * All times are those of the local clock.
 */
#ifndef MH_SCHEDULE_H
#define MH_SCHEDULE_H

#include "pure/units.h"

#include <stdbool.h>
#include <stdint.h>

/* The temperature of a machine changes within minutes, and with it the rate of its clock. */
#define MH_LONGEST_INTERVAL_NS (300 * MH_NS_PER_S)

typedef struct mh_schedule {
    int64_t first_ns;       /* the end of the first synchronization, or of the last that began anew */
    int64_t last_ns;        /* the end of the last one */
    int64_t interval_ns;    /* from the last one to the next; 0: never */
    int64_t count;          /* of synchronizations that nothing disturbed */
    int64_t duration_ns;    /* of the last of these */
    int64_t total_ns;       /* of all of these */
    int64_t typical_ns;     /* of usual ones; 0: none yet */
    int64_t usual_count;    /* of those that typical_ns comes from */
    int64_t first_usual_ns; /* what the first of them took */
} mh_schedule;

/* A synchronization ended, disturbed or not. is_new: it began anew, so drifts are not known well yet. */
void mh_schedule_end(mh_schedule *schedule, int64_t now_ns, bool is_new);

/* A synchronization ended undisturbed. is_usual: it did not begin anew, and had no time to narrow bounds. */
void mh_schedule_count(mh_schedule *schedule, int64_t duration_ns, bool is_usual);

/*
 * Choose the interval. fixed_ns: what the user asks for; 0: nothing. wanted_ns: what the processes ask for, INT64_MAX:
 * never again. Without a fixed interval, it is long enough that synchronization takes only a small part of the time.
 */
void mh_schedule_choose(mh_schedule *schedule, int64_t fixed_ns, int64_t wanted_ns);

/* The local clock was stepped by so much. */
void mh_schedule_follow_step(mh_schedule *schedule, int64_t step_ns);

#endif
