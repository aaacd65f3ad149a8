/* SPDX-License-Identifier: BSD-3-Clause */
/* keys.c - a tree of keys, each with its number behind it. */
#define _GNU_SOURCE /* tdestroy */
#include "trace/read/keys.h"

#include "common/cli/memory.h"

#include <search.h>
#include <string.h>

size_t keys_find(keys *known, const void *key, size_t key_bytes, int (*compare)(const void *, const void *))
{
    const void **found = or_exit(tsearch(key, &known->tree, compare));
    size_t number = known->count;
    if (*found == key) {
        char *added = or_exit(malloc(key_bytes + sizeof number));
        memcpy(added, key, key_bytes);
        memcpy(added + key_bytes, &number, sizeof number);
        *found = added;
        known->count++;
    }
    memcpy(&number, (const char *)*found + key_bytes, sizeof number);
    return number;
}

void keys_free(keys *known)
{
    tdestroy(known->tree, free);
    *known = (keys){.count = 0};
}
