/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * start_bounds - the greatest bound of the global clock among the processes, in ns: after the first call of
 * MPIX_Harmonize, after calls for one second, and after one MPIX_Clock_sync. run_start_bounds.sh runs it beside others.
 */
#include "world.h"

static const int64_t second_ns = 1000000000;

/* The instant of a call, which is the same on all processes: so all make the same number of calls. */
static int64_t call(const world_t *world)
{
    int flag;
    int64_t instant_ns = 0;
    world_require(world, MPIX_Harmonize(world->comm, &flag));
    world_require(world, MPIX_Harmonize_instant(world->comm, &instant_ns));
    return instant_ns;
}

int main(int argc, char **argv)
{
    world_t world = world_begin("start_bounds", &argc, &argv);
    int64_t end_ns = call(&world) + second_ns, first_ns = world_max(&world, world_bound_ns(&world));
    while (call(&world) < end_ns)
        ;
    int64_t later_ns = world_max(&world, world_bound_ns(&world));
    world_require(&world, MPIX_Clock_sync(world.comm));
    int64_t synchronized_ns = world_max(&world, world_bound_ns(&world));
    if (world.rank == 0)
        printf("%ld %ld %ld\n", (long)first_ns, (long)later_ns, (long)synchronized_ns);
    return world_end(&world, EXIT_SUCCESS);
}
