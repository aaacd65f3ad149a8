/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * front.c - what LD_PRELOAD puts in front of the MPI library: an entry for each function, under both of its names.
 *
 * A call goes on to the next definition of the very name that was called. What the MPI library calls inside of it is
 * left to it. Interfaces of Fortran, in other libraries, call the functions of C by one of their names, but for those
 * of attributes: these have entries of their own.
 */
#define _GNU_SOURCE
#include "trace/front/find.h"
#include "trace/front/open.h"
#include "trace/shared/interposer.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <string.h>
#include <unwind.h>

#define PUBLIC __attribute__((visibility("default"), used))
#define OWN_FRAME ((uintptr_t)__builtin_frame_address(0))
#define INLINE static inline __attribute__((always_inline))

/* Some of the calls that were found inside of another one: tools before the MPI library make many. */
enum { NESTINGS = 16 };
typedef struct {
    uintptr_t inner[2], outer[2]; /* frame and site */
} nesting;

/* What was found of calls through interfaces of Fortran: by where they call, and by the place in the program, too. */
enum { INTERFACE_BITS = 6, PROGRAM_BITS = 9 };
typedef struct {
    uintptr_t site, distance; /* from the frame to the interface's return address */
} passage;

/* From MPI_Init on. NULL: nothing is done, calls are not recorded, or barriers and the clock are the MPI library's. */
static const interpose_back *opened_back, *recorder, *harmonizer;

/* Of a thread; initial-exec thread-local storage makes this fast. */
static __thread struct {
    trace_place outer; /* the call in which it is; its frame is 0 if it is in none */
    trace_call *call;  /* the same */
    trace_thread *thread;
    nesting nestings[NESTINGS];
    passage interfaces[1 << INTERFACE_BITS], programs[1 << PROGRAM_BITS];
} own __attribute__((tls_model("initial-exec")));

/*
 * ---- Who calls. The MPI library, its parts and this library are not the program. Its interfaces of Fortran are other
 * objects: what they call, the program calls.
 */

typedef enum { OF_PROGRAM, OF_MPI, OF_FORTRAN } caller;

static __attribute__((noinline)) caller find_caller(uintptr_t address)
{
    static const char *const parts[] = {"mca_", "libmca_", "libopen_mpi", "libopen-pal", "libmpix_harmonize", NULL};
    static const char *const interfaces[] = {"libmpichfort.", "libmpifort.", "libmpi_mpifh", "libmpi_usempi", NULL};
    static interpose_next init = {.symbol = "PMPI_Init"};
    Dl_info object, library;
    const void *its_init = mh_interpose_find_if_any(&init);
    if (!dladdr((void *)address, &object) || !object.dli_fname)
        return OF_PROGRAM;
    if (its_init && dladdr(its_init, &library) && library.dli_fbase == object.dli_fbase)
        return OF_MPI;
    if (mh_stem_of(object.dli_fname, parts) >= 0 && strstr(object.dli_fname, ".so"))
        return OF_MPI;
    return mh_stem_of(object.dli_fname, interfaces) >= 0 ? OF_FORTRAN : OF_PROGRAM;
}

/* dladdr is slow, so its last answers are kept: four times the address, and who it is. */
INLINE caller caller_at(uintptr_t address)
{
    enum { KNOWN_BITS = 10 };
    static _Atomic uint64_t known[1 << KNOWN_BITS];
    _Atomic uint64_t *place = &known[trace_hash(address, KNOWN_BITS)];
    uint64_t answer = atomic_load_explicit(place, memory_order_relaxed);
    if (answer >> 2 != address) {
        answer = (uint64_t)address << 2 | find_caller(address);
        atomic_store_explicit(place, answer, memory_order_relaxed);
    }
    return answer & 3;
}

enum { FRAMES_OF_INTERFACE = 16 };
typedef struct {
    uintptr_t site;
    uintptr_t slot; /* of the return address, as x86 or ARM have it */
    int frames;
    bool is_past_interface;
} program_search;

