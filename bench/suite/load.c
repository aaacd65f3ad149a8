/* SPDX-License-Identifier: BSD-3-Clause */
/* load.c - the kernel's counts of the processors' time, less what the ranks have used. */
#include "bench/suite/load.h"

#include "bench/suite/busy.h"
#include "common/mpi/kernel.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

/* The kernel counts in steps, which may come on all processors at once: of fewer, one in a hundred is not told. */
enum { LEAST_TICKS = 100, LINE_BYTES = 256 };

static int64_t used_ns(void)
{
    struct timespec used;
    if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) != 0)
        return 0;
    return (int64_t)used.tv_sec * 1000000000 + used.tv_nsec;
}

/* What guests take is in user and nice. Interrupts may be those of the messages that are measured. */
ticks_t load_ticks(const char *line)
{
    int64_t user = 0, nice = 0, system = 0, idle = 0, waiting = 0, hard = 0, soft = 0, stolen = 0;
    if (sscanf(line, "%" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 "",
               &user, &nice, &system, &idle, &waiting, &hard, &soft, &stolen) < 4)
        return (ticks_t){.all = 0};
    int64_t used = user + nice + system;
    return (ticks_t){.all = used + idle + waiting + hard + soft + stolen, .used = used, .stolen = stolen};
}

bool load_shares(ticks_t begin, ticks_t end, int64_t own_ns, long processors, double *others_percent,
                 double *steal_percent)
{
    double all = (double)(end.all - begin.all), used = (double)(end.used - begin.used);
    double own = (double)own_ns / 1e9 * (double)sysconf(_SC_CLK_TCK);
    if (begin.all == 0 || end.all == 0 || all < LEAST_TICKS * (double)processors)
        return false;
    *others_percent = 100 * fmax(used - own, 0) / all;
    *steal_percent = 100 * (double)(end.stolen - begin.stolen) / all;
    return true;
}

static ticks_t read_ticks(void)
{
    char line[LINE_BYTES];
    return load_ticks(kernel_value("/proc/stat", "cpu ", line, sizeof line) ? line : "");
}

void load_open(load_t *load, const world_t *world)
{
    MPI_Comm node = world_node(world);
    int first = world->rank;
    world_require(world, MPI_Bcast(&first, 1, MPI_INT, 0, node));
    world_require(world, MPI_Comm_free(&node));
    *load = (load_t){.is_near = first == 0};
}

void load_begin(load_t *load)
{
    load->own_ns = used_ns();
    load->begin = read_ticks();
}

bool load_tell(load_t *load, const world_t *span, double *others_percent, double *steal_percent)
{
    int64_t own_ns = load->is_near ? used_ns() - load->own_ns : 0;
    world_require(
        span, MPI_Reduce(span->rank == 0 ? MPI_IN_PLACE : &own_ns, &own_ns, 1, MPI_INT64_T, MPI_SUM, 0, span->comm));
#ifdef SMPI_H
    return false; /* the processors are those of the simulator */
#endif
    if (span->rank != 0 ||
        !load_shares(load->begin, read_ticks(), own_ns, sysconf(_SC_NPROCESSORS_ONLN), others_percent, steal_percent))
        return false;
    load->most_others = fmax(load->most_others, *others_percent);
    load->most_steal = fmax(load->most_steal, *steal_percent);
    return true;
}

void load_warn(const load_t *load, const char *program)
{
    if (load->most_others > BUSY_OTHERS_PERCENT || load->most_steal > BUSY_STEAL_PERCENT)
        fprintf(stderr,
                "%s: the node was busy: other programs took %.0f %% of its processors' time, the hypervisor %.0f %%; "
                "minima (--full) suffer less than medians\n",
                program, load->most_others, load->most_steal);
}
