/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * exit_clock.h - the clock by which the exits of different ranks are compared.
 *
 * On one node this is the counter of the processor, which all processes there read alike and which owes nothing to the
 * library under test. Elsewhere the library's own global clock has to do.
 */
#ifndef EXIT_CLOCK_H
#define EXIT_CLOCK_H

#include "common/mpi/machine_clock.h"
#include "common/mpi/world.h"

#include <mpix_harmonize.h>

typedef enum exit_clock_kind {
    EXIT_CLOCK_TSC = MACHINE_CLOCK_TSC,
    EXIT_CLOCK_CNTVCT = MACHINE_CLOCK_CNTVCT,
    EXIT_CLOCK_GLOBAL,
    EXIT_CLOCK_AUTO
} exit_clock_kind_t;
extern const char *const exit_clock_names[]; /* for --truth, NULL after the last */

typedef struct exit_clock {
    exit_clock_kind_t kind; /* not AUTO */
    const char *reason;     /* why it was chosen */
    MPI_Comm comm;
    counter_rate_t rate; /* measured since exit_clock_choose */
    int64_t step_ticks;  /* median difference of successive readings: a smaller skew cannot be distinguished from 0 */
    int64_t bound_ns;    /* of the global clock: the largest that exit_clock_note_bound saw on this rank */
} exit_clock_t;

/*
 * exit_clock_choose - choose a clock, of which only the global one has still to be synchronized. Refuses a counter that
 * the processors of some ranks do not have. Collective.
 *
 * others   what --truth may say instead
 *
 * Returns a status, after a line on rank 0.
 */
int exit_clock_choose(exit_clock_t *clock, const world_t *world, exit_clock_kind_t wanted, const char *others);

/* exit_clock_open - choose a clock and get it ready. Collective. Returns a status; rank 0 has told the reason. */
int exit_clock_open(exit_clock_t *clock, const world_t *world, exit_clock_kind_t wanted);

/* exit_clock_ticks - read the clock. Local. */
static inline int64_t exit_clock_ticks(const exit_clock_t *clock)
{
    if (clock->kind != EXIT_CLOCK_GLOBAL)
        return machine_counter_ticks();
    int64_t time_ns = 0, bound_ns;
    MPIX_Global_time_ns(clock->comm, &time_ns, &bound_ns);
    return time_ns;
}

/* exit_clock_note_bound - take in the bound that the global clock states now. Local. */
void exit_clock_note_bound(exit_clock_t *clock, const world_t *world);

/* exit_clock_tick_ns - the length of a tick, in ns, from all the time since exit_clock_choose. Local. */
double exit_clock_tick_ns(const exit_clock_t *clock);

/* exit_clock_describe - write one line about the clock on rank 0. Collective. */
void exit_clock_describe(const exit_clock_t *clock, const world_t *world, char *text, size_t text_bytes);

#endif
