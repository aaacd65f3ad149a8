/* SPDX-License-Identifier: BSD-3-Clause */
/* base_clock.c - the list of base clocks, the choice of one, its rate and its identity. */
#include "clock/base_clock.h"

#include "base/host.h"
#include "pure/units.h"
#include "clock/base_clock_private.h"
#include "transport/tags.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/timex.h>

/* In the order in which auto prefers them: raw clocks first, because they drift smoothly. */
static const mh_clock_kind *const kinds[] = {
    &mh_clock_tsc,       &mh_clock_cntvct,   &mh_clock_monotonic_raw,
    &mh_clock_monotonic, &mh_clock_realtime, &mh_clock_wtime,
#ifdef MH_WITH_SIMULATED_CLOCK
    &mh_clock_simulated,
#endif
};

enum { KINDS = sizeof kinds / sizeof *kinds, WHY_SIZE = 80 };

_Static_assert(KINDS <= (int)MH_BASE_CLOCKS_MAX, "kinds are numbered below this");

const mh_clock_kind *mh_base_clock_kind(int index)
{
    return index < KINDS ? kinds[index] : NULL;
}

const char *mh_base_clock_choice(int index)
{
    if (index == 0)
        return "auto";
    return index <= KINDS ? kinds[index - 1]->name : NULL;
}

const char *mh_base_clock_name(const mh_base_clock *clock)
{
    return clock->kind->name;
}

/* The kernel changes the length of a tick by at most a tenth (ADJ_TICK of adjtimex). */
#define TICK_LIMIT 0.1

/* An offset that is spread over time (adjtime) changes the rate by at most this. */
#define SPREAD_LIMIT 500e-6

/*
 * The maximum change of the rate of a clock that the kernel corrects. An administrator may order a slew at any time, so
 * the present correction is not a limit.
 */
static double slew_limit(void)
{
    struct timex state = {.modes = 0};
    double frequency_limit = adjtimex(&state) < 0 ? 0 : (double)state.tolerance / 65536 * MH_PPM;
    return TICK_LIMIT + SPREAD_LIMIT + fmax(frequency_limit, 500 * MH_PPM);
}

mh_rates mh_base_clock_rates(const mh_base_clock *clock)
{
    const double wander = MH_WANDER_PPB_PER_S * MH_PPB;
    if (clock->kind->is_raw)
        return (mh_rates){MH_RAW_RATE_LIMIT, true, wander};
    double slew = slew_limit();
    return (mh_rates){(1 + slew) / (1 - slew) * (1 + MH_RAW_RATE_LIMIT) - 1, false, wander};
}

/* Whether the clock reads the same as a clock of the kernel: some MPI libraries use one for MPI_Wtime. */
static bool shows(const mh_base_clock *clock, clockid_t id)
{
    enum { NEAR_NS = 1000 * 1000 };
    int64_t before_ns = mh_base_clock_now_ns(clock), kernel_ns = mh_kernel_clock_ns(id);
    int64_t after_ns = mh_base_clock_now_ns(clock);
    return before_ns - NEAR_NS <= kernel_ns && kernel_ns <= after_ns + NEAR_NS;
}

clockid_t mh_base_clock_steady(const mh_base_clock *clock, double *limit)
{
    bool is_raw = clock->kind->is_raw, is_corrected = shows(clock, CLOCK_MONOTONIC) || shows(clock, CLOCK_REALTIME);
#ifdef CLOCK_MONOTONIC_RAW
    if (is_raw && !shows(clock, CLOCK_MONOTONIC_RAW)) {
        *limit = (1 + MH_RAW_RATE_LIMIT) / (1 - MH_RAW_RATE_LIMIT) - 1;
        return CLOCK_MONOTONIC_RAW;
    }
#endif
    *limit = !is_raw && is_corrected ? 0 : (1 + MH_RAW_RATE_LIMIT) / (1 - slew_limit()) - 1;
    return CLOCK_MONOTONIC;
}

static int64_t measure_read_cost_ns(const mh_base_clock *clock)
{
    enum { BLOCKS = 16, READS = 64 };
    int64_t min_ns = INT64_MAX;
    for (int block = 0; block < BLOCKS; block++) {
        int64_t first_ns = mh_base_clock_now_ns(clock), last_ns = first_ns;
        for (int i = 0; i < READS; i++)
            last_ns = mh_base_clock_now_ns(clock);
        int64_t cost_ns = (last_ns - first_ns + READS - 1) / READS;
        if (cost_ns >= 0 && cost_ns < min_ns) /* below 0: the clock was set back */
            min_ns = cost_ns;
    }
    return min_ns > 0 ? min_ns : 1;
}

