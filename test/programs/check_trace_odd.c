/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * check_trace_odd.c - what check_trace_odd.sh records of programs that do rare things: they leave calls by a jump,
 * their calls fail, they end in all ways, have many threads, or make very many calls. check_trace_odd ACTION
 * [NUMBER], with two processes.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
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

static int rank;

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

/* ---- Requests that fail. Messages of a process to itself have a number; twice as much is too much */

static void expect_message(int tag, int *buffer, MPI_Request *request)
{
    MPI_Irecv(buffer, 1, MPI_INT, 0, tag, MPI_COMM_SELF, request);
}

static void send_to_self(int tag, int count)
{
    static const int numbers[2];
    MPI_Send(numbers, count, MPI_INT, 0, tag, MPI_COMM_SELF);
}

/* A persistent request that has failed is not complete again, until it is started again. */
static int fail_persistently(void)
{
    int buffer[2], index, good;
    MPI_Request requests[2];
    MPI_Recv_init(&buffer[0], 1, MPI_INT, 0, 0, MPI_COMM_SELF, &requests[0]);
    MPI_Start(&requests[0]);
    send_to_self(0, 2);
    good = MPI_Waitany(1, requests, &index, MPI_STATUS_IGNORE) == MPI_SUCCESS;
    expect_message(1, &buffer[1], &requests[1]);
    send_to_self(1, 1);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Start(&requests[0]);
    send_to_self(0, 1);
    MPI_Waitany(1, requests, &index, MPI_STATUS_IGNORE);
    MPI_Request_free(&requests[0]);
    return good;
}

/* Each of two starts of a broadcast fails on rank 1, for which it is too much. Then the request is complete no more. */
static void fail_to_broadcast(void)
{
    int good = 2;
#if MPI_VERSION >= 4
    int buffer[2] = {0}, index, flag, error;
    MPI_Comm comm;
    MPI_Request request;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Bcast_init(buffer, rank == 0 ? 2 : 1, MPI_INT, 0, comm, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    good = MPI_Waitany(1, &request, &index, MPI_STATUS_IGNORE) == MPI_SUCCESS;
    MPI_Waitany(1, &request, &index, MPI_STATUS_IGNORE);
    MPI_Start(&request);
    for (flag = 0, error = MPI_SUCCESS; !flag && error == MPI_SUCCESS;)
        error = MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    good += error == MPI_SUCCESS;
    MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
    MPI_Comm_free(&comm);
#endif
    if (rank == 1 && good > 0)
        printf("%d calls do not fail\n", good);
}

/* Of requests 1 to 12, 1, 4, 7 and 10 fail. */
static void fail(void)
{
    int buffer[2], index, count, indices[2], good = 0;
    MPI_Request requests[2];
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int way = 0; way < 3; way++) {
        expect_message(0, &buffer[0], &requests[0]);
        expect_message(1, &buffer[1], &requests[1]);
        send_to_self(0, 2);
        if (way > 0)
            send_to_self(1, 1);
        if (way == 0)
            good += MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE) == MPI_SUCCESS;
        else if (way == 1)
            good += MPI_Waitall(2, requests, MPI_STATUSES_IGNORE) == MPI_SUCCESS;
        else
            good += MPI_Waitsome(2, requests, &count, indices, MPI_STATUSES_IGNORE) == MPI_SUCCESS;
        if (requests[0] != MPI_REQUEST_NULL)
            MPI_Request_free(&requests[0]);
        /* It may get the handle of the one that failed. */
        expect_message(0, &buffer[0], &requests[0]);
        send_to_self(0, 1);
        if (way == 0)
            send_to_self(1, 1);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    good += fail_persistently();
    if (good > 0)
        printf("%d calls do not fail\n", good);
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

static void end_by(const char *action)
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
static void make_events(long events)
{
    int in = 0, out;
    for (long i = 0; i < events / 4; i++) {
        MPI_Sendrecv(&in, 1, MPI_INT, 0, TAG, &out, 1, MPI_INT, 0, TAG, MPI_COMM_SELF, MPI_STATUS_IGNORE);
        if (i % 2000 == 0)
            MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* A signal comes while the recorder writes: this stands before the function of the C library. */
static volatile sig_atomic_t raises;

ssize_t writev(int file, const struct iovec *parts, int count)
{
    if (raises) {
        raises = 0;
        raise(SIGUSR1);
    }
    return syscall(SYS_writev, file, parts, count);
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
    make_events(FILE_LIMIT / 8);
}

static void limit_files(void)
{
    struct rlimit limit = {FILE_LIMIT, FILE_LIMIT};
    setrlimit(RLIMIT_FSIZE, &limit);
    make_events(FILE_LIMIT / 8);
}

/* What is allocated or locked on the way of calls, by whomever: these stand before the functions of the C library. */
static long counted;

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
static void count_calls(long comms)
{
    int size, in[2] = {0, 0}, out[2];
    MPI_Request requests[4];
    MPI_Comm comm = MPI_COMM_SELF;
    for (; comms > 0; comms--) {
        if (comm != MPI_COMM_SELF)
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
    long sum = counted;
    printf("counted %ld\n", sum);
}

/* Without MPI_Init. */
static int use_session(void)
{
#if MPI_VERSION >= 4
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "check", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&group);
    MPI_Barrier(comm);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
    printf("session\n");
#endif
    printf("done\n");
    return 0;
}

/* Communicators of a session beside the world; the last one is reversed. */
static void use_session_too(void)
{
#if MPI_VERSION >= 4
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comms[2];
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "check", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comms[0]);
    MPI_Comm_split(comms[0], 0, -rank, &comms[1]);
    for (int i = 0; i < 40; i++)
        for (int k = 0; k < 2; k++) {
            add_up(comms[k]);
            MPI_Barrier(MPI_COMM_WORLD);
        }
    MPI_Comm_free(&comms[1]);
    MPI_Comm_free(&comms[0]);
    MPI_Group_free(&group);
    MPI_Session_finalize(&session);
#endif
}

int main(int argc, char **argv)
{
    const char *action = argc > 1 ? argv[1] : "";
    int provided;
    long number = argc > 2 ? atol(argv[2]) : 0;
    if (strcmp(action, "session") == 0)
        return use_session();
    int has_threads = strcmp(action, "threads") == 0 || strcmp(action, "crowd") == 0;
    MPI_Init_thread(&argc, &argv, has_threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (strcmp(action, "jumps") == 0)
        leave_by_jumps();
    else if (strcmp(action, "deeper") == 0)
        leave_and_go_deeper();
    else if (strcmp(action, "numbers") == 0)
        fail_alone();
    else if (strcmp(action, "session_too") == 0)
        use_session_too();
    else if (strcmp(action, "fail") == 0)
        fail();
    else if (strcmp(action, "broadcast") == 0)
        fail_to_broadcast();
    else if (strcmp(action, "threads") == 0)
        have_many_threads();
    else if (strcmp(action, "crowd") == 0)
        have_a_crowd();
    else if (strcmp(action, "fork") == 0)
        fork_child();
    else if (strcmp(action, "events") == 0)
        make_events(number);
    else if (strcmp(action, "signal") == 0)
        abort_while_writing();
    else if (strcmp(action, "limit") == 0)
        limit_files();
    else if (strcmp(action, "count") == 0)
        count_calls(number);
    else if (strcmp(action, "level") == 0)
        MPI_Pcontrol((int)number), MPI_Pcontrol((int)-number);
    else
        end_by(action);
    MPI_Finalize();
    printf("done\n");
    return 0;
}
