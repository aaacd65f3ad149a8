/* SPDX-License-Identifier: BSD-3-Clause */
/* test_shared_memory.c - memory that processes share, each way, and what is left of it when a process is killed. */
#include "transport/shared_memory.h"
#include "support.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BYTES = 100000 };

static char why[256];

/* In a process of its own. Returns what waitpid does. */
static int status_of(void (*action)(const mh_shared_memory_key *key), const mh_shared_memory_key *key)
{
    int status = -1;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        action(key);
        _exit(EXIT_SUCCESS);
    }
    EXPECT(child > 0 && waitpid(child, &status, 0) == child, "no process of its own");
    return status;
}

static void write_to_it(const mh_shared_memory_key *key)
{
    mh_shared_memory memory;
    if (mh_shared_memory_map(&memory, key, why, sizeof why) != 0)
        _exit(EXIT_FAILURE);
    ((char *)memory.data)[BYTES - 1] = 42;
}

LOOP_TEST(memory_is_shared, MH_SHARED_WAYS)
{
    mh_shared_memory memory;
    mh_shared_memory_key key;
    int code = mh_shared_memory_create(&memory, BYTES, (mh_shared_memory_way)_i, &key, why, sizeof why);
    EXPECT(code == 0, "way %d: %s", _i, why);
    EXPECT(memory.bytes == BYTES && key.bytes == BYTES && key.name[0], "way %d: a key without sense", _i);
    for (int i = sizeof key.nonce; i < BYTES; i++)
        EXPECT(((char *)memory.data)[i] == 0, "way %d: byte %d is not 0", _i, i);
    int status = status_of(write_to_it, &key);
    EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0, "way %d: another process cannot map it", _i);
    EXPECT(((char *)memory.data)[BYTES - 1] == 42, "way %d: what another process writes is not seen", _i);
    mh_shared_memory_withdraw(&key);
    status = status_of(write_to_it, &key);
    EXPECT(WIFEXITED(status) && WEXITSTATUS(status) != 0, "way %d: mapped after it was withdrawn", _i);
    EXPECT(((char *)memory.data)[BYTES - 1] == 42, "way %d: the memory went with its key", _i);
    mh_shared_memory_unmap(&memory);
    EXPECT(!memory.data, "way %d: still mapped", _i);
    mh_shared_memory_unmap(&memory);
}

/* Another descriptor, or another process, in the place of the one that was meant: nothing but the memory is opened. */
TEST(other_descriptor_is_not_opened)
{
    mh_shared_memory memory, mapped = {NULL, 0};
    mh_shared_memory_key key;
    EXPECT(mh_shared_memory_create(&memory, BYTES, MH_SHARED_BY_DESCRIPTOR, &key, why, sizeof why) == 0, "%s", why);
    mh_shared_memory_key others[] = {key, key, key, key};
    others[0].descriptor = STDERR_FILENO;
    others[1].process = 1;
    others[2].nonce++;
    others[3].bytes++;
    for (int i = 0; i < COUNT_OF(others); i++)
        EXPECT(mh_shared_memory_map(&mapped, &others[i], why, sizeof why) == -1 && !mapped.data,
               "what wrong key %d names is mapped", i);
    mh_shared_memory_withdraw(&key);
    mh_shared_memory_unmap(&memory);
}

/* What the killed process tells this one. */
static mh_shared_memory_key *killed_key;

/* As by the system when memory lacks: after the memory is there, before it is withdrawn. The first way is preferred. */
static void create_and_be_killed(const mh_shared_memory_key *unused)
{
    mh_shared_memory memory;
    (void)unused;
    if (mh_shared_memory_create(&memory, BYTES, (mh_shared_memory_way)0, killed_key, why, sizeof why) == 0)
        kill(getpid(), SIGKILL);
}

TEST(kill_leaves_nothing_behind)
{
    char path[MH_SHARED_MEMORY_NAME_SIZE + 16];
    killed_key = mmap(NULL, sizeof *killed_key, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    EXPECT(killed_key != MAP_FAILED, "no memory to learn the key by");
    int status = status_of(create_and_be_killed, NULL);
    EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "the process was not killed, status %d", status);
    EXPECT(killed_key->name[0], "there was no memory");
    snprintf(path, sizeof path, "/dev/shm/%s", killed_key->name);
    EXPECT(access(path, F_OK) != 0, "%s is left", path);
    munmap(killed_key, sizeof *killed_key);
}

static mh_shared_memory_way limited_way;

static void create_under_limit(const mh_shared_memory_key *unused)
{
    mh_shared_memory memory;
    mh_shared_memory_key key;
    (void)unused;
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){BYTES - 1, RLIM_INFINITY});
    if (mh_shared_memory_create(&memory, BYTES, limited_way, &key, why, sizeof why) != -1 || key.name[0] || !why[0])
        _exit(EXIT_FAILURE);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){BYTES, RLIM_INFINITY});
    if (mh_shared_memory_create(&memory, BYTES, limited_way, &key, why, sizeof why) != 0)
        _exit(EXIT_FAILURE);
    mh_shared_memory_withdraw(&key);
}

LOOP_TEST(limit_on_files_is_an_error_and_no_signal, MH_SHARED_WAYS)
{
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    if (limit.rlim_max != RLIM_INFINITY)
        return; /* it cannot be raised again */
    limited_way = (mh_shared_memory_way)_i;
    int status = status_of(create_under_limit, NULL);
    EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0, "way %d: status %#x", _i, status);
}
