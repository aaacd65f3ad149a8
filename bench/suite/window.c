/* SPDX-License-Identifier: BSD-3-Clause */
/* window.c - windows of all kinds, and accesses to them with all synchronizations. */
#include "bench/suite/window.h"

#include <stdlib.h>
#include <string.h>

/* As those of an arena. */
enum { PAGE_BYTES = 4096 };

const char *const window_kinds[] = {
    [WINDOW_CREATE] = "create", [WINDOW_ALLOCATE] = "allocate", [WINDOW_DYNAMIC] = "dynamic", NULL};
const char *const synchronizations[] = {[SYNCHRONIZED_BY_LOCK] = "lock",
                                        [SYNCHRONIZED_BY_FLUSH] = "flush",
                                        [SYNCHRONIZED_BY_FLUSH_LOCAL] = "flush_local",
                                        [SYNCHRONIZED_BY_LOCK_ALL] = "lock_all",
                                        [SYNCHRONIZED_BY_PSCW] = "pscw",
                                        [SYNCHRONIZED_BY_FENCE] = "fence",
                                        NULL};

bool synchronization_is_active(synchronization_t synchronization)
{
    return synchronization == SYNCHRONIZED_BY_PSCW || synchronization == SYNCHRONIZED_BY_FENCE;
}

bool synchronization_is_of_all(synchronization_t synchronization)
{
    return synchronization != SYNCHRONIZED_BY_LOCK && synchronization != SYNCHRONIZED_BY_PSCW;
}

/* Whether the partner, or all, stay locked between the calls. */
static bool stays_locked(const window_t *window)
{
    return window->synchronization == SYNCHRONIZED_BY_FLUSH || window->synchronization == SYNCHRONIZED_BY_FLUSH_LOCAL;
}

/* ---- Opening */

static void allocate(window_t *window, int64_t bytes)
{
    char *base;
    world_require(window->span,
                  MPI_Win_allocate((MPI_Aint)bytes + PAGE_BYTES, 1, MPI_INFO_NULL, window->comm, &base, &window->win));
    window->base = (MPI_Aint)((PAGE_BYTES - (uintptr_t)base % PAGE_BYTES) % PAGE_BYTES);
    window->memory = base + window->base;
    memset(window->memory, 0, (size_t)bytes);
}

static void create(window_t *window, int64_t bytes)
{
    window->base = 0;
    world_require(window->span,
                  MPI_Win_create(window->memory, (MPI_Aint)bytes, 1, MPI_INFO_NULL, window->comm, &window->win));
}

static void attach(window_t *window, int64_t bytes)
{
    world_require(window->span, MPI_Win_create_dynamic(MPI_INFO_NULL, window->comm, &window->win));
    world_require(window->span, MPI_Win_attach(window->win, window->memory, (MPI_Aint)bytes));
    world_require(window->span, MPI_Get_address(window->memory, &window->base));
}

static void learn_partner(window_t *window)
{
    MPI_Group all;
    world_require(window->span, MPI_Comm_group(window->comm, &all));
    world_require(window->span, MPI_Group_incl(all, 1, &window->partner, &window->partners));
    world_require(window->span, MPI_Group_free(&all));
    world_require(window->span, MPI_Sendrecv_replace(&window->base, 1, MPI_AINT, window->partner, 0, window->partner, 0,
                                                     window->comm, MPI_STATUS_IGNORE));
}

static void learn_all(window_t *window)
{
    int ranks;
    world_require(window->span, MPI_Comm_size(window->comm, &ranks));
    window->bases = world_allocate(window->span, ranks, sizeof window->bases[0], "");
    world_require(window->span, MPI_Allgather(&window->base, 1, MPI_AINT, window->bases, 1, MPI_AINT, window->comm));
}

/* For good. */
static int lock(const window_t *window)
{
    return window->reaches_all ? MPI_Win_lock_all(0, window->win)
                               : MPI_Win_lock(MPI_LOCK_SHARED, window->partner, 0, window->win);
}

static int unlock(const window_t *window)
{
    return window->reaches_all ? MPI_Win_unlock_all(window->win) : MPI_Win_unlock(window->partner, window->win);
}

static int flush(const window_t *window)
{
    return window->reaches_all ? MPI_Win_flush_all(window->win) : MPI_Win_flush(window->partner, window->win);
}

static int flush_local(const window_t *window)
{
    return window->reaches_all ? MPI_Win_flush_local_all(window->win)
                               : MPI_Win_flush_local(window->partner, window->win);
}