static _Unwind_Reason_Code search_program(struct _Unwind_Context *frame, void *its)
{
    program_search *search = its;
    const uintptr_t address = _Unwind_GetIP(frame);
    if (caller_at(address) == OF_FORTRAN) {
        search->is_past_interface = true;
#ifdef __aarch64__
        search->slot = _Unwind_GetCFA(frame) + sizeof address; /* the record of a frame is at its end */
#endif
    } else if (search->is_past_interface) {
        search->site = address;
#if defined __x86_64__ || defined __i386__
        search->slot = _Unwind_GetCFA(frame) - sizeof address;
#endif
        return _URC_NORMAL_STOP;
    }
    return ++search->frames == FRAMES_OF_INTERFACE ? _URC_NORMAL_STOP : _URC_NO_REASON;
}

/*
 * Where the program called the interface of Fortran that calls from this site. A search of the stack is slow. It also
 * finds how far above the frame the interface has its return address, and that this leads to the program; later calls
 * from the same places read it from there, if the distance is so short that it is always within the stack.
 */
__attribute__((no_sanitize("address"))) static uintptr_t site_before_interface(uintptr_t site, uintptr_t frame)
{
    enum { MAX_DISTANCE = 2048 };
    passage *of_site = &own.interfaces[trace_hash(site, INTERFACE_BITS)];
    if (of_site->site == site) {
        const uintptr_t program = *(const uintptr_t *)(frame + of_site->distance);
        const passage *known = &own.programs[trace_hash(site + program, PROGRAM_BITS)];
        if (known->site == site + program && known->distance == of_site->distance)
            return program;
    }
    program_search search = {.site = site};
    _Unwind_Backtrace(search_program, &search);
    if (search.slot - frame < MAX_DISTANCE && *(const uintptr_t *)search.slot == search.site) {
        *of_site = (passage){site, search.slot - frame};
        own.programs[trace_hash(site + search.site, PROGRAM_BITS)] = (passage){site + search.site, of_site->distance};
    }
    return search.site;
}

INLINE uintptr_t program_site(const void *its_site)
{
    const uintptr_t site = (uintptr_t)its_site;
    return caller_at(site) == OF_FORTRAN ? site_before_interface(site, OWN_FRAME) : site;
}

/* The back itself calls MPI: detecting this must be fast. */
INLINE bool is_of_back(const interpose_back *back, uintptr_t site)
{
    return site >= (uintptr_t)back->code && site < (uintptr_t)back->code_end;
}

/* ---- Calls inside of calls. They are below them, for stacks grow downward */

enum { FRAMES_OF_CALL = 3 }; /* at most: the wrapper, the entry, and what called it */
typedef struct {
    int count; /* of frames that are not below the outer call */
    bool is_found, is_through_mpi;
} outer_search;

static _Unwind_Reason_Code search_frame(struct _Unwind_Context *frame, void *its)
{
    outer_search *search = its;
    if (_Unwind_GetCFA(frame) < own.outer.frame) {
        search->is_through_mpi = search->is_through_mpi || caller_at(_Unwind_GetIP(frame)) == OF_MPI;
        return _URC_NO_REASON;
    }
    search->count++;
    /* Where there are several instruction sets, the lowest bit of one of them may tell which. */
    search->is_found = (_Unwind_GetIP(frame) | 1) == (own.outer.site | 1);
    return search->is_found || search->count == FRAMES_OF_CALL ? _URC_NORMAL_STOP : _URC_NO_REASON;
}

/* By an exception or a jump out of an error handler. */
static void note_left_call(void)
{
    const interpose_back *back = __atomic_load_n(&recorder, __ATOMIC_ACQUIRE);
    trace_call call = {.thread = own.thread};
    const trace_place left = own.outer;
    own.outer = (trace_place){0};
    if (back && left.joins != TRACE_ALONE)
        back->left_together(&call, left.comm, left.joins == TRACE_OPERATION);
    own.thread = call.thread;
}

