/* SPDX-License-Identifier: BSD-3-Clause */
/* clock_history.c - records and looks as a host has them, without a file. */
#include "pure/clock_history.h"

#include "pure/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool mh_clock_history_begin(mh_clock_history *history, int64_t unix_ns)
{
    history->file = mpix_clock_new(unix_ns, MH_HISTORY_LOOK_NS);
    for (int id = 0; id < MPIX_CLOCK_IDS; id++)
        history->filters[id] = (mh_look_filter){.look_ns = MH_HISTORY_LOOK_NS};
    return history->file;
}

void mh_clock_history_free(mh_clock_history *history)
{
    mpix_clock_close(history->file);
    history->file = NULL;
}

/* MONOTONIC_RAW went back: the host is another one, restored from what was saved of it. */
static void start_over(mh_clock_history *history)
{
    mpix_clock_keep(history->file, 0);
    history->record_passes = false;
    for (int id = 0; id < MPIX_CLOCK_IDS; id++) {
        history->look_passes[id] = false;
        history->filters[id] = (mh_look_filter){.look_ns = MH_HISTORY_LOOK_NS};
    }
}

/* Rarely, so that it costs nothing. */
static void forget(mh_clock_history *history, size_t count)
{
    if (count > 2 * history->most)
        mpix_clock_keep(history->file, history->most);
}

void mh_clock_history_add(mh_clock_history *history, mh_history_record record, bool passes)
{
    size_t count;
    const mpix_clock_pair pair = {.at_ns = record.raw_ns,
                                  .ahead_ns = record.time_ns - record.raw_ns,
                                  .bound_ns =
                                      record.bound_ns == MH_TIME_UNKNOWN_NS ? INFINITY : (double)record.bound_ns};
    const mpix_clock_pair *records = mpix_clock_records(history->file, &count);
    if (count > 0 && record.raw_ns < records[count - 1].at_ns)
        start_over(history);
    if (history->record_passes)
        mpix_clock_pop_record(history->file);
    history->record_passes = mpix_clock_push_record(history->file, pair) == 0 && passes;
    mpix_clock_records(history->file, &count);
    forget(history, count);
}

void mh_clock_history_look(mh_clock_history *history, mpix_clock_id clock, mh_look look)
{
    mh_look_filter *filter = &history->filters[clock];
    mh_look written[2];
    size_t count;
    const mpix_clock_look *looks = mpix_clock_looks(history->file, clock, &count);
    if (count > 0 && look.raw_ns + look.half_ns < looks[count - 1].raw_ns - looks[count - 1].half_ns)
        start_over(history);
    if (history->look_passes[clock])
        mpix_clock_pop_look(history->file, clock);
    history->look_passes[clock] = false;
    const int writes = mh_look_filter_add(filter, look, written);
    for (int i = 0; i < writes; i++)
        mpix_clock_push_look(history->file, clock, written[i]);
    if (filter->has_last) {
        mh_look last = filter->last;
        last.bend_ns = filter->between > 0 ? filter->bend_ns : -1;
        history->look_passes[clock] = mpix_clock_push_look(history->file, clock, last) == 0;
    }
    mpix_clock_looks(history->file, clock, &count);
    forget(history, count);
}

/* Lines of a file have no unknown bound: this one, of days, says as much. */
#define USELESS_NS 1e15

char *mh_clock_history_lines(const mh_clock_history *history, const mh_host_names *names, size_t *bytes)
{
    size_t count, lines = 1;
    for (mpix_clock_id id = 0; id < MPIX_CLOCK_IDS; id++) {
        mpix_clock_looks(history->file, id, &count);
        lines += count;
    }
    const mpix_clock_pair *records = mpix_clock_records(history->file, &count);
    char line[MH_CLOCK_LINE_BYTES], *text = malloc((lines + count) * MH_CLOCK_LINE_BYTES);
    if (!text)
        return NULL;
    *bytes = mh_clock_host_line(text, names->name, names->boot, MH_HISTORY_LOOK_NS, names->namespace_ns);
    for (size_t i = 0; i < count; i++) {
        const int64_t bound_ns = (int64_t)ceil(fmin(records[i].bound_ns, USELESS_NS));
        const size_t length =
            mh_clock_record_line(line, names->name, records[i].at_ns, records[i].at_ns + records[i].ahead_ns, bound_ns);
        memcpy(text + *bytes, line, length);
        *bytes += length;
    }
    for (mpix_clock_id id = 0; id < MPIX_CLOCK_IDS; id++) {
        const mpix_clock_look *looks = mpix_clock_looks(history->file, id, &count);
        for (size_t i = 0; i < count; i++) {
            const size_t length = mh_clock_look_line(line, names->name, id, looks[i]);
            memcpy(text + *bytes, line, length);
            *bytes += length;
        }
    }
    return text;
}

bool mh_clock_history_has(const mh_clock_history *history, mpix_clock_id clock, int64_t reading_ns)
{
    size_t count;
    if (clock == MPIX_CLOCK_MONOTONIC_RAW) {
        const mpix_clock_pair *records = mpix_clock_records(history->file, &count);
        return count > 0 && reading_ns <= records[count - 1].at_ns;
    }
    const mpix_clock_look *looks = mpix_clock_looks(history->file, clock, &count);
    const bool may_be_set = clock == MPIX_CLOCK_REALTIME || clock == MPIX_CLOCK_TAI;
    return count > 0 && !may_be_set && reading_ns <= looks[count - 1].at;
}

mpix_clock_time mh_clock_history_convert(const mh_clock_history *history, mpix_clock_id clock, int64_t reading_ns)
{
    mpix_clock_time time = {.bound_ns = MH_TIME_UNKNOWN_NS};
    mpix_clock_convert(history->file, 0, clock, reading_ns, &time);
    return time;
}
