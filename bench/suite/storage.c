/* SPDX-License-Identifier: BSD-3-Clause */
/* storage.c - MPI's files: by the pointer of a rank, by an offset, or by the pointer that all share. */
#include "bench/suite/storage.h"

#include <stdio.h>
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

/* Also those of other ranks, which the abort of this one keeps from closing theirs. */
static void delete_all(void)
{
    char name[STORAGE_PATH_BYTES + RANK_BYTES];
    for (const storage_t *storage = all_open; storage; storage = storage->next) {
        int files = 1;
        if (storage->access.users == ALL_HAVE_OWN)
            MPI_Comm_size(storage->comm, &files);
        for (int rank = 0; rank < files; rank++) {
            name_file(storage, rank, name);
            unlink(name);
        }
    }
}

static int make_file(storage_t *storage, int rank)
{
    char name[STORAGE_PATH_BYTES + RANK_BYTES];
    if (storage->access.users == ONE_USES_IT && rank != 0)
        return MPI_SUCCESS;
    name_file(storage, rank, name);
    int code = MPI_File_open(storage->access.users == ALL_USE_ONE ? storage->comm : MPI_COMM_SELF, name,
                             MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR, MPI_INFO_NULL, &storage->file);
    storage->is_open = code == MPI_SUCCESS;
    return code;
}

/* Not by MPI_MODE_DELETE_ON_CLOSE: with it, Open MPI 4.1 deletes a file that was there when it refuses to make it. */
static void close_file(storage_t *storage)
{
    char name[STORAGE_PATH_BYTES + RANK_BYTES];
    int rank;
    if (!storage->is_open)
        return;
    MPI_Comm_rank(storage->comm, &rank);
    name_file(storage, rank, name);
    MPI_File_close(&storage->file);
    if (rank == 0 || storage->access.users == ALL_HAVE_OWN)
        unlink(name);
    storage->is_open = false;
}

bool storage_open(storage_t *storage, const world_t *world, const char *path, const storage_access_t *access)
{
    char call[STORAGE_PATH_BYTES + RANK_BYTES + 20];
    *storage = (storage_t){.access = *access, .comm = world->comm};
    if (access->users == ALL_USE_ONE)
        storage->place = world->rank;
    snprintf(storage->path, sizeof storage->path, "%s", path);
    snprintf(call, sizeof call, "MPI_File_open of %s", path);
    if (!world_agree(world, make_file(storage, world->rank), call)) {
        close_file(storage);
        return false;
    }
    storage->next = all_open;
    all_open = storage;
    world_before_abort(delete_all);
    return true;
}

void storage_close(storage_t *storage)
{
    storage_t **link = &all_open;
    while (*link && *link != storage)
        link = &(*link)->next;
    if (*link)
        *link = storage->next;
    close_file(storage);
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

int storage_write(const storage_t *storage, const storage_block_t *block, storage_sync_t sync)
{
    MPI_Status status;
    if (!storage->is_open)
        return MPI_SUCCESS;
    int code =
        storage->access.is_collective ? write_together(storage, block, &status) : write_alone(storage, block, &status);
    code = moved(code, block, &status);
    return code == MPI_SUCCESS && sync == SYNCED_EACH_CALL ? MPI_File_sync(storage->file) : code;
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
