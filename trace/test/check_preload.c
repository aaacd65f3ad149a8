/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An MPI program that knows nothing of this library, for the tests of mpix_preload to run with it. It prints what it
 * sees, or a line that begins with "wrong". Its argument says what it does.
 */
#include <locale.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum {
    BARRIERS = 300,
    COMMUNICATORS = 66,
    BARRIERS_OF_EACH = 103,
    DUPLICATES = 900,
    PAUSES = 5,
    PAUSE_US = 20000,
    QUICK_CALLS = 17,
    MIN_CLOCK_CALLS = 10,
    MAX_CLOCK_CALLS = 100,
    MAX_RANKS = 16
};
#define LOOK_INTERVAL_S 0.01 /* of the preload */
static int rank, ranks;
static char **arguments; /* after the action */

static void nap_us(long us)
{
    struct timespec time = {us / 1000000, us % 1000000 * 1000};
    nanosleep(&time, NULL);
}

/* Not all MPI libraries allow it before MPI_Init and after MPI_Finalize. Open MPI 5 and 6 begin anew in MPI_Init. */
#ifdef OPEN_MPI
#define WTIME_ANYWHERE MPI_Wtime
#define WTIME_GOES_ON (OMPI_MAJOR_VERSION < 5)
#else
#define WTIME_ANYWHERE() 0
#define WTIME_GOES_ON 0
#endif

static void call_barriers(MPI_Comm comm, int count)
{
    for (int i = 0; i < count; i++)
        MPI_Barrier(comm);
}

