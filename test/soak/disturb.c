/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * disturb.c - what gets in the way: children of this process that take its processor or stop it, and threads that read
 * clocks.
 */
#include "soak.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Shared with the children. */
typedef struct disturbance {
    _Atomic bool load, stops;
    _Atomic int64_t stopped;
} disturbance;

static disturbance *shared;
static pid_t children[2];

static int64_t steady_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * SOAK_NS_PER_S + now.tv_nsec;
}

static void spin_us(int64_t us)
{
    int64_t end_ns = steady_ns() + us * 1000;
    while (steady_ns() < end_ns)
        ;
}

static void take_processor(pid_t parent, uint64_t random)
{
    (void)parent;
    for (;;) {
        if (shared->load)
            spin_us(200 + soak_below(&random, 5000));
        soak_sleep_us(200 + soak_below(&random, 5000));
    }
}

static void stop_parent(pid_t parent, uint64_t random)
{
    for (;;) {
        soak_sleep_us(10000 + soak_below(&random, 400000));
        if (!shared->stops)
            continue;
        kill(parent, SIGSTOP);
        soak_sleep_us(1000 + soak_below(&random, 40000));
        kill(parent, SIGCONT);
        shared->stopped++;
    }
}

static pid_t start(void (*work)(pid_t, uint64_t), uint64_t random)
{
    pid_t parent = getpid(), child = fork();
    if (child != 0)
        return child;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(0);
    work(parent, random);
    _exit(0);
}

void soak_disturb_begin(uint64_t seed)
{
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        abort();
    uint64_t random = seed + (uint64_t)getpid();
    children[0] = start(take_processor, random_next(&random));
    children[1] = start(stop_parent, random_next(&random));
}

void soak_disturb(bool load, bool stops)
{
    shared->load = load;
    shared->stops = stops;
}

/* A child that has stopped this process cannot be ended before it lets it go on. */
void soak_disturb_end(void)
{
    for (int i = 0; i < 2; i++)
        if (children[i] > 0) {
            kill(children[i], SIGKILL);
            waitpid(children[i], NULL, 0);
        }
    soak_add(SOAK_STOPS, shared->stopped);
    munmap(shared, sizeof *shared);
}

/* ---- Threads */

static pthread_t reader;
static _Atomic bool readers_end;

static void read_burst(soak_slot *slot, int readings)
{
    int64_t bound_ns;
    pthread_mutex_lock(&slot->lock);
    for (int i = 0; i < readings && slot->is_ready; i++) {
        soak_read(slot, &bound_ns);
        soak_add(SOAK_READINGS, 1);
    }
    pthread_mutex_unlock(&slot->lock);
}

static void *read_clocks(void *state)
{
    uint64_t random = *(uint64_t *)state;
    while (!readers_end) {
        read_burst(&soak_slots[soak_below(&random, SOAK_SLOTS)], 1 + (int)soak_below(&random, 100));
        soak_sleep_us(soak_below(&random, 1000));
    }
    return NULL;
}

void soak_readers_begin(uint64_t seed)
{
    static uint64_t random;
    random = seed + (uint64_t)soak_rank;
    if (pthread_create(&reader, NULL, read_clocks, &random) != 0)
        abort();
}

void soak_readers_end(void)
{
    readers_end = true;
    pthread_join(reader, NULL);
}
