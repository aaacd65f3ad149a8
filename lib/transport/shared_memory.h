/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shared_memory.h - memory that processes of one node share. No MPI: how they agree is up to the caller.
 *
 * One process creates the memory and sends its key to the others. They map it. After all have tried, the first process
 * withdraws the key. There are two ways. By descriptor: the memory has no name, so nothing is left behind however the
 * processes end; the others open it through /proc, which requires a common PID namespace. By name: this also works
 * between containers that share /dev/shm, but a process that is killed before it withdraws the key leaves the name.
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
    int32_t process, descriptor; /* of the creator; process is 0 if the memory has a name */
    uint64_t bytes;
    uint64_t nonce; /* at the beginning of the memory: another host may have the same name */
} mh_shared_memory_key;

/*
 * Create memory, all zero but for the nonce in its first eight bytes, and map it.
 *
 * Returns 0, or -1 with the reason in why and an empty key->name. A limit on the size of files (RLIMIT_FSIZE) is an
 * error like others and raises no signal.
 */
int mh_shared_memory_create(mh_shared_memory *memory, size_t bytes, mh_shared_memory_way way, mh_shared_memory_key *key,
                            char *why, size_t why_size);

/* Map the memory that another process has created. Returns 0, or -1 with the reason in why. */
int mh_shared_memory_map(mh_shared_memory *memory, const mh_shared_memory_key *key, char *why, size_t why_size);

/* By the creator: make the key invalid. The memory remains as long as a process has mapped it. */
void mh_shared_memory_withdraw(const mh_shared_memory_key *key);

/* Does nothing if it is not mapped. */
void mh_shared_memory_unmap(mh_shared_memory *memory);

#endif
