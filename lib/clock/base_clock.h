/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * base_clock.h - the clocks of a process that the global clock is built on.
 *
 * The members of the family are registered in base_clock.c; base_clock_private.h is for them alone.
 */
#ifndef MH_BASE_CLOCK_H
#define MH_BASE_CLOCK_H

#include "transport/message.h"
#include "pure/model.h"
#include "pure/units.h"

#include <stdint.h>
#include <time.h>

struct mh_clock_kind;

/* Ticks of a counter as nanoseconds in fixed point: ns = ticks * ns_per_tick, with MH_SCALE_BITS fraction bits. */
enum { MH_SCALE_BITS = 48 };

typedef struct mh_tick_scale {
    uint64_t ns_per_tick;
    uint64_t ticks_per_ns;
} mh_tick_scale;

/* A bit for each kind fits into an int64_t. A simulated clock may be alone: not even one process has it twice. */
enum { MH_BASE_CLOCKS_MAX = 63, MH_BASE_CLOCK_ALONE = -1 };

typedef struct mh_base_clock mh_base_clock;

struct mh_base_clock {
    const struct mh_clock_kind *kind;              /* NULL: not opened */
    int number;                                    /* of the kind, below MH_BASE_CLOCKS_MAX; or MH_BASE_CLOCK_ALONE */
    int64_t (*now_ns)(const mh_base_clock *clock); /* copied from the kind, which saves a memory access */
    int64_t (*glance_ns)(const mh_base_clock *clock);
    bool may_be_set;     /* an administrator may set it, ahead or back */
    mh_tick_scale scale; /* zero for clocks that count nanoseconds */
    int64_t read_cost_ns;
    char reason[80]; /* why it is in use */
};

/* Two processes with equal identities share a clock if an exchange of messages confirms it. */
typedef struct mh_clock_identity {
    uint64_t boot;           /* of the kernel's boot id */
    uint64_t time_namespace; /* if it shifts this clock; else 0 */
    uint64_t kind;
    mh_tick_scale scale;
} mh_clock_identity;

/* Names for the setting: "auto", then the members in the order in which auto prefers them; NULL past the last. */
const char *mh_base_clock_choice(int index);

/*
 * Open the base clock that choice (an index into the list above) names, the same kind on all processes of channel, with
 * one calibration for all processes of a node. node_ranks lists the processes of this one's node, lowest rank first,
 * and is the same on all of them. Collective. Errors, the same on all: MPI_ERR_ARG when a process cannot use the clock
 * asked for; the message says which and why.
 */
int mh_base_clock_open(mh_base_clock *clock, int choice, const mh_channel *channel, const int *node_ranks,
                       int node_size, mh_error *error);

/* The kinds of clocks that this process can use, as a bit for each. */
int64_t mh_base_clock_usable(void);

/* Whether an opened clock is the one to open for a choice, of the kinds that all processes can use. */
bool mh_base_clock_is_choice(const mh_base_clock *clock, int choice, int64_t usable);

/* The name of an opened clock. */
const char *mh_base_clock_name(const mh_base_clock *clock);

/* The rates of two such clocks, of this process and of another one. */
mh_rates mh_base_clock_rates(const mh_base_clock *clock);

/*
 * A clock of the kernel that cannot be set, to detect steps of this one by: CLOCK_MONOTONIC_RAW, which is never slewed,
 * for another raw clock, else CLOCK_MONOTONIC. limit: how far the rate of this clock may be from it, as a part of it.
 * The kernel corrects its own clocks in the same way, so for these the limit is 0.
 */
clockid_t mh_base_clock_steady(const mh_base_clock *clock, double *limit);

/* Read the clock, nanoseconds. Never decreases unless it is set (may_be_set). */
static inline int64_t mh_base_clock_now_ns(const mh_base_clock *clock)
{
    return clock->now_ns(clock);
}

/*
 * Read an opened clock without waiting until earlier instructions are complete, which takes half the time on some
 * processors. The reading may be some tens of nanoseconds early, and less than one before it.
 */
static inline int64_t mh_base_clock_glance_ns(const mh_base_clock *clock)
{
    return clock->glance_ns(clock);
}

/* Read a clock of the kernel. */
static inline int64_t mh_kernel_clock_ns(clockid_t id)
{
    struct timespec now;
    clock_gettime(id, &now);
    return (int64_t)now.tv_sec * MH_NS_PER_S + now.tv_nsec;
}

/* What identifies the clock of this process. */
mh_clock_identity mh_base_clock_identity(const mh_base_clock *clock);

#endif
