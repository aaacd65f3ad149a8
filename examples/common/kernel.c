/* SPDX-License-Identifier: BSD-3-Clause */
#include "kernel.h"

#include "machine_clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ID_BYTES = 40 };

/* Reads the first word of a file. Returns false, and an empty word, where there is none. */
static bool read_word(const char *path, char *word)
{
    FILE *file = fopen(path, "r");
    bool found = file != NULL && fscanf(file, "%63s", word) == 1;
    if (!found)
        word[0] = '\0';
    if (file != NULL)
        fclose(file);
    return found;
}

bool kernel_clocksource(char name[KERNEL_WORD_BYTES])
{
    return read_word("/sys/devices/system/clocksource/clocksource0/current_clocksource", name);
}

bool kernel_split(const world_t *world, MPI_Comm *comm)
{
    char word[KERNEL_WORD_BYTES] = "", id[ID_BYTES] = "";
    char *ids = malloc((size_t)world->ranks * ID_BYTES);
    int first = 0;
    if (!world_all(world, ids != NULL)) {
        free(ids);
        if (world->rank == 0)
            fprintf(stderr, "%s: out of memory\n", world->program);
        return false;
    }
    /* Without a boot id, the host's name keeps machines apart. */
    if (!read_word("/proc/sys/kernel/random/boot_id", word))
        gethostname(word, sizeof(word) - 1);
    snprintf(id, sizeof(id), "%.39s", word);
    MPI_Allgather(id, ID_BYTES, MPI_CHAR, ids, ID_BYTES, MPI_CHAR, world->comm);
    while (memcmp(ids + (size_t)first * ID_BYTES, id, ID_BYTES) != 0)
        first++;
    free(ids);
    MPI_Comm_split(world->comm, first, world->rank, comm);
    return true;
}

/* Whether the first processor has a flag. True where processors do not say. */
static bool has_flag(const char *flag)
{
    char line[8192];
    FILE *file = fopen("/proc/cpuinfo", "r");
    bool found = true;
    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        if (strncmp(line, "flags", 5) == 0) {
            found = strstr(line, flag) != NULL;
            break;
        }
    }
    if (file != NULL)
        fclose(file);
    return found;
}

void kernel_clock_warning(char *text)
{
    char source[KERNEL_WORD_BYTES];
    bool constant = has_flag(" constant_tsc"), nonstop = has_flag(" nonstop_tsc");
    text[0] = '\0';
    if (!MACHINE_HAS_TSC)
        return;
    if (kernel_clocksource(source) && strcmp(source, "tsc") != 0)
        snprintf(text, KERNEL_WARNING_BYTES,
                 "the kernel's clocksource is %s, not tsc: its clocks may be slow to read, and auto does not take tsc",
                 source);
    else if (!constant || !nonstop)
        snprintf(text, KERNEL_WARNING_BYTES, "the processor's time stamp counter %s (no %s flag)",
                 constant ? "stops in deep sleep" : "changes its rate", constant ? "nonstop_tsc" : "constant_tsc");
}
