/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * virtual_world.h - any number of processes and their messages, in one thread and in virtual time.
 *
 * virtual_world.c takes the place of transport/message.c: what the library sends takes the virtual time that the world
 * says. Each process is a coroutine that runs until it has to receive a message that has not been sent yet; then another
 * one runs. As each message names its sender, and each process has a time and chance of its own, results do not depend
 * on who runs when: only on the seed. The truth is known: it is the virtual time.
 */
#ifndef MH_TEST_VIRTUAL_WORLD_H
#define MH_TEST_VIRTUAL_WORLD_H

#include "support.h"

#include <stddef.h>
#include <stdint.h>

typedef struct virtual_world virtual_world;

struct virtual_world {
    int processes;
    size_t stack_bytes;  /* of a process, in pages; 0: what the library's own functions need, and tests of some size */
    int64_t overhead_ns; /* a message takes so much time of its sender and of its receiver */
    int64_t (*delay_ns)(const virtual_world *world, int from, int to); /* called by the sender */
    void (*body)(const virtual_world *world, int rank);
};

/* The process that runs. */
typedef struct virtual_process {
    int rank;
    int64_t now_ns;                /* virtual time: that of each process is its own; messages bring it forward */
    int64_t messages, collectives; /* sent between two processes, and as parts of a collective operation */
    chance dice;
} virtual_process;

virtual_process *virtual_self(void);

/* Run all processes until they end. They begin with the time and chance that these functions of the world's user set. */
void virtual_run(const virtual_world *world, void (*begin)(const virtual_world *world, virtual_process *process));

#endif