static void call_barriers_slowly(void)
{
    for (int i = 0; i < PAUSES; i++) {
        nap_us(PAUSE_US);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* After a pause, so that each call is rare, and with what it leaves in the first element. */
#define TRY(call, value)               \
    do {                               \
        nap_us(PAUSE_US);              \
        out[0] = -1;                   \
        MPI_##call;                    \
        if (out[0] != (value))         \
            puts("wrong: MPI_" #call); \
    } while (0)

/* Each blocking one. The last rank is root. */
static void call_collectives(void)
{
    int in[MAX_RANKS], out[MAX_RANKS], ones[MAX_RANKS], starts[MAX_RANKS], byte_starts[MAX_RANKS];
    int root = ranks - 1, in_first = rank == 0 ? -1 : rank;
    MPI_Datatype types[MAX_RANKS];
    MPI_Comm comm = MPI_COMM_WORLD;
    for (int i = 0; i < MAX_RANKS; i++) {
        in[i] = ones[i] = 1;
        starts[i] = i;
        byte_starts[i] = i * (int)sizeof *in;
        types[i] = MPI_INT;
    }
    TRY(Bcast(rank == root ? in : out, 1, MPI_INT, root, comm), rank == root ? -1 : 1);
    TRY(Allreduce(in, out, 1, MPI_INT, MPI_SUM, comm), ranks);
    TRY(Scan(in, out, 1, MPI_INT, MPI_SUM, comm), rank + 1);
    TRY(Exscan(in, out, 1, MPI_INT, MPI_SUM, comm), in_first);
    TRY(Reduce_scatter(in, out, ones, MPI_INT, MPI_SUM, comm), ranks);
    TRY(Reduce_scatter_block(in, out, 1, MPI_INT, MPI_SUM, comm), ranks);
    TRY(Reduce(in, out, 1, MPI_INT, MPI_SUM, root, comm), rank == root ? ranks : -1);
    TRY(Allgather(in, 1, MPI_INT, out, 1, MPI_INT, comm), 1);
    TRY(Alltoall(in, 1, MPI_INT, out, 1, MPI_INT, comm), 1);
    TRY(Gather(in, 1, MPI_INT, out, 1, MPI_INT, root, comm), rank == root ? 1 : -1);
    TRY(Scatter(in, 1, MPI_INT, out, 1, MPI_INT, root, comm), 1);
    TRY(Allgatherv(in, 1, MPI_INT, out, ones, starts, MPI_INT, comm), 1);
    TRY(Gatherv(in, 1, MPI_INT, out, ones, starts, MPI_INT, root, comm), rank == root ? 1 : -1);
    TRY(Scatterv(in, ones, starts, MPI_INT, out, 1, MPI_INT, root, comm), 1);
    TRY(Alltoallv(in, ones, starts, MPI_INT, out, ones, starts, MPI_INT, comm), 1);
    TRY(Alltoallw(in, ones, byte_starts, types, out, ones, byte_starts, types, comm), 1);
    TRY(Allreduce(in, out, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF), 1);
}

/*
 * Some quick calls after each barrier, however long its processes wait for each other in it. Prints after how many of
 * the barriers the calls took so long that the clock may be looked after.
 */
static void call_quickly_after_barriers(void)
{
    int slow = 0, one = 1, sum;
    for (int i = 0; i < PAUSES; i++) {
        if (rank == 0)
            nap_us(PAUSE_US);
        double begin_s = MPI_Wtime();
        MPI_Barrier(MPI_COMM_WORLD);
        for (int j = 0; j < QUICK_CALLS; j++)
            MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        slow += MPI_Wtime() - begin_s >= LOOK_INTERVAL_S;
    }
    if (rank == 0)
        printf("slow %d\n", slow);
}

static double truth_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* By how much MPI_Wtime is ahead of a clock that all processes share, as the quickest of many readings has it. */
static double ahead_of_truth_s(void)
{
    double ahead_s = 0, quickest_s = 1e9;
    for (int i = 0; i < 200; i++) {
        double before_s = truth_s(), now_s = MPI_Wtime(), took_s = truth_s() - before_s;
        if (took_s < quickest_s) {
            quickest_s = took_s;
            ahead_s = now_s - before_s;
        }
    }
    return ahead_s;
}

/* How far apart the clocks of two processes are. By messages, so nobody looks after the clocks here. */
static double apart_s(void)
{
    double mine_s = ahead_of_truth_s(), other_s;
    MPI_Sendrecv(&mine_s, 1, MPI_DOUBLE, 1 - rank, 0, &other_s, 1, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    return mine_s > other_s ? mine_s - other_s : other_s - mine_s;
}

/*
 * An MPI_Allreduce each tenth of a second, and no barrier, until the clocks agree. A busy machine may spoil any one
 * synchronization. But a clock that is 1 % fast from the third call on at the latest, and that nobody looks after, is
 * off by 7 ms after ten calls, and by more after each further one.
 */
static void compare_clocks(void)
{
    int calls = 0, one = 1, sum, agree;
    do {
        nap_us(100000);
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        agree = apart_s() < 3e-3;
    } while (++calls < MIN_CLOCK_CALLS || (!agree && calls < MAX_CLOCK_CALLS));
    if (!agree)
        printf("wrong: the clocks are apart after %d calls\n", calls);
}

static void print_clock(void)
{
    int *is_global, *is_global_too, found, found_too;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &is_global, &found);
#if defined(OPEN_MPI) || defined(MPICH_VERSION)
    MPI_Attr_get(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &is_global_too, &found_too);
#else
    is_global_too = is_global, found_too = found; /* the standard ABI has no functions that were removed */
#endif
    if (!found || !found_too || *is_global != *is_global_too)
        puts("wrong: MPI_WTIME_IS_GLOBAL");
    if (rank == 0)
        printf("global %d tick %.1e\n", *is_global, MPI_Wtick());
}

/* Nobody leaves a barrier before all have come, and by MPI_Wtime everybody can tell. */
static void compare_times(void)
{
    for (int i = 0; i < 50; i++) {
        double before = MPI_Wtime(), after, latest, earliest;
        MPI_Barrier(MPI_COMM_WORLD);
        after = MPI_Wtime();
        MPI_Allreduce(&before, &latest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        MPI_Allreduce(&after, &earliest, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
        if (earliest < latest - 1e-4)
            printf("wrong: a process left %.9f s before another one came\n", latest - earliest);
    }
}

static void call_slowly(MPI_Comm comm)
{
    int one = 1, sum;
    for (int i = 0; i < PAUSES; i++) {
        nap_us(PAUSE_US);
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    }
}

/* Two communicators of all processes, one of them in another order, and one of half of them. */
static void call_on_like_world(void)
{
    MPI_Comm comms[3];
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comms[1]);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &comms[2]);
    for (int i = 0; i < 3; i++)
        call_slowly(comms[i]);
    for (int i = 0; i < 3; i++) {
        call_barriers(comms[i], BARRIERS_OF_EACH);
        MPI_Comm_free(&comms[i]);
    }
}

/* About as many as some MPI libraries can have at once, and one of MPI_Comm_idup. */
static void do_duplicates(void)
{
    static MPI_Comm comms[DUPLICATES];
    MPI_Request request;
    MPI_Comm copy;
    for (int i = 0; i < DUPLICATES; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    for (int i = 0; i < DUPLICATES; i++) {
        call_barriers(comms[i], 1);
        MPI_Comm_free(&comms[i]);
    }
    MPI_Comm_idup(MPI_COMM_WORLD, &copy, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    call_barriers(copy, 1);
    MPI_Comm_free(&copy);
}

static void do_other_barriers(void)
{
    MPI_Comm half, between;
    MPI_Request request;
    int color = rank % 2;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_split(MPI_COMM_WORLD, color, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - color, 0, &between);
    call_barriers(between, 2 * BARRIERS_OF_EACH);
    MPI_Comm_free(&between);
    call_barriers(half, 10);
    MPI_Comm_free(&half);
    call_barriers(MPI_COMM_SELF, 10);
}

/* Rank 0 has freed this communicator before rank 1 does, and no preload may make it wait. */
static void free_one_by_one(void)
{
    MPI_Comm comm;
    int token = 0;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    call_barriers(comm, BARRIERS_OF_EACH);
    if (rank == 1)
        MPI_Recv(&token, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Comm_free(&comm);
    if (rank == 0)
        MPI_Send(&token, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
}

/* The last communicator is not freed. */
static void do_many_communicators(void)
{
    for (int i = 0; i < COMMUNICATORS; i++) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        call_barriers(comm, BARRIERS_OF_EACH);
        if (i < COMMUNICATORS - 1)
            MPI_Comm_free(&comm);
    }
}

static void *call_barriers_of(void *comm)
{
    call_barriers(*(MPI_Comm *)comm, BARRIERS);
    return NULL;
}

static void do_threads(void)
{
    pthread_t thread;
    MPI_Comm comm;
    double previous = MPI_Wtime();
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    pthread_create(&thread, NULL, call_barriers_of, &comm);
    call_barriers(MPI_COMM_WORLD, BARRIERS);
    pthread_join(thread, NULL);
    if (MPI_Wtime() < previous)
        puts("wrong: MPI_Wtime decreases");
    MPI_Comm_free(&comm);
}

static void do_sessions(void)
{
#if MPI_VERSION >= 4
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "check", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&group);
    call_barriers(comm, BARRIERS);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
#endif
    fputs("sessions\n", stdout);
}

static void add_often(void)
{
    int one = 1, sum;
    for (int i = 0; i < BARRIERS; i++)
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

/* A call that MPI refuses on one process; the others do not make it, and receive before they go on. */
static void do_refused(void)
{
    int none = 0;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
#ifdef MPICH_NUMVERSION /* what never got a handler has that of the world */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Bcast(&none, -1, MPI_INT, 0, comm);
#endif
    MPI_Comm_free(&comm);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (rank == 1) {
        if (MPI_Bcast(&none, -1, MPI_INT, 0, MPI_COMM_WORLD) == MPI_SUCCESS)
            puts("wrong: nothing is refused");
        MPI_Ssend(&none, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    } else {
        MPI_Recv(&none, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    add_often();
}

static void use_commas(void)
{
    if (!setlocale(LC_ALL, "de_DE.UTF-8"))
        puts("wrong: there is no such locale");
    call_barriers(MPI_COMM_WORLD, BARRIERS);
    printf("%.1f\n", 1.5);
}

/* MPI says what is wrong, of these calls. */
static void finalize_twice(void)
{
    MPI_Finalize();
    MPI_Finalize();
}

static void print_error(MPI_Comm *comm, int *code, ...)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;
    (void)comm;
    MPI_Error_string(*code, text, &length);
    printf("error: %s\n", text);
}

static void use_freed_handle(void)
{
    MPI_Errhandler handler;
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_create_errhandler(print_error, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
    MPI_Barrier(comm);
#ifdef MPICH_NUMVERSION /* Open MPI follows any handle */
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Barrier(comm);
    MPI_Comm freed = comm;
    MPI_Comm_free(&comm);
    MPI_Barrier(freed);
#endif
}

static int handler_calls;

static void call_barrier(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    if (handler_calls++ == 0)
        MPI_Barrier(MPI_COMM_WORLD);
}

/* A barrier in an error handler of one process, inside of another barrier, meets that of the others. */
static void do_handler(void)
{
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(call_barrier, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
    MPI_Barrier(rank == 1 ? MPI_COMM_NULL : MPI_COMM_WORLD);
    if (handler_calls != (rank == 1))
        puts("wrong: the handler was not called once");
    call_barriers(MPI_COMM_WORLD, BARRIERS);
    MPI_Errhandler_free(&handler);
}

/* Barriers with processes of another world, which has no preload. The first argument is the program. */
static void do_spawn(void)
{
    int one = 1, sum = 0, size;
    MPI_Comm between, all, again;
    MPI_Comm_get_parent(&between);
    if (between == MPI_COMM_NULL)
        MPI_Comm_spawn(arguments[0], (char *[]){"spawn", NULL}, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &between,
                       MPI_ERRCODES_IGNORE);
    MPI_Intercomm_merge(between, 0, &all);
    call_barriers(all, 2 * BARRIERS_OF_EACH);
    MPI_Comm_dup(all, &again);
    MPI_Comm_size(again, &size);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, again);
    if (sum != size)
        printf("wrong: %d of %d\n", sum, size);
    MPI_Comm_free(&again);
    MPI_Comm_disconnect(&all);
    MPI_Comm_disconnect(&between);
}

/* In a program with a child and other work of the shell. */
static void do_child(void)
{
    if (system("echo child $((1 + 1))") != 0)
        puts("wrong: the child fails");
    call_barriers(MPI_COMM_WORLD, BARRIERS);
}

static void do_nothing(void)
{
}

static void do_barriers(void)
{
    print_clock();
    call_barriers(MPI_COMM_WORLD, BARRIERS);
}

static struct rlimit first_limit;

/* What measures coverage writes files after main. */
static void lift_limit(void)
{
    setrlimit(RLIMIT_FSIZE, &first_limit);
}

static void do_limit(void)
{
    getrlimit(RLIMIT_FSIZE, &first_limit);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){0, first_limit.rlim_max});
    atexit(lift_limit);
    call_barriers(MPI_COMM_WORLD, BARRIERS);
}

static void call_collectives_after_barrier(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    call_collectives();
    call_collectives();
}

static void do_exec(void)
{
    MPI_Finalize();
    execvp(arguments[0], arguments);
}

static void do_abort(void)
{
    MPI_Abort(MPI_COMM_WORLD, 5);
}

/* With several threads, a duplicate of the world does not count as the world. */
static const struct {
    const char *name;
    void (*act)(void);
    int has_threads;
} actions[] = {{"nothing", do_nothing},
               {"barriers", do_barriers},
               {"limit", do_limit},
               {"pauses", call_barriers_slowly},
               {"collectives", call_collectives},
               {"collectives_after_barrier", call_collectives_after_barrier},
               {"quick_calls_after_barriers", call_quickly_after_barriers},
               {"clocks", compare_clocks},
               {"times", compare_times},
               {"like_world", call_on_like_world},
               {"duplicates", do_duplicates},
               {"others", do_other_barriers},
               {"freed", free_one_by_one, 1},
               {"many", do_many_communicators, 1},
               {"threads", do_threads, 1},
               {"child", do_child},
               {"exec", do_exec},
               {"abort", do_abort},
               {"refused", do_refused},
               {"handler", do_handler},
               {"commas", use_commas},
               {"finalize_twice", finalize_twice},
               {"freed_handle", use_freed_handle},
               {"spawn", do_spawn}};

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "nothing";
    int i = 0, provided, finalized;
    if (strcmp(what, "sessions") == 0) {
        do_sessions();
        return 0;
    }
    while (strcmp(what, actions[i].name) != 0)
        i++;
    double before = WTIME_ANYWHERE();
    if (actions[i].has_threads)
        MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    else
        MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (rank == 0 && WTIME_GOES_ON && MPI_Wtime() < before)
        puts("wrong: MPI_Wtime starts anew");
    arguments = argv + 2;
    actions[i].act();
    MPI_Finalized(&finalized);
    before = WTIME_ANYWHERE();
    if (!finalized)
        MPI_Finalize();
    if (WTIME_ANYWHERE() < before - 1e-3)
        puts("wrong: MPI_Wtime starts anew in the end");
    printf("done %d\n", ranks);
    return 0;
}
