/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * soak.c - random mixes of calls, beside load, stops, steps of clocks and threads, with the invariants held against
 * true time and shared memory.
 *
 * Usage: soak [SECONDS [SEED]], all processes on one machine. An even seed has clocks that are one but for their steps;
 * an odd one has clocks that drift apart. Prints tables in Markdown; progress goes to standard error if that is a
 * terminal. Status 1: an invariant does not hold.
 */
#include "soak.h"

#include "simulation/simulated.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int soak_rank, soak_ranks;
char soak_place[640];

/* A phase that takes longer hangs. */
enum { MAX_PHASE_S = 180 };

void soak_check_mpi(int code, const char *call)
{
    if (code == MPI_SUCCESS)
        return;
    fprintf(stderr, "soak: %.*s failed on rank %d: %s\n", (int)strcspn(call, "("), call, soak_rank, soak_place);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

void soak_complain(const char *format, ...)
{
    enum { MOST = 10 };
    static _Atomic int complaints;
    char text[256];
    va_list values;
    if (complaints++ >= MOST)
        return;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    fprintf(stderr, "soak: rank %d: %s; %s\n", soak_rank, text, soak_place);
}

void soak_sleep_us(int64_t us)
{
    struct timespec wait = {us / 1000000, us % 1000000 * 1000};
    nanosleep(&wait, NULL);
}

static void tell_hang(int signal)
{
    static const char text[] = "soak: hangs; ";
    (void)signal;
    if (write(STDERR_FILENO, text, sizeof text - 1) < 0 || write(STDERR_FILENO, soak_place, strlen(soak_place)) < 0)
        _exit(1);
    abort();
}

/* Before the first reading. */
static void describe_clock(uint64_t seed)
{
    char text[256];
    int64_t origin_ns = mh_simulated_true_ns();
    SOAK_TRY(MPI_Bcast(&origin_ns, 1, MPI_INT64_T, 0, MPI_COMM_WORLD));
    snprintf(text, sizeof text, "origin=%ld,seed=%lu,jump_every=3e8,jump_most=3.6e12,jump_ranks=%d%s", (long)origin_ns,
             (unsigned long)seed, soak_ranks, seed % 2 ? ",exact=rank0,offset=5e6,drift=10000,walk=10" : "");
    setenv("MH_SIMULATED_CLOCK", text, 1);
}

static bool is_long_enough(int64_t begun_ns, double part, int seconds)
{
    int enough = (double)(mh_simulated_true_ns() - begun_ns) >= part * seconds * 1e9;
    SOAK_TRY(MPI_Bcast(&enough, 1, MPI_INT, 0, MPI_COMM_WORLD));
    return enough;
}

static int64_t run_phase(int phase, int64_t number, uint64_t *agreed, uint64_t *own)
{
    static const char *const kinds[] = {"world", "self", "dup", "split by parity", "reversed", "cart"};
    soak_slot *slot = &soak_slots[soak_below(agreed, SOAK_SLOTS)];
    bool load = soak_one_in(agreed, 3), stops = soak_one_in(agreed, 4);
    alarm(MAX_PHASE_S);
    soak_disturb(load, stops);
    if (soak_one_in(agreed, 2))
        soak_slot_free(slot);
    soak_slot_make(slot, agreed);
    if (slot->settings[0] == '\0' || soak_one_in(agreed, 3))
        soak_slot_set(slot, agreed);
    snprintf(soak_place, sizeof soak_place, "phase %d, %s%s%s,%s\n", phase, kinds[slot->kind], load ? ", load" : "",
             stops ? ", stops" : "", slot->settings);
    return soak_batch(slot, number, agreed, own);
}

/* The first quarter is there to warm up: what the MPI library keeps has been made once. */
static void run(int seconds, uint64_t seed)
{
    uint64_t agreed = seed, own = seed + 1000 + (uint64_t)soak_rank;
    int64_t begun_ns = mh_simulated_true_ns(), number = 1;
    bool is_warm = false;
    soak_resources before, after;
    for (int phase = 0; !is_long_enough(begun_ns, 1, seconds) || !is_warm; phase++) {
        if (!is_warm && is_long_enough(begun_ns, 0.25, seconds)) {
            soak_slots_drain();
            before = soak_resources_now();
            is_warm = true;
        }
        number = run_phase(phase, number, &agreed, &own);
        int64_t control_ns = soak_agree_on_control();
        if (soak_rank == 0 && phase % 20 == 0 && isatty(STDERR_FILENO))
            fprintf(stderr, "\rphase %d, %d s, longest first call %ld ms ", phase,
                    (int)((mh_simulated_true_ns() - begun_ns) / SOAK_NS_PER_S), (long)(control_ns / SOAK_NS_PER_MS));
    }
    soak_slots_drain();
    after = soak_resources_now();
    soak_judge_resources(&before, &after);
}

int main(int argc, char **argv)
{
    int seconds = argc > 1 ? atoi(argv[1]) : 20, provided;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    int64_t stepped_ns;
    char title[200];
    soak_disturb_begin(seed);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &soak_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &soak_ranks);
    signal(SIGALRM, tell_hang);
    describe_clock(seed);
    soak_slots_begin();
    soak_calls_begin();
    if (provided >= MPI_THREAD_MULTIPLE)
        soak_readers_begin(seed);
    run(seconds, seed);
    if (provided >= MPI_THREAD_MULTIPLE)
        soak_readers_end();
    soak_disturb_end();
    alarm(0);
    soak_add(SOAK_STEPS, mh_simulated_jumps(&stepped_ns));
    soak_calls_end();
    snprintf(title, sizeof title,
             "\n%d processes, %d s, seed %lu, clocks that %s, threads %s, longest first call %ld ms:", soak_ranks,
             seconds, (unsigned long)seed, seed % 2 ? "drift apart" : "are one",
             provided >= MPI_THREAD_MULTIPLE ? "read" : "not provided",
             (long)(soak_agree_on_control() / SOAK_NS_PER_MS));
    bool holds = soak_report(title);
    MPI_Finalize();
    return holds ? 0 : 1;
}
