/* SPDX-License-Identifier: BSD-3-Clause */
/* chain.h - the waits that are charged to the worst instance of a cause: for this rank, or one that waited for it. */
#ifndef TRACE_CHAIN_H
#define TRACE_CHAIN_H

#include "trace/waits/causes.h"

/*
 * In the order in which they end, no later than `until_ns`; to be freed by bulk_free.
 *
 * count   out: how many there are
 */
size_t *chain_find(const graph *of, const graph_waits *waits, const cause *cause, int64_t until_ns, size_t *count);

#endif
