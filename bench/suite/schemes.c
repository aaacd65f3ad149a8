/* SPDX-License-Identifier: BSD-3-Clause */
/* schemes.c - the release schemes: how each one starts a call, and what it learns from a batch. */
#include "bench/suite/schemes.h"

#include "pure/order_statistics.h"

/* Starting times are set as many times further ahead than nine of ten calls needed. */
enum { LEAD_FACTOR = 2 };
#define READY_PART 0.9
#define USUAL_PART 0.75

int64_t wait_until(const world_t *span, int64_t instant_ns)
{
    int flag;
    world_require(span, MPIX_Global_wait_until(span->comm, instant_ns, &flag));
    return world_time_ns(span);
}

/* As MPIX_Harmonize: what counts is the start; why it was late is for the report. */
static sample_mark_t judge(const releaser_t *releaser, int64_t ready_ns, int64_t start_ns)
{
    if (releaser->released_ns >= start_ns && releaser->released_ns - start_ns <= releaser->tolerance_ns)
        return MARK_VALID;
    return ready_ns >= start_ns ? MARK_MISSED : MARK_LATE;
}

static void release_by_harmonize(releaser_t *releaser)
{
    int flag = 0;
    world_require(releaser->span, MPIX_Harmonize_delayed(releaser->span->comm, releaser->delay_ns, &flag));
    releaser->mark = flag ? MARK_VALID : MARK_LATE;
}

static void release_by_barrier(releaser_t *releaser)
{
    releaser->barrier->meet(releaser->span);
}

static void release_by_two_barriers(releaser_t *releaser)
{
    release_by_barrier(releaser);
    release_by_barrier(releaser);
}

/* Without a length the window is to be found: the ranks meet at a barrier before each call. */
static void release_in_window(releaser_t *releaser)
{
    int64_t start_ns = releaser->orders.first_ns + releaser->slot * releaser->orders.length_ns;
    int64_t ready_ns = world_time_ns(releaser->span);
    if (releaser->slot == 0)
        releaser->ready_ns = ready_ns - releaser->orders.decided_ns;
    else /* a cycle ends here */
        releaser->notes_ns[releaser->noted++] = ready_ns - releaser->begun_ns;
    if (releaser->orders.length_ns == 0) {
        release_by_barrier(releaser);
        start_ns = world_time_ns(releaser->span);
    }
    releaser->released_ns = wait_until(releaser->span, start_ns);
    /* Even a wait that ends at once takes time, which is part of the cycle. */
    releaser->begun_ns = ready_ns > start_ns ? ready_ns : start_ns;
    releaser->mark = judge(releaser, ready_ns, start_ns);
}

static void release_by_round_time(releaser_t *releaser)
{
    int64_t lead_ns = releaser->orders.length_ns;
    int64_t start_ns = releaser->span->rank == 0 ? world_time_ns(releaser->span) + lead_ns : 0;
    world_require(releaser->span, MPI_Bcast(&start_ns, 1, MPI_INT64_T, 0, releaser->span->comm));
    int64_t ready_ns = world_time_ns(releaser->span);
    releaser->notes_ns[releaser->noted++] = ready_ns - (start_ns - lead_ns);
    releaser->released_ns = wait_until(releaser->span, start_ns);
    releaser->mark = judge(releaser, ready_ns, start_ns);
}

static void release_at_once(releaser_t *releaser)
{
    (void)releaser;
}

const scheme_t release_schemes[] = {
    [RELEASE_HARMONIZE] = {"harmonize", "isolated", release_by_harmonize, .imposes = true},
    [RELEASE_BARRIER] = {"barrier", "isolated", release_by_barrier, .has_barrier = true},
    [RELEASE_BARRIER2] = {"barrier2", "isolated", release_by_two_barriers, .has_barrier = true},
    [RELEASE_WINDOW] = {"window", "isolated", release_in_window, .imposes = true, .needs_probe = true},
    [RELEASE_ROUND_TIME] = {"round-time", "isolated", release_by_round_time, .imposes = true, .needs_probe = true},
    [RELEASE_NONE] = {"none", "streaming", .release = release_at_once},
    {0},
};

void release_open(releaser_t *releaser, const world_t *span, release_kind_t kind, const barrier_algorithm_t *barrier,
                  double window_us)
{
    *releaser = (releaser_t){.span = span,
                             .kind = kind,
                             .barrier = barrier,
                             .tolerance_ns = world_number(span, "mpix_harmonize_tolerance_used_ns"),
                             .window_is_given = window_us * 1000 >= 1,
                             .window_ns = (int64_t)(window_us * 1000)};
}

void release_forget(releaser_t *releaser)
{
    if (!releaser->window_is_given)
        releaser->window_ns = 0;
}

release_orders_t release_order(releaser_t *releaser)
{
    int64_t now_ns = world_time_ns(releaser->span);
    int64_t lead_ns = LEAD_FACTOR * pace_typical(&releaser->ready);
    return (release_orders_t){.decided_ns = now_ns,
                              .first_ns = now_ns + lead_ns,
                              .length_ns = releaser->kind == RELEASE_WINDOW ? releaser->window_ns : lead_ns};
}

void release_begin(releaser_t *releaser, const release_orders_t *orders)
{
    releaser->orders = *orders;
    releaser->slot = releaser->noted = releaser->ready_ns = 0;
    releaser->mark = MARK_VALID;
}

void release(releaser_t *releaser)
{
    release_schemes[releaser->kind].release(releaser);
    releaser->slot++;
}

sample_mark_t release_mark(const releaser_t *releaser)
{
    const world_t *span = releaser->span;
    if (releaser->kind != RELEASE_HARMONIZE || releaser->mark == MARK_VALID)
        return releaser->mark;
    return world_number(span, "mpix_harmonize_slack_needed_ns") > world_number(span, "mpix_harmonize_slack_used_ns")
               ? MARK_MISSED
               : MARK_LATE;
}

int64_t release_target_ns(const releaser_t *releaser)
{
    const world_t *span = releaser->span;
    int64_t instant_ns;
    world_require(span, MPIX_Harmonize_instant(span->comm, &instant_ns));
    return instant_ns + releaser->delay_ns;
}

release_note_t release_end(releaser_t *releaser)
{
    release_note_t note = {.ready_ns = releaser->ready_ns};
    if (releaser->noted == 0)
        return note;
    mh_sort(releaser->notes_ns, releaser->noted);
    if (releaser->kind == RELEASE_ROUND_TIME) {
        note.ready_ns = quantile(releaser->notes_ns, releaser->noted, READY_PART);
    } else {
        note.cycles.usual_ns = quantile(releaser->notes_ns, releaser->noted, USUAL_PART);
        note.cycles.max_ns = releaser->notes_ns[releaser->noted - 1];
    }
    return note;
}

void release_learn(releaser_t *releaser, const release_note_t *note, int64_t calls, int64_t invalid)
{
    if (!release_schemes[releaser->kind].needs_probe)
        return;
    pace_learn(&releaser->ready, note->ready_ns > 0 ? note->ready_ns : 0);
    if (releaser->kind == RELEASE_WINDOW && !releaser->window_is_given)
        releaser->window_ns = window_next(releaser->window_ns, &note->cycles, calls, invalid);
}
