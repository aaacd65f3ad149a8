/* SPDX-License-Identifier: BSD-3-Clause */
/* storage.c - MPI's files: by the pointer of a rank, by an offset, or by the pointer that all share. */
#include "bench/suite/storage.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RANK_BYTES = 16 };

const char *const storage_syncs[] = {[SYNCED_EACH_CALL] = "each", [NOT_SYNCED] = "none", NULL};

static storage_t *all_open; /* the first of them */

/* Where each rank has a file of its own, that of a rank. */
static void name_file(const storage_t *storage, int rank, char name[STORAGE_PATH_BYTES + RANK_BYTES])
{
    bool has_rank = storage->access.users == ALL_HAVE_OWN;
    snprintf(name, STORAGE_PATH_BYTES + RANK_BYTES, has_rank ? "%s.%d" : "%s", storage->path, rank);
}

/* ---- Files that are ours */

/* Deletes what a rank of this node has seen, unless another file has its name now. */
static void delete_file(const storage_t *storage, int rank)
{
    const storage_identity_t *its = &storage->seen[rank];
    char name[STORAGE_PATH_BYTES + RANK_BYTES];
    struct stat now;
    name_file(storage, rank, name);
    if (its->inode != 0 && lstat(name, &now) == 0 && (uint64_t)now.st_dev == its->device &&
        (uint64_t)now.st_ino == its->inode)
        unlink(name);
}

/* Also those of other ranks of this node, which the abort of this one keeps from closing theirs. */
static void delete_all(void)
{
    for (const storage_t *storage = all_open; storage; storage = storage->next) {
        int rank, ranks;
        MPI_Comm_rank(storage->comm, &rank);
        MPI_Comm_size(storage->comm, &ranks);
        for (int other = 0; other < ranks; other++)
            if (strcmp(storage->seen[other].node, storage->seen[rank].node) == 0)
                delete_file(storage, other);
    }
}

static bool is_maker(const storage_t *storage, int rank)
{
    return rank == 0 || storage->access.users == ALL_HAVE_OWN;
}

static int code_of(int error)
{
    switch (error) {
    case EEXIST:
        return MPI_ERR_FILE_EXISTS;
    case ENOENT:
        return MPI_ERR_NO_SUCH_FILE;
    case EACCES:
    case EPERM:
        return MPI_ERR_ACCESS;
    case EROFS:
        return MPI_ERR_READ_ONLY;
    case ENOSPC:
        return MPI_ERR_NO_SPACE;
    case EDQUOT:
        return MPI_ERR_QUOTA;
    default:
        return MPI_ERR_IO;
    }
}

static bool identify(int file, storage_identity_t *its)
{
    struct stat now;
    if (fstat(file, &now) != 0)
        return false;
    its->device = (uint64_t)now.st_dev;
    its->inode = (uint64_t)now.st_ino;
    return true;
}

/* Not by MPI_MODE_EXCL: of the processes of several nodes, only one looks whether there is a file already. */
static int make_file(storage_t *storage, int rank, uint64_t token)
{
    char name[STORAGE_PATH_BYTES + RANK_BYTES];
    name_file(storage, rank, name);
    int file = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0)
        return code_of(errno);
    errno = EIO;
    bool is_good = identify(file, &storage->seen[rank]) && write(file, &token, sizeof token) == (ssize_t)sizeof token;
    int error = errno;
    is_good = close(file) == 0 && is_good;
    return is_good ? MPI_SUCCESS : code_of(error);
}

