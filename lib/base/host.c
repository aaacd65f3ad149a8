/* SPDX-License-Identifier: BSD-3-Clause */
/* host.c - the host by its boot id and its name; fresh numbers from the time of day, the process and a count. */
#define _GNU_SOURCE
#include "base/host.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

uint64_t mh_hash_text(const char *text)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return hash;
}

void mh_host_name(char name[MH_HOST_NAME_BYTES])
{
    memset(name, 0, MH_HOST_NAME_BYTES);
    gethostname(name, MH_HOST_NAME_BYTES - 1);
}

void mh_boot_id(char id[MH_BOOT_ID_BYTES])
{
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");
    id[0] = '\0';
    if (file) {
        if (fscanf(file, "%63s", id) != 1)
            id[0] = '\0';
        fclose(file);
    }
}

int64_t mh_time_namespace_ns(const char *clock)
{
    char name[16];
    long long seconds, ns;
    int64_t added_ns = 0;
    FILE *file = fopen("/proc/self/timens_offsets", "r");
    while (file && fscanf(file, "%15s %lld %lld", name, &seconds, &ns) == 3)
        if (strcmp(name, clock) == 0)
            added_ns = seconds * INT64_C(1000000000) + ns;
    if (file)
        fclose(file);
    return added_ns;
}

static uint64_t hash_name(void)
{
    char name[MH_HOST_NAME_BYTES];
    mh_host_name(name);
    return mh_hash_text(name);
}

uint64_t mh_hash_boot(void)
{
    char id[MH_BOOT_ID_BYTES];
    mh_boot_id(id);
    /* Without a boot id, at least the host's name keeps machines apart. */
    return id[0] ? mh_hash_text(id) : hash_name();
}

uint64_t mh_hash_host(void)
{
    return mh_hash_boot() * 31 + hash_name();
}

uint64_t mh_fresh_number(void)
{
    static atomic_uint_least64_t calls;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t number = (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
    number = (number ^ (uint64_t)getpid() << 40) + atomic_fetch_add(&calls, 1) * UINT64_C(0x9e3779b97f4a7c15);
    return number ? number : 1;
}
