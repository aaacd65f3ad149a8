/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * measure.c - blocks of calls. Within a block nothing but the call, the reading of a clock and one store is repeated.
 */
#include "skew/skew.h"

#include <mpix_harmonize.h>

#include <stdlib.h>
#include <string.h>

/* A block takes at most this, and this share of a scheme's time, so that slow schemes take turns, too. */
#define MAX_BLOCK_NS 25e6
#define MAX_BLOCK_SHARE 0.05
/* Warming up takes at most this share of a scheme's time. */
#define MAX_WARMUP_SHARE 0.25

/* One untimed call in so many settles a block at its begin and at its end: its first calls still feel the end of the
 * block before. During its last calls, ranks that have finished spin in MPI already, which takes processors from the
 * others where there are more ranks than processors. */
enum { SETTLE_PART = 50 };

static void settle(const skew_run_t *run, const scheme_t *scheme, int64_t calls)
{
    int valid;
    for (int64_t i = 0; i < 1 + calls / SETTLE_PART; i++)
        world_require_code(&run->world, scheme->release(scheme->comm, &valid), scheme->call);
}

/* Calls a scheme back to back, keeping the ticks of each exit. Returns the time of the loop. */
static int64_t time_calls(const skew_run_t *run, const scheme_t *scheme, int64_t calls)
{
    int64_t *exit_ticks = run->block.exit_ticks;
    int *valid = run->block.valid;
    int64_t begin_ns = system_time_ns();
    for (int64_t i = 0; i < calls; i++) {
        int code = scheme->release(scheme->comm, &valid[i]);
        exit_ticks[i] = exit_clock_ticks(&run->clock);
        world_require_code(&run->world, code, scheme->call);
    }
    return system_time_ns() - begin_ns;
}

/* Leaves the greatest of all ranks' exits, negated exits, invalid flags and loop times on rank 0. */
static void combine(const skew_run_t *run, int64_t calls, int64_t loop_ns)
{
    const block_t *block = &run->block;
    int root = run->world.rank == 0;
    for (int64_t i = 0; i < calls; i++) {
        block->greatest[i] = block->exit_ticks[i];
        block->greatest[calls + i] = -block->exit_ticks[i];
        block->greatest[2 * calls + i] = !block->valid[i];
    }
    block->greatest[3 * calls] = loop_ns;
    world_require(&run->world, MPI_Reduce(root ? MPI_IN_PLACE : block->greatest, root ? block->greatest : NULL,
                                          (int)(3 * calls + 1), MPI_INT64_T, MPI_MAX, 0, run->world.comm));
}

static void count_block(const block_t *block, int64_t calls, tally_t *tally)
{
    for (int64_t i = 0; i < calls; i++) {
        int64_t valid = !block->greatest[2 * calls + i], skew_ticks = block->greatest[i] + block->greatest[calls + i];
        if (tally->skew_ticks != NULL)
            tally->skew_ticks[tally->calls + i] = valid ? skew_ticks : -1 - skew_ticks;
        tally->valid += valid;
    }
    tally->loop_ns += block->greatest[3 * calls];
}

void skew_run_block(skew_run_t *run, const scheme_t *scheme, int64_t calls, tally_t *tally)
{
    int64_t begin_ns = system_time_ns();
    MPI_Barrier(run->world.comm);
    settle(run, scheme, calls);
    int64_t loop_ns = time_calls(run, scheme, calls);
    settle(run, scheme, calls);
    exit_clock_note_bound(&run->clock, &run->world);
    combine(run, calls, loop_ns);
    if (run->world.rank == 0)
        count_block(&run->block, calls, tally);
    tally->calls += calls;
    tally->spent_ns += system_time_ns() - begin_ns;
}

int64_t skew_follow_rank_0(const skew_run_t *run, int64_t decision)
{
    world_require(&run->world, MPI_Bcast(&decision, 1, MPI_INT64_T, 0, run->world.comm));
    return decision;
}

int64_t skew_fitting_calls(const skew_run_t *run, const tally_t *tally, double max_ns)
{
    double calls = max_ns / ((double)tally->loop_ns / (double)tally->calls + 1);
    return calls < 1 ? 1 : calls < (double)run->settings.block ? (int64_t)calls : run->settings.block;
}

