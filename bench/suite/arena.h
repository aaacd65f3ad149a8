/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * arena.h - memory for messages, and where in it those of each call lie: in the cache or not. No MPI.
 *
 * warm, cold: one slot, which holds a send buffer and a receive buffer, each on pages of its own. Before a cold call
 * all of a region is read that is larger than the last-level cache.
 * rotate: a ring of slots that fills more than that cache. Processors fetch ahead what lies next to what is used, so
 * successive slots are far apart.
 */
#ifndef ARENA_H
#define ARENA_H

#include <stdbool.h>
#include <stdint.h>

typedef enum cache_mode { CACHE_WARM, CACHE_ROTATE, CACHE_COLD } cache_mode_t;
extern const char *const cache_modes[]; /* their names, NULL after the last */

typedef struct arena {
    cache_mode_t kind;
    int64_t bytes;
    char *memory;           /* the caller's */
    int64_t eviction_bytes; /* of what is read instead, behind these; 0 unless cold */
    int64_t send_bytes;     /* of a slot, up to the receive buffer */
    int64_t slot_bytes;
    int64_t slots;
    int64_t step; /* from slot to slot; has no divisor in common with slots */
} arena_t;

/* arena_cache_bytes - the size of the last-level cache, or a guess if the system does not state it. */
int64_t arena_cache_bytes(void);

/*
 * arena_needs - the memory that an arena takes.
 *
 * send_bytes, receive_bytes   of the largest messages of this rank; 0 for a buffer that it does not have
 * cache_bytes                 the size of the last-level cache
 *
 * Returns bytes, or -1 if they are too many for an int64_t.
 */
int64_t arena_needs(cache_mode_t kind, int64_t send_bytes, int64_t receive_bytes, int64_t cache_bytes);

/* arena_allocate - memory for arenas, which free frees, zeroed and touched. Returns NULL if it lacks. */
char *arena_allocate(int64_t bytes);

/* arena_open - make an arena of memory that has as many bytes as arena_needs says, or more. */
arena_t arena_open(char *memory, cache_mode_t kind, int64_t send_bytes, int64_t receive_bytes, int64_t cache_bytes);

/* arena_set_size - make slots for messages of these sizes, at most those of arena_open. */
void arena_set_size(arena_t *arena, int64_t send_bytes, int64_t receive_bytes);

/* arena_slot - get the memory ready for a call, from 0 on: where its buffers are. */
void arena_slot(const arena_t *arena, int64_t call, char **send, char **receive);

#endif
