/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * front.c - what LD_PRELOAD puts in front of the MPI library: the functions of C, and those of Fortran in each spelling
 * that compilers and MPI libraries use for mpif.h, mpi and mpi_f08.
 *
 * Whatever the back leaves to MPI goes on to the next definition of the very name that was called. What a library of
 * Fortran calls then is not replaced: mpi_barrier_ of one MPI library calls MPI_Barrier, that of another one does not.
 * But an error handler of the program, which the library of C calls, may make collective calls of its own.
 */
#define _GNU_SOURCE
#include "preload/find.h"
#include "preload/preload.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

const preload_names mh_preload_names = {.program = "mpix_preload",
                                        .without = "without the preload",
                                        .file = "libmpix_harmonize_preload.so",
                                        .back_stem = "preload",
                                        .symbol = PRELOAD_BACK_NAME};

#define PUBLIC __attribute__((visibility("default")))

static const preload_back *opened_back;
/* Of a thread; initial-exec thread-local storage makes this fast. */
static __thread struct {
    bool is_in_back;
    const void *callee; /* the subroutine in which it is; stays if an error handler jumps out of it */
    struct {            /* the last answer of is_inner */
        const void *callee, *site;
        bool is_inner;
    } last;
} own __attribute__((tls_model("initial-exec")));

#define SITE __builtin_return_address(0)

/* Whether the caller is the library of the subroutine: not who runs an error handler, nor the handler. */
static __attribute__((noinline)) bool is_inner(const void *site)
{
    Dl_info caller, callee;
    if (own.last.site != site || own.last.callee != own.callee) {
        bool found = dladdr(site, &caller) && dladdr(own.callee, &callee);
        own.last.is_inner = found && caller.dli_fbase == callee.dli_fbase;
        own.last.site = site;
        own.last.callee = own.callee;
    }
    return own.last.is_inner;
}

/* NULL before MPI_Init, and where there is none. */
static const preload_back *get_back(void)
{
    return __atomic_load_n(&opened_back, __ATOMIC_ACQUIRE);
}

static bool is_outer(const void *site)
{
    return !own.is_in_back && (!own.callee || !is_inner(site));
}

/* For collective functions: NULL also for calls inside of a subroutine, or of the back. */
static const preload_back *get_outer_back(const void *site)
{
    return is_outer(site) ? get_back() : NULL;
}

