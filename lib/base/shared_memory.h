/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shared_memory.h - memory that processes of one node share. No MPI: how they agree is up to the caller.
 *
 * One process creates the memory under a name that it tells the others, they map it by that name, and when all have,
 * the name is removed: nothing is left behind, however the processes end.
 */
#ifndef MH_SHARED_MEMORY_H
#define MH_SHARED_MEMORY_H

#include <stddef.h>
#include <stdint.h>

enum { MH_SHARED_MEMORY_NAME_SIZE = 64 };

typedef struct mh_shared_memory {
    void *data; /* NULL: not mapped */
    size_t bytes;
} mh_shared_memory;

/* What others need to map the memory. */
typedef struct mh_shared_memory_key {
    char name[MH_SHARED_MEMORY_NAME_SIZE]; /* empty: could not be created */
    uint64_t bytes;
    uint64_t nonce; /* at the beginning of the memory: another host may have the same name */
} mh_shared_memory_key;

/*
 * Create memory, all zero but for the nonce in its first eight bytes, and map it.
 *
 * Returns 0, or -1 with the reason in why; then key->name is empty.
 */
int mh_shared_memory_create(mh_shared_memory *memory, size_t bytes, mh_shared_memory_key *key, char *why, size_t why_size);

/* Map the memory that another process has created. Returns 0, or -1 with the reason in why. */
int mh_shared_memory_map(mh_shared_memory *memory, const mh_shared_memory_key *key, char *why, size_t why_size);

/* Remove the name; the memory stays as long as somebody has mapped it. */
void mh_shared_memory_forget_name(const mh_shared_memory_key *key);

/* Does nothing where it is not mapped. */
void mh_shared_memory_unmap(mh_shared_memory *memory);

#endif
