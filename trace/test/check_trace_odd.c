/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * check_trace_odd.c - what check_trace_odd.sh records of programs that do rare things: they leave calls by a jump, end
 * in all ways, have many threads, or make very many calls. check_trace_odd ACTION [NUMBER], with two processes.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TAG = 7, NO_RANK = 99, JUMPS = 3, THREADS = 1300, CROWD = 600, FILE_LIMIT = 256 * 1024 };

static const char *action;
static int rank;
static long number;

static void record_clock(void)
{
    for (int i = 0; i < 12; i++) {
        nanosleep(&(struct timespec){0, 100000000}, NULL);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static void handle_errors(MPI_Comm_errhandler_function *function)
{
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(function, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Errhandler_free(&handler);
}

/* ---- Calls that never return */

static jmp_buf after_error;

static void jump(MPI_Comm *comm, int *error, ...)
{
    (void)comm, (void)error;
    longjmp(after_error, 1);
}

static void meet_and_jump(MPI_Comm *comm, int *error, ...)
{
    MPI_Barrier(MPI_COMM_SELF);
    jump(comm, error);
}

static void leave_by_jumps(void)
{
    volatile int jumps = 0;
    handle_errors(jump);
    if (setjmp(after_error) != 0)
        jumps++;
    if (jumps < JUMPS)
        MPI_Send(&rank, 1, MPI_INT, NO_RANK, TAG, MPI_COMM_WORLD);
    for (int i = 0; i < 5; i++)
        MPI_Barrier(MPI_COMM_WORLD);
}

static int free_inner(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)extra;
    return MPI_Comm_free(value);
}

/* Calls inside of others, and clock records, in frames whose stack nobody has written since the jump. */
static void go_deeper(int frames)
{
    volatile char room[2000];
    int key;
    MPI_Comm inner, outer;
    room[0] = (char)frames;
    if (room[0] > 0) {
        go_deeper(frames - 1);
        return;
    }
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_inner, &key, NULL);
    MPI_Comm_dup(MPI_COMM_WORLD, &inner);
    MPI_Comm_dup(MPI_COMM_SELF, &outer);
    MPI_Comm_set_attr(outer, key, &inner);
    MPI_Comm_free(&outer);
    MPI_Comm_free_keyval(&key);
    record_clock();
}

static void leave_and_go_deeper(void)
{
    handle_errors(jump);
    if (rank == 0 && setjmp(after_error) == 0)
        MPI_Send(&rank, 1, MPI_INT, NO_RANK, TAG, MPI_COMM_WORLD);
    go_deeper(20);
}

static void add_up(MPI_Comm comm)
{
    int sum;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
}

/* A broadcast that is too much for rank 1, which may say so or not. */
static void send_too_much(MPI_Comm comm)
{
    int numbers[2] = {0};
    MPI_Bcast(numbers, rank == 0 ? 2 : 1, MPI_INT, 0, comm);
}

/* Calls as they are numbered. Rank 1 alone makes some that are refused. */
static void fail_alone(void)
{
    MPI_Comm comm;
    MPI_Errhandler jumping;
    int broken = rank;
    MPI_Comm_create_errhandler(meet_and_jump, &jumping);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); /* Open MPI 4 refuses some arguments there */
    send_too_much(comm);                                        /* 1 */
    add_up(comm);                                               /* 2 */
    for (int i = 0; i < 10 * rank; i++) {
        MPI_Bcast(&broken, 1, MPI_INT, NO_RANK, comm);
        MPI_Comm_split(comm, 0, 0, NULL);
        MPI_Allreduce(&broken, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, comm);
    }
    for (int i = 0; i < 40; i++)
        MPI_Barrier(comm);
    add_up(comm); /* 43 */
    MPI_Comm_set_errhandler(comm, jumping);
    if (setjmp(after_error) == 0)
        send_too_much(comm); /* 44 */
    add_up(comm);            /* 45 */
    MPI_Comm_free(&comm);
}

