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
#include "trace/front/frames.h"
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

/* The last path by which a function was called from a place. */
enum { PATH_BITS = 5 };
typedef struct {
    frames_trail trail;
    uint64_t number;
    int id;
} known_path;

/* From MPI_Init on. NULL: nothing is done, calls are not recorded, or barriers and the clock are the MPI library's. */
static const interpose_back *opened_back, *recorder, *harmonizer;

/* Of a thread; initial-exec thread-local storage makes this fast. */
static __thread struct {
    trace_place outer; /* the call in which it is; its frame is 0 if it is in none */
    trace_call *call;  /* the same */
    trace_thread *thread;
    nesting nestings[NESTINGS];
    known_path paths[1 << PATH_BITS];
    frames_stack stack; /* its end is 0: not looked for yet */
    uint64_t line;      /* of a script, from which it calls; 0: it is in none */
} own __attribute__((tls_model("initial-exec")));

/*
 * ---- Who calls. The MPI library, its parts and this library are not the program. Its interfaces of Fortran are other
 * objects: what they call, the program calls.
 */

typedef enum { OF_PROGRAM, OF_FORTRAN, OF_MPI, OF_FRONT } caller;

static __attribute__((noinline)) caller find_caller(uintptr_t address)
{
    static const char *const parts[] = {"mca_", "libmca_", "libopen_mpi", "libopen-pal", "libmpix_harmonize", NULL};
    static const char *const interfaces[] = {"libmpichfort.", "libmpifort.", "libmpi_mpifh", "libmpi_usempi", NULL};
    static const char *const front[] = {"libmpix_interpose-", NULL};
    static interpose_next init = {.symbol = "PMPI_Init"};
    Dl_info object, library;
    const void *its_init = mh_interpose_find_if_any(&init);
    if (!dladdr((void *)address, &object) || !object.dli_fname)
        return OF_PROGRAM;
    if (its_init && dladdr(its_init, &library) && library.dli_fbase == object.dli_fbase)
        return OF_MPI;
    if (mh_stem_of(object.dli_fname, parts) >= 0 && strstr(object.dli_fname, ".so"))
        return OF_MPI;
    if (mh_stem_of(object.dli_fname, front) >= 0)
        return OF_FRONT;
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

/* The front is the caller of what others have jumped to, at the end of what it calls. */
INLINE bool is_not_of_program(uintptr_t address)
{
    return caller_at(address) >= OF_MPI;
}

/* The back itself calls MPI: detecting this must be fast. */
INLINE bool is_of_back(const interpose_back *back, uintptr_t site)
{
    return site >= (uintptr_t)back->code && site < (uintptr_t)back->code_end;
}

/*
 * ---- Where the program calls: the return addresses of some frames, for a function of the program, or of a library in
 * it, that calls MPI for others has many callers. What Fortran's interface of the MPI library calls, its caller calls.
 */

static bool go_up(frames_walk *walk)
{
    if (walk->now.sp == 0)
        return false;
    if (own.stack.end == 0)
        own.stack = mh_frames_stack();
    return mh_frames_go_up(&own.stack, walk);
}

enum { FRAMES_OF_INTERFACE = 16 };
typedef struct {
    uintptr_t program;
    int frames;
    bool is_past_interface;
} program_search;

static _Unwind_Reason_Code search_program(struct _Unwind_Context *frame, void *its)
{
    program_search *search = its;
    const uintptr_t address = _Unwind_GetIP(frame);
    const bool is_of_interface = caller_at(address) == OF_FORTRAN;
    if (search->is_past_interface && !is_of_interface) {
        search->program = address;
        return _URC_NORMAL_STOP;
    }
    search->is_past_interface = is_of_interface;
    return ++search->frames == FRAMES_OF_INTERFACE ? _URC_NORMAL_STOP : _URC_NO_REASON;
}

/* To where the program calls an interface of Fortran. A search of the stack is slow, and only for what go_up cannot do;
   nothing tells then whether another call has the same path. */
static void leave_interface(frames_walk *walk)
{
    for (int i = 0; i < FRAMES_OF_INTERFACE && caller_at(walk->now.pc) == OF_FORTRAN && go_up(walk); i++)
        ;
    if (caller_at(walk->now.pc) != OF_FORTRAN)
        return;
    program_search search = {.program = walk->now.pc};
    _Unwind_Backtrace(search_program, &search);
    walk->now = (frames_place){.pc = search.program};
    walk->trail.word_count = FRAMES_WORDS + 1;
}

/*
 * A number for the path of calls to this function, up to where MPI has called the program. The back is told once what
 * it stands for.
 */
static __attribute__((noinline)) uint64_t find_path(const interpose_back *back, int id, frames_walk *walk)
{
    enum { KNOWN_BITS = 12 };
    static _Atomic uint64_t known[1 << KNOWN_BITS];
    uintptr_t path[CHOICES_FRAMES];
    const int most = mh_choices.frames < CHOICES_FRAMES ? (int)mh_choices.frames : CHOICES_FRAMES;
    uint64_t number = trace_hash((uint64_t)id, 64); /* ids and places differ by few bits */
    int count = 0;
    if (walk->now.sp != 0 || own.line == 0)
        leave_interface(walk);
    do {
        path[count++] = walk->now.pc;
        number = trace_hash(number ^ walk->now.pc, 64);
        number ^= number >> 32;
    } while (count < most && go_up(walk) && !is_not_of_program(walk->now.pc));
    _Atomic uint64_t *slot = &known[trace_hash(number, KNOWN_BITS)];
    if (atomic_load_explicit(slot, memory_order_relaxed) != number) {
        back->note_path(number, id, path, count);
        atomic_store_explicit(slot, number, memory_order_relaxed);
    }
    return number;
}

INLINE uint64_t find_site(const interpose_back *back, int id, const frames_place *from)
{
    if (own.line != 0) {
        frames_walk line = frames_begin(&(const frames_place){.pc = (uintptr_t)own.line});
        return find_path(back, id, &line);
    }
    known_path *known = &own.paths[trace_hash(from->pc ^ from->sp, PATH_BITS)];
    if (known->id != id || !frames_is_same(&known->trail, from)) {
        frames_walk walk = frames_begin(from);
        const uint64_t number = find_path(back, id, &walk);
        *known = (known_path){walk.trail, number, id};
    }
    return known->number;
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
INLINE const interpose_back *get_for(const interpose_back *const *which, const frames_place *from)
{
    const uintptr_t site = from->pc;
    const interpose_back *back = __atomic_load_n(which, __ATOMIC_ACQUIRE);
    if (back &&
        (is_of_back(back, site) || is_not_of_program(site) || (own.outer.frame != 0 && is_of_tool(OWN_FRAME, site))))
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

/* Before MPI_Comm_spawn and the like. */
__attribute__((unused)) INLINE void note_spawn(void)
{
    const interpose_back *back = get_too(&opened_back);
    if (back)
        back->spawn();
}

/* For what is recorded, be it a call or not. */
INLINE void go_beside(trace_call *call)
{
    call->thread = own.thread;
    call->outer = own.outer.frame != 0 ? own.call : NULL;
}

INLINE void go_in(trace_call *call, int id, const frames_place *from)
{
    go_beside(call);
    call->place = own.outer;
    own.outer = (trace_place){.frame = OWN_FRAME, .site = from->pc};
    own.call = call;
    call->id = (uint16_t)id;
    call->site = 0;
}

INLINE void come_out(const trace_call *call)
{
    own.outer = call->place;
    own.call = call->outer;
}

INLINE void enter(const interpose_back *back, trace_call *call, bool is_trial, const frames_place *from)
{
    call->is_trial = is_trial;
    call->site = find_site(back, call->id, from);
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

INLINE trace_place go_into_init(const frames_place *from)
{
    const trace_place before = own.outer;
    mh_interpose_note_start();
    own.outer = (trace_place){.frame = OWN_FRAME, .site = from->pc};
    return before;
}

/* By whichever of the two, if one calls the other. Returns the result. */
INLINE int begin(int result, trace_place before, int64_t entered_ns, int id, const frames_place *from)
{
    trace_call call = {0};
    own.outer = before;
    if (result != MPI_SUCCESS || OWN_FRAME < own.outer.frame || opened_back)
        return result;
    go_in(&call, id, from);
    const interpose_back *back = mh_interpose_open();
    call.site = back ? find_site(back, id, from) : 0;
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

static int run_Finalize(interpose_next *next, const frames_place *from)
{
    static bool is_ended; /* MPI refuses a second one */
    int (*function)(void) = mh_interpose_find(next);
    const interpose_back *back = get_for(&opened_back, from);
    trace_call call = {0};
    if (!back || __atomic_exchange_n(&is_ended, true, __ATOMIC_RELAXED))
        return function();
    go_in(&call, ID_Finalize, from);
    call.site = find_site(back, ID_Finalize, from);
    back->end(&call);
    int result = function();
    if (__atomic_exchange_n(&recorder, NULL, __ATOMIC_ACQ_REL))
        back->finish(&call);
    come_out(&call);
    return result;
}
ENTRIES(Finalize, (void), (&next, FRAMES_CALLER))

/* ---- MPI_Abort, which an error handler calls within another call */

static int run_Abort(interpose_next *next, const frames_place *from, intptr_t comm, int code)
{
    int (*function)(intptr_t, int) = mh_interpose_find(next);
    own.outer.joins = TRACE_ALONE; /* the others need not be in the call that was left */
    const interpose_back *back = get_for(&recorder, from);
    const frames_place alone = {.pc = from->pc}; /* in the handler of a signal, nothing may be allocated */
    trace_call call;
    if (back) {
        go_in(&call, ID_Abort, from);
        enter(back, &call, false, &alone);
    }
    back = get_too(&recorder);
    if (back)
        back->abort();
    return function(comm, code);
}
ENTRIES(Abort, (intptr_t comm, int code), (&next, FRAMES_CALLER, comm, code))

/* ---- MPI_Pcontrol: what follows the level is of no known type, and goes on as far as it was in registers */

static int run_Pcontrol(interpose_next *next, const frames_place *from, int level, void *first, void *second)
{
    int (*function)(int, ...) = mh_interpose_find(next);
    const interpose_back *back = get_for(&recorder, from);
    if (back && (level == 0 || level == 1 || level > 2 || level < -2)) {
        trace_call call;
        go_beside(&call);
        back->region(&call, level);
        own.thread = call.thread;
    }
    return function(level, first, second);
}
ENTRIES(Pcontrol, (int level, void *first, void *second), (&next, FRAMES_CALLER, level, first, second))

/*
 * ---- Lines of scripts: an interpreter says what a line is called, and later in which one a thread calls. A line has a
 * number that takes the place of an address.
 */

/* 0: it cannot be known, or is not yet. */
PUBLIC uint64_t mpix_trace_define_line(const char *text);
uint64_t mpix_trace_define_line(const char *text)
{
    const interpose_back *back = get_too(&recorder);
    return back ? back->define_line(text) : 0;
}

/* Returns the one before; 0: there is none. */
PUBLIC uint64_t mpix_trace_enter_line(uint64_t number);
uint64_t mpix_trace_enter_line(uint64_t number)
{
    const uint64_t before = own.line;
    own.line = number;
    return before;
}

/* ---- Regions by name, for mpix_region.h */

static void mark_region(const frames_place *from, const char *name, bool enters)
{
    const interpose_back *back = get_for(&recorder, from);
    trace_call call;
    if (!back || !name)
        return;
    go_beside(&call);
    back->named_region(&call, name, enters);
    own.thread = call.thread;
}

PUBLIC void mpix_trace_enter_region(const char *name);
void mpix_trace_enter_region(const char *name)
{
    mark_region(FRAMES_CALLER, name, true);
}

PUBLIC void mpix_trace_leave_region(const char *name);
void mpix_trace_leave_region(const char *name)
{
    mark_region(FRAMES_CALLER, name, false);
}

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

INLINE double run_clock(interpose_next *next, int id, const frames_place *from)
{
    double (*function)(void) = mh_interpose_find(next);
    const interpose_back *back = get_for(&opened_back, from);
    if (!back)
        return function();
    if (!get_too(&recorder) || !back->is_wanted(id))
        return read_clock(function, id);
    trace_call call;
    go_in(&call, id, from);
    enter(back, &call, false, from);
    double result = read_clock(function, id);
    back->returned(&call);
    back->leave(&call);
    come_out(&call);
    return result;
}
ENTRY(MPI_Wtime, double, (void), run_clock, (&next, ID_Wtime, FRAMES_CALLER))
ENTRY(PMPI_Wtime, double, (void), run_clock, (&next, ID_Wtime, FRAMES_CALLER))
ENTRY(MPI_Wtick, double, (void), run_clock, (&next, ID_Wtick, FRAMES_CALLER))
ENTRY(PMPI_Wtick, double, (void), run_clock, (&next, ID_Wtick, FRAMES_CALLER))

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
