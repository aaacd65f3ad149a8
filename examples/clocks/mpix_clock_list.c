/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpix_clock_list - the base clocks of a machine: what a reading costs, what they resolve, which ranks share them, and
 * which one the library takes.
 *
 * Cost, resolution and sharing are measured here. Whether the library can use a clock, and which one it takes by
 * itself, it is asked for, on a communicator of its own each time.
 */
#include "common/options.h"
#include "list/list.h"

#include <mpix_harmonize.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLACE(field) offsetof(list_settings_t, field)

static const option_spec_t options[] = {
    {0, "reads", "N", OPTION_INTEGER, PLACE(reads), BLOCK_READS, 1e8, NULL, "readings of each clock"},
    RESULTS_OPTIONS(PLACE(results),
                    "write clock,reading,interval_ns of each interval\nbetween readings on rank 0 to FILE"),
};

static const char notes[] =
    "  read     time of one reading, by the rank where it is greatest: the median over blocks of 100 readings\n"
    "  slowest  that rank\n"
    "  step     the least difference seen between two successive readings that differ\n"
    "  stated   the resolution that the system states; none for counters\n"
    "  usable   whether the library can use the clock on all ranks\n"
    "  auto     1 for the clock that the library takes where it is left the choice\n"
    "  groups   number of groups of ranks that read the same clock\n"
    "  doubt    ranks of a group might be so far apart: more would have shown in the exchanges\n"
    "  members  the ranks of each group: a-b from a to b, + between others of a group, | between groups\n"
    "The chart of --plot shows how long successive readings of each clock are apart on rank 0.\n"
    "\n"
    "Exit status: 0 if all is well, 1 if a call failed, 2 for a bad option.\n";

static const program_spec_t program =
    PROGRAM_SPEC("mpix_clock_list", "Lists the base clocks of this machine, and which one the library takes.");

/* ---- What the library says */

/*
 * Synchronizes the clocks of a fresh communicator by the base clock named. Returns what the library returned, and the
 * call that did.
 */
static int try_clock(const list_run_t *run, const char *name, world_t *fresh, const char **call)
{
    *fresh = world_duplicate(&run->world);
    *call = "MPIX_Harmonize_set_info";
    int code = world_set(fresh, "mpix_harmonize_clock", name);
    /* The cheapest way: only the choice of the clock is of interest. */
    if (code == MPI_SUCCESS)
        code = world_set(fresh, "mpix_harmonize_sync", "none");
    if (code != MPI_SUCCESS)
        return code;
    *call = "MPIX_Clock_sync";
    return MPIX_Clock_sync(fresh->comm);
}

/* Asks whether it can use a clock. Of its message "setting NAME: CLOCK cannot be used on RANK: REASON; allowed: ...",
 * the middle is kept. Collective. */
static void ask_about(const list_run_t *run, int clock, listing_t *listing)
{
    char message[REASON_BYTES], *end;
    const char *call, *begin;
    world_t fresh;
    listing->usable = try_clock(run, machine_clocks[clock].name, &fresh, &call) == MPI_SUCCESS;
    if (!listing->usable) {
        world_statistic(&fresh, "mpix_harmonize_last_error", message, sizeof(message));
        if ((end = strstr(message, "; allowed")) != NULL)
            *end = '\0';
        begin = strstr(message, "cannot be used");
        snprintf(listing->reason, sizeof(listing->reason), "%s", begin != NULL ? begin : message);
    }
    MPI_Comm_free(&fresh.comm);
}

/* Asks which clock it takes by itself. Collective. Returns false after a line if it fails. */
static bool ask_for_choice(list_run_t *run)
{
    world_t fresh;
    const char *call;
    char name[64];
    int code = try_clock(run, "auto", &fresh, &call);
    bool good = world_agree(&run->world, code, call);
    if (good) {
        world_statistic(&fresh, "mpix_harmonize_clock_used", name, sizeof(name));
        world_statistic(&fresh, "mpix_harmonize_clock_reason", run->chosen_reason, sizeof(run->chosen_reason));
        while (run->chosen < MACHINE_CLOCKS && strcmp(machine_clocks[run->chosen].name, name) != 0)
            run->chosen++;
    }
    MPI_Comm_free(&fresh.comm);
    return good;
}

/* ---- What the ranks see */

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
    counter_rate_t rate;
    counter_rate_begin(&rate);
    run->tick_ns = counter_rate_ns(&rate);
    MPI_Bcast(&run->tick_ns, 1, MPI_DOUBLE, 0, run->kernel);
}

/* Finds out all about one clock. Collective. */
static void examine(list_run_t *run, int clock)
{
    listing_t *listing = &run->listings[clock];
    listing->is_foreign = world_all(&run->world, machine_clock_is_foreign(clock));
    if (listing->is_foreign)
        return;
    listing->lacks = !world_all(&run->world, machine_clock_lack(clock) == NULL);
    ask_about(run, clock, listing);
    listing->group = world_room(&run->world, run->world.ranks, sizeof(listing->group[0]), "");
    if (!listing->lacks) {
        list_look_at(run, clock);
        list_find_groups(run, clock);
    }
}

static int list_clocks(list_run_t *run)
{
    begin_wtime(run);
    if (!ask_for_choice(run))
        return STATUS_FAILED;
    measure_tick(run);
    if (run->settings.results.raw.file != NULL)
        fprintf(run->settings.results.raw.file, "clock,reading,interval_ns\n");
    for (int clock = 0; clock < MACHINE_CLOCKS; clock++)
        examine(run, clock);
    return list_report(run);
}

static int run_program(list_run_t *run)
{
    int status = results_open(&run->settings.results, &run->world);
    if (status == STATUS_GOOD) {
        run->room = world_room(&run->world, run->settings.reads, sizeof(run->room[0]), ": give less for --reads");
        run->kernel = kernel_split(&run->world);
        status = list_clocks(run);
        MPI_Comm_free(&run->kernel);
        free(run->room);
        for (int clock = 0; clock < MACHINE_CLOCKS; clock++)
            free(run->listings[clock].group);
    }
    return results_close(&run->settings.results, &run->world, status);
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
