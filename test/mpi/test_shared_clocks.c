/* SPDX-License-Identifier: BSD-3-Clause */
/* test_shared_clocks.c - communicators that begin with the clock of an earlier one, and those that must not. */
#include "mpix_test.h"

#include <stdlib.h>
#include <string.h>

static void check_origin(MPI_Comm comm, const char *expected, const char *what)
{
    harmonize_times(comm, 2);
    CHECK_TEXT(comm, "clock_origin", expected, what);
    check_clock(comm, what);
}

static void use_once(MPI_Comm comm, const char *expected, const char *what)
{
    check_origin(comm, expected, what);
    MPI_Comm_free(&comm);
}

static MPI_Comm create_group_reversed(void)
{
    int range[1][3] = {{ranks - 1, 0, -1}};
    MPI_Group all, reversed;
    MPI_Comm comm;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_range_incl(all, 1, range, &reversed);
    MPI_Comm_create_group(MPI_COMM_WORLD, reversed, 0, &comm);
    MPI_Group_free(&all);
    MPI_Group_free(&reversed);
    return comm;
}

static MPI_Comm create_line(void)
{
    int sizes[1] = {ranks}, periods[1] = {0};
    MPI_Comm line;
    MPI_Cart_create(MPI_COMM_WORLD, 1, sizes, periods, 0, &line);
    return line;
}

/* A further communicator uses the barrier that was found the fastest; child is freed. */
static void check_barrier(const char *first, MPI_Comm child, const char *what)
{
    harmonize(child);
    CHECK_TEXT(child, "barrier_used", first, what);
    CHECK(info_shows(child, "barrier_reason", "earlier"), "%s: the reason is '%s'", what,
          info_text(child, "barrier_reason"));
    MPI_Comm_free(&child);
}

static MPI_Comm duplicate_set(MPI_Comm parent, const char *setting, const char *value)
{
    MPI_Comm child = duplicate(parent);
    CHECK_OK(set_setting(child, setting, value));
    return child;
}

/* Also if its parent was synchronized anew since, or uses another one. */
static void check_barriers(MPI_Comm parent)
{
    const char *first = text_of("%s", info_text(parent, "barrier_used"));
    check_barrier(first, duplicate(parent), "a duplicate");
    check_barrier(first, split(parent, 0, -my_rank), "ranks in reverse");
    CHECK_OK(set_setting(parent, "wander_max_ppb_per_s", "1000"));
    harmonize(parent);
    check_barrier(first, duplicate_set(parent, "wander_max_ppb_per_s", "1000"), "a duplicate that allows more wander");
    CHECK_OK(set_setting(parent, "barrier", "tree"));
    harmonize(parent);
    CHECK_OK(MPIX_Clock_sync(parent)); /* the latest clock is what the child begins with */
    check_barrier(first, duplicate_set(parent, "barrier", "auto"), "a duplicate of one with a requested barrier");
}

SUB_TEST(clock_shared, SINGLE, "communicators that begin with the clock of an earlier one")
{
    MPI_Comm parent = duplicate(MPI_COMM_WORLD);
    check_origin(parent, "fresh", "the first communicator");
    use_once(duplicate(parent), "shared", "a duplicate");
    check_barriers(parent);
    use_once(duplicate(MPI_COMM_WORLD), "shared", "a duplicate of another communicator");
    use_once(split(MPI_COMM_WORLD, 0, -my_rank), "shared", "ranks in reverse");
    use_once(split(MPI_COMM_WORLD, my_rank % 2, my_rank), "shared", "every other process");
    use_once(create_group_reversed(), "shared", "a group");
    use_once(create_line(), "shared", "a topology");
    MPI_Comm child = split(parent, my_rank < ranks / 2, my_rank);
    MPI_Comm_free(&parent);
    use_once(child, "shared", "a part whose parent is freed");
    use_once(duplicate(MPI_COMM_WORLD), "shared", "a duplicate after its relative is freed");
    check_origin(MPI_COMM_SELF, "shared", "MPI_COMM_SELF");
}

