/* SPDX-License-Identifier: BSD-3-Clause */
#include "buffers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PAGE_ALIGNMENT_BYTES = 4096 };

/* Memory that this node can still give out; all of it where the system tells no more. */
static double available_bytes(void)
{
    FILE *file = fopen("/proc/meminfo", "r");
    char line[128];
    double available_kib = -1;

    while (file != NULL && available_kib < 0 && fgets(line, sizeof(line), file) != NULL)
        sscanf(line, "MemAvailable: %lf kB", &available_kib);
    if (file != NULL)
        fclose(file);
    if (available_kib >= 0)
        return available_kib * 1024;
    return (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
}

/* Writes to each page, or the first measured call would pay for it. */
static void *allocate(int64_t bytes)
{
    void *memory = NULL;

    if (posix_memalign(&memory, PAGE_ALIGNMENT_BYTES, (size_t)bytes) != 0)
        return NULL;
    memset(memory, 0, (size_t)bytes);
    return memory;
}

bool buffers_allocate(struct buffers *buffers, const struct world *world, int64_t send_bytes, int64_t receive_bytes)
{
    /* malloc grants more than there is, so ask the node first, and touch only when all ranks fit. */
    double node_bytes = (double)(send_bytes + receive_bytes) * world->node_ranks;
    bool good = world_all(world, node_bytes <= available_bytes());

    *buffers = (struct buffers){NULL, NULL};
    if (good && send_bytes > 0)
        good = (buffers->send = allocate(send_bytes)) != NULL;
    if (good && receive_bytes > 0)
        good = (buffers->receive = allocate(receive_bytes)) != NULL;
    good = world_all(world, good);
    if (!good) {
        buffers_free(buffers);
        world_refuse(world, "option --message-size: the buffers need %.0f MB on each of %d ranks, more than there is",
                     (double)(send_bytes + receive_bytes) / 1e6, world->ranks);
    }
    return good;
}

void buffers_free(struct buffers *buffers)
{
    free(buffers->send);
    free(buffers->receive);
    *buffers = (struct buffers){NULL, NULL};
}
