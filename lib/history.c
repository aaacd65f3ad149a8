/* SPDX-License-Identifier: BSD-3-Clause */
/* history.c - looks at the clocks of this host, and when they are taken. */
#include "history.h"

#include "clock/host_clocks.h"
#include "pure/units.h"
#include "pure/utc_word.h"

#include <math.h>

void mh_history_init(mh_history *history)
{
    pthread_mutex_init(&history->lock, NULL);
    history->kept.most = 2;
}

void mh_history_free(mh_history *history)
{
    mh_clock_history_free(&history->kept);
}

/* Of several readings between two of MONOTONIC_RAW, the one that took least. */
static mh_look look_at(mpix_clock_id id)
{
    enum { TRIES = 3 };
    const clockid_t raw = mh_host_clock_posix(MPIX_CLOCK_MONOTONIC_RAW), other = mh_host_clock_posix(id);
    mh_look best = {.half_ns = INT64_MAX, .bend_ns = -1};
    int64_t before_ns = mh_kernel_clock_ns(raw);
    for (int i = 0; i < TRIES; i++) {
        const int64_t at_ns = mh_kernel_clock_ns(other), after_ns = mh_kernel_clock_ns(raw);
        const int64_t width_ns = after_ns - before_ns;
        if (width_ns >= 0 && (width_ns + 1) / 2 < best.half_ns)
            best = (mh_look){at_ns, before_ns + width_ns / 2, (width_ns + 1) / 2, -1};
        before_ns = after_ns;
    }
    return best;
}

/* Of clocks that the kernel corrects, nothing is known about how the drift may change. */
void mh_history_limits(const mh_comm_clock *clock, double *rate_limit, double *wander_per_s)
{
    const mh_rates rates = mh_base_clock_rates(&clock->global.base);
    *rate_limit = rates.are_raw ? rates.limit : rates.limit + MH_RAW_RATE_LIMIT;
    *wander_per_s = rates.are_raw ? clock->settings.wander : INFINITY;
}

static void limit(mh_clock_history *kept, const mh_comm_clock *clock)
{
    double rate_limit, wander_per_s;
    mh_history_limits(clock, &rate_limit, &wander_per_s);
    mpix_clock_limit(kept->file, rate_limit, wander_per_s);
}

void mh_history_limit(mh_history *history, const mh_comm_clock *clock)
{
    pthread_mutex_lock(&history->lock);
    if (history->kept.file)
        limit(&history->kept, clock);
    pthread_mutex_unlock(&history->lock);
}

static bool begin(mh_clock_history *kept, const mh_comm_clock *clock)
{
    if (!kept->file && mh_clock_history_begin(kept, clock->epoch_unix_ns))
        limit(kept, clock);
    return kept->file;
}

static mh_history_record record_now(mh_global_clock *clock)
{
    const mh_clock_pair pair = mh_global_clock_pair(clock, mh_host_clock_posix(MPIX_CLOCK_MONOTONIC_RAW));
    return (mh_history_record){pair.beside_ns, pair.reading.time_ns, pair.reading.bound_ns};
}

/*
 * Whether the clock was found wrong, or moved, since the last synchronization: then nothing is known about the time
 * since, and the records from then are dropped.
 */
static bool is_disproved(mh_history *history, const mh_comm_clock *clock)
{
    const bool is = clock->disruptions != history->disruptions || clock->moves != history->moves;
    if (is)
        mh_clock_history_drop_after(&history->kept, history->synced_raw_ns);
    return is;
}

static void look(mh_clock_history *kept, mpix_clock_id id, bool passes)
{
    if (id != MPIX_CLOCK_MONOTONIC_RAW && mh_host_clock_is_there(id))
        mh_clock_history_look(kept, id, look_at(id), passes);
}

static void keep(mh_history *history, mh_comm_clock *clock)
{
    mh_clock_history *kept = &history->kept;
    mh_clock_history_sync(kept, mh_kernel_clock_ns(mh_host_clock_posix(MPIX_CLOCK_MONOTONIC_RAW)));
    for (mpix_clock_id id = 0; id < MPIX_CLOCK_IDS; id++)
        look(kept, id, false);
    const mh_history_record now = record_now(&clock->global);
    if (is_disproved(history, clock))
        mh_clock_history_add(kept, (mh_history_record){now.raw_ns - 1, now.time_ns - 1, MH_TIME_UNKNOWN_NS}, false);
    mh_clock_history_add(kept, now, false);
    history->synced_raw_ns = now.raw_ns;
    history->disruptions = clock->disruptions;
    history->moves = clock->moves;
}

void mh_history_keep(mh_history *history, mh_comm_clock *clock, size_t most)
{
    pthread_mutex_lock(&history->lock);
    history->kept.most = most;
    if (begin(&history->kept, clock))
        keep(history, clock);
    pthread_mutex_unlock(&history->lock);
}

/* What a conversion learns. Another thread may have published what moves the clock, and not have kept it yet. */
static void learn(mh_history *history, mh_comm_clock *clock)
{
    mh_history_record now = record_now(&clock->global);
    if (is_disproved(history, clock))
        now.bound_ns = MH_TIME_UNKNOWN_NS;
    mh_clock_history_add(&history->kept, now, true);
}

char *mh_history_lines(mh_history *history, mh_comm_clock *clock, const mh_host_names *names, size_t *bytes)
{
    mh_clock_history *kept = &history->kept;
    /* Before the last record, so that it is between two. */
    const mh_utc_word word = mh_utc_word_ask();
    const mpix_clock_utc_look utc = mh_utc_word_look(word, look_at(MPIX_CLOCK_REALTIME));
    mh_history_copy copy;
    bool is_good = false;
    pthread_mutex_lock(&history->lock);
    if (begin(kept, clock)) {
        for (mpix_clock_id id = 0; id < MPIX_CLOCK_IDS; id++)
            look(kept, id, true);
        learn(history, clock);
        is_good = mh_clock_history_copy(kept, &copy);
    }
    pthread_mutex_unlock(&history->lock);
    if (!is_good)
        return NULL;
    copy.has_utc = true;
    copy.utc = utc;
    copy.tai_s = word.tai_s;
    char *lines = mh_history_copy_lines(&copy, names, bytes);
    mh_history_copy_free(&copy);
    return lines;
}

bool mh_history_convert(mh_history *history, mh_comm_clock *clock, mpix_clock_id id, int64_t reading_ns,
                        mpix_clock_time *time)
{
    mh_clock_history *kept = &history->kept;
    pthread_mutex_lock(&history->lock);
    const bool is_good = begin(kept, clock);
    if (is_good && (is_disproved(history, clock) || !mh_clock_history_has(kept, id, reading_ns))) {
        look(kept, id, true);
        learn(history, clock);
    }
    if (is_good)
        *time = mh_clock_history_convert(kept, id, reading_ns);
    pthread_mutex_unlock(&history->lock);
    return is_good;
}
