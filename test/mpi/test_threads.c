/* SPDX-License-Identifier: BSD-3-Clause */
/* test_threads.c - threads: calls on several communicators at once, first uses among them, and readers beside all. */
#include "mpix_test.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

/* ---- Threads that call */

typedef struct caller {
    pthread_t thread;
    MPI_Comm comm;
    int calls, failures;
    int how;                  /* to call first */
    pthread_barrier_t *start; /* of all threads */
} caller;

static void end_caller(caller *one, const char *what)
{
    pthread_join(one->thread, NULL);
    CHECK(one->failures == 0, "%d calls failed in a thread that %s", one->failures, what);
}

static void call_and_read(caller *me, MPI_Comm comm)
{
    int flag;
    double time;
    me->failures += MPIX_Harmonize(comm, &flag) != MPI_SUCCESS;
    me->failures += MPIX_Global_time(comm, &time) != MPI_SUCCESS;
}

static void *keep_calling(void *data)
{
    caller *me = data;
    for (int i = 0; i < me->calls; i++) {
        call_and_read(me, me->comm);
        if (i % 10 == 5)
            me->failures += MPIX_Clock_sync(me->comm) != MPI_SUCCESS;
        if (i % 10 == 7)
            me->failures += MPIX_Harmonize(me->comm, NULL) == MPI_SUCCESS;
    }
    return NULL;
}

static void call_from_two_threads(int calls, bool used_before)
{
    caller callers[2];
    for (int i = 0; i < 2; i++) {
        callers[i] = (caller){.comm = duplicate(MPI_COMM_WORLD), .calls = calls};
        if (used_before)
            harmonize(callers[i].comm);
    }
    for (int i = 0; i < 2; i++)
        pthread_create(&callers[i].thread, NULL, keep_calling, &callers[i]);
    for (int i = 0; i < 2; i++) {
        end_caller(&callers[i], "calls beside another one");
        CHECK_NUMBER(callers[i].comm, "calls", calls + used_before);
    }
    meet(MPI_COMM_WORLD);
    for (int i = 0; i < 2; i++)
        MPI_Comm_free(&callers[i].comm);
}

SUB_TEST(threads, MULTIPLE, "two threads call on two communicators")
{
    call_from_two_threads(times(50, 10), false); /* the first calls of the program, with all that they set up */
    call_from_two_threads(times(200, 20), true);
}

/* ---- Readers */

/* For an instant that is near. */
static bool can_wait(MPI_Comm comm)
{
    int flag;
    int64_t now_ns, bound_ns, instant_ns;
    return MPIX_Global_time_ns(comm, &now_ns, &bound_ns) == MPI_SUCCESS &&
           MPIX_Harmonize_instant(comm, &instant_ns) == MPI_SUCCESS &&
           MPIX_Global_wait_until(comm, now_ns + 1000, &flag) == MPI_SUCCESS;
}

static void *keep_reading(void *data)
{
    reader *me = data;
    double time = 0, earliest = 0, latest = 0;
    int64_t last_ns = INT64_MIN, time_ns = 0, bound_ns;
    do {
        me->failures += MPIX_Global_time_ns(me->comm, &time_ns, &bound_ns) != MPI_SUCCESS;
        me->failures += MPIX_Global_time(me->comm, &time) != MPI_SUCCESS;
        me->failures += MPIX_Global_time_interval(me->comm, &earliest, &latest) != MPI_SUCCESS;
        me->decreases += time_ns < last_ns || time < (double)time_ns * 1e-9 - 1e-6 || latest < time;
        if (time_ns < last_ns && last_ns - time_ns > me->greatest_ns)
            me->greatest_ns = last_ns - time_ns;
        last_ns = time_ns;
        if (++me->readings % 500 == 0) {
            me->failures += !can_wait(me->comm);
            nanosleep(&(struct timespec){0, 200000}, NULL);
        }
    } while (!atomic_load(&me->stop));
    return NULL;
}

void start_reader(reader *one, MPI_Comm comm)
{
    *one = (reader){.comm = comm};
    pthread_create(&one->thread, NULL, keep_reading, one);
}

void stop_reader(reader *one)
{
    atomic_store(&one->stop, true);
    pthread_join(one->thread, NULL);
    CHECK(one->failures == 0, "%" PRId64 " of %" PRId64 " readings failed", one->failures, one->readings);
    CHECK(one->decreases == 0, "%" PRId64 " of %" PRId64 " readings decreased, by %" PRId64 " ns at most",
          one->decreases, one->readings, one->greatest_ns);
}

