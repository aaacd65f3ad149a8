/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * logical_clock.h - the controlled logical clock: moves events as little as necessary, so that none is before what it
 * had to wait for. Pure.
 *
 * After R. Rabenseifner, "The controlled logical clock - a global time for trace based software monitoring of parallel
 * applications in workstation clusters", 1997, and its extension to collective operations by D. Becker and others.
 */
#ifndef TRACE_LOGICAL_CLOCK_H
#define TRACE_LOGICAL_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Something at one time on one process. */
typedef struct {
    size_t node;
    int rank;
} logical_member;

/*
 * None of members[after .. end) is before any of members[before .. after) and the latency. Members of one rank do not
 * wait for each other, but in a rule of one rank, and then without the latency. A message is a rule of two members.
 */
typedef struct {
    size_t before, after, end;
} logical_rule;

/* The latest two of several times, of different ranks: the latest of all ranks but one follows. */
typedef struct {
    int64_t best_ns, second_ns;
    int best_rank;
    size_t best;
    size_t second;
} logical_latest;
#define LOGICAL_NONE_NS INT64_MIN

void logical_latest_begin(logical_latest *latest);
void logical_latest_add(logical_latest *latest, int64_t time_ns, logical_member member);

/* LOGICAL_NONE_NS if there is no other rank. */
int64_t logical_latest_but(const logical_latest *latest, int rank);

typedef struct {
    size_t location_count;
    const size_t *first; /* nodes first[i] .. first[i + 1] are one location, in order */
    int64_t *time_ns;    /* by node: measured, and then corrected */
    size_t rule_count;
    const logical_rule *rules;
    const logical_member *members;
    int64_t latency_ns;
} logical_problem;

/*
 * Correct the times. False: some nodes would have to wait for themselves, and nothing is changed.
 *
 * ratio   how much longer or shorter a local interval may become, where that is needed to return to the measured times;
 *         only a wait for others may become longer by more
 */
bool logical_clock(const logical_problem *problem, double ratio);

#endif
