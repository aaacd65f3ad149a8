/* SPDX-License-Identifier: BSD-3-Clause */
/* operations_file.c - the operations of files. */
#include "bench/suite/operations.h"

/* ---- How data move */

/* Files: what is written is read again to be checked, what is read was written before. */
#define ACCESS_FILE(ranks, ...) \
    .send = (ranks) | ONE, .receive = (ranks) | ONE, .from = FROM_SELF, .directions = 1, .access = {__VA_ARGS__}
#define WRITE_AND_READ(name, ...)                                 \
    SHAPE(name##_write, ACCESS_FILE(__VA_ARGS__), .writes = true) \
    SHAPE(name##_read, ACCESS_FILE(__VA_ARGS__))
/* Blocking, and started to be completed later. */
#define ACCESSES(name, ...)           \
    WRITE_AND_READ(name, __VA_ARGS__) \
    WRITE_AND_READ(name##_start, __VA_ARGS__, .is_nonblocking = true)
ACCESSES(alone_indv, AT_ROOT, BY_OWN_POINTER, ONE_USES_IT)
ACCESSES(alone_expl, AT_ROOT, BY_OFFSET, ONE_USES_IT)
ACCESSES(all_indv, 0, BY_OWN_POINTER, ALL_USE_ONE)
ACCESSES(all_expl, 0, BY_OFFSET, ALL_USE_ONE)
ACCESSES(all_shared, 0, BY_SHARED_POINTER, ALL_USE_ONE)
ACCESSES(all_priv, 0, BY_OWN_POINTER, ALL_HAVE_OWN)
ACCESSES(together_indv, 0, BY_OWN_POINTER, ALL_USE_ONE, .is_collective = true)
ACCESSES(together_expl, 0, BY_OFFSET, ALL_USE_ONE, .is_collective = true)
ACCESSES(together_shared, 0, BY_SHARED_POINTER, ALL_USE_ONE, .is_collective = true)
SHAPE(open_close, .send = 0, .access = {BY_OFFSET, ALL_USE_ONE})

/* ---- Calls */

static int access_file(const work_t *work, MPI_Request *request)
{
    (void)request;
    return work->plan.operation->shape->writes
               ? storage_write(&work->storage, &(storage_block_t){SEND, work->size_bytes}, work->plan.sync)
               : storage_read(&work->storage, &(storage_block_t){RECEIVE, work->size_bytes});
}

static int start_access(const work_t *work, MPI_Request *request)
{
    return work->plan.operation->shape->writes
               ? storage_start_write(&work->storage, &(storage_block_t){SEND, work->size_bytes}, request)
               : storage_start_read(&work->storage, &(storage_block_t){RECEIVE, work->size_bytes}, request);
}

static int reopen_file(const work_t *work, MPI_Request *request)
{
    (void)request;
    return storage_reopen(&work->storage);
}

/* ---- The list */

const operation_t file_operations[] = {
    {"s_write_indv", "MPI_File_write", FORM_FILE, &alone_indv_write, access_file},
    {"s_read_indv", "MPI_File_read", FORM_FILE, &alone_indv_read, access_file},
    {"s_write_expl", "MPI_File_write_at", FORM_FILE, &alone_expl_write, access_file},
    {"s_read_expl", "MPI_File_read_at", FORM_FILE, &alone_expl_read, access_file},
    {"p_write_indv", "MPI_File_write", FORM_FILE, &all_indv_write, access_file},
    {"p_read_indv", "MPI_File_read", FORM_FILE, &all_indv_read, access_file},
    {"p_write_expl", "MPI_File_write_at", FORM_FILE, &all_expl_write, access_file},
    {"p_read_expl", "MPI_File_read_at", FORM_FILE, &all_expl_read, access_file},
    {"p_write_shared", "MPI_File_write_shared", FORM_FILE, &all_shared_write, access_file},
    {"p_read_shared", "MPI_File_read_shared", FORM_FILE, &all_shared_read, access_file},
    {"p_write_priv", "MPI_File_write", FORM_FILE, &all_priv_write, access_file},
    {"p_read_priv", "MPI_File_read", FORM_FILE, &all_priv_read, access_file},
    {"c_write_indv", "MPI_File_write_all", FORM_FILE, &together_indv_write, access_file},
    {"c_read_indv", "MPI_File_read_all", FORM_FILE, &together_indv_read, access_file},
    {"c_write_expl", "MPI_File_write_at_all", FORM_FILE, &together_expl_write, access_file},
    {"c_read_expl", "MPI_File_read_at_all", FORM_FILE, &together_expl_read, access_file},
    {"c_write_shared", "MPI_File_write_ordered", FORM_FILE, &together_shared_write, access_file},
    {"c_read_shared", "MPI_File_read_ordered", FORM_FILE, &together_shared_read, access_file},
    {"s_iwrite_indv", "MPI_File_iwrite", FORM_FILE, &alone_indv_start_write, start_access},
    {"s_iread_indv", "MPI_File_iread", FORM_FILE, &alone_indv_start_read, start_access},
    {"s_iwrite_expl", "MPI_File_iwrite_at", FORM_FILE, &alone_expl_start_write, start_access},
    {"s_iread_expl", "MPI_File_iread_at", FORM_FILE, &alone_expl_start_read, start_access},
    {"p_iwrite_indv", "MPI_File_iwrite", FORM_FILE, &all_indv_start_write, start_access},
    {"p_iread_indv", "MPI_File_iread", FORM_FILE, &all_indv_start_read, start_access},
    {"p_iwrite_expl", "MPI_File_iwrite_at", FORM_FILE, &all_expl_start_write, start_access},
    {"p_iread_expl", "MPI_File_iread_at", FORM_FILE, &all_expl_start_read, start_access},
    {"p_iwrite_shared", "MPI_File_iwrite_shared", FORM_FILE, &all_shared_start_write, start_access},
    {"p_iread_shared", "MPI_File_iread_shared", FORM_FILE, &all_shared_start_read, start_access},
    {"p_iwrite_priv", "MPI_File_iwrite", FORM_FILE, &all_priv_start_write, start_access},
    {"p_iread_priv", "MPI_File_iread", FORM_FILE, &all_priv_start_read, start_access},
    {"c_iwrite_indv", "MPI_File_iwrite_all", FORM_FILE, &together_indv_start_write, start_access},
    {"c_iread_indv", "MPI_File_iread_all", FORM_FILE, &together_indv_start_read, start_access},
    {"c_iwrite_expl", "MPI_File_iwrite_at_all", FORM_FILE, &together_expl_start_write, start_access},
    {"c_iread_expl", "MPI_File_iread_at_all", FORM_FILE, &together_expl_start_read, start_access},
    {"c_iwrite_shared", "MPI_File_write_ordered_begin", FORM_FILE, &together_shared_start_write, start_access},
    {"c_iread_shared", "MPI_File_read_ordered_begin", FORM_FILE, &together_shared_start_read, start_access},
    {"open_close", "MPI_File_open, MPI_File_close", FORM_FILE, &open_close, reopen_file},
    {0},
};