/*
 * Whether a tool between the program and the MPI library makes a call, as part of the one in which the thread is. What
 * the program calls in there, in an error handler or another callback, is its own: MPI is on the stack between the two.
 * A jump leaves a call unnoticed, and a later call may be below where that one was. So the stack is searched for what
 * called it. If the stack cannot be read so far, the call is of a tool.
 */
static __attribute__((noinline)) bool is_of_tool(uintptr_t frame, uintptr_t site)
{
    const nesting now = {{frame, site}, {own.outer.frame, own.outer.site}};
    nesting *known = &own.nestings[(frame / sizeof(void *) + site) % NESTINGS];
    outer_search search = {0};
    if (memcmp(known, &now, sizeof now) == 0)
        return true;
    if (frame < own.outer.frame)
        _Unwind_Backtrace(search_frame, &search);
    if (frame >= own.outer.frame || (search.count > 0 && !search.is_found))
        note_left_call();
    else if (search.count == 0 || !search.is_through_mpi)
        *known = now;
    return memcmp(known, &now, sizeof now) == 0;
}

/* which: one of the three above. NULL also in calls that are not the program's. */
INLINE const interpose_back *get_for(const interpose_back *const *which, const void *its_site)
{
    const uintptr_t site = (uintptr_t)its_site;
    const interpose_back *back = __atomic_load_n(which, __ATOMIC_ACQUIRE);
    if (back &&
        (is_of_back(back, site) || caller_at(site) == OF_MPI || (own.outer.frame != 0 && is_of_tool(OWN_FRAME, site))))
        return NULL;
    return back;
}

/* The part of the back that was not asked for when get_for said that the call is the program's. */
INLINE const interpose_back *get_too(const interpose_back *const *which)
{
    return __atomic_load_n(which, __ATOMIC_ACQUIRE);
}

/* There is a back from MPI_Init on. In MPI_Init, the MPI library may have sessions of its own. Not all MPI libraries
 * have sessions. */
__attribute__((unused)) INLINE void begin_session(void)
{
    static bool is_said;
    if (!get_too(&opened_back) && own.outer.frame == 0 && !__atomic_exchange_n(&is_said, true, __ATOMIC_RELAXED))
        mh_interpose_note_session();
}

INLINE void go_in(trace_call *call, int id, const void *site)
{
    call->place = own.outer;
    call->outer = own.outer.frame != 0 ? own.call : NULL;
    own.outer = (trace_place){.frame = OWN_FRAME, .site = (uintptr_t)site};
    own.call = call;
    call->thread = own.thread;
    call->id = (uint16_t)id;
    call->site = (uintptr_t)site;
}

INLINE void come_out(const trace_call *call)
{
    own.outer = call->place;
    own.call = call->outer;
}

INLINE void enter(const interpose_back *back, trace_call *call, bool is_trial)
{
    call->is_trial = is_trial;
    call->site = program_site((const void *)(uintptr_t)call->site);
    back->enter(call);
    own.thread = call->thread;
}

/* What all processes of a communicator call. Not all MPI functions of it are operations. */
INLINE void join(MPI_Comm comm, bool is_operation)
{
    own.outer.comm = comm;
    own.outer.joins = is_operation ? TRACE_OPERATION : TRACE_TOGETHER;
}

/* ---- MPI_Init, MPI_Init_thread */

INLINE trace_place go_into_init(const void *site)
{
    const trace_place before = own.outer;
    mh_interpose_note_start();
    own.outer = (trace_place){.frame = OWN_FRAME, .site = (uintptr_t)site};
    return before;
}

/* By whichever of the two, if one calls the other. Returns the result. */
INLINE int begin(int result, trace_place before, int64_t entered_ns, int id, const void *site)
{
    trace_call call = {0};
    own.outer = before;
    if (result != MPI_SUCCESS || OWN_FRAME < own.outer.frame || opened_back)
        return result;
    go_in(&call, id, site);
    call.site = program_site(site);
    const interpose_back *back = mh_interpose_open();
    const int does = back ? back->begin(&mh_choices, mh_standard_error, entered_ns, &call) : 0;
    if (does & INTERPOSE_RECORDS)
        __atomic_store_n(&recorder, back, __ATOMIC_RELEASE);
    if (does & INTERPOSE_HARMONIZES)
        __atomic_store_n(&harmonizer, back, __ATOMIC_RELEASE);
    if (does)
        __atomic_store_n(&opened_back, back, __ATOMIC_RELEASE);
    own.thread = call.thread;
    come_out(&call);
    return result;
}