/* Calls a scheme in blocks that double, since it is not known yet how long a call takes. Returns how many calls make a
 * block that is no longer than allowed. */
static int64_t warm_up(skew_run_t *run, const scheme_t *scheme)
{
    double limit_ns = run->settings.limit_s * 1e9;
    double max_block_ns = limit_ns * MAX_BLOCK_SHARE < MAX_BLOCK_NS ? limit_ns * MAX_BLOCK_SHARE : MAX_BLOCK_NS;
    int64_t left = run->settings.warmup;
    int64_t spent_ns = 0;
    int64_t calls = 1;
    int64_t fitting = 1;
    while (left > 0 && calls > 0) {
        tally_t tally = {0};
        calls = calls < left ? calls : left;
        skew_run_block(run, scheme, calls, &tally);
        left -= calls;
        spent_ns += tally.spent_ns;
        fitting = skew_fitting_calls(run, &tally, max_block_ns);
        calls = 2 * calls < fitting ? 2 * calls : fitting;
        calls = skew_follow_rank_0(run, (double)spent_ns < limit_ns * MAX_WARMUP_SHARE ? calls : 0);
    }
    return skew_follow_rank_0(run, fitting);
}

/* Returns the set of schemes that have neither their calls nor spent their time. */
static int64_t unfinished(const skew_run_t *run)
{
    int64_t mask = 0;
    for (int i = 0; i < SCHEMES; i++) {
        const tally_t *tally = &run->tallies[i];
        if (skew_is_chosen(run, i) && tally->calls < run->settings.calls &&
            (double)tally->spent_ns < run->settings.limit_s * 1e9)
            mask |= INT64_C(1) << i;
    }
    return skew_follow_rank_0(run, mask);
}

void skew_measure(skew_run_t *run)
{
    int64_t block_calls[SCHEMES] = {0};
    if (run->clock.kind == EXIT_CLOCK_GLOBAL) /* which only harmonize keeps */
        world_require(&run->world, MPIX_Clock_sync(run->world.comm));
    for (int i = 0; i < SCHEMES; i++)
        run->tallies[i] = (tally_t){.skew_ticks = run->tallies[i].skew_ticks};
    for (int i = 0; i < SCHEMES; i++)
        if (skew_is_chosen(run, i))
            block_calls[i] = warm_up(run, &run->schemes[i]);
    for (int64_t mask; (mask = unfinished(run)) != 0;) {
        for (int i = 0; i < SCHEMES; i++) {
            int64_t left = run->settings.calls - run->tallies[i].calls;
            if ((mask >> i & 1) != 0)
                skew_run_block(run, &run->schemes[i], left < block_calls[i] ? left : block_calls[i], &run->tallies[i]);
        }
    }
}

static const char advice[] = ": give less for --iterations or --block";

/* Written to here, or a measured store would be the first to touch its page. */
static void *touched_room(const skew_run_t *run, int64_t count, size_t item_bytes)
{
    return memset(world_room(&run->world, count, item_bytes, advice), 0, (size_t)count * item_bytes);
}

void skew_allocate(skew_run_t *run)
{
    int64_t capacity = run->settings.block, calls = run->settings.calls;
    run->block.exit_ticks = touched_room(run, capacity, sizeof(run->block.exit_ticks[0]));
    run->block.valid = touched_room(run, capacity, sizeof(run->block.valid[0]));
    run->block.greatest = touched_room(run, 3 * capacity + 1, sizeof(run->block.greatest[0]));
    for (int i = 0; i < SCHEMES && run->world.rank == 0 && run->settings.watch_s <= 0; i++)
        if (skew_is_chosen(run, i))
            run->tallies[i].skew_ticks = world_room(&run->world, calls, sizeof(run->tallies[i].skew_ticks[0]), advice);
}

void skew_free(skew_run_t *run)
{
    free(run->block.exit_ticks);
    free(run->block.valid);
    free(run->block.greatest);
    for (int i = 0; i < SCHEMES; i++)
        free(run->tallies[i].skew_ticks);
}
