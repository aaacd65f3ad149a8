/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpix_test.h - what the sub-tests of mpix_test share.
 *
 * A sub-test is a function that all processes run. It records failures by CHECK and goes on, in the same way on all
 * processes; at its end they agree on the outcome. Processes may be descheduled anywhere: no sub-test asserts that
 * something is fast, or that one particular call is valid.
 */
#ifndef MPIX_TEST_H
#define MPIX_TEST_H

#include "mpix_harmonize.h"

#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PREFIX "mpix_harmonize_"

#define NS_PER_US INT64_C(1000)
#define NS_PER_MS INT64_C(1000000)
#define NS_PER_S INT64_C(1000000000)

/* The rates of two clocks of one machine differ by less: what the kernel corrects at most. */
#define RATE_DIFFERENCE 500e-6

/* ---- Outcome (support.c) */

extern int my_rank, ranks; /* in MPI_COMM_WORLD; 0 and 1 before MPI_Init */

/* Start MPI at a thread level; returns the level provided. Errors return on MPI_COMM_WORLD and MPI_COMM_SELF. */
int start_mpi(int thread_level);

/* End MPI if it is active. Returns the exit status, the same on all processes where they can still agree. */
int conclude(void);

void test_fail(const char *file, int line, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The sub-test cannot run here. All processes must come to this. */
void test_skip(const char *format, ...) __attribute__((format(printf, 1, 2)));

void check_class(const char *file, int line, int code, int expected_class, const char *what);

#define CHECK(condition, ...) ((condition) ? (void)0 : test_fail(__FILE__, __LINE__, __VA_ARGS__))
#define CHECK_CLASS(code, expected_class, what) check_class(__FILE__, __LINE__, code, expected_class, what)
#define CHECK_OK(call) check_class(__FILE__, __LINE__, call, MPI_SUCCESS, #call)

void spoil_flag(int *flag);

/* Checks that flag, if any, is 1 or 0, and 0 if code is not MPI_SUCCESS. Returns code. */
int check_flag(const char *file, int line, int code, const int *flag, const char *function);

/* Each call of a function with a flag writes it, whatever makes the call fail. */
#define CALL_WITH_FLAG(function, flag, ...) \
    (spoil_flag(flag), check_flag(__FILE__, __LINE__, (function)(__VA_ARGS__, flag), flag, #function))
#define MPIX_Harmonize(comm, flag) CALL_WITH_FLAG(MPIX_Harmonize, flag, comm)
#define MPIX_Harmonize_delayed(comm, delay_ns, flag) CALL_WITH_FLAG(MPIX_Harmonize_delayed, flag, comm, delay_ns)
#define MPIX_Global_wait_until(comm, instant_ns, flag) CALL_WITH_FLAG(MPIX_Global_wait_until, flag, comm, instant_ns)

/* From now on, errors that are raised on comm are passed to handler. count_error counts them. */
void set_handler(MPI_Comm comm, MPI_Comm_errhandler_function *handler);
void count_error(MPI_Comm *comm, int *code, ...);
extern int errors_raised;

/* What printf prints of these, in memory that is used again by the 16th call from now on. */
const char *text_of(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- Ranks and time (support.c) */

/* relaxed; but few where there are more processes than processors, as some MPI libraries then take milliseconds a call.
 */
int times(int relaxed, int few);

/* The quick check runs each kind of case once. */
bool in_quick_check(void);

/* CLOCK_MONOTONIC of the system, whatever is injected: the truth that all processes of a machine share. */
int64_t true_ns(void);

void nap_ms(int duration_ms);

/* Numbers below limit that depend on nothing but the seed. */
uint32_t random_below(uint64_t *seed, uint32_t limit);

/* ---- A child that stops this process for a while whenever it is asked to (support.c) */

typedef struct stop {
    int64_t stopped_ns, continued_ns; /* in true time: just after the stop, and just before the process may go on */
} stop;

typedef struct stopper {
    pid_t pid;
    int link;
} stopper;

/* To be called before MPI starts, so that the child has nothing of MPI's. */
bool start_stopper(stopper *stopper, int after_ms, int for_ms);
void ask_for_stop(const stopper *stopper);
stop await_stop(const stopper *stopper);
void end_stopper(stopper *stopper);

/* ---- A thread that reads a clock until it is to stop (test_threads.c) */

typedef struct reader {
    pthread_t thread;
    MPI_Comm comm;
    _Atomic bool stop;
    int64_t readings, failures, decreases, greatest_ns;
} reader;

/* The processes of comm have been released before. */
void start_reader(reader *one, MPI_Comm comm);

/* Check that no reading failed, or was less than the one before. */
void stop_reader(reader *one);

/* ---- Messages of the test that give the processor away while they wait (support.c) */

void finish_yielding(MPI_Request *request);
void meet(MPI_Comm comm);
int64_t max_over(MPI_Comm comm, int64_t mine);
int64_t min_over(MPI_Comm comm, int64_t mine);

/* ---- The library (support.c) */

MPI_Comm duplicate(MPI_Comm comm);
MPI_Comm split(MPI_Comm comm, int color, int key);

/* A duplicate of MPI_COMM_WORLD with these settings: words NAME=VALUE, by the names without prefix. */
MPI_Comm duplicate_with(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Set such settings of a communicator, all at once, which must succeed. */
void set_settings(MPI_Comm comm, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Set up to two keys of an info, those that are no null pointers; returns the code of MPIX_Harmonize_set_info. */
int set_keys(MPI_Comm comm, const char *first, const char *first_value, const char *second, const char *second_value);

/* Check that a new communicator works. */
void check_fresh(void);

/* Call MPIX_Harmonize, MPIX_Harmonize_delayed or MPIX_Global_wait_until, which must succeed; returns the flag. */
int harmonize(MPI_Comm comm);
int harmonize_delayed(MPI_Comm comm, int64_t delay_ns);
int wait_until(MPI_Comm comm, int64_t instant_ns);

/* Returns how many of the calls were valid here. */
int harmonize_times(MPI_Comm comm, int calls);

enum { TEXT_SIZE = 1025 };

/* A value of MPIX_Harmonize_get_info, by its name without prefix; "" if there is none. See text_of. */
const char *info_text(MPI_Comm comm, const char *name);

/* "unknown" is INT64_MAX. None or no number: a failure, INT64_MIN. */
int64_t info_number(MPI_Comm comm, const char *name);

/* Whether the text of a value contains a word. */
bool info_shows(MPI_Comm comm, const char *name, const char *word);

/* Set one setting, by its name without prefix; returns the code of MPIX_Harmonize_set_info. */
int set_setting(MPI_Comm comm, const char *name, const char *value);

void check_text(const char *file, int line, MPI_Comm comm, const char *name, const char *expected, const char *what);
void check_number(const char *file, int line, MPI_Comm comm, const char *name, int64_t expected);
#define CHECK_TEXT(comm, name, expected, what) check_text(__FILE__, __LINE__, comm, name, expected, what)
#define CHECK_NUMBER(comm, name, expected) check_number(__FILE__, __LINE__, comm, name, expected)

/* What the functions of the library return for a communicator, with and without null pointers for results. */
typedef struct called {
    const char *function;
    int code;
} called;

enum { ALL_CALLS = 15 };

void call_all(MPI_Comm comm, called calls[ALL_CALLS]);

/* Check that all of them return an error of this class. */
void check_all_refuse(MPI_Comm comm, int expected_class);

/* All settings as one text. See text_of. */
const char *all_settings(MPI_Comm comm);

/* The choices of a setting, as the message about a bad value lists them; NULL past the last. Until the next call. */
const char *const *choices_of(const char *setting);

/* Check that last_error names all words of the NULL-terminated list and is the same on all processes of comm. */
void check_message(const char *file, int line, MPI_Comm comm, const char *const words[]);
#define CHECK_MESSAGE(comm, ...) check_message(__FILE__, __LINE__, comm, (const char *const[]){__VA_ARGS__, NULL})

/*
 * Check the global clock of comm against true_ns: between rank 0 and each other process it must be right within the
 * bounds that they state. what names the case in messages.
 */
void check_clock(MPI_Comm comm, const char *what);

/* Check how much global time passes in 20 ms. */
void check_going_on(MPI_Comm comm, const char *what);

/* Read the global clock, and its bound if there is a place for it. */
int64_t read_ns(MPI_Comm comm, int64_t *bound_ns);

/* Check that the global clock knows no bound. */
void check_unknown_bound(MPI_Comm comm, const char *what);

/* Processes of MPI_COMM_WORLD on the node of this one: memory is shared if they are more than one. */
int processes_of_node(void);

/* Some MPI libraries take each process for alone on its node, such as MPICH 5 with UCX. Collective. */
bool mpi_shares_memory(void);

/* The segments of shared memory that the library has mapped in this process (support.c). */
int64_t mapped_segments(void);

/* ---- Other clocks than the machine's (injection.c) */

/* The function that this program has put its own one before. */
void *find_real(const char *name);
#define REAL(function) ((__typeof__(function) *)find_real(#function))

/*
 * From now on CLOCK_MONOTONIC_RAW and CLOCK_REALTIME of this process, as clock_gettime shows them, are ahead by
 * offset_ns and run fast by drift (a ratio).
 */
void inject_clock(int64_t offset_ns, double drift);

/* Step those clocks by so much more. */
void inject_step(int64_t step_ns);

/*
 * Step those clocks by so much in the nth nap from now on that the library makes on this thread. Returns how long that
 * nap took, in true time; INT64_MAX: it is still to come. To be called again after the wait, with 0: at none.
 */
int64_t step_in_nap(int nth, int64_t step_ns);

/*
 * Step those clocks by so much at the first reading by this process after the next release of comm; MPI_COMM_NULL: do
 * not. Returns whether the step before is still to come.
 */
bool step_after_release(MPI_Comm comm, int64_t step_ns);

/*
 * Step those clocks by so much at their nth reading from now on, which shows it already (0: at none). Returns how many
 * readings the step before was still away.
 */
int64_t step_after_readings(int64_t nth, int64_t step_ns);

/* Step them when the library next makes shared memory (0: do not). Returns the step that was still to come. */
int64_t step_at_shared_memory(int64_t step_ns);

/* What CLOCK_MONOTONIC_RAW of the system was when it was last read by anybody in this process. */
int64_t last_raw_reading_ns(void);

/* The next readings of CLOCK_MONOTONIC_RAW take 20 us each. Returns how many of those before are still to come. */
int64_t slow_readings(int64_t count);

/* How often this process has given its processor away. */
int64_t yields(void);

/* From now on this process can or cannot share memory by a descriptor, or by a name. */
void refuse_shared_memory(bool by_descriptor, bool by_name);

/* Whether the last name of shared memory that this process has created is still there. */
bool leaves_shared_memory(void);

/* ---- Faults of what the library calls (fault_injection.c) */

/* What others do when a call fails on a process: nothing, or the same call, or they may be elsewhere and wait. */
typedef enum fault_kind { FAULT_LOCAL, FAULT_COLLECTIVE, FAULT_MESSAGE } fault_kind;

/* Whether the calls of the library can be told from others: not if it is linked into the program. */
bool can_inject(void);

/* The functions of MPI that can fail; NULL past the last. */
const char *fault_name(int i);
fault_kind fault_kind_of(int i);

/* From now on count the calls of the library; the nth call of this function fails (-1: of none). */
void fault_plan(int i, int nth);
int fault_calls(int i);

/* The nth message fails, and with it all messages, and waiting for any, on all processes that share the variable. */
void fault_plan_messages(_Atomic int *fail_everywhere, int nth);

/* Whether that has happened; no call fails any more. */
bool fault_happened(void);

/* The nth allocation of the library from now on fails. */
void fail_allocation(int nth);

/* Whether that has happened; no allocation fails any more. */
bool allocation_failed(void);

/* Blocks that the library has allocated and not freed; -1: not known in this build. */
int64_t allocations_alive(void);

/* How often the library has taken a lock of threads; -1: not known in this build. */
int64_t locks_taken(void);

/* Communicators that the library has made and not freed. */
int64_t communicators_alive(void);

/* Keys of attributes that the library has made and not freed, and the one that it made last. */
int keys_alive(void);
int latest_key(void);

/* What MPI_Finalize does first: the library's attribute of MPI_COMM_SELF is deleted. */
void end_world_for_library(void);

/* How many errors were broadcast from this process with something behind the end of their text. */
int untidy_broadcasts(void);

/*
 * True: hwloc fails; the kernel seems not to use the time stamp counter; it shows no processors, as where there is no
 * /sys; it shows a quota of one processor for a control group that all processes of the machine are in.
 */
extern _Atomic bool hwloc_fails, clocksource_is_hidden, processors_are_hidden, quota_is_shown;

/* How often the library began to discover the machine by hwloc. */
extern _Atomic int hwloc_discoveries;

/* ---- The sub-tests */

/* What a sub-test needs; else it is skipped. One that starts MPI itself has no other needs. */
enum {
    SINGLE = 0,    /* MPI at the least thread level */
    MULTIPLE = 1,  /* at the greatest */
    ITSELF = 2,    /* it starts MPI itself */
    SEVERAL = 4,   /* two processes or more */
    INJECTION = 8, /* the calls of the library can be told from others: it is not linked into the program */
};

typedef struct sub_test {
    const char *name;
    void (*run)(void);
    const char *doc;
    int needs;
    struct sub_test *next;
} sub_test;

void sub_test_register(sub_test *test);

/* Before the body of a sub-test, which needs no other entry in a list than the one in testlist. */
#define SUB_TEST(name, needs, doc)                                      \
    static void test_##name(void);                                      \
    __attribute__((constructor)) static void register_test_##name(void) \
    {                                                                   \
        static sub_test test = {#name, test_##name, doc, needs, NULL};  \
        sub_test_register(&test);                                       \
    }                                                                   \
    static void test_##name(void)

#endif
