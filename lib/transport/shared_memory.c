/* SPDX-License-Identifier: BSD-3-Clause */
/* shared_memory.c - memory by descriptor or by name, reserved before it is used. */
#define _GNU_SOURCE
#include "transport/shared_memory.h"

#include "base/host.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME_TRIES = 100 };

static int explain(char *why, size_t why_size, const char *what, int code)
{
    errno = code;
    snprintf(why, why_size, "%s: %m", what);
    return -1;
}

static int create_named(mh_shared_memory_key *key)
{
    int file = -1;
    for (int i = 0; i < NAME_TRIES && file < 0; i++) {
        snprintf(key->name, sizeof key->name, "/mpix_harmonize.%016llx", (unsigned long long)mh_fresh_number());
        file = shm_open(key->name, O_RDWR | O_CREAT | O_EXCL, S_IRUSR | S_IWUSR);
        if (file < 0 && errno != EEXIST)
            break;
    }
    return file;
}

static int create_unnamed(mh_shared_memory_key *key)
{
    snprintf(key->name, sizeof key->name, "mpix_harmonize.%016llx", (unsigned long long)mh_fresh_number());
    key->process = (int32_t)getpid();
    key->descriptor = memfd_create(key->name, MFD_CLOEXEC);
    return key->descriptor;
}

/*
 * In another PID namespace, the process number may be another process, and the descriptor any file. So the name is
 * checked before the file is opened.
 */
static int open_unnamed(const mh_shared_memory_key *key)
{
    char path[64], expected[MH_SHARED_MEMORY_NAME_SIZE + 32], target[sizeof expected];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)key->process, (int)key->descriptor);
    snprintf(expected, sizeof expected, "/memfd:%s (deleted)", key->name);
    ssize_t length = readlink(path, target, sizeof target - 1);
    if (length < 0)
        return -1;
    target[length] = '\0';
    if (strcmp(target, expected) == 0)
        return open(path, O_RDWR | O_CLOEXEC);
    errno = ENOENT;
    return -1;
}

/* Without reserved room, the first access could raise SIGBUS. A file above the size limit would raise SIGXFSZ. */
static int make_room(int file, size_t bytes)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < bytes)
        return EFBIG;
    int code;
    do
        code = posix_fallocate(file, 0, (off_t)bytes);
    while (code == EINTR);
    return code;
}

static int map_file(mh_shared_memory *memory, int file, size_t bytes)
{
    void *data = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (data == MAP_FAILED)
        return errno;
    memory->data = data;
    memory->bytes = bytes;
    return 0;
}

int mh_shared_memory_create(mh_shared_memory *memory, size_t bytes, mh_shared_memory_way way, mh_shared_memory_key *key,
                            char *why, size_t why_size)
{
    memset(key, 0, sizeof *key);
    bool is_named = way == MH_SHARED_BY_NAME;
    int file = is_named ? create_named(key) : create_unnamed(key);
    if (file < 0) {
        int code = errno;
        memset(key, 0, sizeof *key);
        return explain(why, why_size, is_named ? "shm_open" : "memfd_create", code);
    }
    int code = make_room(file, bytes);
    if (code == 0)
        code = map_file(memory, file, bytes);
    if (is_named)
        close(file);
    if (code != 0) {
        mh_shared_memory_withdraw(key);
        memset(key, 0, sizeof *key);
        return explain(why, why_size, "shared memory", code);
    }
    key->bytes = bytes;
    key->nonce = mh_fresh_number();
    memcpy(memory->data, &key->nonce, sizeof key->nonce);
    return 0;
}

int mh_shared_memory_map(mh_shared_memory *memory, const mh_shared_memory_key *key, char *why, size_t why_size)
{
    int file = key->process ? open_unnamed(key) : shm_open(key->name, O_RDWR, 0);
    if (file < 0)
        return explain(why, why_size, key->process ? "open in /proc" : "shm_open", errno);
    off_t size = lseek(file, 0, SEEK_END);
    int code = size == (off_t)key->bytes ? map_file(memory, file, key->bytes) : EINVAL;
    close(file);
    if (code != 0)
        return explain(why, why_size, "mmap", code);
    if (memcmp(memory->data, &key->nonce, sizeof key->nonce) == 0)
        return 0;
    mh_shared_memory_unmap(memory);
    snprintf(why, why_size, "shared memory: the name belongs to other memory here");
    return -1;
}

void mh_shared_memory_withdraw(const mh_shared_memory_key *key)
{
    if (key->process)
        close(key->descriptor);
    else if (key->name[0])
        shm_unlink(key->name);
}

void mh_shared_memory_unmap(mh_shared_memory *memory)
{
    if (memory->data)
        munmap(memory->data, memory->bytes);
    *memory = (mh_shared_memory){NULL, 0};
}