void window_open(window_t *window, const world_t *span, MPI_Comm comm, int partner, char *memory, int64_t bytes)
{
    static void (*const make[])(window_t *, int64_t) = {
        [WINDOW_CREATE] = create, [WINDOW_ALLOCATE] = allocate, [WINDOW_DYNAMIC] = attach};
    int rank;
    world_require(span, MPI_Comm_rank(comm, &rank));
    window->span = span;
    window->memory = memory;
    window->partner = partner;
    if (!window->reaches_all)
        window->is_first = rank < partner;
    bool takes_part = window->reaches_all || partner >= 0;
    world_require(span, MPI_Comm_split(comm, takes_part ? 0 : MPI_UNDEFINED, rank, &window->comm));
    if (window->comm == MPI_COMM_NULL)
        return;
    MPI_Comm_set_errhandler(window->comm, MPI_ERRORS_RETURN);
    make[window->kind](window, bytes > 0 ? bytes : 1);
    MPI_Win_set_errhandler(window->win, MPI_ERRORS_RETURN);
    if (window->reaches_all)
        learn_all(window);
    else
        learn_partner(window);
    if (stays_locked(window) && window->is_first)
        world_require(span, lock(window));
}

void window_close(window_t *window)
{
    if (window->comm == MPI_COMM_NULL)
        return;
    if (stays_locked(window) && window->is_first)
        unlock(window);
    if (window->kind == WINDOW_DYNAMIC) {
        MPI_Barrier(window->comm);
        MPI_Win_detach(window->win, window->memory);
    }
    MPI_Win_free(&window->win);
    if (!window->reaches_all)
        MPI_Group_free(&window->partners);
    free(window->bases);
    MPI_Comm_free(&window->comm);
}

/* ---- Accesses */

int window_begin(const window_t *window, bool is_origin, bool is_target, bool continues)
{
    int code = MPI_SUCCESS;
    if (window->synchronization == SYNCHRONIZED_BY_FENCE)
        return continues ? MPI_SUCCESS : MPI_Win_fence(0, window->win);
    if (window->synchronization == SYNCHRONIZED_BY_PSCW && is_target)
        code = MPI_Win_post(window->partners, 0, window->win);
    if (code != MPI_SUCCESS || !is_origin)
        return code;
    switch (window->synchronization) {
    case SYNCHRONIZED_BY_PSCW:
        return MPI_Win_start(window->partners, 0, window->win);
    case SYNCHRONIZED_BY_LOCK:
        return MPI_Win_lock(window->lock_type, window->partner, 0, window->win);
    case SYNCHRONIZED_BY_LOCK_ALL:
        return MPI_Win_lock_all(0, window->win);
    default:
        return MPI_SUCCESS;
    }
}

/* The origin's part, but for fences. */
static int complete(const window_t *window)
{
    switch (window->synchronization) {
    case SYNCHRONIZED_BY_PSCW:
        return MPI_Win_complete(window->win);
    case SYNCHRONIZED_BY_LOCK:
        return MPI_Win_unlock(window->partner, window->win);
    case SYNCHRONIZED_BY_LOCK_ALL:
        return MPI_Win_unlock_all(window->win);
    case SYNCHRONIZED_BY_FLUSH:
        return flush(window);
    default:
        return flush_local(window);
    }
}

int window_end(const window_t *window, bool is_origin, bool is_target)
{
    if (window->synchronization == SYNCHRONIZED_BY_FENCE)
        return MPI_Win_fence(0, window->win);
    int code = is_origin ? complete(window) : MPI_SUCCESS;
    if (code == MPI_SUCCESS && window->synchronization == SYNCHRONIZED_BY_PSCW && is_target)
        code = MPI_Win_wait(window->win);
    return code;
}

int window_meet(const window_t *window)
{
    return window->comm == MPI_COMM_NULL ? MPI_SUCCESS : MPI_Barrier(window->comm);
}

/* Where targets take part, the calls that they make do it. Else a lock of the own memory does, unless it is locked. */
static int renew(const window_t *window)
{
    int rank;
    if (synchronization_is_active(window->synchronization))
        return MPI_SUCCESS;
    if (window->reaches_all ? window->is_first && stays_locked(window) : window->is_first)
        return window->reaches_all ? MPI_Win_sync(window->win) : MPI_SUCCESS;
    MPI_Comm_rank(window->comm, &rank);
    int code = MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window->win);
    return code == MPI_SUCCESS ? MPI_Win_unlock(rank, window->win) : code;
}

int window_settle(const window_t *window)
{
    int code = MPI_SUCCESS;
    if (window->comm == MPI_COMM_NULL)
        return MPI_SUCCESS;
    if (stays_locked(window) && window->is_first)
        code = flush(window);
    if (code == MPI_SUCCESS)
        code = renew(window);
    if (code == MPI_SUCCESS)
        code = MPI_Barrier(window->comm);
    return code == MPI_SUCCESS ? renew(window) : code;
}
