/* SPDX-License-Identifier: BSD-3-Clause */
/* host.c - the host by its boot id and its name. */
#define _GNU_SOURCE
#include "base/host.h"

#include <stdio.h>
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
