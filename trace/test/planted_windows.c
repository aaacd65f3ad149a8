/* SPDX-License-Identifier: BSD-3-Clause */
/* planted_windows.c - kinds of planted in which ranks wait for accesses of windows. */
#include "planted.h"

static MPI_Group neighbors[2]; /* the left one, the right one */
static MPI_Win window;

static void fence(void)
{
    work();
    CALL(Win_fence, 0, window);
    CALL(Put, out, 1, MPI_INT, right, 0, 1, MPI_INT, window);
    CALL(Win_fence, 0, window);
}

static void access_right(void)
{
    CALL(Win_start, neighbors[1], 0, window);
    CALL(Put, out, 1, MPI_INT, right, 0, 1, MPI_INT, window);
}

static void late_post(void)
{
    work();
    CALL(Win_post, neighbors[0], 0, window);
    access_right();
    CALL(Win_complete, window);
    CALL(Win_wait, window);
}

static void late_complete(void)
{
    CALL(Win_post, neighbors[0], 0, window);
    CALL(Win_start, neighbors[1], 0, window);
    work();
    CALL(Win_complete, window);
    CALL(Win_wait, window);
}

/* Others may wait until the late rank makes progress with their data, before it completes its own access. */
static void late_progress(void)
{
    CALL(Win_post, neighbors[0], 0, window);
    access_right();
    work();
    CALL(Win_complete, window);
    CALL(Win_wait, window);
}

static void win_test(void)
{
    CALL(Win_post, neighbors[0], 0, window);
    CALL(Win_start, neighbors[1], 0, window);
    work();
    CALL(Win_complete, window);
    for (int found = 0; !found;)
        CALL(Win_test, window, &found);
}

/*
 * Others ask for a lock that the late rank has, and is about to give back. Each one flushes, which shows that it has
 * the lock: else nothing tells for whom the next one waits.
 */
static void lock(void)
{
    const int target = (late_rank + 1) % ranks;
    if (rank == late_rank) {
        CALL(Win_lock, MPI_LOCK_EXCLUSIVE, target, 0, window);
        CALL(Put, out, 1, MPI_INT, target, 0, 1, MPI_INT, window);
        CALL(Win_flush, target, window);
    }
    CALL(Barrier, world);
    if (rank == late_rank) {
        be_late_in_turn();
        CALL(Win_unlock, target, window);
    } else {
        CALL(Win_lock, MPI_LOCK_EXCLUSIVE, target, 0, window);
        CALL(Put, out, 1, MPI_INT, target, 0, 1, MPI_INT, window);
        CALL(Win_flush, target, window);
        CALL(Win_unlock, target, window);
    }
    spend(WORK_NS);
    CALL(Barrier, world);
}

/* The target makes no progress while it is late. */
static void flush(void)
{
    CALL(Win_lock_all, 0, window);
    work();
    CALL(Accumulate, out, BIG / 2, MPI_INT, right, 0, BIG / 2, MPI_INT, MPI_SUM, window);
    CALL(Win_flush, right, window);
    CALL(Win_unlock_all, window);
}

static void win_create(void)
{
    MPI_Win other = MPI_WIN_NULL;
    work();
    CALL(Win_create, in, (MPI_Aint)sizeof in, sizeof in[0], MPI_INFO_NULL, world, &other);
    CALL(Win_free, &other);
}

static void win_free(void)
{
    MPI_Win other = MPI_WIN_NULL;
    CALL(Win_create, in, (MPI_Aint)sizeof in, sizeof in[0], MPI_INFO_NULL, world, &other);
    work();
    CALL(Win_free, &other);
}

static void set_up(int traits)
{
    MPI_Group group;
    if (!(traits & USES_WINDOW))
        return;
    MPI_Comm_group(world, &group);
    MPI_Group_incl(group, 1, &left, &neighbors[0]);
    MPI_Group_incl(group, 1, &right, &neighbors[1]);
    MPI_Win_create(in, sizeof in, sizeof in[0], MPI_INFO_NULL, world, &window);
}

static void clean_up(int traits)
{
    if (traits & USES_WINDOW)
        CALL(Win_free, &window);
}

static const kind kinds[] = {
    KIND(fence, "wait at fence", USES_WINDOW),
    KIND(late_post, "late post", USES_WINDOW),
    KIND(late_complete, "late complete", USES_WINDOW),
    KIND(late_progress, "", USES_WINDOW),
    KIND(win_test, "late complete", USES_WINDOW),
    KIND(lock, "lock contention", USES_WINDOW),
    KIND(flush, "", USES_WINDOW),
    KIND(win_create, ""),
    KIND(win_free, ""),
};
const family windows = {
    .kinds = kinds, .count = sizeof kinds / sizeof kinds[0], .set_up = set_up, .clean_up = clean_up};
