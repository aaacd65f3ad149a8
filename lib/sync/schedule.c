/* SPDX-License-Identifier: BSD-3-Clause */
/* schedule.c - the policy: synchronize as rarely as errors allow, and never take a noticeable part of the time. */
#include "sync/schedule.h"

#include "pure/units.h"

#define MIN_INTERVAL_NS (100 * MH_NS_PER_MS)

/* The same in the first second, in which drifts are not known well yet. */
#define MIN_YOUNG_INTERVAL_NS (20 * MH_NS_PER_MS)

/* The minimum interval, in durations of a synchronization: synchronizing takes at most 0.1 % of the time. */
enum { MIN_INTERVAL_DURATIONS = 1000 };

/* The second one comes soon, whatever the first one took. */
#define MAX_FIRST_USUAL_NS (20 * MH_NS_PER_MS)

/*
 * A process may be descheduled in any synchronization. So the shorter of the first two counts, and each later one
 * changes the typical duration by half at most.
 */
static void learn_duration(mh_schedule *schedule, int64_t duration_ns)
{
    int64_t min_ns = schedule->typical_ns / 2, max_ns = schedule->typical_ns + min_ns;
    schedule->usual_count++;
    if (schedule->usual_count == 1) {
        schedule->first_usual_ns = duration_ns;
        min_ns = 0;
        max_ns = MAX_FIRST_USUAL_NS;
    } else if (schedule->usual_count == 2) {
        min_ns = 0;
        max_ns = schedule->first_usual_ns;
    }
    schedule->typical_ns = duration_ns > max_ns ? max_ns : duration_ns < min_ns ? min_ns : duration_ns;
}

void mh_schedule_end(mh_schedule *schedule, int64_t now_ns, bool is_new)
{
    schedule->last_ns = now_ns;
    if (is_new)
        schedule->first_ns = now_ns;
}

void mh_schedule_count(mh_schedule *schedule, int64_t duration_ns, bool is_usual)
{
    schedule->duration_ns = duration_ns;
    schedule->total_ns += duration_ns;
    if (schedule->count++ > 0 && is_usual && duration_ns > 0)
        learn_duration(schedule, duration_ns);
}

static int64_t min_interval_ns(const mh_schedule *schedule)
{
    if (schedule->last_ns - schedule->first_ns < MH_NS_PER_S)
        return MIN_YOUNG_INTERVAL_NS;
    int64_t interval_ns = MIN_INTERVAL_DURATIONS * schedule->typical_ns;
    if (interval_ns > MH_LONGEST_INTERVAL_NS)
        return MH_LONGEST_INTERVAL_NS;
    return interval_ns > MIN_INTERVAL_NS ? interval_ns : MIN_INTERVAL_NS;
}

void mh_schedule_choose(mh_schedule *schedule, int64_t fixed_ns, int64_t wanted_ns)
{
    int64_t min_ns = min_interval_ns(schedule);
    if (wanted_ns == INT64_MAX)
        schedule->interval_ns = 0;
    else if (fixed_ns > 0)
        schedule->interval_ns = fixed_ns;
    else
        schedule->interval_ns = wanted_ns > min_ns ? wanted_ns : min_ns;
}

void mh_schedule_follow_step(mh_schedule *schedule, int64_t step_ns)
{
    schedule->first_ns += step_ns;
    schedule->last_ns += step_ns;
}
