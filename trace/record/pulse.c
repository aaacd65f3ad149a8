/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pulse.c - the thread that writes what the program is doing.
 *
 * Calls leave where they are in memory, without a lock, and the thread looks there. What it reads while a call changes
 * it may be of two calls; but where a program hangs, nothing changes. It makes no call of MPI, blocks all signals, and
 * allocates nothing.
 */
#define _GNU_SOURCE
#include "trace/record/pulse.h"

#include "pure/units.h"
#include "trace/record/buffer.h"
#include "trace/record/clock.h"
#include "trace/record/communicators.h"
#include "trace/record/file.h"
#include "trace/record/requests.h"
#include "trace/record/sites.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#define BEAT_NS (250 * MH_NS_PER_MS)

static pthread_t thread;
static bool is_started, is_ending;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* of the end */
static pthread_cond_t end;

static trace_now states[TRACE_MAX_THREADS];
static uint32_t count;

/* The oldest of its unsuccessful calls count, if it is in the same series of them. */
__attribute__((no_sanitize("thread"))) static void look_at(trace_thread *its)
{
    const trace_doing doing = its->doing;
    const trace_run oldest = its->runs[0];
    const int run_count = its->run_count;
    trace_now *now = &states[count];
    *now = (trace_now){.seen_ns = mh_trace_now_ns(),
                       .since_ns = doing.since_ns,
                       .site = doing.id != 0 ? doing.site : 0,
                       .thread = count++,
                       .id = doing.id,
                       .comm = mh_trace_comm_id(doing.comm),
                       .partner = doing.partner < 0 ? -1 : doing.partner};
    if (doing.id != 0 && doing.request != 0)
        mh_trace_tell_request(doing.request, now);
    if (run_count > 0) {
        now->since_ns = oldest.enter_ns;
        now->site = oldest.site;
        now->id = oldest.id;
        now->polls = oldest.count < UINT32_MAX ? (uint32_t)oldest.count : UINT32_MAX;
    }
}

void mh_trace_beat(void)
{
    if (!mh_trace_begin_flush(TRACE_AT_ONCE))
        return;
    count = 0;
    mh_trace_write_limit();
    mh_trace_flush_quiet();
    mh_trace_for_each_thread(look_at);
    mh_trace_write_sites();
    mh_trace_write_one(TRACE_BLOCK_NOW, states, count * sizeof *states);
    mh_trace_end_flush();
}

static void *run(void *unused)
{
    struct timespec next;
    clock_gettime(CLOCK_MONOTONIC, &next);
    pthread_mutex_lock(&mutex);
    while (!is_ending) {
        next.tv_nsec += BEAT_NS;
        next.tv_sec += next.tv_nsec / MH_NS_PER_S;
        next.tv_nsec %= MH_NS_PER_S;
        while (!is_ending && pthread_cond_timedwait(&end, &mutex, &next) == 0)
            ;
        if (!is_ending)
            mh_trace_beat();
    }
    pthread_mutex_unlock(&mutex);
    return unused;
}

void mh_trace_start_pulse(void)
{
    sigset_t all, before;
    pthread_condattr_t by_clock;
    pthread_attr_t small;
    pthread_condattr_init(&by_clock);
    pthread_condattr_setclock(&by_clock, CLOCK_MONOTONIC);
    pthread_cond_init(&end, &by_clock);
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, (size_t)256 * 1024);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    is_started = pthread_create(&thread, &small, run, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (is_started)
        pthread_setname_np(thread, "mpix_trace");
    pthread_attr_destroy(&small);
    pthread_condattr_destroy(&by_clock);
}

void mh_trace_stop_pulse(void)
{
    if (!is_started)
        return;
    pthread_mutex_lock(&mutex);
    is_ending = true;
    pthread_cond_signal(&end);
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, NULL);
    is_started = false;
}
