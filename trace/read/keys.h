/* SPDX-License-Identifier: BSD-3-Clause */
/* keys.h - numbers for keys, from 0 in the order in which they first come. */
#ifndef TRACE_KEYS_H
#define TRACE_KEYS_H

#include <stddef.h>

typedef struct {
    size_t count;
    void *tree; /* of tsearch */
} keys;

/*
 * keys_find - the number of a key, which gets the next one if it is new.
 *
 * key_bytes   of each key, which is copied
 * compare     as for qsort
 */
size_t keys_find(keys *known, const void *key, size_t key_bytes, int (*compare)(const void *, const void *));
void keys_free(keys *known);

#endif