/* The next definition of a name. */
#define FIND(name, type)                               \
    ({                                                 \
        static preload_next next_ = {.symbol = #name}; \
        (type) mh_preload_find(&next_);                \
    })

/* Call a subroutine of Fortran, which may call a function of C that is replaced; functions of C call none. */
#define CALL_SUBROUTINE(name, type, ...)       \
    do {                                       \
        __auto_type found_ = FIND(name, type); \
        const void *outer_ = own.callee;       \
        own.callee = (const void *)found_;     \
        found_(__VA_ARGS__);                   \
        own.callee = outer_;                   \
    } while (0)

/* The names of a Fortran procedure. The last two are those of compilers that call C by its own conventions. */
#define EACH_SPELLING(DEFINE, lower, upper, mixed) \
    DEFINE(mpi_##lower)                            \
    DEFINE(mpi_##lower##_)                         \
    DEFINE(mpi_##lower##__)                        \
    DEFINE(MPI_##upper) DEFINE(mpi_##lower##_f08_) DEFINE(MPI_##mixed##_f) DEFINE(MPI_##mixed##_f08)

/* ---- MPI_Init, MPI_Init_thread */

typedef int init_function(int *, char ***);
typedef int init_thread_function(int *, char ***, int, int *);
typedef void init_subroutine(int *);
typedef void init_thread_subroutine(const int *, int *, int *);

static void begin(const void *site)
{
    if (!is_outer(site) || opened_back)
        return;
    own.is_in_back = true;
    const preload_back *found = mh_preload_open();
    if (found) {
        found->begin();
        __atomic_store_n(&opened_back, found, __ATOMIC_RELEASE);
    }
    own.is_in_back = false;
}

PUBLIC int MPI_Init(int *argc, char ***argv)
{
    int code = FIND(MPI_Init, init_function *)(argc, argv);
    if (code == 0)
        begin(SITE);
    return code;
}

PUBLIC int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    int code = FIND(MPI_Init_thread, init_thread_function *)(argc, argv, required, provided);
    if (code == 0)
        begin(SITE);
    return code;
}

/* An omitted ierror of mpi_f08 is a null pointer; errors end the program then, or nobody sees them. */
#define DEFINE_INIT(name)                                 \
    PUBLIC void name(int *ierror);                        \
    void name(int *ierror)                                \
    {                                                     \
        CALL_SUBROUTINE(name, init_subroutine *, ierror); \
        if (!ierror || *ierror == 0)                      \
            begin(SITE);                                  \
    }
EACH_SPELLING(DEFINE_INIT, init, INIT, Init)

#define DEFINE_INIT_THREAD(name)                                                     \
    PUBLIC void name(const int *required, int *provided, int *ierror);               \
    void name(const int *required, int *provided, int *ierror)                       \
    {                                                                                \
        CALL_SUBROUTINE(name, init_thread_subroutine *, required, provided, ierror); \
        if (!ierror || *ierror == 0)                                                 \
            begin(SITE);                                                             \
    }
EACH_SPELLING(DEFINE_INIT_THREAD, init_thread, INIT_THREAD, Init_thread)

/* ---- MPI_Finalize */

static void end(const void *site)
{
    const preload_back *standing = get_outer_back(site);
    if (!standing)
        return;
    own.is_in_back = true;
    standing->end();
    own.is_in_back = false;
}

typedef int finalize_function(void);
PUBLIC int MPI_Finalize(void)
{
    end(SITE);
    return FIND(MPI_Finalize, finalize_function *)();
}

#define DEFINE_FINALIZE(name)                             \
    PUBLIC void name(int *ierror);                        \
    void name(int *ierror)                                \
    {                                                     \
        end(SITE);                                        \
        CALL_SUBROUTINE(name, init_subroutine *, ierror); \
    }
EACH_SPELLING(DEFINE_FINALIZE, finalize, FINALIZE, Finalize)

/* ---- MPI_Barrier, and what follows each collective call that MPI did */

static void after_collective(const preload_back *standing, void *comm, int code)
{
    if (!standing)
        return;
    own.is_in_back = true;
    standing->after_collective(comm, code);
    own.is_in_back = false;
}

static void after_fortran_collective(const preload_back *standing, const int *comm, int code)
{
    if (!standing)
        return;
    own.is_in_back = true;
    standing->after_collective_fortran(*comm, code);
    own.is_in_back = false;
}

typedef int barrier_function(void *);
typedef void barrier_subroutine(const int *, int *);

PUBLIC int MPI_Barrier(void *comm)
{
    const preload_back *standing = get_outer_back(SITE);
    int code = 0;
    if (standing) {
        own.is_in_back = true;
        bool done = standing->barrier(comm, &code);
        own.is_in_back = false;
        if (done)
            return code;
    }
    code = FIND(MPI_Barrier, barrier_function *)(comm);
    after_collective(standing, comm, code);
    return code;
}

static bool fortran_barrier(const preload_back *standing, const int *comm, int *ierror)
{
    if (!standing)
        return false;
    own.is_in_back = true;
    bool done = standing->barrier_fortran(*comm, ierror);
    own.is_in_back = false;
    return done;
}

#define DEFINE_BARRIER(name)                                          \
    PUBLIC void name(const int *comm, int *ierror);                   \
    void name(const int *comm, int *ierror)                           \
    {                                                                 \
        const preload_back *standing = get_outer_back(SITE);          \
        int code = 0, *error = ierror ? ierror : &code;               \
        if (!fortran_barrier(standing, comm, error)) {                \
            CALL_SUBROUTINE(name, barrier_subroutine *, comm, error); \
            after_fortran_collective(standing, comm, *error);         \
        }                                                             \
    }
EACH_SPELLING(DEFINE_BARRIER, barrier, BARRIER, Barrier)

/* ---- Other collective functions: MPI does their work, and some of their calls look after the clock then */

/* clang-format off */
/* How many arguments there are before the communicator, which is the last one in C; in Fortran, ierror follows it. */
#define EACH_COLLECTIVE(DEFINE) \
    DEFINE(4, bcast, BCAST, Bcast) \
    DEFINE(5, allreduce, ALLREDUCE, Allreduce) \
    DEFINE(5, scan, SCAN, Scan) \
    DEFINE(5, exscan, EXSCAN, Exscan) \
    DEFINE(5, reduce_scatter, REDUCE_SCATTER, Reduce_scatter) \
    DEFINE(5, reduce_scatter_block, REDUCE_SCATTER_BLOCK, Reduce_scatter_block) \
    DEFINE(6, reduce, REDUCE, Reduce) \
    DEFINE(6, allgather, ALLGATHER, Allgather) \
    DEFINE(6, alltoall, ALLTOALL, Alltoall) \
    DEFINE(7, gather, GATHER, Gather) \
    DEFINE(7, scatter, SCATTER, Scatter) \
    DEFINE(7, allgatherv, ALLGATHERV, Allgatherv) \
    DEFINE(8, gatherv, GATHERV, Gatherv) \
    DEFINE(8, scatterv, SCATTERV, Scatterv) \
    DEFINE(8, alltoallv, ALLTOALLV, Alltoallv) \
    DEFINE(8, alltoallw, ALLTOALLW, Alltoallw)

/* Numbers and handles are passed on as they came: in a register, or on the stack in the place of a pointer. */
#define PARAMETERS_4 void *p1, void *p2, void *p3, void *p4
#define PARAMETERS_5 PARAMETERS_4, void *p5
#define PARAMETERS_6 PARAMETERS_5, void *p6
#define PARAMETERS_7 PARAMETERS_6, void *p7
#define PARAMETERS_8 PARAMETERS_7, void *p8
#define ARGUMENTS_4 p1, p2, p3, p4
#define ARGUMENTS_5 ARGUMENTS_4, p5
#define ARGUMENTS_6 ARGUMENTS_5, p6
#define ARGUMENTS_7 ARGUMENTS_6, p7
#define ARGUMENTS_8 ARGUMENTS_7, p8
/* clang-format on */

#define DEFINE_C_COLLECTIVE(n, name)                                                 \
    PUBLIC int name(PARAMETERS_##n, void *comm);                                     \
    int name(PARAMETERS_##n, void *comm)                                             \
    {                                                                                \
        const preload_back *standing = get_outer_back(SITE);                         \
        int code = FIND(name, int (*)(PARAMETERS_##n, void *))(ARGUMENTS_##n, comm); \
        after_collective(standing, comm, code);                                      \
        return code;                                                                 \
    }

/* An omitted ierror of mpi_f08 is asked for all the same: whether the call was made depends on it. */
#define DEFINE_FORTRAN_COLLECTIVE(n, name)                                                               \
    PUBLIC void name(PARAMETERS_##n, const int *comm, int *ierror);                                      \
    void name(PARAMETERS_##n, const int *comm, int *ierror)                                              \
    {                                                                                                    \
        const preload_back *standing = get_outer_back(SITE);                                             \
        int code = 0, *error = ierror ? ierror : &code;                                                  \
        CALL_SUBROUTINE(name, void (*)(PARAMETERS_##n, const int *, int *), ARGUMENTS_##n, comm, error); \
        after_fortran_collective(standing, comm, *error);                                                \
    }

/*
 * A 64-bit count is one argument where a pointer has 64 bits. These names are defined also where the MPI library has
 * none of them: which library it will be is not known when names are bound.
 */
#if UINTPTR_MAX > UINT32_MAX
#define DEFINE_LARGE_COLLECTIVE(n, mixed) DEFINE_C_COLLECTIVE(n, MPI_##mixed##_c)
#else
#define DEFINE_LARGE_COLLECTIVE(n, mixed)
#endif

#define FORTRAN_4(name) DEFINE_FORTRAN_COLLECTIVE(4, name)
#define FORTRAN_5(name) DEFINE_FORTRAN_COLLECTIVE(5, name)
#define FORTRAN_6(name) DEFINE_FORTRAN_COLLECTIVE(6, name)
#define FORTRAN_7(name) DEFINE_FORTRAN_COLLECTIVE(7, name)
#define FORTRAN_8(name) DEFINE_FORTRAN_COLLECTIVE(8, name)

/* Those of mpi_f08 with ts take buffers by descriptors, which are pointers too. */
#define DEFINE_COLLECTIVE(n, lower, upper, mixed)   \
    DEFINE_C_COLLECTIVE(n, MPI_##mixed)             \
    DEFINE_LARGE_COLLECTIVE(n, mixed)               \
    EACH_SPELLING(FORTRAN_##n, lower, upper, mixed) \
    FORTRAN_##n(mpi_##lower##_f08ts_) FORTRAN_##n(mpi_##lower##_f08ts_large_)
EACH_COLLECTIVE(DEFINE_COLLECTIVE)

/* ---- MPI_Wtime, MPI_Wtick */

typedef double clock_function(void);

/* Global time is counted in nanoseconds. */
static const double tick_s = 1e-9;

#define DEFINE_CLOCK(name, value)                  \
    PUBLIC double name(void);                      \
    double name(void)                              \
    {                                              \
        const preload_back *standing = get_back(); \
        double seconds;                            \
        if (standing && standing->wtime(&seconds)) \
            return value;                          \
        return FIND(name, clock_function *)();     \
    }
#define DEFINE_WTIME(name) DEFINE_CLOCK(name, seconds)
DEFINE_WTIME(MPI_Wtime)
EACH_SPELLING(DEFINE_WTIME, wtime, WTIME, Wtime)
#define DEFINE_WTICK(name) DEFINE_CLOCK(name, tick_s)
DEFINE_WTICK(MPI_Wtick)
EACH_SPELLING(DEFINE_WTICK, wtick, WTICK, Wtick)

/* ---- MPI_Comm_get_attr, MPI_Attr_get: MPI_WTIME_IS_GLOBAL is true */

typedef int attribute_function(void *, int, void *, int *);
typedef void attribute_subroutine(const int *, const int *, void *, int *, int *);

static bool is_wtime_keyval(int keyval, bool fortran)
{
    const preload_back *standing = get_back();
    return standing && standing->is_wtime_keyval(keyval, fortran);
}

/* C gets the address of the value. */
#define DEFINE_ATTRIBUTE(name)                                                  \
    PUBLIC int name(void *comm, int keyval, void *value, int *flag);            \
    int name(void *comm, int keyval, void *value, int *flag)                    \
    {                                                                           \
        static int is_global = 1;                                               \
        int code = FIND(name, attribute_function *)(comm, keyval, value, flag); \
        if (code == 0 && *flag && is_wtime_keyval(keyval, false))               \
            *(int **)value = &is_global;                                        \
        return code;                                                            \
    }
DEFINE_ATTRIBUTE(MPI_Comm_get_attr)
DEFINE_ATTRIBUTE(MPI_Attr_get)

/* Fortran gets the value: of the kind of an address, or an integer with the older name. */
#define DEFINE_FORTRAN_ATTRIBUTE(name, type)                                                   \
    PUBLIC void name(const int *comm, const int *keyval, void *value, int *flag, int *ierror); \
    void name(const int *comm, const int *keyval, void *value, int *flag, int *ierror)         \
    {                                                                                          \
        FIND(name, attribute_subroutine *)(comm, keyval, value, flag, ierror);                 \
        if ((!ierror || *ierror == 0) && *flag && is_wtime_keyval(*keyval, true))              \
            *(type *)value = 1;                                                                \
    }
#define DEFINE_COMM_GET_ATTR(name) DEFINE_FORTRAN_ATTRIBUTE(name, intptr_t)
#define DEFINE_ATTR_GET(name) DEFINE_FORTRAN_ATTRIBUTE(name, int)
EACH_SPELLING(DEFINE_COMM_GET_ATTR, comm_get_attr, COMM_GET_ATTR, Comm_get_attr)
EACH_SPELLING(DEFINE_ATTR_GET, attr_get, ATTR_GET, Attr_get)