/* ---- What the wrappers do for mpix_preload */

/* MPI_Barrier, or what takes its place. */
INLINE int run_barrier(int (*function)(intptr_t), intptr_t comm)
{
    const interpose_back *back = get_too(&harmonizer);
    return back && back->barrier((MPI_Comm)comm) ? MPI_SUCCESS : function(comm);
}

/* After a communicator is made, or its making has begun. */
INLINE void know(MPI_Comm comm, int result)
{
    const interpose_back *back = get_too(&harmonizer);
    if (back && result == MPI_SUCCESS)
        back->know(comm);
}

INLINE void expect(MPI_Comm comm, int result)
{
    const interpose_back *back = get_too(&harmonizer);
    if (back && result == MPI_SUCCESS)
        back->expect(comm);
}

/* After collective operations. recorded: NULL if the call is not. */
INLINE void look_after_clock(trace_call *recorded, MPI_Comm comm, int result)
{
    const interpose_back *back = get_too(&harmonizer);
    if (back)
        back->after_collective(recorded, comm, result);
}

/* After MPI_Comm_get_attr, MPI_Attr_get: C gets the address of the value. */
INLINE void make_global(int result, int keyval, void *value, const int *flag)
{
    static int is_global = 1;
    const interpose_back *back = get_too(&harmonizer);
    if (back && result == MPI_SUCCESS && *flag && back->is_wtime_keyval(keyval, false))
        *(int **)value = &is_global;
}

/*
 * The two names of a function, in assembler: mpi.h may have macros of them. Handles come in and go on with all bits of
 * an intptr_t, whatever their type is in this mpi.h: where there is no back, the program may have another MPI library.
 */