/* The file of this name here has to be the one that rank 0 made, not one of another file system. */
static int find_file(storage_t *storage, int rank, uint64_t token)
{
    char name[STORAGE_PATH_BYTES + RANK_BYTES];
    uint64_t found = 0;
    name_file(storage, rank, name);
    int file = open(name, O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
    if (file < 0)
        return code_of(errno);
    bool is_same = read(file, &found, sizeof found) == (ssize_t)sizeof found && found == token &&
                   identify(file, &storage->seen[rank]);
    close(file);
    return is_same ? MPI_SUCCESS : MPI_ERR_NO_SUCH_FILE;
}

/* Returns whether all ranks have what they need. */
static bool make_files(storage_t *storage, const world_t *world)
{
    char call[STORAGE_PATH_BYTES + RANK_BYTES + 40], name[STORAGE_PATH_BYTES + RANK_BYTES];
    const int rank = world->rank;
    uint64_t token = 0;
    int code = MPI_SUCCESS;
    name_file(storage, rank, name);
    if (is_maker(storage, rank))
        code =
            getrandom(&token, sizeof token, 0) == (ssize_t)sizeof token ? make_file(storage, rank, token) : MPI_ERR_IO;
    snprintf(call, sizeof call, "Making %s", name);
    if (!world_agree(world, code, call))
        return false;
    if (storage->access.users == ALL_USE_ONE) {
        world_require(world, MPI_Bcast(&token, sizeof token, MPI_BYTE, 0, world->comm));
        code = rank == 0 ? MPI_SUCCESS : find_file(storage, rank, token);
        snprintf(call, sizeof call, "Opening %s, which rank 0 made,", name);
        if (!world_agree(world, code, call))
            return false;
    }
    gethostname(storage->seen[rank].node, sizeof storage->seen[rank].node - 1);
    world_require(
        world, MPI_Allgather(MPI_IN_PLACE, 0, MPI_BYTE, storage->seen, sizeof storage->seen[0], MPI_BYTE, world->comm));
    return true;
}

/* ---- Their life */

static void delete_own(storage_t *storage)
{
    int rank;
    MPI_Comm_rank(storage->comm, &rank);
    if (is_maker(storage, rank))
        delete_file(storage, rank);
    free(storage->seen);
    storage->seen = NULL;
}

bool storage_open(storage_t *storage, const world_t *world, const char *path, const storage_access_t *access)
{
    char name[STORAGE_PATH_BYTES + RANK_BYTES];
    *storage = (storage_t){.access = *access, .comm = world->comm};
    if (access->users == ALL_USE_ONE)
        storage->place = world->rank;
    snprintf(storage->path, sizeof storage->path, "%s", path);
    storage->seen = world_allocate(world, world->ranks, sizeof storage->seen[0], "");
    if (!make_files(storage, world)) {
        delete_own(storage);
        return false;
    }
    storage->next = all_open;
    all_open = storage;
    world_before_abort(delete_all);
    if (access->users == ONE_USES_IT && world->rank != 0)
        return true;
    name_file(storage, world->rank, name);
    world_require_code(world,
                       MPI_File_open(access->users == ALL_USE_ONE ? world->comm : MPI_COMM_SELF, name, MPI_MODE_RDWR,
                                     MPI_INFO_NULL, &storage->file),
                       "MPI_File_open");
    storage->is_open = true;
    return true;
}

void storage_close(storage_t *storage)
{
    storage_t **link = &all_open;
    while (*link && *link != storage)
        link = &(*link)->next;
    if (*link)
        *link = storage->next;
    if (!storage->seen)
        return;
    if (storage->is_open)
        MPI_File_close(&storage->file);
    storage->is_open = false;
    delete_own(storage);
}

int storage_seek(const storage_t *storage, int64_t block_bytes)
{
    bool has_pointer = storage->is_open && storage->access.pointer == BY_OWN_POINTER;
    return has_pointer ? MPI_File_seek(storage->file, (MPI_Offset)(storage->place * block_bytes), MPI_SEEK_SET)
                       : MPI_SUCCESS;
}

int storage_rewind(const storage_t *storage)
{
    if (!storage->is_open || storage->access.pointer != BY_SHARED_POINTER)
        return MPI_SUCCESS;
    /* MPICH sets it back while other ranks may still access the file. */
    int code = MPI_Barrier(storage->comm);
    return code == MPI_SUCCESS ? MPI_File_seek_shared(storage->file, 0, MPI_SEEK_SET) : code;
}

static MPI_Offset offset_of(const storage_t *storage, const storage_block_t *block)
{
    return (MPI_Offset)(storage->place * block->bytes);
}

#define DATA block->memory, block->count, block->type, status

/* Open MPI 4.1 returns success where a part of a block found no room. */
static int moved(int code, const storage_block_t *block, const MPI_Status *status)
{
    int count;
    if (code != MPI_SUCCESS)
        return code;
    MPI_Get_count(status, block->type, &count);
    return count == block->count ? MPI_SUCCESS : MPI_ERR_IO;
}

static int write_alone(const storage_t *storage, const storage_block_t *block, MPI_Status *status)
{
    return storage->access.pointer == BY_OWN_POINTER ? MPI_File_write(storage->file, DATA)
           : storage->access.pointer == BY_OFFSET    ? MPI_File_write_at(storage->file, offset_of(storage, block), DATA)
                                                     : MPI_File_write_shared(storage->file, DATA);
}

static int write_together(const storage_t *storage, const storage_block_t *block, MPI_Status *status)
{
    return storage->access.pointer == BY_OWN_POINTER ? MPI_File_write_all(storage->file, DATA)
           : storage->access.pointer == BY_OFFSET
               ? MPI_File_write_at_all(storage->file, offset_of(storage, block), DATA)
               : MPI_File_write_ordered(storage->file, DATA);
}

static int read_alone(const storage_t *storage, const storage_block_t *block, MPI_Status *status)
{
    return storage->access.pointer == BY_OWN_POINTER ? MPI_File_read(storage->file, DATA)
           : storage->access.pointer == BY_OFFSET    ? MPI_File_read_at(storage->file, offset_of(storage, block), DATA)
                                                     : MPI_File_read_shared(storage->file, DATA);
}

static int read_together(const storage_t *storage, const storage_block_t *block, MPI_Status *status)
{
    return storage->access.pointer == BY_OWN_POINTER ? MPI_File_read_all(storage->file, DATA)
           : storage->access.pointer == BY_OFFSET ? MPI_File_read_at_all(storage->file, offset_of(storage, block), DATA)
                                                  : MPI_File_read_ordered(storage->file, DATA);
}

int storage_finish(const storage_t *storage, const storage_block_t *block, const MPI_Status *status,
                   storage_sync_t sync)
{
    int code = status ? moved(MPI_SUCCESS, block, status) : MPI_SUCCESS;
    return code == MPI_SUCCESS && sync == SYNCED_EACH_CALL && storage->is_open ? MPI_File_sync(storage->file) : code;
}

int storage_write(const storage_t *storage, const storage_block_t *block, storage_sync_t sync)
{
    MPI_Status status;
    if (!storage->is_open)
        return MPI_SUCCESS;
    int code =
        storage->access.is_collective ? write_together(storage, block, &status) : write_alone(storage, block, &status);
    return code == MPI_SUCCESS ? storage_finish(storage, block, &status, sync) : code;
}

int storage_read(const storage_t *storage, const storage_block_t *block)
{
    MPI_Status status;
    if (!storage->is_open)
        return MPI_SUCCESS;
    int code =
        storage->access.is_collective ? read_together(storage, block, &status) : read_alone(storage, block, &status);
    return moved(code, block, &status);
}

/* Of MPI_File_iwrite and MPI_File_iread, the function that the access takes. Those in the order of ranks are others. */
#define STARTING(name, function, ordered)                                                                         \
    int name(const storage_t *storage, const storage_block_t *block, MPI_Request *request)                        \
    {                                                                                                             \
        bool has_offset = storage->access.pointer == BY_OFFSET;                                                   \
        *request = MPI_REQUEST_NULL;                                                                              \
        if (!storage->is_open)                                                                                    \
            return MPI_SUCCESS;                                                                                   \
        if (storage_splits(storage))                                                                              \
            return ordered##_begin(storage->file, block->memory, block->count, block->type);                      \
        if (storage->access.pointer == BY_SHARED_POINTER)                                                         \
            return function##_shared(storage->file, block->memory, block->count, block->type, request);           \
        if (storage->access.is_collective)                                                                        \
            return has_offset ? function##_at_all(storage->file, offset_of(storage, block), block->memory,        \
                                                  block->count, block->type, request)                             \
                              : function##_all(storage->file, block->memory, block->count, block->type, request); \
        return has_offset ? function##_at(storage->file, offset_of(storage, block), block->memory, block->count,  \
                                          block->type, request)                                                   \
                          : function(storage->file, block->memory, block->count, block->type, request);           \
    }

