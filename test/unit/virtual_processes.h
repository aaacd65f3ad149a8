/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * virtual_processes.h - processes with clocks of their own and a network with delays, in one program and in virtual
 * time.
 *
 * virtual_world.h runs them: what the library sends goes through the simulated network, and takes virtual time that
 * chance decides. Results depend on the seed alone. The truth is known: it is the virtual time.
 */
#ifndef MH_TEST_VIRTUAL_PROCESSES_H
#define MH_TEST_VIRTUAL_PROCESSES_H

#include "transport/message.h"
#include "clock/base_clock.h"
#include "pure/topology.h"
#include "support.h"
#include "sync/sync.h"

#include <stdbool.h>
#include <stdint.h>

enum { SIMULATED_MOST = 32 };

/* A clock: local = true + offset + drift * true, with another drift later on. */
typedef struct simulated_clock {
    int64_t offset_ns;
    double drift, later_drift;
    int64_t later_ns;   /* true time from which the later drift holds */
    int64_t step_ns;    /* somebody sets the clock ahead by so much, once, */
    int64_t step_at_ns; /* at this true time */
} simulated_clock;

typedef struct simulated_network {
    int64_t near_ns, far_ns; /* least delay within a node, and between nodes */
    double jitter_ns;        /* mean of an exponential distribution */
    double lopsided;         /* far messages to higher ranks take this many times as long as those to lower ones */
    double stalls;           /* the fraction of messages that take a millisecond longer, or more */
} simulated_network;

typedef struct simulation {
    int processes;
    int node[SIMULATED_MOST];
    simulated_clock clocks[SIMULATED_MOST];
    bool clocks_are_raw;
    simulated_network network;
    double descheduled; /* the fraction of waits for a deadline that end a millisecond late, or more */
    int64_t fails_from; /* as for virtual_world.h */
    int round;          /* of chance */
} simulation;

/* What a process does. */
typedef void (*simulated_process)(const simulation *world, const mh_channel *channel, const mh_base_clock *clock,
                                  void *argument);

/* Run all processes until they end. */
void simulate(const simulation *world, simulated_process process, void *argument);

/* In a process: the virtual time, and letting some of it pass. */
int64_t simulated_now_ns(void);
void simulated_pass_ns(int64_t time_ns);

/* A clock anywhere within 1000 s, whose drift is within this of zero and stays. */
simulated_clock simulated_random_clock(chance *dice, double drift_spread);

/* What the clock of a process reads at a virtual time. */
int64_t simulated_clock_ns(const simulation *world, int rank, int64_t true_ns);

/* The lists that sites point to. */
typedef struct simulated_lists {
    int leaders[SIMULATED_MOST], node[SIMULATED_MOST];
    mh_place places[SIMULATED_MOST];
} simulated_lists;

/* What a process knows of a communicator that has these members, in the order of its ranks; NULL: all processes. */
mh_sites simulated_sites(const simulation *world, const int *members, int count, int self, simulated_lists *lists);

/* The plan of such a process for a label. */
mh_sync_plan simulated_plan(const simulation *world, const int *members, int count, int self, const char *label,
                            const mh_base_clock *clock);

#endif
