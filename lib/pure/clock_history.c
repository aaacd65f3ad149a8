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
    free(history->synced_raw_ns);
    history->file = NULL;
    history->synced_raw_ns = NULL;
    history->syncs = history->capacity = 0;
}

/* Of what is left, something passes at most. */
static void forget(mh_clock_history *history, int64_t before_raw_ns)
{
    size_t count;
    mpix_clock_forget(history->file, before_raw_ns);
    mpix_clock_records(history->file, &count);
    history->record_passes = history->record_passes && count > 0;
    for (mpix_clock_id id = 0; id < MPIX_CLOCK_IDS; id++) {
        mpix_clock_looks(history->file, id, &count);
        if ((size_t)history->passing_looks[id] > count)
            history->passing_looks[id] = (int)count;
    }
}

/* MONOTONIC_RAW went back: the host is another one, restored from what was saved of it. */
static void start_over(mh_clock_history *history)
{
    forget(history, INT64_MAX);
    history->syncs = 0;
    for (int id = 0; id < MPIX_CLOCK_IDS; id++)
        history->filters[id] = (mh_look_filter){.look_ns = MH_HISTORY_LOOK_NS};
}

static bool has_room(mh_clock_history *history)
{
    if (history->syncs < history->capacity)
        return true;
    const size_t more = history->capacity > 0 ? 2 * history->capacity : 16;
    int64_t *grown = realloc(history->synced_raw_ns, more * sizeof *grown);
    if (!grown)
        return false;
    history->synced_raw_ns = grown;
    history->capacity = more;
    return true;
}

/* Forgetting is rare, so that it costs nothing. */
void mh_clock_history_sync(mh_clock_history *history, int64_t raw_ns)
{
    if (history->syncs > 0 && raw_ns < history->synced_raw_ns[history->syncs - 1])
        start_over(history);
    if (!has_room(history))
        return;
    history->synced_raw_ns[history->syncs++] = raw_ns;
    if (history->syncs <= 2 * history->most)
        return;
    memmove(history->synced_raw_ns, history->synced_raw_ns + (history->syncs - history->most),
            history->most * sizeof *history->synced_raw_ns);
    history->syncs = history->most;
    forget(history, history->synced_raw_ns[0]);
}

/* Whether what a conversion learns now passes. kept_raw_ns: of what was kept last. */
static bool is_soon(const mh_clock_history *history, int64_t raw_ns, int64_t kept_raw_ns)
{
    const int64_t synced_raw_ns = history->syncs > 0 ? history->synced_raw_ns[history->syncs - 1] : raw_ns;
    const int64_t part_ns = (raw_ns - synced_raw_ns) / (int64_t)history->most;
    return raw_ns - kept_raw_ns < (part_ns > MH_HISTORY_APART_NS ? part_ns : MH_HISTORY_APART_NS);
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
    records = mpix_clock_records(history->file, &count);
    passes = passes && count > 0 && is_soon(history, record.raw_ns, records[count - 1].at_ns);
    history->record_passes = mpix_clock_push_record(history->file, pair) == 0 && passes;
}

/* Looks that the filter holds back, and those that pass, are there until the next look. */
void mh_clock_history_look(mh_clock_history *history, mpix_clock_id clock, mh_look look, bool passes)
{
    mh_look_filter *kept = &history->filters[clock];
    mh_look written[2];
    size_t count;
    const mpix_clock_look *looks = mpix_clock_looks(history->file, clock, &count);
    if (count > 0 && look.raw_ns + look.half_ns < looks[count - 1].raw_ns - looks[count - 1].half_ns)
        start_over(history);
    for (; history->passing_looks[clock] > 0; history->passing_looks[clock]--)
        mpix_clock_pop_look(history->file, clock);
    mh_look_filter filter = *kept;
    const int64_t kept_raw_ns = kept->has_last ? kept->last.raw_ns : kept->written.raw_ns;
    passes = passes && kept->has_written && is_soon(history, look.raw_ns, kept_raw_ns);
    const int writes = mh_look_filter_add(&filter, look, written);
    for (int i = 0; i < writes; i++)
        history->passing_looks[clock] += mpix_clock_push_look(history->file, clock, written[i]) == 0 && passes;
    if (filter.has_last) {
        mh_look last = filter.last;
        last.bend_ns = filter.between > 0 ? filter.bend_ns : -1;
        history->passing_looks[clock] += mpix_clock_push_look(history->file, clock, last) == 0;
    }
    if (!passes)
        *kept = filter;
}