static int64_t usable_kinds(char why[KINDS][WHY_SIZE])
{
    int64_t usable = 0;
    for (int i = 0; i < KINDS; i++)
        if (kinds[i]->probe(why[i], WHY_SIZE) == 0)
            usable |= INT64_C(1) << i;
    return usable;
}

int64_t mh_base_clock_usable(void)
{
    char why[KINDS][WHY_SIZE];
    return usable_kinds(why);
}

bool mh_base_clock_is_choice(const mh_base_clock *clock, int choice, int64_t usable)
{
    int number = clock->number;
    bool is_first = !(usable & ((INT64_C(1) << number) - 1));
    return usable >> number & 1 && (choice > 0 ? number == choice - 1 : is_first);
}

/* The index into kinds[] that all processes use. */
static int agree_on_kind(int choice, mh_base_clock *clock, const mh_channel *channel, int *index, mh_error *error)
{
    char why[KINDS][WHY_SIZE];
    int64_t usable = usable_kinds(why), common;
    if (choice > 0) {
        *index = choice - 1;
        snprintf(clock->reason, sizeof clock->reason, "requested");
        if (!(usable >> *index & 1))
            mh_fail(error, MPI_ERR_ARG,
                    "setting clock: '%s' cannot be used on rank %d: %s; allowed: auto, or another clock",
                    kinds[*index]->name, channel->rank, why[*index]);
        return mh_error_agree(error, channel->comm);
    }
    int code = mh_allreduce_and(channel, usable, &common, error);
    if (code != MPI_SUCCESS)
        return code;
    for (*index = 0; !(common >> *index & 1); ++*index)
        ;
    int best = 0;
    while (kinds[best]->is_foreign)
        best++;
    if (*index == best)
        snprintf(clock->reason, sizeof clock->reason, "the first choice");
    else if (usable >> best & 1)
        snprintf(clock->reason, sizeof clock->reason, "another process cannot use %s", kinds[best]->name);
    else
        snprintf(clock->reason, sizeof clock->reason, "%s: %.60s", kinds[best]->name, why[best]);
    return MPI_SUCCESS;
}

/* One calibration for a node, by its first process: two calibrations would make two clocks. */
static int share_scale(mh_base_clock *clock, const mh_channel *channel, const int *node_ranks, int node_size,
                       mh_error *error)
{
    if (!clock->kind->calibrate)
        return MPI_SUCCESS;
    if (channel->rank != node_ranks[0])
        return mh_recv(channel, &clock->scale, sizeof clock->scale, node_ranks[0], MH_TAG_CALIBRATION, error);
    clock->scale = clock->kind->calibrate();
    for (int i = 1; i < node_size; i++) {
        int code = mh_send(channel, &clock->scale, sizeof clock->scale, node_ranks[i], MH_TAG_CALIBRATION, error);
        if (code != MPI_SUCCESS)
            return code;
    }
    return MPI_SUCCESS;
}

int mh_base_clock_open(mh_base_clock *clock, int choice, const mh_channel *channel, const int *node_ranks,
                       int node_size, mh_error *error)
{
    int index;
    memset(clock, 0, sizeof *clock);
    int code = agree_on_kind(choice, clock, channel, &index, error);
    if (code != MPI_SUCCESS)
        return code;
    clock->kind = kinds[index];
    clock->number = index;
    clock->now_ns = clock->kind->now_ns;
    clock->glance_ns = clock->kind->glance_ns ? clock->kind->glance_ns : clock->kind->now_ns;
    clock->may_be_set = clock->kind->may_be_set;
    code = share_scale(clock, channel, node_ranks, node_size, error);
    if (code == MPI_SUCCESS)
        clock->read_cost_ns = measure_read_cost_ns(clock);
    return code;
}

static uint64_t time_namespace(void)
{
    struct stat status;
    return stat("/proc/self/ns/time", &status) == 0 ? (uint64_t)status.st_ino : 0;
}

mh_clock_identity mh_base_clock_identity(const mh_base_clock *clock)
{
    mh_clock_identity identity;
    memset(&identity, 0, sizeof identity);
    identity.boot = mh_hash_boot();
    identity.time_namespace = clock->kind->shifted_by_time_namespace ? time_namespace() : 0;
    identity.kind = mh_hash_text(clock->kind->name);
    identity.scale = clock->scale;
    return identity;
}
