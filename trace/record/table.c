/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * table.c - from handles to what is known of them, for several threads without a lock.
 *
 * A key has a bucket with a few ways, one of which it takes when it is free. A handle is used by one thread at a time,
 * so only different keys meet: they compete for free ways. The exception is a handle that stands for several requests.
 */
#include "trace/record/table.h"

static const uint64_t reserved = UINT64_MAX, hidden = 2; /* hidden: a bit that the keys of requests have not */

int64_t mh_trace_find_any(const trace_table *table, uint64_t key)
{
    return trace_search(table, key | hidden, hidden);
}

/* Where keys of this bucket are, one that is so becomes another. */
static int64_t change(trace_table *table, uint64_t bucket, uint64_t from, uint64_t to)
{
    int64_t first = trace_bucket(table, bucket);
    for (int64_t slot = first; slot < first + TRACE_TABLE_WAYS; slot++) {
        uint64_t expected = from;
        if (atomic_load_explicit(&table->keys[slot], memory_order_relaxed) == from &&
            atomic_compare_exchange_strong(&table->keys[slot], &expected, to))
            return slot;
    }
    return TRACE_ABSENT;
}

int64_t mh_trace_hide(trace_table *table, uint64_t key)
{
    return change(table, key, key, key | hidden);
}

void mh_trace_show(trace_table *table, int64_t slot)
{
    uint64_t key = atomic_load_explicit(&table->keys[slot], memory_order_relaxed) & ~hidden;
    atomic_store_explicit(&table->keys[slot], key, memory_order_release);
}

int64_t mh_trace_reserve(trace_table *table, uint64_t key)
{
    return mh_trace_find(table, key) >= 0 ? TRACE_PRESENT : change(table, key, 0, reserved);
}

void mh_trace_publish(trace_table *table, int64_t slot, uint64_t key)
{
    atomic_store_explicit(&table->keys[slot], key, memory_order_release);
}

void mh_trace_remove(trace_table *table, int64_t slot)
{
    atomic_store_explicit(&table->keys[slot], 0, memory_order_release);
}
