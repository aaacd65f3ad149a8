/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * file.c - the blocks of a trace, each written whole by one write: so after a process was killed, its file is complete
 * except for the last block.
 */
#define _GNU_SOURCE
#include "trace/record/file.h"

#include "trace/shared/descriptors.h"
#include "trace/record/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MAX_PARTS = 6, PADDING = 8 };

/* Without padding, which other processors may have elsewhere. */
_Static_assert(sizeof(trace_file_head) == 32 && sizeof(trace_block_head) == 16 && sizeof(trace_comm) == 16 &&
                   sizeof(trace_clock_record) == 48 && sizeof(trace_end) == 24,
               "the format is the same on all processors");

static int file = -1, failed_by;
static interpose_file own; /* the program may close any descriptor, and open a file of its own there */
static off_t written;
static off_t now_at; /* of the last block, if it is one of TRACE_BLOCK_NOW; else 0 */
static uint64_t job_of_all;
static char path[sizeof mh_choices.folder + 64];
static trace_lock writing = TRACE_LOCK;

/* Returns 0 or an errno. After a partial write, writing one more byte shows the reason. */
static int write_all(const struct iovec *parts, int count, ssize_t bytes)
{
    ssize_t done = pwritev(file, parts, count, written);
    if (done == bytes)
        return 0;
    int reason = done >= 0 && pwrite(file, "", 1, written + done) >= 0 ? ENOSPC : errno;
    if (reason == EFBIG)
        mh_interpose_take_signal(SIGXFSZ); /* a lock is held */
    return reason;
}

/* The same file again, where the program has closed its descriptor. Returns 0 or an errno. */
static int open_again(void)
{
    file = mh_open_file(path, O_WRONLY);
    if (file < 0)
        return errno;
    if (mh_is_of_file(file, own))
        return 0;
    close(file);
    file = -1;
    return ENOENT;
}

int mh_trace_open_file(uint64_t job)
{
    trace_file_head head = {.byte_order = TRACE_BYTE_ORDER, .version = TRACE_VERSION, .job = job};
    job_of_all = job;
    snprintf(path, sizeof path, "%s/" TRACE_FILE_PATTERN, mh_choices.folder, mh_trace.rank);
    file = mh_open_file(path, O_WRONLY | O_CREAT | O_EXCL);
    if (file < 0)
        return errno;
    own = mh_file_of(file);
    memcpy(head.magic, TRACE_MAGIC, sizeof head.magic);
    head.rank = mh_trace.rank;
    head.size = mh_trace.size;
    struct iovec part = {&head, sizeof head};
    mh_trace_lock(&writing, TRACE_AT_ANY_TIME);
    int reason = write_all(&part, 1, sizeof head);
    mh_trace_unlock(&writing);
    written = sizeof head;
    return reason;
}

/* If a block does not fit, what was written of it is removed. */
static void fail(int reason)
{
    failed_by = reason;
    if (ftruncate(file, written) != 0)
        errno = 0; /* a torn block, which readers leave out */
    close(file);
    file = -1;
}

/* What a child of the program has is not written. */
static bool is_ready(void)
{
    if (file < 0 || mh_trace.pid != getpid())
        return false;
    int reason = mh_is_of_file(file, own) ? 0 : open_again();
    if (reason != 0)
        failed_by = reason | TRACE_FILE_WAS_CLOSED;
    return reason == 0;
}

/* The next state of the threads takes the place of the last one, if nothing came after it. */
static void write_parts(uint32_t kind, const struct iovec *parts, int count, ssize_t bytes)
{
    if (!is_ready())
        return;
    const off_t begin = written = kind == TRACE_BLOCK_NOW && now_at > 0 ? now_at : written;
    int reason = write_all(parts, count, bytes);
    if (reason != 0)
        fail(reason);
    else
        written += bytes;
    now_at = kind == TRACE_BLOCK_NOW ? begin : 0;
}

void mh_trace_write(uint32_t kind, uint32_t thread, const struct iovec *parts, int count)
{
    static const char zeros[PADDING] = {0};
    trace_block_head head = {.kind = kind, .thread = thread};
    struct iovec all[MAX_PARTS + 2] = {{&head, sizeof head}};
    for (int i = 0; i < count; i++) {
        all[i + 1] = parts[i];
        head.bytes += parts[i].iov_len;
    }
    size_t padding = (PADDING - head.bytes % PADDING) % PADDING;
    all[count + 1] = (struct iovec){(void *)zeros, padding};
    mh_trace_lock(&writing, TRACE_AT_ANY_TIME);
    write_parts(kind, all, count + 2, (ssize_t)(sizeof head + head.bytes + padding));
    mh_trace_unlock(&writing);
}

void mh_trace_write_one(uint32_t kind, const void *payload, size_t bytes)
{
    struct iovec part = {(void *)payload, bytes};
    mh_trace_write(kind, 0, &part, 1);
}

void mh_trace_write_name(uint32_t id, const char *name)
{
    uint32_t numbers[2] = {id, (uint32_t)strlen(name)};
    struct iovec parts[] = {{numbers, sizeof numbers}, {(void *)name, numbers[1]}};
    mh_trace_write(TRACE_BLOCK_NAMES, 0, parts, 2);
}

int mh_trace_file_error(void)
{
    return failed_by;
}

/* A program may have moved the folder, or its root: then nothing is known. */
bool mh_trace_is_beside_first(void)
{
    char first[sizeof path];
    trace_file_head head;
    snprintf(first, sizeof first, "%s/" TRACE_FILE_PATTERN, mh_choices.folder, 0);
    int descriptor = mh_open_file(first, O_RDONLY);
    if (descriptor < 0)
        return errno != ENOENT || access(path, F_OK) != 0;
    bool is_of_job = pread(descriptor, &head, sizeof head, 0) != sizeof head || head.job == job_of_all;
    close(descriptor);
    return is_of_job;
}

/* Errors that a disk reports late appear here. */
void mh_trace_close_file(void)
{
    if (mh_is_of_file(file, own) && close(file) != 0)
        failed_by = errno;
    file = -1;
}

void mh_trace_remove_file(void)
{
    if (file >= 0)
        unlink(path);
    mh_trace_close_file();
}
