/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fault_injection.c - the program's own PMPI_ functions, hwloc functions and allocator, which can fail once when the
 * library calls them. All other callers always reach the real ones.
 */
#define _GNU_SOURCE
#include "mpi_functions.h"
#include "mpix_test.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Who calls */

static uintptr_t library_begin, library_end;

static int find_library(struct dl_phdr_info *object, size_t size, void *unused)
{
    (void)size;
    (void)unused;
    if (!strstr(object->dlpi_name, "/libmpix_harmonize.so")) /* nor yielding.so in a folder of that name */
        return 0;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        if (part->p_type == PT_LOAD && part->p_flags & PF_X) {
            library_begin = object->dlpi_addr + part->p_vaddr;
            library_end = library_begin + part->p_memsz;
        }
    }
    return 1;
}

__attribute__((constructor)) static void look_for_library(void)
{
    dl_iterate_phdr(find_library, NULL);
}

static inline bool is_library(const void *caller)
{
    return (uintptr_t)caller - library_begin < library_end - library_begin;
}

/* ---- What fails */

typedef struct function {
    const char *name;
    fault_kind kind;
    _Atomic int calls;
} function;

#define INDEX(name, ...) IN_##name,
#define ENTRY(name, kind, ...) {"MPI_" #name, kind, 0},
enum { PLAIN_FUNCTIONS(INDEX) OTHER_FUNCTIONS(INDEX) FAULT_FUNCTIONS };
static function functions[FAULT_FUNCTIONS] = {PLAIN_FUNCTIONS(ENTRY) OTHER_FUNCTIONS(ENTRY)};

enum { NO_FUNCTION = -1, ALL_MESSAGES = FAULT_FUNCTIONS };

static struct {
    int function; /* or one of those above */
    int countdown;
    bool happened;
    _Atomic int *messages_fail; /* on all processes of the node */
} plan = {.function = NO_FUNCTION};

static pthread_mutex_t plan_lock = PTHREAD_MUTEX_INITIALIZER;

bool can_inject(void)
{
    return library_end > library_begin;
}

const char *fault_name(int i)
{
    return i < FAULT_FUNCTIONS ? functions[i].name : NULL;
}

fault_kind fault_kind_of(int i)
{
    return functions[i].kind;
}

int fault_calls(int i)
{
    return functions[i].calls;
}

void fault_plan(int i, int nth)
{
    pthread_mutex_lock(&plan_lock);
    for (int j = 0; j < FAULT_FUNCTIONS; j++)
        functions[j].calls = 0;
    plan.function = i;
    plan.countdown = nth;
    plan.happened = false;
    pthread_mutex_unlock(&plan_lock);
}

void fault_plan_messages(_Atomic int *fail_everywhere, int nth)
{
    plan.messages_fail = fail_everywhere;
    fault_plan(ALL_MESSAGES, nth);
}

bool fault_happened(void)
{
    bool happened = plan.happened;
    plan.function = NO_FUNCTION;
    return happened;
}

static bool message_fails(int i)
{
    bool is_message = functions[i].kind == FAULT_MESSAGE || i == IN_Ibcast || i == IN_Ireduce || i == IN_Iallreduce;
    if (!is_message)
        return false;
    if (i != IN_Test && --plan.countdown == 0)
        *plan.messages_fail = true;
    return *plan.messages_fail;
}

static bool is_to_fail(int i, const void *caller)
{
    if (!is_library(caller))
        return false;
    functions[i].calls++;
    bool fails = plan.function == i ? --plan.countdown == 0 : plan.function == ALL_MESSAGES && message_fails(i);
    if (fails)
        plan.happened = true;
    return fails;
}

/* As the MPI library does: the error handler of the communicator is called, and the code, with its text, returned. */
static int fail_on(MPI_Comm comm)
{
    int size, code = MPI_Comm_size(MPI_COMM_NULL, &size);
    if (comm != MPI_COMM_NULL)
        MPI_Comm_call_errhandler(comm, code);
    return code;
}

