/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpix_clock_list - the base clocks of a machine: what a reading costs, what they resolve, which ranks share them, and
 * which one the library takes.
 *
 * Cost, resolution and sharing are measured here. Whether the library can use a clock, and which one it takes by
 * itself, it is asked for, on a communicator of its own each time.
 */
#include "common/kernel.h"
#include "common/options.h"
#include "list/list.h"

#include <stdio.h>
#include <stdlib.h>

#define PLACE(field) offsetof(list_settings_t, field)

static const option_spec_t options[] = {
    {'n', "reads", "N", OPTION_INTEGER, PLACE(reads), BLOCK_READS, 1e8, NULL, "readings of each clock"},
    OUTPUT_OPTIONS(PLACE(output)),
    PLOT_OPTION(PLACE(plot_path)),
};

static const char notes[] =
    "  read     time of one reading, by the rank where it is greatest: the median over blocks of 100 readings\n"
    "  slowest  that rank\n"
    "  step     the least difference seen between two successive readings that differ\n"
    "  stated   the resolution that the system states; none for tsc\n"
    "  usable   whether the library can use the clock on all ranks\n"
    "  auto     1 for the clock that the library takes where it is left the choice\n"
    "  groups   number of groups of ranks that read the same clock\n"
    "  doubt    ranks of a group might be so far apart: more would have shown in the exchanges\n"
    "  members  the ranks of each group: a-b from a to b, + between others of a group, | between groups\n"
    "The chart of --plot shows how long successive readings of each clock are apart on rank 0.\n"
    "\n"
    "Exit status: 0 if all is well, 1 if a call failed, 2 for a bad option.\n";

static const program_spec_t program = {"mpix_clock_list",
                                       "Lists the base clocks of this machine, and which one the library takes.",
                                       options,
                                       sizeof(options) / sizeof(options[0]),
                                       notes,
                                       NULL,
                                       false};

/*
 * Reads wtime for the first time, on one rank under a kernel after the other: some MPI libraries count from the first
 * reading in each process, and clocks that began together would look like one. Collective.
 */
static void begin_wtime(const list_run_t *run)
{
    enum { TAG = 2, APART_NS = 20000 };
    int64_t begin_ns;
    int rank, ranks;

    MPI_Comm_rank(run->kernel, &rank);
    MPI_Comm_size(run->kernel, &ranks);
    if (rank > 0)
        MPI_Recv(NULL, 0, MPI_BYTE, rank - 1, TAG, run->kernel, MPI_STATUS_IGNORE);
    MPI_Wtime();
    begin_ns = system_time_ns();
    while (system_time_ns() - begin_ns < APART_NS) {
    }
    if (rank + 1 < ranks)
        MPI_Send(NULL, 0, MPI_BYTE, rank + 1, TAG, run->kernel);
}

/* All ranks under one kernel take the rate that its first rank measured. Collective. */
static void measure_tick(list_run_t *run)
{
    tsc_rate_t rate;

    tsc_rate_begin(&rate);
    run->tick_ns = tsc_rate_ns(&rate);
    MPI_Bcast(&run->tick_ns, 1, MPI_DOUBLE, 0, run->kernel);
}

/* Finds out all about one clock. Collective. Returns false where that failed, of which rank 0 has told. */
static bool examine(list_run_t *run, int clock)
{
    listing_t *listing = &run->listings[clock];

    listing->lacks = !world_all(&run->world, machine_clock_lack(clock) == NULL);
    list_ask_about(run, clock, listing);
    listing->group = calloc((size_t)run->world.ranks, sizeof(listing->group[0]));
    if (!world_all(&run->world, listing->group != NULL))
        return false;
    if (listing->lacks)
        return true;
    list_combine_sights(run, list_look_at(run, clock, &listing->curve), listing);
    return list_find_groups(run, clock, listing);
}

static int list_clocks(list_run_t *run)
{
    int status = STATUS_GOOD;

    begin_wtime(run);
    if (!list_ask_for_choice(run))
        return STATUS_FAILED;
    measure_tick(run);
    for (int clock = 0; clock < MACHINE_CLOCKS; clock++) {
        if (!examine(run, clock)) {
            if (run->world.rank == 0)
                fprintf(stderr, "%s: out of memory\n", program.name);
            return STATUS_FAILED;
        }
    }
    if (run->settings.output.format == FORMAT_TABLE)
        world_describe(&run->world, run->settings.output.file, "base clocks, as the library can take them");
    list_tell_warnings(run);
    if (run->world.rank == 0) {
        status = list_print(run);
        if (list_draw(run) != STATUS_GOOD)
            status = STATUS_FAILED;
    }
    return status;
}

static int run_program(list_run_t *run)
{
    int status = plot_open(&run->plot, &run->world, run->settings.plot_path);

    if (status == STATUS_GOOD)
        status = output_open(&run->settings.output, &run->world);
    if (status != STATUS_GOOD)
        return status;
    run->room = calloc((size_t)run->settings.reads, sizeof(run->room[0]));
    if (!world_all(&run->world, run->room != NULL)) {
        status = world_refuse(&run->world, "out of memory: give less for --reads");
    } else if (!kernel_split(&run->world, &run->kernel)) {
        status = STATUS_FAILED;
    } else {
        status = list_clocks(run);
        MPI_Comm_free(&run->kernel);
    }
    if (output_close(&run->settings.output, &run->world) != STATUS_GOOD)
        status = STATUS_FAILED;
    plot_close(&run->plot);
    free(run->room);
    for (int clock = 0; clock < MACHINE_CLOCKS; clock++)
        free(run->listings[clock].group);
    return status;
}

int main(int argc, char **argv)
{
    list_run_t run = {.settings = {.reads = 100000}};
    int status;

    world_begin(&run.world, program.name, &argc, &argv);
    if (world_options(&run.world, &program, argc, argv, &run.settings, sizeof(run.settings), &status))
        status = run_program(&run);
    return world_end(&run.world, status);
}
