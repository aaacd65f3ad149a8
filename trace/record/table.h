/* SPDX-License-Identifier: BSD-3-Clause */
/* table.h - from handles and other numbers to slots of arrays, which have what is known of them. */
#ifndef RECORD_TABLE_H
#define RECORD_TABLE_H

#include "trace/shared/interposer.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TRACE_TABLE_WAYS = 16, TRACE_ABSENT = -1, TRACE_PRESENT = -2 };
#define TRACE_SLOTS(bucket_bits) (TRACE_TABLE_WAYS << (bucket_bits))
typedef struct {
    _Atomic uint64_t *keys; /* 0: free */
    unsigned bucket_bits;
} trace_table;
/* Of a static table: it takes no memory until it is used. */
#define TRACE_TABLE(bits)                                                     \
    {                                                                         \
        .keys = (_Atomic uint64_t[TRACE_SLOTS(bits)]){0}, .bucket_bits = bits \
    }

static inline int64_t trace_bucket(const trace_table *table, uint64_t key)
{
    return (int64_t)trace_hash(key, table->bucket_bits) * TRACE_TABLE_WAYS;
}

/* The slot whose key, with the bits of mask, is this one. */
static inline int64_t trace_search(const trace_table *table, uint64_t key, uint64_t mask)
{
    const int64_t first = trace_bucket(table, key & ~mask);
    for (int64_t slot = first; slot < first + TRACE_TABLE_WAYS; slot++)
        if ((atomic_load_explicit(&table->keys[slot], memory_order_acquire) | mask) == key)
            return slot;
    return TRACE_ABSENT;
}

/* A slot that is the caller's alone until it is published; or TRACE_PRESENT, or TRACE_ABSENT: there is no room. */
int64_t mh_trace_reserve(trace_table *table, uint64_t key);
void mh_trace_publish(trace_table *table, int64_t slot, uint64_t key);
static inline int64_t mh_trace_find(const trace_table *table, uint64_t key) /* or TRACE_ABSENT */
{
    return trace_search(table, key, 0);
}
void mh_trace_remove(trace_table *table, int64_t slot);
/* For the caller alone, until it is shown again or removed: others find no such key. Returns its slot, or ABSENT. */
int64_t mh_trace_hide(trace_table *table, uint64_t key);
void mh_trace_show(trace_table *table, int64_t slot);
int64_t mh_trace_find_any(const trace_table *table, uint64_t key); /* hidden or not */

#endif
