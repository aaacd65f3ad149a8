/* SPDX-License-Identifier: BSD-3-Clause */
/* What check_trace.sh records: known numbers of known calls. check_trace ACTION, with two processes. */
#include "../include/mpix_region.h"

#include <arpa/inet.h>
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { TAG = 7, THREAD_MESSAGES = 100, TWINS = 100, MANY = 20000, EXCHANGES = 500, AT_ONCE = 10 };

static int rank, peer;

static void nap_us(long us)
{
    struct timespec time = {us / 1000000, us % 1000000 * 1000};
    nanosleep(&time, NULL);
}

static void probe(void)
{
    int number = rank, found = 0;
    MPI_Message message;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        nap_us(20000);
        MPI_Send(&number, 1, MPI_INT, 1, TAG, MPI_COMM_WORLD);
    } else {
        while (!found)
            MPI_Improbe(0, TAG, MPI_COMM_WORLD, &found, &message, MPI_STATUS_IGNORE);
        MPI_Mrecv(&number, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    }
}

/* At two places, one after the other. */
static void look_twice(void)
{
    int found;
    MPI_Iprobe(peer, TAG, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
    nap_us(1000);
    MPI_Iprobe(peer, TAG, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
}

/* In two functions, and at two places. */
static void poll(void)
{
    int number = rank, others[2], found = 0, done = 0;
    MPI_Request requests[2];
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 2 && rank == 1; i++)
        MPI_Irecv(&others[i], 1, MPI_INT, 0, i, MPI_COMM_WORLD, &requests[i]);
    for (nap_us(100000L * peer); rank == 1;) {
        MPI_Iprobe(0, TAG, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
        if (found)
            break;
        MPI_Test(&requests[0], &done, MPI_STATUS_IGNORE);
        MPI_Test(&requests[1], &done, MPI_STATUS_IGNORE);
    }
    MPI_Sendrecv_replace(&number, 1, MPI_INT, peer, TAG, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < 2 && rank == 0; i++)
        MPI_Send(&number, 1, MPI_INT, 1, i, MPI_COMM_WORLD);
    if (rank == 1)
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

/* What is tried first cannot be there yet. */
static void try_windows(void)
{
    int number = 0, done = 0;
    MPI_Win window;
    MPI_Group all, other;
    MPI_Win_create(&number, sizeof number, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &peer, &other);
    MPI_Win_post(other, 0, window);
    MPI_Win_test(window, &done);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_start(other, 0, window);
    MPI_Win_complete(window);
    while (!done)
        MPI_Win_test(window, &done);
    MPI_Group_free(&other);
    MPI_Group_free(&all);
    MPI_Win_free(&window);
}

static void try_parts(void)
{
#if MPI_VERSION >= 4
    int from = -1, done = 0;
    MPI_Request requests[2];
    MPI_Precv_init(&from, 1, 1, MPI_INT, peer, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
    MPI_Psend_init(&rank, 1, 1, MPI_INT, peer, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
    MPI_Startall(2, requests);
    MPI_Parrived(requests[0], 0, &done);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Pready(0, requests[1]);
    while (!done)
        MPI_Parrived(requests[0], 0, &done);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
#endif
}

/* In a tool, MPI_Waitsome fails, and leaves what the program has set. */
static void fail_to_wait(void)
{
    int from, count = 1, index = 0;
    MPI_Request requests[2];
    MPI_Recv_init(&from, 1, MPI_INT, peer, TAG, MPI_COMM_WORLD, &requests[0]);
    MPI_Send_init(&rank, 1, MPI_INT, peer, TAG, MPI_COMM_WORLD, &requests[1]);
    MPI_Startall(2, requests);
    MPI_Waitsome(2, requests, &count, &index, MPI_STATUSES_IGNORE);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

static void reduce(void)
{
    int numbers[4] = {rank, 1, 2, 3}, gathered[8], sum = 0;
    MPI_Request request;
    MPI_Bcast(numbers, 4, MPI_INT, 1, MPI_COMM_WORLD);
    MPI_Reduce(numbers, gathered, 4, MPI_INT, MPI_SUM, 1, MPI_COMM_WORLD);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Gather(numbers, 4, MPI_INT, gathered, 4, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, gathered, 4, MPI_INT, MPI_COMM_WORLD);
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (MPI_Wtime() < 0 || MPI_Wtick() > 1)
        printf("wrong: time\n");
    if (sum != 1)
        printf("wrong: sum %d\n", sum);
}

static void divide(void)
{
    MPI_Comm reversed, one, ring;
    int size = 2, periodic = 1;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
    MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &one);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring);
    /* Rank 0 there is 1 in the world. */
    if (rank == 1)
        MPI_Send(&rank, 1, MPI_INT, 1, TAG, reversed);
    else
        MPI_Recv(&size, 1, MPI_INT, 0, TAG, reversed, MPI_STATUS_IGNORE);
    MPI_Barrier(ring);
    MPI_Comm_free(&one);
    MPI_Comm_free(&ring);
    MPI_Comm_free(&reversed);
}

static void do_all(void)
{
    MPI_Comm twin;
    MPI_Comm_dup(MPI_COMM_WORLD, &twin);
    MPI_Pcontrol(5);
    mpix_region_enter("probe");
    probe();
    mpix_region_leave("probe");
    MPI_Pcontrol(-5);
    reduce();
    divide();
    MPI_Comm_free(&twin);
}

static pthread_barrier_t together;

static void *talk(void *comm)
{
    int number = 0;
    for (int i = 0; i < THREAD_MESSAGES; i++) {
        if (rank == 0)
            MPI_Send(&number, 1, MPI_INT, 1, TAG, *(MPI_Comm *)comm);
        else
            MPI_Recv(&number, 1, MPI_INT, 0, TAG, *(MPI_Comm *)comm, MPI_STATUS_IGNORE);
    }
    pthread_barrier_wait(&together); /* else a later thread may go on with the buffer of an earlier one */
    return NULL;
}

/*
 * Several messages at once each way: a wait may take a time slice where there are more threads than processors. The
 * receives come first.
 */
static void receive_some(MPI_Comm comm, int *from, MPI_Request *requests)
{
    for (int i = 0; i < AT_ONCE; i++)
        MPI_Irecv(&from[i], 1, MPI_INT, MPI_ANY_SOURCE, TAG, comm, &requests[i]);
}

static void send_some(MPI_Comm comm, MPI_Request *requests)
{
    for (int i = AT_ONCE; i < 2 * AT_ONCE; i++)
        MPI_Isend(&rank, 1, MPI_INT, peer, TAG, comm, &requests[i]);
}

/* What one thread has completed, MPI may give another one at once. */
static void *exchange(void *comm)
{
    int from[AT_ONCE];
    MPI_Request requests[2 * AT_ONCE];
    for (int i = 0; i < EXCHANGES; i++) {
        receive_some(*(MPI_Comm *)comm, from, requests);
        send_some(*(MPI_Comm *)comm, requests);
        MPI_Waitall(2 * AT_ONCE, requests, MPI_STATUSES_IGNORE);
    }
    pthread_barrier_wait(&together);
    return NULL;
}

/* The same, each request by itself, with calls that leave others as they are. */
static void *exchange_one_by_one(void *comm)
{
    int from[AT_ONCE], indices[2 * AT_ONCE], done;
    MPI_Request requests[2 * AT_ONCE];
    for (int i = 0; i < EXCHANGES; i++) {
        receive_some(*(MPI_Comm *)comm, from, requests);
        MPI_Testall(1, requests, &done, MPI_STATUSES_IGNORE);
        send_some(*(MPI_Comm *)comm, requests);
        for (int k = 0; k < AT_ONCE; k++)
            MPI_Waitany(2 * AT_ONCE, requests, indices, MPI_STATUS_IGNORE);
        for (done = 0; done != MPI_UNDEFINED;)
            MPI_Testsome(2 * AT_ONCE, requests, &done, indices, MPI_STATUSES_IGNORE);
    }
    pthread_barrier_wait(&together);
    return NULL;
}

/* Beside the main thread, at the same time as the other one. */
static void *make_twins(void *comm)
{
    MPI_Comm twin;
    for (int i = 0; i < TWINS; i++) {
        nap_us(10000);
        MPI_Comm_dup(*(MPI_Comm *)comm, &twin);
        MPI_Comm_free(&twin);
    }
    return NULL;
}

/* Records are made meanwhile. */
static void take_time(int tenths)
{
    for (int i = 0; i < tenths; i++) {
        nap_us(100000);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static void run_threads(void *(*work)(void *), int tenths)
{
    MPI_Comm comms[2];
    pthread_t threads[2];
    pthread_barrier_init(&together, NULL, 2);
    for (int i = 0; i < 2; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, &comms[i]);
    take_time(tenths);
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
        MPI_Comm_free(&comms[i]);
    }
}

static void send_many(void)
{
    int number = 0;
    for (int i = 0; i < MANY; i++)
        MPI_Sendrecv_replace(&number, 1, MPI_INT, peer, TAG, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* On rank 0 alone. */
static void send_many_and_abort(void)
{
    send_many();
    if (rank == 0)
        MPI_Abort(MPI_COMM_WORLD, 3);
    nap_us(10000000);
}

static int free_inner(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)extra;
    return MPI_Comm_free(value);
}

/*
 * A communicator of all processes is freed within a call, and one of a single process may get its handle. The
 * processes use theirs differently often.
 */
static void free_within_a_call(void)
{
    int key;
    MPI_Comm inner, outer, alone;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_inner, &key, NULL);
    MPI_Comm_dup(MPI_COMM_WORLD, &inner);
    MPI_Comm_dup(MPI_COMM_SELF, &outer);
    MPI_Barrier(inner);
    MPI_Comm_set_attr(outer, key, &inner);
    MPI_Comm_free(&outer);
    MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &alone);
    for (int i = 0; i < 100 * rank; i++)
        MPI_Barrier(alone);
    for (int i = 0; i < 100; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_free(&alone);
    MPI_Comm_free_keyval(&key);
}

/* ---- Processes that met by their groups, by a port or by a socket */

static void talk_between(MPI_Comm between)
{
    if (between == MPI_COMM_NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < 10; i++) {
        if (rank == 0)
            MPI_Send(&i, 1, MPI_INT, 0, TAG, between);
        else
            MPI_Recv(&(int){0}, 1, MPI_INT, 0, TAG, between, MPI_STATUS_IGNORE);
    }
    MPI_Comm_disconnect(&between);
}

static void meet_by_groups(void)
{
    MPI_Comm between = MPI_COMM_NULL;
#if MPI_VERSION >= 4
    MPI_Group all, own, others;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &rank, &own);
    MPI_Group_incl(all, 1, &peer, &others);
    MPI_Intercomm_create_from_groups(own, 0, others, 0, "check", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &between);
    MPI_Group_free(&others);
    MPI_Group_free(&own);
    MPI_Group_free(&all);
#endif
    talk_between(between);
}

static void meet_by_port(void)
{
    MPI_Comm between = MPI_COMM_NULL;
    char port[MPI_MAX_PORT_NAME] = "";
    if (rank == 0)
        MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Bcast(port, sizeof port, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (rank == 0)
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &between);
    else
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &between);
    talk_between(between);
}

static void meet_by_socket(void)
{
    MPI_Comm between = MPI_COMM_NULL;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t bytes = sizeof address;
    int waiting = socket(AF_INET, SOCK_STREAM, 0), joined = waiting;
    if (rank == 0 && (bind(waiting, (void *)&address, bytes) != 0 || listen(waiting, 1) != 0 ||
                      getsockname(waiting, (void *)&address, &bytes) != 0))
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Bcast(&address, sizeof address, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (rank == 0)
        joined = accept(waiting, NULL, NULL);
    else if (connect(joined, (void *)&address, bytes) != 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Comm_join(joined, &between);
    close(joined);
    talk_between(between);
}

/* One thread switches recording off, the other one on; both call MPI meanwhile and after it. */
static void *switch_off_and_on(void *comm)
{
    static atomic_int threads;
    const int switches_off = atomic_fetch_add(&threads, 1) == 0;
    pthread_barrier_wait(&together);
    if (switches_off)
        MPI_Pcontrol(0);
    pthread_barrier_wait(&together);
    MPI_Barrier(*(MPI_Comm *)comm);
    pthread_barrier_wait(&together);
    if (!switches_off)
        MPI_Pcontrol(1);
    pthread_barrier_wait(&together);
    MPI_Barrier(*(MPI_Comm *)comm);
    pthread_barrier_wait(&together);
    return NULL;
}

/* One call has several callers, of which some have stacks whose size or place is known when they run only. */
static __attribute__((noinline)) void meet(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    __asm__ volatile(""); /* so that the call is no jump; likewise below */
}

static __attribute__((noinline)) void meet_plainly(void)
{
    meet();
    __asm__ volatile("");
}

static __attribute__((noinline)) void meet_with_array(int size)
{
    char array[size];
    __asm__ volatile("" : : "r"(array) : "memory");
    meet();
    __asm__ volatile("");
}

static __attribute__((noinline)) void meet_aligned(void)
{
    _Alignas(64) double array[8];
    __asm__ volatile("" : : "r"(array) : "memory");
    meet();
    __asm__ volatile("");
}

static void call_wrapper(void)
{
    for (int i = 0; i < 3; i++) {
        meet_plainly();
        meet_with_array(100 * i + 10);
        meet_aligned();
    }
}

/* Each of these turns leads from one place or from another one to the next. */
static __attribute__((noinline)) void turn(int turns, int more)
{
    if (more == 0) {
        int size;
        MPI_Comm_size(MPI_COMM_WORLD, &size);
    } else if (turns & 1) {
        turn(turns >> 1, more - 1);
        __asm__ volatile("# right");
    } else {
        turn(turns >> 1, more - 1);
        __asm__ volatile("# left");
    }
}

static void call_by_many_paths(void)
{
    enum { TURNS = 14 };
    for (int turns = 0; turns < 1 << TURNS; turns++)
        turn(turns, TURNS);
}

#if defined __x86_64__
/* MPI_Comm_rank from one place, and MPI_Comm_size from all others that differ from it in the lowest bits only. */
static void call_from_places(void)
{
    typedef int function(MPI_Comm comm, int *into);
    enum { PLACES = 1024, PAGE = 4096, CALL = 6 }; /* CALL: so far the return address is from the code's beginning */
    static const unsigned char code[] = {0x48, 0x83, 0xec, 8, 0xff, 0xd2, 0x48, 0x83, 0xc4, 8, 0xc3};
    int number;
    char *pages = mmap(NULL, (size_t)3 * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) {
        printf("wrong: no page for code\n");
        return;
    }
    for (int i = 0; i < PLACES; i++) {
        char *begin = pages + PAGE + i - CALL;
        int (*call)(MPI_Comm comm, int *into, function *called);
        memcpy(begin, code, sizeof code);
        memcpy(&call, &begin, sizeof call);
        call(MPI_COMM_WORLD, &number, i == 0 ? MPI_Comm_rank : MPI_Comm_size);
    }
}
#else
static void call_from_places(void)
{
}
#endif

/* More than a trace has room for. */
static void name_many_regions(void)
{
    for (int i = 3; i < MANY; i++) {
        MPI_Pcontrol(i);
        MPI_Pcontrol(-i);
    }
}

/* Recording is off in a part of each process. Messages have one number more than the one before, so their bytes tell
   which they are. Of those from rank 0, both ends of the fifth and of the eighth are recorded. */
static void switch_off(void)
{
    enum { MESSAGES = 8 };
    int numbers[MESSAGES + 1] = {0};
    MPI_Request request;
    for (int i = 1; i <= MESSAGES; i++) {
        MPI_Pcontrol(rank == 0 ? i < 3 || i == 5 || i == 8 : i > 1 && i != 6);
        if (rank == 0)
            MPI_Send(numbers, i, MPI_INT, 1, 0, MPI_COMM_WORLD);
        else if (i == 4 || i == 5) {
            MPI_Irecv(numbers, i, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        } else
            MPI_Recv(numbers, i, MPI_INT, i % 2 == 0 ? 0 : MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Pcontrol(0);
    MPI_Pcontrol(0);
    for (int i = 0; i < 100; i++)
        MPI_Bcast(numbers, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Pcontrol(1);
    MPI_Pcontrol(1);
    MPI_Allreduce(MPI_IN_PLACE, numbers, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

/* Of four epochs from rank 0 to rank 1, the first is left out by the one, and the two in the middle by the other. */
static void switch_off_windows(void)
{
    enum { EPOCHS = 4 };
    int number = 0;
    MPI_Win window;
    MPI_Group all, other;
    MPI_Win_create(&number, sizeof number, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &peer, &other);
    for (int i = 0; i < EPOCHS; i++) {
        MPI_Pcontrol(rank == 0 ? i > 0 : i == 0 || i == 3);
        if (rank == 0) {
            MPI_Win_start(other, 0, window);
            MPI_Win_complete(window);
        } else {
            MPI_Win_post(other, 0, window);
            MPI_Win_wait(window);
        }
    }
    MPI_Group_free(&other);
    MPI_Group_free(&all);
    MPI_Win_free(&window);
}

static void do_nothing(void)
{
}

static void take_two_seconds(void)
{
    take_time(20);
}

static void abort_later(void)
{
    take_time(20);
    MPI_Abort(MPI_COMM_WORLD, 3);
}

static const struct {
    const char *name;
    void (*action)(void);
    void *(*work)(void *); /* or that of two threads, and what the first one does meanwhile */
    int tenths;
} actions[] = {{"all", do_all},
               {"cleared", do_all},
               {"twice", look_twice},
               {"poll", poll},
               {"windows", try_windows},
               {"parts", try_parts},
               {"waitsome", fail_to_wait},
               {"many", send_many},
               {"many_abort", send_many_and_abort},
               {"freed", free_within_a_call},
               {"groups", meet_by_groups},
               {"port", meet_by_port},
               {"socket", meet_by_socket},
               {"off", switch_off},
               {"off_windows", switch_off_windows},
               {"nothing", do_nothing},
               {"wrapped", call_wrapper},
               {"paths", call_by_many_paths},
               {"places", call_from_places},
               {"regions", name_many_regions},
               {"time", take_two_seconds},
               {"abort", abort_later},
               {"threads", .work = talk},
               {"off_threads", .work = switch_off_and_on},
               {"exchange", .work = exchange},
               {"exchange_by_one", .work = exchange_one_by_one},
               {"twins", .work = make_twins, .tenths = 10}};

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "all";
    int i = 0, provided;
    while (strcmp(name, actions[i].name) != 0)
        i++;
    if (strcmp(name, "cleared") == 0)
        unsetenv("MPIX_INTERPOSE");
    if (actions[i].work)
        MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    else
        MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    peer = 1 - rank;
    if (actions[i].work)
        run_threads(actions[i].work, actions[i].tenths);
    else
        actions[i].action();
    MPI_Finalize();
    printf("done\n");
    return 0;
}
