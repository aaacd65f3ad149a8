/* SPDX-License-Identifier: BSD-3-Clause */
/* host.c - the host by its boot id and its name; fresh numbers from the time of day, the process and a count. */
#define _GNU_SOURCE
#include "base/host.h"

#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { NAME_SIZE = 256 };

uint64_t mh_hash_text(const char *text)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return hash;
}

static uint64_t hash_name(void)
{
    char name[NAME_SIZE] = "";
    gethostname(name, sizeof name - 1);
    return mh_hash_text(name);
}

uint64_t mh_hash_boot(void)
{
    char id[64] = "";
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");
    if (file) {
        if (fscanf(file, "%63s", id) != 1)
            id[0] = '\0';
        fclose(file);
    }
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