#define ALIAS __attribute__((visibility("default")))
#define FAULTY(name, kind, on, parameters, arguments)           \
    ALIAS int PMPI_##name parameters                            \
    {                                                           \
        static void *_Atomic function;                          \
        if (!function)                                          \
            function = find_real("PMPI_" #name);                \
        if (is_to_fail(IN_##name, __builtin_return_address(0))) \
            return fail_on(on);                                 \
        return ((int(*) parameters)function)arguments;          \
    }

PLAIN_FUNCTIONS(FAULTY)

/* ---- Communicators that the library has made and not freed */

static _Atomic int64_t communicators;

int64_t communicators_alive(void)
{
    return communicators;
}

/* After a call that has made a communicator of comm. */
static int keep_or_fail(int i, const void *caller, MPI_Comm comm, MPI_Comm *made)
{
    if (is_to_fail(i, caller)) {
        REAL(PMPI_Comm_free)(made);
        return fail_on(comm);
    }
    communicators += is_library(caller);
    return MPI_SUCCESS;
}

/* Makes it also where it is to fail, so that one process can fail alone and none waits for it. */
#define MAKER(name, parameters, arguments)                                                              \
    ALIAS int PMPI_##name parameters                                                                    \
    {                                                                                                   \
        int code = REAL(PMPI_##name) arguments;                                                         \
        return code != MPI_SUCCESS ? code : keep_or_fail(IN_##name, __builtin_return_address(0), c, d); \
    }
MAKER(Comm_split, (MPI_Comm c, int l, int k, MPI_Comm *d), (c, l, k, d))
MAKER(Comm_split_type, (MPI_Comm c, int t, int k, MPI_Info i, MPI_Comm *d), (c, t, k, i, d))

/* Frees also where it is to fail: no communicator is left for the leak sanitizer. */
ALIAS int PMPI_Comm_free(MPI_Comm *comm)
{
    const void *caller = __builtin_return_address(0);
    MPI_Comm freed = *comm;
    communicators -= is_library(caller);
    if (!is_to_fail(IN_Comm_free, caller))
        return REAL(PMPI_Comm_free)(comm);
    int code = fail_on(freed);
    REAL(PMPI_Comm_free)(&freed);
    return code;
}

/* ---- Keys of attributes that the library has made and not freed */

static struct {
    _Atomic int alive, latest;
    MPI_Comm_delete_attr_function *_Atomic callbacks[2];
} keys;

int keys_alive(void)
{
    return keys.alive;
}

int latest_key(void)
{
    return keys.latest;
}

void end_world_for_library(void)
{
    for (int i = 0; i < 2; i++)
        if (keys.callbacks[i])
            keys.callbacks[i](MPI_COMM_SELF, MPI_KEYVAL_INVALID, NULL, NULL);
}

ALIAS int PMPI_Comm_create_keyval(MPI_Comm_copy_attr_function *copy, MPI_Comm_delete_attr_function *delete, int *key,
                                  void *extra)
{
    bool is_ours = is_library(__builtin_return_address(0));
    if (is_to_fail(IN_Comm_create_keyval, __builtin_return_address(0)))
        return fail_on(MPI_COMM_NULL);
    int code = REAL(PMPI_Comm_create_keyval)(copy, delete, key, extra);
    if (!is_ours || code != MPI_SUCCESS)
        return code;
    bool is_first = !keys.callbacks[0] || keys.callbacks[0] == delete;
    keys.callbacks[is_first ? 0 : 1] = delete;
    keys.alive++;
    keys.latest = *key;
    return code;
}

ALIAS int PMPI_Comm_free_keyval(int *key)
{
    keys.alive -= is_library(__builtin_return_address(0));
    return REAL(PMPI_Comm_free_keyval)(key);
}

/* ---- Broadcasts */

/* What the library broadcasts of an error, a number and a text, has no byte that depends on chance. */
static _Atomic int untidy;

enum { ERROR_TEXT_BYTES = 256, ERROR_BYTES = (int)sizeof(int) + ERROR_TEXT_BYTES };

int untidy_broadcasts(void)
{
    return untidy;
}

static void look_at_text(const char *text)
{
    static const char zeros[ERROR_TEXT_BYTES];
    size_t length = strnlen(text, ERROR_TEXT_BYTES);
    untidy += memcmp(text + length, zeros, ERROR_TEXT_BYTES - length) != 0;
}

ALIAS int PMPI_Bcast(void *data, int count, MPI_Datatype element, int root, MPI_Comm comm)
{
    int rank;
    if (is_to_fail(IN_Bcast, __builtin_return_address(0)))
        return fail_on(comm);
    if (is_library(__builtin_return_address(0)) && count == ERROR_BYTES && MPI_Comm_rank(comm, &rank) == MPI_SUCCESS &&
        rank == root)
        look_at_text((char *)data + sizeof(int));
    return REAL(PMPI_Bcast)(data, count, element, root, comm);
}

/* ---- Finding out about the machine */

_Atomic int hwloc_discoveries;
_Atomic bool hwloc_fails, clocksource_is_hidden, processors_are_hidden, quota_is_shown;

ALIAS int access(const char *path, int how)
{
    if (!processors_are_hidden || !is_library(__builtin_return_address(0)) || !strstr(path, "/cpu0/topology"))
        return REAL(access)(path, how);
    errno = ENOENT;
    return -1;
}

ALIAS int hwloc_topology_init(void **topology)
{
    hwloc_discoveries += is_library(__builtin_return_address(0));
    return hwloc_fails && is_library(__builtin_return_address(0)) ? -1 : REAL(hwloc_topology_init)(topology);
}

/* What the library reads in place of files. */
static const struct {
    _Atomic bool *is_read;
    const char *file, *text; /* file: the end of its path */
} substitutes[] = {
    {&clocksource_is_hidden, "/current_clocksource", "hpet\n"},
    {&quota_is_shown, "/proc/self/cgroup", "0::/\n"},
    {&quota_is_shown, "/sys/fs/cgroup/cpu.max", "100000 100000\n"},
};

ALIAS FILE *fopen(const char *path, const char *mode)
{
    for (size_t i = 0; is_library(__builtin_return_address(0)) && i < sizeof substitutes / sizeof *substitutes; i++)
        if (*substitutes[i].is_read && strstr(path, substitutes[i].file))
            return fmemopen((void *)(uintptr_t)substitutes[i].text, strlen(substitutes[i].text), "r");
    return REAL(fopen)(path, mode);
}

/* ---- Memory and locks */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__GLIBC__)

int64_t allocations_alive(void)
{
    return -1;
}

void fail_allocation(int nth)
{
    (void)nth;
}

bool allocation_failed(void)
{
    return false;
}

int64_t locks_taken(void)
{
    return -1;
}

#else

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void __libc_free(void *block);

enum { BLOCKS = 4096 };

static struct {
    void *_Atomic blocks[BLOCKS]; /* those that the library allocated and nobody has freed */
    _Atomic int countdown;
    _Atomic bool failed;
} memory;

int64_t allocations_alive(void)
{
    int64_t alive = 0;
    for (int i = 0; i < BLOCKS; i++)
        alive += memory.blocks[i] != NULL;
    return alive;
}

void fail_allocation(int nth)
{
    memory.failed = false;
    memory.countdown = nth;
}

bool allocation_failed(void)
{
    memory.countdown = 0;
    return memory.failed;
}

static bool is_out_of_memory(const void *caller)
{
    if (!is_library(caller) || memory.countdown <= 0 || atomic_fetch_sub(&memory.countdown, 1) != 1)
        return false;
    memory.failed = true;
    errno = ENOMEM;
    return true;
}

static void forget(void *block)
{
    for (int i = 0; block && i < BLOCKS; i++)
        if (memory.blocks[i] == block)
            memory.blocks[i] = NULL;
}

static void *note(void *block, const void *caller)
{
    for (int i = 0; block && is_library(caller) && i < BLOCKS; i++) {
        void *none = NULL;
        if (atomic_compare_exchange_strong(&memory.blocks[i], &none, block))
            break;
    }
    return block;
}

ALIAS void *malloc(size_t size)
{
    const void *caller = __builtin_return_address(0);
    return is_out_of_memory(caller) ? NULL : note(__libc_malloc(size), caller);
}

ALIAS void *calloc(size_t count, size_t size)
{
    const void *caller = __builtin_return_address(0);
    return is_out_of_memory(caller) ? NULL : note(__libc_calloc(count, size), caller);
}

ALIAS void *realloc(void *block, size_t size)
{
    const void *caller = __builtin_return_address(0);
    if (is_out_of_memory(caller))
        return NULL;
    void *moved = __libc_realloc(block, size);
    if (moved && is_library(caller))
        forget(block);
    return note(moved, caller);
}

ALIAS void free(void *block)
{
    if (is_library(__builtin_return_address(0)))
        forget(block);
    __libc_free(block);
}

static _Atomic int64_t locks;

int64_t locks_taken(void)
{
    return locks;
}

ALIAS int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    static __typeof__(pthread_mutex_lock) *_Atomic function;
    if (!function)
        function = REAL(pthread_mutex_lock);
    locks += is_library(__builtin_return_address(0));
    return function(mutex);
}

#endif
