/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/report/drift.h"

#include <math.h>

/* Of the drift. */
#define SWING 0.2

static const double turn = 6.283185307179586;

/* A clock that is right at the start, and how it goes wrong. */
typedef struct wrong_clock {
    int64_t start_ns;
    double length_ns, drift;
} wrong_clock_t;

static int64_t change_ns(const wrong_clock_t *clock, int64_t time_ns)
{
    double since_ns = (double)(time_ns - clock->start_ns), part = turn * since_ns / clock->length_ns;
    return llround(clock->drift * (since_ns + SWING * clock->length_ns / turn * (1 - cos(part))));
}

static wrong_clock_t clock_of(const trace_process *process, double drift)
{
    int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;
    for (size_t i = 0; i < process->location_count; i++) {
        const trace_location *location = &process->locations[i];
        if (location->count > 0 && location->events[0].time_ns < first_ns)
            first_ns = location->events[0].time_ns;
        if (location->count > 0 && location->events[location->count - 1].time_ns > last_ns)
            last_ns = location->events[location->count - 1].time_ns;
    }
    if (process->record_count > 0)
        first_ns = process->records[0].time_ns;
    return (wrong_clock_t){first_ns, first_ns < last_ns ? (double)(last_ns - first_ns) : 1, drift};
}

void drift_impose(trace *of, const double *drifts_ppm, int count)
{
    for (int rank = 0; rank < of->size; rank++) {
        trace_process *process = &of->processes[rank];
        wrong_clock_t clock = clock_of(process, drifts_ppm[rank % count] / 1e6);
        for (size_t i = 0; i < process->location_count; i++)
            for (size_t k = 0; k < process->locations[i].count; k++)
                process->locations[i].events[k].time_ns += change_ns(&clock, process->locations[i].events[k].time_ns);
        for (size_t i = 0; i < process->record_count; i++) {
            int64_t change = change_ns(&clock, process->records[i].time_ns);
            process->records[i].time_ns += change;
            process->records[i].global_less_local_ns -= change;
        }
        process->end.time_ns += change_ns(&clock, process->end.time_ns);
    }
}
