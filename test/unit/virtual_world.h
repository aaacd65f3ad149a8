/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * virtual_world.h - any number of processes and their messages, in one thread and in virtual time.
 *
 * virtual_world.c takes the place of transport/message.c: what the library sends takes the virtual time that the world
 * says. Each process is a coroutine that runs until it has to receive a message that has not been sent yet. Then
 * another one runs. As each message names its sender, and each process has a time and chance of its own, results depend
 * on the seed alone, and not on who runs when. The truth is known: it is the virtual time.
 */
#ifndef MH_TEST_VIRTUAL_WORLD_H
#define MH_TEST_VIRTUAL_WORLD_H

#include "support.h"

#include <stddef.h>
#include <stdint.h>

typedef struct virtual_process {
    int rank;
    int64_t now_ns;      /* virtual time: that of each process is its own; messages bring it forward */
    int64_t messages;    /* that it has sent to another one */
    int64_t collectives; /* and as parts of collective operations */
    int failures;        /* operations that failed */
    chance dice;
} virtual_process;

typedef struct virtual_world virtual_world;

typedef struct virtual_world {
    int processes;
    size_t stack_bytes;  /* of a process; 0: enough for the library, and tests of some size */
    int64_t overhead_ns; /* a message takes so much time of its sender and of its receiver */
    int64_t fails_from;  /* from this operation on, all fail, and those under way; 0: none */
    /* Before it runs: its time, and its chance. */
    void (*begin)(const virtual_world *world, virtual_process *process);
    void (*run)(const virtual_world *world, virtual_process *process);
    /* When the message arrives that a process sends now. It may also take time of the process. */
    int64_t (*arrival_ns)(const virtual_world *world, virtual_process *from, int to);
} virtual_world;

/* The process that runs; NULL: none. */
virtual_process *virtual_self(void);

/* Run all processes until they end. */
void virtual_run(const virtual_world *world);

#endif
