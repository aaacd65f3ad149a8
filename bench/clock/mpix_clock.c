/* SPDX-License-Identifier: BSD-3-Clause */
/* mpix_clock - list the clocks of a machine, measure how they drift, check and record the library's global clock. */
#include "bench/clock/clock.h"
#include "common/mpi/world.h"

#include <string.h>

static const clock_command_t *const commands[] = {&clock_list, &clock_drift, &clock_check, &clock_record};
enum { COMMANDS = sizeof commands / sizeof commands[0] };

static const option_spec_t operand = {0, "command", "COMMAND", OPTION_TEXT, .place = 0};

static const program_spec_t program = {
    .name = "mpix_clock",
    .purpose = "Measures the clocks of a machine, and the library's global clock.",
    .operand = &operand,
    .usage = "mpiexec -n RANKS mpix_clock COMMAND [OPTION]...",
    .notes = "COMMAND:\n"
             "  list    the base clocks: cost, resolution, which ranks share them, which one the library uses\n"
             "  drift   how the clocks of all ranks drift against those of rank 0\n"
             "  check   the error of the global clock some time after a synchronization, beside its bound\n"
             "  record  what the clocks of each host are on the global clock, to convert timestamps by\n"
             "mpix_clock COMMAND --help lists the options of a command.\n",
};

static const clock_command_t *find_command(const char *name)
{
    for (int i = 0; i < COMMANDS; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

/* Answers --help and --version, or refuses. */
static int run_without_command(int argc, char **argv)
{
    world_t world;
    const char *given = NULL;
    int status;
    if (world_start(&world, &program, argc, argv, &given, sizeof given, &status))
        status =
            world_refuse(&world, "command \"%.60s\" is unknown, give list, drift, check or record", given ? given : "");
    return world_end(&world, status);
}

int main(int argc, char **argv)
{
    const clock_command_t *command = argc > 1 ? find_command(argv[1]) : NULL;
    if (!command)
        return run_without_command(argc, argv);
    world_t *world = command->state;
    int status;
    if (world_start(world, command->program, argc - 1, argv + 1, (char *)command->state + command->settings_place,
                    command->settings_bytes, &status))
        status = command->run(command->state, argv + 1);
    return world_end(world, status);
}