bool storage_splits(const storage_t *storage)
{
    const storage_access_t *access = &storage->access;
    return access->is_nonblocking && access->is_collective && access->pointer == BY_SHARED_POINTER;
}

STARTING(storage_start_write, MPI_File_iwrite, MPI_File_write_ordered)
STARTING(storage_start_read, MPI_File_iread, MPI_File_read_ordered)

int storage_end(const storage_t *storage, void *memory, bool writes, MPI_Status *status)
{
    return writes ? MPI_File_write_ordered_end(storage->file, memory, status)
                  : MPI_File_read_ordered_end(storage->file, memory, status);
}

int storage_reopen(const storage_t *storage)
{
    MPI_File file;
    int code = MPI_File_open(storage->comm, storage->path, MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    return code == MPI_SUCCESS ? MPI_File_close(&file) : code;
}

/* What all have written is in the file. */
static int settle(const storage_t *storage)
{
    int code = storage->is_open ? MPI_File_sync(storage->file) : MPI_SUCCESS;
    if (code == MPI_SUCCESS)
        code = MPI_Barrier(storage->comm);
    return code == MPI_SUCCESS && storage->is_open ? MPI_File_sync(storage->file) : code;
}

int storage_put(const storage_t *storage, const storage_block_t *block)
{
    MPI_Status own, *status = &own;
    /* Others may still read blocks of another size. */
    int code = MPI_Barrier(storage->comm);
    if (code == MPI_SUCCESS && storage->is_open)
        code = moved(MPI_File_write_at(storage->file, offset_of(storage, block), DATA), block, status);
    return code == MPI_SUCCESS ? settle(storage) : code;
}

int storage_get(const storage_t *storage, const storage_block_t *block)
{
    MPI_Status own, *status = &own;
    int code = settle(storage);
    if (code == MPI_SUCCESS && storage->is_open)
        code = moved(MPI_File_read_at(storage->file, offset_of(storage, block), DATA), block, status);
    /* Nobody writes anew while others read. */
    return code == MPI_SUCCESS ? MPI_Barrier(storage->comm) : code;
}