static void abort_within(MPI_Comm *comm, int *error, ...)
{
    (void)error;
    MPI_Abort(*comm, 3);
}

/* ---- Threads, one after the other, and at once */

static void *ask(void *unused)
{
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    return unused;
}

static void have_many_threads(void)
{
    for (int i = 0; i < THREADS; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, ask, NULL) == 0)
            pthread_join(thread, NULL);
    }
}

static pthread_barrier_t all_there;

static void *ask_together(void *unused)
{
    ask(NULL);
    pthread_barrier_wait(&all_there);
    return unused;
}

static void have_a_crowd(void)
{
    pthread_t threads[CROWD];
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, (size_t)256 * 1024);
    pthread_barrier_init(&all_there, NULL, CROWD);
    for (int i = 0; i < CROWD; i++)
        if (pthread_create(&threads[i], &small, ask_together, NULL) != 0) {
            printf("too few threads\n");
            fflush(stdout);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    for (int i = 0; i < CROWD; i++)
        pthread_join(threads[i], NULL);
}

/* ---- Ends, of rank 0; the other one waits for ever */

static void end(void)
{
    MPI_Comm twin;
    record_clock();
    MPI_Comm_dup(MPI_COMM_WORLD, &twin);
    if (rank != 0)
        MPI_Recv(&rank, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else if (strcmp(action, "kill") == 0)
        kill(getpid(), SIGKILL);
    else if (strcmp(action, "exit") == 0)
        exit(4);
    else if (strcmp(action, "handler") == 0)
        handle_errors(abort_within);
    MPI_Send(&rank, 1, MPI_INT, NO_RANK, TAG, MPI_COMM_WORLD);
}

/* Each process waits for the other one for ever, until a signal ends rank 0 from outside. */
static void hang(void)
{
    MPI_Request request;
    if (rank == 0 && fork() == 0) {
        nanosleep(&(struct timespec){0, 800000000}, NULL);
        kill(getppid(), (int)number);
        _exit(0);
    }
    if (rank == 0)
        MPI_Recv(&rank, 1, MPI_INT, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Irecv(&rank, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* A child that ends like any program. */
static void fork_child(void)
{
    pid_t child = fork();
    if (child == 0)
        exit(0);
    waitpid(child, NULL, 0);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* ---- Many calls */

/* Four events each. */
static void make_events(void)
{
    int in = 0, out;
    for (long i = 0; i < number / 4; i++) {
        MPI_Sendrecv(&in, 1, MPI_INT, 0, TAG, &out, 1, MPI_INT, 0, TAG, MPI_COMM_SELF, MPI_STATUS_IGNORE);
        if (i % 2000 == 0)
            MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* A signal comes while the recorder writes: this stands before the function of the C library. */
static volatile sig_atomic_t raises;

ssize_t pwritev(int file, const struct iovec *parts, int count, off_t offset)
{
    if (raises && getpid() == gettid()) {
        raises = 0;
        raise(SIGUSR1);
    }
    return syscall(SYS_pwritev, file, parts, count, offset, (long)((int64_t)offset >> 32));
}

static void abort_by_signal(int number)
{
    (void)number;
    MPI_Abort(MPI_COMM_WORLD, 3); /* as programs do: NOLINT(bugprone-signal-handler) */
}

static void abort_while_writing(void)
{
    signal(SIGUSR1, abort_by_signal);
    raises = rank == 0;
    make_events();
}

static void limit_files(void)
{
    struct rlimit limit = {FILE_LIMIT, FILE_LIMIT};
    setrlimit(RLIMIT_FSIZE, &limit);
    make_events();
}

/* What is allocated or locked on the way of calls, by whomever: these stand before the functions of the C library. */
static __thread long counted;

#ifdef __GLIBC__
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);

void *malloc(size_t size)
{
    counted++;
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    counted++;
    return __libc_calloc(count, size);
}

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    static int (*next)(pthread_mutex_t *);
    if (!next)
        next = (int (*)(pthread_mutex_t *))dlsym(RTLD_NEXT, "pthread_mutex_lock");
    counted++;
    return next(mutex);
}
#endif

/* After as many communicators as are asked for, one at a time; below 0: all at once. */
static void count_calls(void)
{
    int size, in[2] = {0, 0}, out[2];
    MPI_Request requests[4];
    MPI_Comm comm = MPI_COMM_SELF;
    for (long i = 0; i < labs(number); i++) {
        if (number > 0 && i > 0)
            MPI_Comm_free(&comm);
        MPI_Comm_dup(MPI_COMM_SELF, &comm);
    }
    for (int i = 0; i < 2000; i++) {
        if (i == 1000)
            counted = 0;
        MPI_Comm_size(MPI_COMM_WORLD, &size);
        MPI_Sendrecv(in, 1, MPI_INT, 0, TAG, out, 1, MPI_INT, 0, TAG, comm, MPI_STATUS_IGNORE);
        for (int k = 0; k < 2; k++)
            MPI_Irecv(&out[k], 1, MPI_INT, 0, k, comm, &requests[k]);
        for (int k = 0; k < 2; k++)
            MPI_Isend(&in[k], 1, MPI_INT, 0, k, comm, &requests[2 + k]);
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
        MPI_Allreduce(in, out, 2, MPI_INT, MPI_SUM, comm);
    }
    const long sum = counted;
    printf("counted %ld\n", sum);
}

/* Communicators of a session, beside the world or without it; the last one is reversed. */
static void use_session(void)
{
#if MPI_VERSION >= 4
    int has_world;
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comms[2];
    MPI_Initialized(&has_world);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "check", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comms[0]);
    MPI_Comm_split(comms[0], 0, -rank, &comms[1]);
    for (int i = 0; i < 80; i++) {
        add_up(comms[i % 2]);
        if (has_world)
            MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Comm_free(&comms[1]);
    MPI_Comm_free(&comms[0]);
    MPI_Group_free(&group);
    MPI_Session_finalize(&session);
    printf("session\n");
#endif
}

/* Each process starts persistent operations in its own order, before and after one that waits. */
static void start_in_any_order(void)
{
#if MPI_VERSION >= 4
    int sum;
    MPI_Request requests[2];
    MPI_Allreduce_init(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
    MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
    for (int i = 0; i < 3; i++) {
        MPI_Start(&requests[rank]);
        if (rank == 0)
            add_up(MPI_COMM_WORLD);
        MPI_Start(&requests[1 - rank]);
        if (rank == 1)
            add_up(MPI_COMM_WORLD);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    for (int i = 0; i < 2; i++)
        MPI_Request_free(&requests[i]);
#endif
}

#if MPI_VERSION >= 4
static void make_parts(int *numbers, int count, int tag, MPI_Request *request)
{
    if (rank == 0)
        MPI_Psend_init(numbers, 1, count, MPI_INT, 1, tag, MPI_COMM_WORLD, MPI_INFO_NULL, request);
    else
        MPI_Precv_init(numbers, 1, count, MPI_INT, 0, tag, MPI_COMM_WORLD, MPI_INFO_NULL, request);
}
#endif

/* The same of partitioned messages of other lengths. Two are of one tag, the first and the last of many that are made
   for it; the others are made in another order, too. */
static void start_parts_in_any_order(void)
{
#if MPI_VERSION >= 4
    enum { IDLE = 252 };
    int numbers[4][4] = {{0}};
    MPI_Request requests[4], idle[IDLE];
    make_parts(numbers[0], 1, TAG, &requests[0]);
    for (int i = 0; i < IDLE; i++)
        make_parts(numbers[0], 1, TAG, &idle[i]);
    make_parts(numbers[1], 2, TAG, &requests[1]);
    for (int k = 2; k < 4; k++) {
        const int i = k ^ rank;
        make_parts(numbers[i], i + 1, TAG + 2 * i, &requests[i]);
    }
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 4; k++)
            MPI_Start(&requests[k ^ rank]);
        for (int k = 0; k < 4 && rank == 0; k++)
            MPI_Pready(0, requests[k]);
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    }
    for (int i = 0; i < 4; i++)
        MPI_Request_free(&requests[i]);
    for (int i = 0; i < IDLE; i++)
        MPI_Request_free(&idle[i]);
#else
    puts("there are none");
#endif
}

/* ---- Descriptors that the program takes for files of its own */

static int find_trace(char *path, size_t size)
{
    char link[64];
    for (int descriptor = 3; descriptor < 1024; descriptor++) {
        snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
        const ssize_t length = readlink(link, path, size - 1);
        path[length > 0 ? length : 0] = '\0';
        if (strstr(path, ".mpixtrace"))
            return descriptor;
    }
    return -1;
}

/* Nothing but what the program writes comes into its file, nor is it closed. */
static void take_descriptor(void)
{
    char path[4096];
    const int descriptor = strcmp(action, "take_errors") == 0 ? STDERR_FILENO : find_trace(path, sizeof path);
    FILE *file = tmpfile();
    fwrite("my result", 9, 1, file);
    fflush(file);
    if (strcmp(action, "take_lost") == 0)
        unlink(path);
    dup2(fileno(file), descriptor);
    for (int i = 0; i < 20000; i++)
        MPI_Sendrecv(&i, 1, MPI_INT, rank, TAG, &(int){0}, 1, MPI_INT, rank, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    const off_t size = lseek(descriptor, 0, SEEK_END);
    if (size != 9)
        printf("wrong: the file has %ld bytes\n", (long)size);
    fclose(file);
}

static void set_level(void)
{
    MPI_Pcontrol((int)number);
    MPI_Pcontrol((int)-number);
}

int main(int argc, char **argv)
{
    enum { NO_WORLD = -1 };
    int finalized = 1;
    static const struct {
        const char *name;
        void (*act)(void);
        int level; /* of threads */
    } actions[] = {{"jumps", leave_by_jumps, MPI_THREAD_SINGLE},
                   {"deeper", leave_and_go_deeper, MPI_THREAD_SINGLE},
                   {"numbers", fail_alone, MPI_THREAD_SINGLE},
                   {"session", use_session, NO_WORLD},
                   {"session_too", use_session, MPI_THREAD_SINGLE},
                   {"threads", have_many_threads, MPI_THREAD_MULTIPLE},
                   {"crowd", have_a_crowd, MPI_THREAD_MULTIPLE},
                   {"hang", hang, MPI_THREAD_SINGLE},
                   {"fork", fork_child, MPI_THREAD_SINGLE},
                   {"events", make_events, MPI_THREAD_SINGLE},
                   {"signal", abort_while_writing, MPI_THREAD_SINGLE},
                   {"limit", limit_files, MPI_THREAD_SINGLE},
                   {"count", count_calls, MPI_THREAD_SINGLE},
                   {"level", set_level, MPI_THREAD_SINGLE},
                   {"orders", start_in_any_order, MPI_THREAD_SINGLE},
                   {"parts", start_parts_in_any_order, MPI_THREAD_SINGLE},
                   {"take_trace", take_descriptor, MPI_THREAD_SINGLE},
                   {"take_lost", take_descriptor, MPI_THREAD_SINGLE},
                   {"take_errors", take_descriptor, MPI_THREAD_SINGLE},
                   {NULL, end, MPI_THREAD_SINGLE}};
    int provided, i = 0;
    action = argc > 1 ? argv[1] : "";
    number = argc > 2 ? atol(argv[2]) : FILE_LIMIT / 8;
    while (actions[i].name && strcmp(action, actions[i].name) != 0)
        i++;
    if (actions[i].level != NO_WORLD) {
        MPI_Init_thread(&argc, &argv, actions[i].level, &provided);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    }
    actions[i].act();
    if (actions[i].level != NO_WORLD)
        MPI_Finalized(&finalized);
    if (!finalized)
        MPI_Finalize();
    printf("done\n");
    return 0;
}