/* Two threads, each of which reads one of two clocks, or both the same. */
static void start_readers(reader readers[2], MPI_Comm first, MPI_Comm second)
{
    start_reader(&readers[0], first);
    start_reader(&readers[1], second);
}

static void stop_readers(reader readers[2])
{
    stop_reader(&readers[0]);
    stop_reader(&readers[1]);
}

/* Calls and synchronizations on the readers' communicator, while others come, are used and go. */
static void stir(MPI_Comm comm)
{
    for (int i = 0; i < times(30, 4); i++) {
        MPI_Comm passing = duplicate(MPI_COMM_WORLD);
        harmonize_times(comm, 3);
        harmonize(passing);
        if (i % 2)
            CHECK_OK(MPIX_Clock_sync(comm));
        MPI_Comm_free(&passing);
    }
}

/* After a change of the algorithm, the next call makes a plan anew. Readers go on meanwhile. */
static void stir_beside_readers(MPI_Comm comm, const char *sync)
{
    reader readers[2];
    CHECK_OK(set_setting(comm, "sync", sync));
    start_readers(readers, comm, comm);
    stir(comm);
    stop_readers(readers);
    meet(comm);
}

SUB_TEST(readers, MULTIPLE, "threads read a clock beside calls, and while other communicators come and go")
{
    MPI_Comm comm = duplicate(MPI_COMM_WORLD);
    harmonize(comm);
    stir_beside_readers(comm, "hca3/100/skampi/10");
    stir_beside_readers(comm, "track/skampi/20");
    MPI_Comm_free(&comm);
}

/* ---- Readers beside communicators that come and go in another thread */

static void *come_and_go(void *data)
{
    caller *me = data;
    for (int i = 0; i < me->calls; i++) {
        MPI_Comm passing = duplicate(me->comm);
        call_and_read(me, passing);
        MPI_Comm_free(&passing);
    }
    return NULL;
}

static void act_beside_frees(void (*act)(MPI_Comm comm))
{
    MPI_Comm comm = duplicate(MPI_COMM_WORLD), read_only = duplicate(MPI_COMM_WORLD);
    caller other = {.comm = duplicate(MPI_COMM_WORLD), .calls = times(20, 4)};
    reader readers[2];
    harmonize(comm);
    harmonize(read_only);
    start_readers(readers, comm, read_only);
    pthread_create(&other.thread, NULL, come_and_go, &other);
    act(comm);
    end_caller(&other, "uses and frees communicators");
    stop_readers(readers);
    meet(MPI_COMM_WORLD);
    MPI_Comm_free(&comm);
    MPI_Comm_free(&read_only);
    MPI_Comm_free(&other.comm);
}

static void make_calls(MPI_Comm comm)
{
    harmonize_times(comm, times(200, 20));
}

static void read_statistics(MPI_Comm comm)
{
    for (int i = 0; i < times(300, 30); i++) {
        CHECK_NUMBER(comm, "calls", 1);
        info_text(comm, "last_error");
    }
}

/* What threads remember of a communicator may not outlive it, nor be lost when another one is freed. */
SUB_TEST(readers_beside_frees, MULTIPLE, "readers while another thread uses and frees communicators")
{
    act_beside_frees(make_calls);
}

SUB_TEST(threads_info, MULTIPLE, "statistics beside readers of the same communicator")
{
    act_beside_frees(read_statistics);
}

/* ---- First use */

enum { RACERS = 3 };

static int use_first(MPI_Comm comm, int how)
{
    int flag;
    return how % 3 == 0   ? MPIX_Harmonize(comm, &flag)
           : how % 3 == 1 ? MPIX_Clock_sync(comm)
                          : MPIX_Harmonize_set_info(comm, MPI_INFO_NULL);
}

static void *race(void *data)
{
    caller *me = data;
    MPI_Info info = MPI_INFO_NULL;
    pthread_barrier_wait(me->start);
    me->failures += MPIX_Harmonize_get_info(me->comm, &info) != MPI_SUCCESS;
    if (info != MPI_INFO_NULL)
        MPI_Info_free(&info);
    me->failures += use_first(me->comm, me->how) != MPI_SUCCESS;
    call_and_read(me, me->comm);
    return NULL;
}

static void race_once(MPI_Comm parents[RACERS], pthread_barrier_t *start, int how)
{
    caller racers[RACERS];
    for (int i = 0; i < RACERS; i++) {
        racers[i] = (caller){.start = start, .comm = duplicate(parents[i]), .how = how / 2 * i};
        pthread_create(&racers[i].thread, NULL, race, &racers[i]);
    }
    for (int i = 0; i < RACERS; i++) {
        end_caller(&racers[i], "is one of the first to call");
        MPI_Comm_free(&racers[i].comm);
    }
}

