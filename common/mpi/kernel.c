/* SPDX-License-Identifier: BSD-3-Clause */
/* kernel.c - read the files of the kernel, and compare boot ids. */
#include "common/mpi/kernel.h"

#include <string.h>
#include <unistd.h>

bool kernel_value(const char *path, const char *word, char *text, size_t text_bytes)
{
    static char line[8192]; /* flags of a processor are many */
    size_t length = strlen(word);
    FILE *file = fopen(path, "r");
    text[0] = '\0';
    while (file && fgets(line, sizeof line, file)) {
        if (strncmp(line, word, length) != 0)
            continue;
        const char *value = line + length + strspn(line + length, " \t:");
        snprintf(text, text_bytes, "%.*s", (int)strcspn(value, "\n"), value);
        break;
    }
    if (file)
        fclose(file);
    return text[0] != '\0';
}

bool kernel_clocksource(char name[KERNEL_WORD_BYTES])
{
    return kernel_value("/sys/devices/system/clocksource/clocksource0/current_clocksource", "", name,
                        KERNEL_WORD_BYTES);
}

world_t kernel_split(const world_t *world)
{
    world_t kernel = *world;
    char word[KERNEL_WORD_BYTES] = "";
    /* Without a boot id, the host's name keeps machines apart. */
    if (!kernel_value("/proc/sys/kernel/random/boot_id", "", word, sizeof word))
        gethostname(word, sizeof word - 1);
    kernel.comm = world_split(world, word);
    MPI_Comm_rank(kernel.comm, &kernel.rank);
    MPI_Comm_size(kernel.comm, &kernel.ranks);
    return kernel;
}

double kernel_tick_ns(const counter_rate_t *rate, MPI_Comm kernel)
{
    double tick_ns = counter_rate_ns(rate);
    MPI_Bcast(&tick_ns, 1, MPI_DOUBLE, 0, kernel);
    return tick_ns;
}

void kernel_clock_warning(char text[KERNEL_WARNING_BYTES])
{
    char source[KERNEL_WORD_BYTES], flags[8192];
    const char *wanted = MACHINE_COUNTER == MACHINE_CLOCK_CNTVCT ? "arch_sys_counter" : "tsc";
    bool unknown = !kernel_value("/proc/cpuinfo", "flags", flags, sizeof flags);
    bool constant = unknown || strstr(flags, "constant_tsc"), nonstop = unknown || strstr(flags, "nonstop_tsc");
    text[0] = '\0';
    if (MACHINE_COUNTER == MACHINE_CLOCKS)
        return;
    if (kernel_clocksource(source) && strcmp(source, wanted) != 0)
        snprintf(text, KERNEL_WARNING_BYTES,
                 "the kernel's clocksource is %s, not %s: its clocks may be slow to read, and auto does not take %s",
                 source, wanted, machine_clocks[MACHINE_COUNTER].name);
    else if (!constant || !nonstop)
        snprintf(text, KERNEL_WARNING_BYTES, "the processor's time stamp counter %s (no %s flag)",
                 constant ? "stops in deep sleep" : "changes its rate", constant ? "nonstop_tsc" : "constant_tsc");
}
