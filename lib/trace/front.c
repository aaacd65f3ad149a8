/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * front.c - what LD_PRELOAD puts in front of the MPI library: an entry for each function, under both of its names.
 *
 * A call goes on to the next definition of the very name that was called. Inside of it nothing is recorded.
 */
#include "preload/find.h"
#include "trace/recorder.h"

#include <stddef.h>

#ifdef OPEN_MPI
#define FLAVOR "openmpi"
#else
#define FLAVOR "mpich"
#endif

const preload_names mh_preload_names = {.program = "mpix_trace",
                                        .without = "without being recorded",
                                        .file = "libmpix_trace-" FLAVOR ".so",
                                        .back_stem = "trace",
                                        .symbol = TRACE_BACK_NAME,
                                        .flavor = FLAVOR};

#define PUBLIC __attribute__((visibility("default"), used))

static const trace_back *opened_back;
/*
 * Of this thread: where on the stack the call is in which it is, 0 if in none; and what the back has for it. They are
 * there from the start: quick. Calls inside of that one are below it, for stacks grow downward. An exception or a jump
 * out of an error handler leaves a call without a word: the next call is not below it then, or some later one. Calls
 * before that one count as inner: a program that goes on deeper in the stack after a jump is not followed there.
 */
static __thread uintptr_t outer_frame __attribute__((tls_model("initial-exec")));
static __thread trace_thread *own_thread __attribute__((tls_model("initial-exec")));

#define OWN_FRAME ((uintptr_t)__builtin_frame_address(0))
#define INLINE static inline __attribute__((always_inline))

/* NULL before MPI_Init and after MPI_Finalize, inside of a call, and where there is no back. */
INLINE const trace_back *get_outer_back(void)
{
    return OWN_FRAME < outer_frame ? NULL : __atomic_load_n(&opened_back, __ATOMIC_ACQUIRE);
}

INLINE void enter(const trace_back *back, trace_call *call, int id, const void *site, bool is_trial)
{
    outer_frame = OWN_FRAME;
    call->thread = own_thread;
    call->id = (uint16_t)id;
    call->site = (uintptr_t)site;
    call->is_trial = is_trial;
    back->enter(call);
    own_thread = call->thread;
}

INLINE void leave(const trace_back *back, trace_call *call)
{
    back->leave(call);
    outer_frame = 0;
}

INLINE void look(const trace_back *back, MPI_Comm comm)
{
    trace_call call = {.thread = own_thread};
    outer_frame = OWN_FRAME;
    back->before_collective(&call, comm);
    own_thread = call.thread;
    outer_frame = 0;
}