SUB_TEST(threads_first_use, MULTIPLE, "several threads use a communicator each for the first time")
{
    MPI_Comm parents[RACERS];
    pthread_barrier_t start;
    pthread_barrier_init(&start, NULL, RACERS);
    for (int i = 0; i < RACERS; i++)
        parents[i] = duplicate(MPI_COMM_WORLD);
    for (int i = 0; i < times(8, 3); i++)
        race_once(parents, &start, i);
    for (int i = 0; i < RACERS; i++)
        MPI_Comm_free(&parents[i]);
    pthread_barrier_destroy(&start);
}

/* ---- Threads that come and go */

/* Each call is made by a thread of its own, beside threads that end after one reading. */
SUB_TEST(threads_passing, MULTIPLE, "threads that end after one call or reading")
{
    MPI_Comm comm = duplicate(MPI_COMM_WORLD);
    harmonize(comm);
    int cycles = times(100, 10);
    for (int i = 0; i < cycles; i++) {
        reader readers[2];
        caller one = {.comm = comm, .calls = 1};
        pthread_create(&one.thread, NULL, keep_calling, &one);
        for (int j = 0; j < 2; j++) {
            start_reader(&readers[j], comm);
            atomic_store(&readers[j].stop, true);
        }
        end_caller(&one, "passes");
        stop_readers(readers);
    }
    CHECK_NUMBER(comm, "calls", cycles + 1);
    meet(comm);
    MPI_Comm_free(&comm);
}

/* ---- How often MPI is asked, and locks are taken */

static int64_t lookups_while_reading(const MPI_Comm *comms, int count)
{
    double time;
    int64_t asked = 0;
    fault_plan(-1, 0);
    for (int i = 0; i < 300; i++)
        CHECK_OK(MPIX_Global_time(comms[i % count], &time));
    for (int i = 0; fault_name(i); i++)
        asked += fault_calls(i);
    return asked;
}

/* As many as a thread remembers; then two, while the others are freed. */
SUB_TEST(lookups, INJECTION, "reading several clocks in turn asks MPI nothing")
{
    enum { COUNT = 16 };
    MPI_Comm comms[COUNT];
    int disturbed = 0;
    for (int i = 0; i < COUNT; i++) {
        comms[i] = duplicate(MPI_COMM_WORLD);
        harmonize_times(comms[i], 1);
    }
    lookups_while_reading(comms, COUNT);
    int64_t asked = lookups_while_reading(comms, COUNT);
    CHECK(asked == 0, "300 readings of %d clocks in turn ask MPI %" PRId64 " times", COUNT, asked);
    for (int i = 2; i < COUNT; i++) {
        MPI_Comm_free(&comms[i]);
        disturbed += lookups_while_reading(comms, 2) > 0;
    }
    CHECK(disturbed < COUNT / 2, "freeing %d other communicators led to lookups %d times", COUNT - 2, disturbed);
    MPI_Comm_free(&comms[0]);
    MPI_Comm_free(&comms[1]);
}

/*
 * Once a communicator is set up, also with MPI_THREAD_MULTIPLE. So a lower level costs nothing that could be saved.
 * Each synchronization notes the clock for later communicators, under a lock.
 */
SUB_TEST(locks, MULTIPLE | INJECTION, "calls and readings of the clock take no lock")
{
    enum { CALLS = 1000 };
    int64_t before = locks_taken(), instant_ns;
    double time, earliest, latest;
    MPI_Comm comm = duplicate_with("resync_interval_ns=86400000000000");
    harmonize(comm);
    int64_t first = locks_taken();
    for (int i = 0; i < CALLS; i++) {
        i % 2 ? harmonize(comm) : harmonize_delayed(comm, 1000);
        CHECK_OK(MPIX_Harmonize_instant(comm, &instant_ns));
        CHECK_OK(MPIX_Global_time(comm, &time));
        CHECK_OK(MPIX_Global_time_interval(comm, &earliest, &latest));
        read_ns(comm, NULL);
    }
    int64_t later = locks_taken();
    if (before < 0)
        test_skip("locks are not counted in this build");
    else
        CHECK(first > before && later == first, "the first call takes %" PRId64 " locks, %d others %" PRId64,
              first - before, CALLS, later - first);
    meet(comm);
    MPI_Comm_free(&comm);
}
