/* SPDX-License-Identifier: BSD-3-Clause */
/* table.h - from handles and other numbers to slots of arrays, which have what is known of them. */
#ifndef RECORD_TABLE_H
#define RECORD_TABLE_H

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

/* A slot that is the caller's alone until it is published; or TRACE_PRESENT, or TRACE_ABSENT: there is no room. */
int64_t mh_trace_reserve(trace_table *table, uint64_t key);
void mh_trace_publish(trace_table *table, int64_t slot, uint64_t key);
int64_t mh_trace_find(const trace_table *table, uint64_t key); /* or TRACE_ABSENT */
void mh_trace_remove(trace_table *table, int64_t slot);
/* For the caller alone, until it is shown again or removed: others find no such key. Returns its slot, or ABSENT. */
int64_t mh_trace_hide(trace_table *table, uint64_t key);
void mh_trace_show(trace_table *table, int64_t slot);
int64_t mh_trace_find_any(const trace_table *table, uint64_t key); /* hidden or not */

#endif