/* The two names of a function, in assembler: mpi.h declares them with other types. */
#define ENTRY(name, type, parameters, function, arguments) \
    PUBLIC type entry_##name parameters __asm__(#name);    \
    type entry_##name parameters                           \
    {                                                      \
        static preload_next next = {.symbol = #name};      \
        return function arguments;                         \
    }
#define ENTRIES(name, parameters, arguments)                  \
    ENTRY(MPI_##name, int, parameters, run_##name, arguments) \
    ENTRY(PMPI_##name, int, parameters, run_##name, arguments)

/* clang-format off */
#include "trace/wrappers.h"
/* clang-format on */

/* ---- MPI_Init, MPI_Init_thread */

INLINE void begin(int64_t entered_ns, int id, const void *site)
{
    if (OWN_FRAME < outer_frame || opened_back)
        return;
    outer_frame = OWN_FRAME;
    trace_call call = {.id = (uint16_t)id, .site = (uintptr_t)site};
    const trace_back *back = mh_preload_open();
    if (back && back->begin(function_names, ID_END - 1, entered_ns, &call))
        __atomic_store_n(&opened_back, back, __ATOMIC_RELEASE);
    own_thread = call.thread;
    outer_frame = 0;
}

typedef int (*init_function)(int *, char ***);
static int run_Init(preload_next *next, const void *site, int *argc, char ***argv)
{
    int64_t entered_ns = trace_raw_now_ns();
    init_function function = (init_function)mh_preload_find(next);
    uintptr_t before = outer_frame;
    outer_frame = OWN_FRAME;
    int result = function(argc, argv);
    outer_frame = before;
    if (result == MPI_SUCCESS)
        begin(entered_ns, ID_Init, site);
    return result;
}
ENTRIES(Init, (int *argc, char ***argv), (&next, __builtin_return_address(0), argc, argv))

typedef int (*init_thread_function)(int *, char ***, int, int *);
static int run_Init_thread(preload_next *next, const void *site, int *argc, char ***argv, int required, int *provided)
{
    int64_t entered_ns = trace_raw_now_ns();
    init_thread_function function = (init_thread_function)mh_preload_find(next);
    uintptr_t before = outer_frame;
    outer_frame = OWN_FRAME;
    int result = function(argc, argv, required, provided);
    outer_frame = before;
    if (result == MPI_SUCCESS)
        begin(entered_ns, ID_Init_thread, site);
    return result;
}
ENTRIES(Init_thread, (int *argc, char ***argv, int required, int *provided),
        (&next, __builtin_return_address(0), argc, argv, required, provided))

/* ---- MPI_Initialized, MPI_Finalized: a program without MPI may find them here and ask */

typedef int (*state_function)(int *);
static int run_state(preload_next *next, int *flag)
{
    state_function function = (state_function)mh_preload_find_if_any(next);
    if (function)
        return function(flag);
    *flag = 0;
    return MPI_SUCCESS;
}
ENTRY(MPI_Initialized, int, (int *flag), run_state, (&next, flag))
ENTRY(PMPI_Initialized, int, (int *flag), run_state, (&next, flag))
ENTRY(MPI_Finalized, int, (int *flag), run_state, (&next, flag))
ENTRY(PMPI_Finalized, int, (int *flag), run_state, (&next, flag))

/* ---- MPI_Finalize */

typedef int (*finalize_function)(void);
static int run_Finalize(preload_next *next, const void *site)
{
    finalize_function function = (finalize_function)mh_preload_find(next);
    const trace_back *back = get_outer_back();
    if (!back)
        return function();
    trace_call call = {.thread = own_thread, .id = ID_Finalize, .site = (uintptr_t)site};
    outer_frame = OWN_FRAME;
    back->end(&call);
    int result = function();
    __atomic_store_n(&opened_back, NULL, __ATOMIC_RELEASE);
    back->finish(&call);
    outer_frame = 0;
    return result;
}
ENTRIES(Finalize, (void), (&next, __builtin_return_address(0)))

/* ---- MPI_Abort, which an error handler calls within another call */

typedef int (*abort_function)(trace_slot, trace_slot);
static int run_Abort(preload_next *next, const void *site, trace_slot comm, trace_slot code)
{
    abort_function function = (abort_function)mh_preload_find(next);
    const trace_back *back = get_outer_back();
    trace_call call;
    if (back)
        enter(back, &call, ID_Abort, site, false);
    back = __atomic_load_n(&opened_back, __ATOMIC_ACQUIRE);
    if (back)
        back->abort();
    return function(comm, code);
}
ENTRIES(Abort, (trace_slot comm, trace_slot code), (&next, __builtin_return_address(0), comm, code))

/* ---- MPI_Pcontrol: what follows the level is of no known type, and goes on as far as it was in registers */

typedef int (*pcontrol_function)(int, ...);
static int run_Pcontrol(preload_next *next, int level, void *first, void *second)
{
    pcontrol_function function = (pcontrol_function)mh_preload_find(next);
    const trace_back *back = get_outer_back();
    if (back && (level > 2 || level < -2)) {
        trace_call call;
        call.thread = own_thread;
        back->region(&call, level);
        own_thread = call.thread;
    }
    return function(level, first, second);
}
ENTRIES(Pcontrol, (int level, void *first, void *second), (&next, level, first, second))

/* ---- MPI_Wtime, MPI_Wtick: recorded only if asked for by name */

typedef double (*clock_function)(void);
INLINE double run_clock(preload_next *next, int id, const void *site)
{
    clock_function function = (clock_function)mh_preload_find(next);
    const trace_back *back = get_outer_back();
    if (!back || !back->is_wanted(id))
        return function();
    trace_call call;
    enter(back, &call, id, site, false);
    double result = function();
    leave(back, &call);
    return result;
}
ENTRY(MPI_Wtime, double, (void), run_clock, (&next, ID_Wtime, __builtin_return_address(0)))
ENTRY(PMPI_Wtime, double, (void), run_clock, (&next, ID_Wtime, __builtin_return_address(0)))
ENTRY(MPI_Wtick, double, (void), run_clock, (&next, ID_Wtick, __builtin_return_address(0)))
ENTRY(PMPI_Wtick, double, (void), run_clock, (&next, ID_Wtick, __builtin_return_address(0)))
