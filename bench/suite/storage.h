/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * storage.h - a file that operations write and read: a block of each rank that accesses it, one after the other.
 *
 * Functions that return int return an MPI error code; what else fails ends the job.
 */
#ifndef STORAGE_H
#define STORAGE_H

#include "common/mpi/world.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* What says where an access begins. */
typedef enum storage_pointer { NO_STORAGE, BY_OWN_POINTER, BY_OFFSET, BY_SHARED_POINTER } storage_pointer_t;

/* Who accesses which file. */
typedef enum storage_users {
    ALL_USE_ONE, /* together */
    ONE_USES_IT, /* rank 0, while the others wait */
    ALL_HAVE_OWN
} storage_users_t;

/* How operations access a file. */
typedef struct storage_access {
    storage_pointer_t pointer;
    storage_users_t users;
    bool is_collective;  /* a call is one of all ranks together */
    bool is_nonblocking; /* a call only starts it */
} storage_access_t;

typedef enum storage_sync { SYNCED_EACH_CALL, NOT_SYNCED } storage_sync_t;
extern const char *const storage_syncs[]; /* their names, NULL after the last */

enum { STORAGE_PATH_BYTES = 256, STORAGE_NODE_BYTES = 64 };

/* A file, as a rank of a node has seen it. inode: 0 for none. */
typedef struct storage_identity {
    uint64_t device, inode;
    char node[STORAGE_NODE_BYTES];
} storage_identity_t;

typedef struct storage {
    storage_access_t access;
    bool is_open; /* on this rank */
    MPI_Comm comm;
    int place; /* of this rank's block */
    MPI_File file;
    char path[STORAGE_PATH_BYTES];
    storage_identity_t *seen; /* by each rank */
    struct storage *next;     /* of those that are open */
} storage_t;

/*
 * storage_open - make a file, which must not be there, and which goes when it is closed, or when world_fail or
 * world_abort ends the job, unless only other nodes have it. Collective. Returns true on all ranks if it could be made,
 * and if all that use it find the same file; else the first rank where this is not so says why, and nothing is left.
 *
 * path   where each rank has a file of its own, a dot and the rank follow
 */
bool storage_open(storage_t *storage, const world_t *world, const char *path, const storage_access_t *access);

/* storage_close - close it. Collective. */
void storage_close(storage_t *storage);

/* What is moved: so many elements, which are so many bytes. */
typedef struct storage_block {
    void *memory;
    int count;
    MPI_Datatype type;
    int64_t bytes;
} storage_block_t;

/* storage_seek - this rank's pointer to its block. Local. */
int storage_seek(const storage_t *storage, int64_t block_bytes);

/* storage_rewind - the shared pointer to the first block, if the storage is accessed by it. Collective. */
int storage_rewind(const storage_t *storage);

/* storage_write, storage_read - a block, by the pointer, as the access has it. sync: when. */
int storage_write(const storage_t *storage, const storage_block_t *block, storage_sync_t sync);
int storage_read(const storage_t *storage, const storage_block_t *block);

/* storage_start_write, storage_start_read - likewise, where calls only start it, and storage_finish completes it. */
int storage_start_write(const storage_t *storage, const storage_block_t *block, MPI_Request *request);
int storage_start_read(const storage_t *storage, const storage_block_t *block, MPI_Request *request);

/*
 * storage_splits - whether what is started has no request, but is complete by storage_end: MPI has no non-blocking
 * access in the order of ranks.
 */
bool storage_splits(const storage_t *storage);
int storage_end(const storage_t *storage, void *memory, bool writes, MPI_Status *status);

/* storage_finish - status: of what was started, which is complete; NULL: nothing was. */
int storage_finish(const storage_t *storage, const storage_block_t *block, const MPI_Status *status,
                   storage_sync_t sync);

/* storage_reopen - open it once more, and close this again. Collective. */
int storage_reopen(const storage_t *storage);

/* storage_put, storage_get - this rank's block, whatever the pointer; then all have done so. Collective. */
int storage_put(const storage_t *storage, const storage_block_t *block);
int storage_get(const storage_t *storage, const storage_block_t *block);

#endif
