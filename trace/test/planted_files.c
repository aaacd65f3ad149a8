/* SPDX-License-Identifier: BSD-3-Clause */
/* planted_files.c - kinds of planted in which ranks wait for files, in the working directory. */
#include "planted.h"

static MPI_File file;

static void file_open(void)
{
    MPI_File other = MPI_FILE_NULL;
    work();
    CALL(File_open, world, "planted.other", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
         &other);
    CALL(File_close, &other);
}

static void file_close(void)
{
    MPI_File other = MPI_FILE_NULL;
    CALL(File_open, world, "planted.other", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
         &other);
    work();
    CALL(File_close, &other);
}

BLOCKING(write_all, File_write_all, file, out, 1, MPI_INT, MPI_STATUS_IGNORE)
BLOCKING(write_at_all, File_write_at_all, file, rank, out, 1, MPI_INT, MPI_STATUS_IGNORE)
BLOCKING(write_ordered, File_write_ordered, file, out, 1, MPI_INT, MPI_STATUS_IGNORE)
BLOCKING(read_at_all, File_read_at_all, file, rank, in, 1, MPI_INT, MPI_STATUS_IGNORE)
BLOCKING(file_set_view, File_set_view, file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL)
BLOCKING(file_set_size, File_set_size, file, 4096)

static void write_all_begin(void)
{
    work();
    CALL(File_write_all_begin, file, out, 1, MPI_INT);
    CALL(File_write_all_end, file, out, MPI_STATUS_IGNORE);
}

static void set_up(int traits)
{
    if (traits & USES_FILE)
        MPI_File_open(world, "planted.data", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                      &file);
}

static void clean_up(int traits)
{
    if (traits & USES_FILE)
        CALL(File_close, &file);
}

static const kind kinds[] = {
    KIND(file_open, ""),
    KIND(file_close, ""),
    KIND(file_set_view, "", USES_FILE),
    KIND(file_set_size, "", USES_FILE),
    KIND(write_all, "", USES_FILE),
    KIND(write_at_all, "", USES_FILE),
    KIND(write_ordered, "", USES_FILE),
    KIND(write_all_begin, "", USES_FILE),
    KIND(read_at_all, "", USES_FILE),
};
const family files = {.kinds = kinds, .count = sizeof kinds / sizeof kinds[0], .set_up = set_up, .clean_up = clean_up};
