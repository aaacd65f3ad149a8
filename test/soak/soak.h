/* SPDX-License-Identifier: BSD-3-Clause */
/* soak.h - what the parts of the soak share. See soak.c. */
#ifndef SOAK_H
#define SOAK_H

#include "pure/random.h"

#include <mpix_harmonize.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { SOAK_MOST_RANKS = 16, SOAK_MOST_CALLS = 64, SOAK_SLOTS = 10 };

#define SOAK_NS_PER_MS INT64_C(1000000)
#define SOAK_NS_PER_S INT64_C(1000000000)

/* ---- Draws. Those of the agreed state are the same on all processes. */

/* Uniform in [0, limit). */
static inline int64_t soak_below(uint64_t *state, int64_t limit)
{
    return (int64_t)((random_next(state) >> 8) % (uint64_t)limit);
}

static inline bool soak_one_in(uint64_t *state, int64_t limit)
{
    return soak_below(state, limit) == 0;
}

/* ---- Invariants, each with how often it was checked */

typedef enum soak_check {
    SOAK_RELEASE,  /* all have arrived when a call returns */
    SOAK_FLAG,     /* no valid process left before the latest arrival */
    SOAK_DEADLINE, /* nor before the deadline */
    SOAK_TOGETHER, /* exits of valid processes are apart no more often than plain code is interrupted */
    SOAK_MONOTONE,
    SOAK_BOUND,
    SOAK_PASSING,        /* global time goes on after a step */
    SOAK_FIRST_DURATION, /* of calls that synchronize from the start */
    SOAK_DURATION,
    SOAK_MEMORY,
    SOAK_DESCRIPTORS,
    SOAK_MAPPINGS,
    SOAK_SHARED_MEMORY,
    SOAK_CHECKS
} soak_check;

/* Count a check: its value may be at most so much. Any thread. Returns whether it holds. */
bool soak_judge(soak_check check, int64_t value, int64_t most);

/* What is counted without being judged. */
typedef enum soak_count {
    SOAK_CALLS,
    SOAK_VALID_CALLS,
    SOAK_SYNCS,
    SOAK_COMMUNICATORS,
    SOAK_STEPS,
    SOAK_STOPS,
    SOAK_READINGS,    /* of threads */
    SOAK_PAIRED,      /* calls with two valid processes or more and known bounds */
    SOAK_INTERRUPTED, /* of these: exits apart by more than tolerance and bounds explain */
    SOAK_LONG,        /* of these: by more than a microsecond */
    SOAK_PLAIN,       /* pieces of plain code as long as from the last reading to the exit, */
    SOAK_PLAIN_LONG,  /* and of these so many that took a microsecond more */
    SOAK_SWITCHED,    /* of these: the latest process was descheduled between its arrival and its exit */
    SOAK_NOT_JUDGED,  /* calls during which a clock was stepped, so that no bound holds */
    SOAK_COUNTS
} soak_count;

void soak_add(soak_count count, int64_t number);

/* Time a piece of plain code, as a control. */
void soak_time_plain_code(void);

/* An interruption after the last reading, for the distribution of how long these are. */
void soak_note_interruption(int64_t excess_ns);

/* Collective over the world; rank 0 prints the tables. Returns whether every invariant holds. */
bool soak_report(const char *title);

/* ---- Communicators */

typedef enum soak_kind { SOAK_WORLD, SOAK_SELF, SOAK_DUP, SOAK_PARITY, SOAK_REVERSED, SOAK_CART } soak_kind;

typedef struct soak_slot {
    pthread_mutex_t lock; /* held by a thread that reads, and by who frees the communicator */
    MPI_Comm comm;
    soak_kind kind;
    bool is_made, is_fresh;                   /* fresh: the next call synchronizes as the first one does */
    bool is_ready;                            /* its clock may be read; under the lock */
    _Atomic int64_t latest_ns;                /* greatest reading of this process so far */
    int rank, size, members[SOAK_MOST_RANKS]; /* members: ranks in the world */
    char settings[256];
} soak_slot;

extern soak_slot soak_slots[SOAK_SLOTS];

void soak_slots_begin(void);
/* Make a communicator in the slot unless there is one. */
void soak_slot_make(soak_slot *slot, uint64_t *agreed);
void soak_slot_free(soak_slot *slot);
/* Free all that can be freed. */
void soak_slots_drain(void);
/* Draw some settings. */
void soak_slot_set(soak_slot *slot, uint64_t *agreed);

/* Read the clock; judged against all readings that this process has made before. */
int64_t soak_read(soak_slot *slot, int64_t *bound_ns);

/* ---- Calls */

typedef struct soak_record {
    int64_t jumps_before, jumps_after;
    int64_t arrived_ns, left_ns; /* true time just before and just after the call */
    int64_t global_ns, bound_ns; /* read after the call, */
    int64_t read_ns, width_ns;   /* at this true time, give or take half the width */
    int64_t slack_ns, tolerance_ns;
    int64_t switches,
        delay_ns; /* how often the process was descheduled in the call, and how long it waited for a processor */
    int64_t flag;
    int64_t is_sync, is_fresh;
} soak_record;

/* What one process tells the others of its arrivals; in memory that all share. */
typedef struct soak_arrival {
    _Alignas(64) _Atomic int64_t number;
} soak_arrival;

void soak_calls_begin(void);
void soak_calls_end(void);
/* Some calls on a communicator. Number: agreed, greater than all before. Returns the first number not used. */
int64_t soak_batch(soak_slot *slot, int64_t number, uint64_t *agreed, uint64_t *own);

/* Collective over the slot's communicator: judge what all processes have recorded. */
void soak_judge_batch(soak_slot *slot, const soak_record *records, int calls);
/* Agree on the longest first synchronization so far. Collective over the world. */
int64_t soak_agree_on_control(void);

/* ---- Disturbances */

/* Before MPI_Init: start the children of this process. */
void soak_disturb_begin(uint64_t seed);
void soak_disturb(bool load, bool stops);
void soak_disturb_end(void);

void soak_readers_begin(uint64_t seed);
void soak_readers_end(void);

/* ---- Leaks */

typedef struct soak_resources {
    int64_t memory_kib, descriptors, mappings, shared_memory;
} soak_resources;

soak_resources soak_resources_now(void);
void soak_judge_resources(const soak_resources *before, const soak_resources *after);

/* ---- The program */

extern int soak_rank, soak_ranks;
extern char soak_place[640]; /* where the run is, for messages */

/* Ends the job if a call of MPI failed. */
#define SOAK_TRY(call) soak_check_mpi(call, #call)
void soak_check_mpi(int code, const char *call);
void soak_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
void soak_sleep_us(int64_t us);

#endif