void mh_clock_history_drop_after(mh_clock_history *history, int64_t raw_ns)
{
    size_t count;
    const mpix_clock_pair *records = mpix_clock_records(history->file, &count);
    for (; count > 0 && records[count - 1].at_ns > raw_ns; count--) {
        mpix_clock_pop_record(history->file);
        history->record_passes = false;
    }
}

static void *copy_of(const void *items, size_t count, size_t bytes)
{
    void *copy = count > 0 ? malloc(count * bytes) : NULL;
    return copy ? memcpy(copy, items, count * bytes) : NULL;
}

bool mh_clock_history_copy(const mh_clock_history *history, mh_history_copy *copy)
{
    const mpix_clock_pair *records = mpix_clock_records(history->file, &copy->record_count);
    copy->records = copy_of(records, copy->record_count, sizeof *records);
    bool is_good = copy->records || copy->record_count == 0;
    copy->has_utc = false;
    for (mpix_clock_id id = 0; id < MPIX_CLOCK_IDS; id++) {
        const mpix_clock_look *looks = mpix_clock_looks(history->file, id, &copy->look_counts[id]);
        copy->looks[id] = copy_of(looks, copy->look_counts[id], sizeof *looks);
        is_good = is_good && (copy->looks[id] || copy->look_counts[id] == 0);
    }
    if (!is_good)
        mh_history_copy_free(copy);
    return is_good;
}

void mh_history_copy_free(mh_history_copy *copy)
{
    free(copy->records);
    for (mpix_clock_id id = 0; id < MPIX_CLOCK_IDS; id++)
        free(copy->looks[id]);
}

/* Lines of a file have no unknown bound: this one, of days, says as much. */
#define USELESS_NS 1e15

/* The longest line of a record, look or word of UTC, without the name of the host. */
enum { LINE_BYTES = 160 };

char *mh_history_copy_lines(const mh_history_copy *copy, const mh_host_names *names, size_t *bytes)
{
    size_t lines = copy->record_count + copy->has_utc;
    for (mpix_clock_id id = 0; id < MPIX_CLOCK_IDS; id++)
        lines += copy->look_counts[id];
    char line[MH_CLOCK_LINE_BYTES], *text = malloc(MH_CLOCK_LINE_BYTES + lines * (strlen(names->name) + LINE_BYTES));
    if (!text)
        return NULL;
    *bytes = mh_clock_host_line(text, names->name, names->boot, MH_HISTORY_LOOK_NS, names->namespace_ns);
    for (size_t i = 0; i < copy->record_count; i++) {
        const mpix_clock_pair *record = &copy->records[i];
        const int64_t bound_ns = (int64_t)ceil(fmin(record->bound_ns, USELESS_NS));
        const size_t length =
            mh_clock_record_line(line, names->name, record->at_ns, record->at_ns + record->ahead_ns, bound_ns);
        memcpy(text + *bytes, line, length);
        *bytes += length;
    }
    for (mpix_clock_id id = 0; id < MPIX_CLOCK_IDS; id++)
        for (size_t i = 0; i < copy->look_counts[id]; i++) {
            const size_t length = mh_clock_look_line(line, names->name, id, copy->looks[id][i]);
            memcpy(text + *bytes, line, length);
            *bytes += length;
        }
    if (copy->has_utc) {
        const size_t length = mh_clock_utc_line(line, names->name, copy->utc, copy->tai_s);
        memcpy(text + *bytes, line, length);
        *bytes += length;
    }
    return text;
}

bool mh_clock_history_has(const mh_clock_history *history, mpix_clock_id clock, int64_t reading_ns)
{
    size_t count;
    const mpix_clock_pair *records = mpix_clock_records(history->file, &count);
    if (clock == MPIX_CLOCK_MONOTONIC_RAW || count == 0)
        return count > 0 && reading_ns <= records[count - 1].at_ns;
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