/* Zero is the first synchronization of each communicator, and stays so. */
SUB_TEST(clock_shared_epoch, SINGLE, "their global time begins with themselves")
{
    MPI_Comm parent = duplicate(MPI_COMM_WORLD), child = duplicate(parent);
    harmonize(parent);
    int64_t parent_unix_ns = info_number(parent, "clock_epoch_unix_ns");
    nap_ms(300);
    harmonize(child);
    int64_t child_ns = read_ns(child, NULL), parent_ns = read_ns(parent, NULL);
    CHECK(parent_ns - child_ns > 250 * NS_PER_MS, "the child's time is that of the parent, which began 0.3 s before");
    int64_t child_unix_ns = info_number(child, "clock_epoch_unix_ns");
    CHECK(child_unix_ns - parent_unix_ns > 250 * NS_PER_MS, "the epochs of parent and child are the same");
    CHECK_OK(MPIX_Clock_sync(child));
    CHECK_OK(MPIX_Clock_sync(parent));
    CHECK(info_number(child, "clock_epoch_unix_ns") == child_unix_ns, "the epoch of the child has changed");
    CHECK(info_number(parent, "clock_epoch_unix_ns") == parent_unix_ns, "the epoch of the parent has changed");
    MPI_Comm_free(&child);
    MPI_Comm_free(&parent);
}

/* Two halves know nothing of each other, and no process of one can use the clock of the other. */
static void check_halves(void)
{
    MPI_Comm half = split(MPI_COMM_WORLD, my_rank % 2, my_rank);
    use_once(half, "fresh", "half of the processes");
    use_once(duplicate(MPI_COMM_WORLD), ranks > 1 ? "fresh" : "shared", "the union of two halves");
}

static void set_and_use(const char *setting, const char *value, const char *expected)
{
    use_once(duplicate_with("%s=%s", setting, value), expected, value);
}

/* A step between two communicators; then one that a communicator finds, and synchronizes again, before it is freed. */
static void check_steps(void)
{
    int last = ranks - 1;
    inject_clock(0, 0);
    set_and_use("clock", "monotonic_raw", "shared");
    if (my_rank == last)
        inject_step(3 * NS_PER_S);
    MPI_Comm comm = duplicate_with("clock=monotonic_raw");
    check_origin(comm, "fresh", "after a step");
    if (my_rank == last)
        inject_step(-5 * NS_PER_S);
    harmonize_times(comm, 3);
    CHECK(max_over(comm, info_number(comm, "clock_disruptions")) > 0, "the step is not found");
    MPI_Comm_free(&comm);
    set_and_use("clock", "monotonic_raw", "shared");
}

/*
 * Bounds that hold only for clocks that wander little are of no use to a communicator that allows more: more than all
 * before, which may have had this clock too.
 */
static void check_wander(void)
{
    CHECK_OK(setenv("MPIX_HARMONIZE_CLOCK", "monotonic_raw", 1));
    set_and_use("wander_max_ppb_per_s", "1000", "fresh");
    set_and_use("wander_max_ppb_per_s", "1000", "shared");
    set_and_use("wander_max_ppb_per_s", "2000", "fresh");
    set_and_use("wander_max_ppb_per_s", "1000", "shared");
    CHECK_OK(unsetenv("MPIX_HARMONIZE_CLOCK"));
}

SUB_TEST(clock_not_shared, SINGLE, "clocks that are unknown, stepped or unwanted")
{
    check_halves();
    set_and_use("clock", "realtime", "fresh");
    set_and_use("clock", "auto", "shared");
    set_and_use("sync", "none", "fresh");
    set_and_use("sync", "hca3", "fresh");
    set_and_use("sync", "jk", "fresh");
    set_and_use("sync", "hca3+prop", "fresh");
    set_and_use("sync", "prop", "shared");
    check_wander();
    check_steps();
}
