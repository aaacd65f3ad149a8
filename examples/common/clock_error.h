/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * clock_error.h - how far the global clock of a rank is from that of rank 0, by messages and, if there is one, by a
 * clock that both share.
 *
 * Messages say it up to a half width that holds whatever their delays are; see burst.h.
 */
#ifndef CLOCK_ERROR_H
#define CLOCK_ERROR_H

#include "exit_clock.h"
#include "world.h"

#include <stdint.h>

/* The global clock beside the shared one, read at one instant, as nearly as may be. */
typedef struct clock_pair {
    int64_t ticks;
    int64_t width_ticks; /* from the reading of the shared clock before to that after; negative: there is none */
    int64_t global_ns;
} clock_pair_t;

/* Global time of a rank less that of rank 0. */
typedef struct clock_error {
    int64_t error_ns;
    int64_t half_width_ns; /* the error may be off by this */
    int64_t bound_ns;      /* what the library states for both ranks together; INT64_MAX: nothing */
    clock_pair_t rank;
    clock_pair_t rank_0;
} clock_error_t;

typedef struct clock_meter {
    const world_t *world;       /* its communicator is the one whose clock is measured */
    MPI_Comm comm;              /* for the messages */
    const exit_clock_t *shared; /* NULL if there is none */
    int64_t exchanges;          /* round trips, after BURST_DISCARDED others */
} clock_meter_t;

/* clock_error_ask - measure the error of a rank, on rank 0, while that rank is in clock_error_answer. */
void clock_error_ask(const clock_meter_t *meter, int rank, clock_error_t *error);

/* clock_error_answer - the other side of clock_error_ask. */
void clock_error_answer(const clock_meter_t *meter);

/* clock_error_true_ns - the error by the shared clock, whose ticks are so long. */
double clock_error_true_ns(const clock_error_t *error, double tick_ns);

/* clock_error_true_half_width_ns - what that may be off by. */
double clock_error_true_half_width_ns(const clock_error_t *error, double tick_ns);

/* clock_error_violates_bound - whether either measurement shows the error to be above the stated bound. */
bool clock_error_violates_bound(const clock_error_t *error, double tick_ns);

#endif /* CLOCK_ERROR_H */
