/* SPDX-License-Identifier: BSD-3-Clause */
/* watch.c - readings of the base clock and a steady clock in pairs, and steps found by their differences. */
#include "clock/watch.h"

#include <stdatomic.h>

/* Clocks that cannot normally be set are compared rarely. */
enum { SELDOM_NS = 10 * 1000 * 1000 };

/* Rounding of the two clocks alone can make them differ by this much. */
enum { MIN_STEP_NS = 1000 };

/*
 * For each kind of base clock, by CLOCK_MONOTONIC_RAW or by CLOCK_MONOTONIC as the steady clock: a watch of this
 * process found a step after this time of the steady clock. Watches that looked last before then know of the step,
 * too. By themselves, they may look so late that the step would pass for a slew.
 */
static _Atomic int64_t stepped_after_ns[MH_BASE_CLOCKS_MAX][2] = {
    [0 ... MH_BASE_CLOCKS_MAX - 1] = {INT64_MIN, INT64_MIN}};

/*
 * Read the base clock between two readings of the steady clock. The shortest bracket of some tries counts, because a
 * process may be descheduled in any of them.
 */
static void read_both(mh_clock_watch *watch, const mh_base_clock *base)
{
    enum { TRIES = 4, TIGHT_READS = 10 };
    int64_t tight_ns = TIGHT_READS * base->read_cost_ns;
    watch->coarse_ns = mh_clock_watch_coarse_ns();
    watch->doubt_ns = INT64_MAX;
    for (int i = 0; i < TRIES && watch->doubt_ns > tight_ns; i++) {
        int64_t before_ns = mh_kernel_clock_ns(watch->steady), base_ns = mh_base_clock_now_ns(base);
        int64_t after_ns = mh_kernel_clock_ns(watch->steady);
        if (after_ns - before_ns >= watch->doubt_ns)
            continue;
        watch->base_ns = base_ns;
        watch->steady_ns = before_ns;
        watch->doubt_ns = after_ns - before_ns;
    }
}

void mh_clock_watch_start(mh_clock_watch *watch, const mh_base_clock *base)
{
    watch->every_ns = base->may_be_set ? 0 : SELDOM_NS;
    watch->steady = mh_base_clock_steady(base, &watch->steady_limit);
    read_both(watch, base);
}

int64_t mh_clock_watch_look(mh_clock_watch *watch, const mh_base_clock *base)
{
    mh_clock_watch last = *watch;
    read_both(watch, base);
    int64_t passed_ns = watch->steady_ns - last.steady_ns, ahead_ns = watch->base_ns - last.base_ns - passed_ns;
    double explained_ns = watch->steady_limit * (double)passed_ns + (double)(last.doubt_ns + watch->doubt_ns);
    int64_t size_ns = ahead_ns < 0 ? -ahead_ns : ahead_ns;
    const bool is_stepped = (double)size_ns > explained_ns + MIN_STEP_NS;
    if (base->number == MH_BASE_CLOCK_ALONE)
        return is_stepped ? ahead_ns : 0;
    _Atomic int64_t *after_ns = &stepped_after_ns[base->number][last.steady == CLOCK_MONOTONIC];
    int64_t known_ns = atomic_load(after_ns);
    if (!is_stepped && last.steady_ns > known_ns)
        return 0;
    while (last.steady_ns > known_ns && !atomic_compare_exchange_weak(after_ns, &known_ns, last.steady_ns))
        ;
    return ahead_ns != 0 ? ahead_ns : 1;
}
