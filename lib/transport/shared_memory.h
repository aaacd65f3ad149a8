/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shared_memory.h - memory that processes of one node share. No MPI: how they agree is up to the caller.
 *
 * One process creates the memory and tells the others its key, they map it, and when all have, or could not, the first
 * withdraws the key. There are two ways to do so. By descriptor, the memory never has a name, so nothing is left behind
 * however the processes end; the others reach it through /proc, which needs one PID namespace. By name works between
 * containers that share /dev/shm, too; a process that is killed before it withdraws leaves the name behind.
 */
#ifndef MH_SHARED_MEMORY_H
#define MH_SHARED_MEMORY_H

#include <stddef.h>
#include <stdint.h>

enum { MH_SHARED_MEMORY_NAME_SIZE = 64 };

typedef enum mh_shared_memory_way { MH_SHARED_BY_DESCRIPTOR, MH_SHARED_BY_NAME, MH_SHARED_WAYS } mh_shared_memory_way;

typedef struct mh_shared_memory {
    void *data; /* NULL: not mapped */
    size_t bytes;
} mh_shared_memory;

/* What others need to map the memory. All zero: it could not be created. */
typedef struct mh_shared_memory_key {
    char name[MH_SHARED_MEMORY_NAME_SIZE];
    int32_t process, descriptor; /* of who created it, by descriptor; process is 0 by name */
    uint64_t bytes;
    uint64_t nonce; /* at the beginning of the memory: another host may have the same name */
} mh_shared_memory_key;

/*
 * Create memory, all zero but for the nonce in its first eight bytes, and map it.
 *
 * Returns 0, or -1 with the reason in why; then key->name is empty. A limit on the size of files (RLIMIT_FSIZE) is such
 * a reason, and raises no signal.
 */
int mh_shared_memory_create(mh_shared_memory *memory, size_t bytes, mh_shared_memory_way way, mh_shared_memory_key *key,
                            char *why, size_t why_size);

/* Map the memory that another process has created. Returns 0, or -1 with the reason in why. */
int mh_shared_memory_map(mh_shared_memory *memory, const mh_shared_memory_key *key, char *why, size_t why_size);

/* By who created it: end what key stands for. The memory stays as long as somebody has mapped it. */
void mh_shared_memory_withdraw(const mh_shared_memory_key *key);

/* Does nothing where it is not mapped. */
void mh_shared_memory_unmap(mh_shared_memory *memory);

#endif