#define ENTRY(name, type, parameters, function, arguments) \
    PUBLIC type entry_##name parameters __asm__(#name);    \
    type entry_##name parameters                           \
    {                                                      \
        static interpose_next next = {.symbol = #name};    \
        return function arguments;                         \
    }
#define ENTRIES(name, parameters, arguments)                  \
    ENTRY(MPI_##name, int, parameters, run_##name, arguments) \
    ENTRY(PMPI_##name, int, parameters, run_##name, arguments)

#include "generated/functions.h"

/* ---- MPI_Finalize */

static int run_Finalize(interpose_next *next, const void *site)
{
    static bool is_ended; /* MPI refuses a second one */
    int (*function)(void) = mh_interpose_find(next);
    const interpose_back *back = get_for(&opened_back, site);
    trace_call call = {0};
    if (!back || __atomic_exchange_n(&is_ended, true, __ATOMIC_RELAXED))
        return function();
    go_in(&call, ID_Finalize, site);
    call.site = program_site(site);
    back->end(&call);
    int result = function();
    if (__atomic_exchange_n(&recorder, NULL, __ATOMIC_ACQ_REL))
        back->finish(&call);
    come_out(&call);
    return result;
}
ENTRIES(Finalize, (void), (&next, __builtin_return_address(0)))

/* ---- MPI_Abort, which an error handler calls within another call */

static int run_Abort(interpose_next *next, const void *site, intptr_t comm, int code)
{
    int (*function)(intptr_t, int) = mh_interpose_find(next);
    own.outer.joins = TRACE_ALONE; /* the others need not be in the call that was left */
    const interpose_back *back = get_for(&recorder, site);
    trace_call call;
    if (back) {
        go_in(&call, ID_Abort, site);
        enter(back, &call, false);
    }
    back = get_too(&recorder);
    if (back)
        back->abort();
    return function(comm, code);
}
ENTRIES(Abort, (intptr_t comm, int code), (&next, __builtin_return_address(0), comm, code))

/* ---- MPI_Pcontrol: what follows the level is of no known type, and goes on as far as it was in registers */

static int run_Pcontrol(interpose_next *next, const void *site, int level, void *first, void *second)
{
    int (*function)(int, ...) = mh_interpose_find(next);
    const interpose_back *back = get_for(&recorder, site);
    if (back && (level == 0 || level == 1 || level > 2 || level < -2)) {
        trace_call call;
        call.thread = own.thread;
        call.outer = own.outer.frame != 0 ? own.call : NULL;
        back->region(&call, level);
        own.thread = call.thread;
    }
    return function(level, first, second);
}
ENTRIES(Pcontrol, (int level, void *first, void *second), (&next, __builtin_return_address(0), level, first, second))

/* ---- MPI_Wtime, MPI_Wtick: recorded only if asked for by name; global time is counted in nanoseconds */

static const double tick_s = 1e-9;

INLINE double read_clock(double (*function)(void), int id)
{
    const interpose_back *back = get_too(&harmonizer);
    double seconds;
    if (back && back->wtime(&seconds))
        return id == ID_Wtick ? tick_s : seconds;
    return function();
}

INLINE double run_clock(interpose_next *next, int id, const void *site)
{
    double (*function)(void) = mh_interpose_find(next);
    const interpose_back *back = get_for(&opened_back, site);
    if (!back)
        return function();
    if (!get_too(&recorder) || !back->is_wanted(id))
        return read_clock(function, id);
    trace_call call;
    go_in(&call, id, site);
    enter(back, &call, false);
    double result = read_clock(function, id);
    back->returned(&call);
    back->leave(&call);
    come_out(&call);
    return result;
}
ENTRY(MPI_Wtime, double, (void), run_clock, (&next, ID_Wtime, __builtin_return_address(0)))
ENTRY(PMPI_Wtime, double, (void), run_clock, (&next, ID_Wtime, __builtin_return_address(0)))
ENTRY(MPI_Wtick, double, (void), run_clock, (&next, ID_Wtick, __builtin_return_address(0)))
ENTRY(PMPI_Wtick, double, (void), run_clock, (&next, ID_Wtick, __builtin_return_address(0)))

/*
 * ---- MPI_Comm_get_attr, MPI_Attr_get in Fortran: it gets the value of MPI_WTIME_IS_GLOBAL, of the kind of an address,
 * or an integer with the older name. These do not call the functions of C. The names are those of all compilers; the
 * last two are of compilers that call C by its own conventions.
 */
#define EACH_SPELLING(DEFINE, type, lower, upper, mixed) \
    DEFINE(mpi_##lower, type)                            \
    DEFINE(mpi_##lower##_, type)                         \
    DEFINE(mpi_##lower##__, type)                        \
    DEFINE(MPI_##upper, type)                            \
    DEFINE(mpi_##lower##_f08_, type) DEFINE(MPI_##mixed##_f, type) DEFINE(MPI_##mixed##_f08, type)

#define DEFINE_ATTRIBUTE(name, type)                                                                 \
    PUBLIC void name(const int *comm, const int *keyval, void *value, int *flag, int *ierror);       \
    void name(const int *comm, const int *keyval, void *value, int *flag, int *ierror)               \
    {                                                                                                \
        static interpose_next next = {.symbol = #name};                                              \
        const interpose_back *back = get_too(&harmonizer);                                           \
        void (*function)(const int *, const int *, void *, int *, int *) = mh_interpose_find(&next); \
        function(comm, keyval, value, flag, ierror);                                                 \
        if (back && (!ierror || *ierror == 0) && *flag && back->is_wtime_keyval(*keyval, true))      \
            *(type *)value = 1;                                                                      \
    }
EACH_SPELLING(DEFINE_ATTRIBUTE, intptr_t, comm_get_attr, COMM_GET_ATTR, Comm_get_attr)
EACH_SPELLING(DEFINE_ATTRIBUTE, int, attr_get, ATTR_GET, Attr_get)
