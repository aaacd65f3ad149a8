/* SPDX-License-Identifier: BSD-3-Clause */
/* table.h - what is known of a handle. */
#ifndef RECORD_TABLE_H
#define RECORD_TABLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TRACE_TABLE_WAYS = 16, TRACE_ABSENT = -1, TRACE_PRESENT = -2 };
typedef struct {
    _Atomic uint64_t *keys; /* 0: free */
    unsigned bucket_bits;
} trace_table;

bool mh_trace_open_table(trace_table *table, unsigned bucket_bits);
size_t mh_trace_table_size(const trace_table *table);
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
