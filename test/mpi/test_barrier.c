/* SPDX-License-Identifier: BSD-3-Clause */
/* test_barrier.c - MPIX_Harmonize as a barrier in space and time: who leaves when, and what the flag says of it. */
#include "mpix_test.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- Nobody leaves early */

/* Calls after naps of up to longest_ms; left and arrived receive the true times of each. */
static void call_after_naps(MPI_Comm comm, uint64_t seed, int calls, uint32_t longest_ms, int64_t *arrived_ns,
                            int64_t *left_ns)
{
    seed += (uint64_t)my_rank << 32;
    for (int i = 0; i < calls; i++) {
        uint32_t nap = random_below(&seed, 2 * longest_ms);
        if (nap < longest_ms) /* else none: half of the arrivals are early */
            nap_ms((int)nap);
        arrived_ns[i] = true_ns();
        harmonize(comm);
        left_ns[i] = true_ns();
    }
}

/* The calls of all, in which everyone must have left at least min_wait_ns after the last arrival. */
static void check_calls(MPI_Comm comm, int calls, int64_t min_wait_ns, int64_t *arrived_ns, const int64_t *left_ns,
                        const char *what)
{
    int64_t *last_ns = malloc((size_t)calls * sizeof *last_ns);
    MPI_Request request;
    MPI_Iallreduce(arrived_ns, last_ns, calls, MPI_INT64_T, MPI_MAX, comm, &request);
    finish_yielding(&request);
    for (int i = 0; i < calls; i++)
        CHECK(left_ns[i] - last_ns[i] >= min_wait_ns,
              "%s: call %d: left %" PRId64 " ns after the last arrival, expected at least %" PRId64 " ns", what, i,
              left_ns[i] - last_ns[i], min_wait_ns);
    free(last_ns);
}

SUB_TEST(barrier, SINGLE, "nobody leaves before the last has arrived, however processes meet")
{
    enum { MAX_CALLS = 100 };
    const uint64_t seed = 20231;
    int calls = times(MAX_CALLS, 40);
    int64_t arrived_ns[MAX_CALLS], left_ns[MAX_CALLS];
    if (my_rank == 0)
        printf("seed %" PRIu64 "\n", seed);
    const char *const *barriers = choices_of("barrier");
    for (int i = 0; barriers[i]; i++) {
        MPI_Comm comm = duplicate_with("barrier=%s", barriers[i]);
        call_after_naps(comm, seed + (uint64_t)i, calls, 5, arrived_ns, left_ns);
        check_calls(comm, calls, 0, arrived_ns, left_ns, barriers[i]);
        MPI_Comm_free(&comm);
    }
}

/* ---- MPI makes progress */

typedef int meeting(MPI_Comm comm);

/*
 * Ranks in pairs: the first sends a message, or ends an access epoch in every other round, all meet, and the second
 * sees it. Returns in how many rounds it does not.
 */
static int count_unseen(MPI_Comm comm, meeting *meet_by, int rounds)
{
    enum { TAG = 5 };
    int partner = my_rank ^ 1, unseen = 0, byte = 0, is_seen = 1;
    bool has_partner = partner < ranks, sends = has_partner && my_rank < partner, receives = has_partner && !sends;
    MPI_Group all, other;
    MPI_Win window;
    MPI_Win_create(&byte, 1, 1, MPI_INFO_NULL, comm, &window);
    MPI_Win_get_group(window, &all);
    MPI_Group_incl(all, has_partner, &partner, &other);
    for (int i = 0; i < rounds; i++) {
        bool is_epoch = i % 2;
        if (sends && is_epoch)
            MPI_Win_start(other, 0, window);
        if (receives && is_epoch)
            MPI_Win_post(other, 0, window);
        meet_by(comm);
        if (sends && is_epoch)
            MPI_Win_complete(window);
        else if (sends)
            MPI_Send(&byte, 1, MPI_BYTE, partner, TAG, comm);
        meet_by(comm);
        if (receives && is_epoch)
            MPI_Win_test(window, &is_seen);
        else if (receives)
            MPI_Iprobe(partner, TAG, comm, &is_seen, MPI_STATUS_IGNORE);
        unseen += !is_seen;
        if (receives && !is_epoch)
            MPI_Recv(&byte, 1, MPI_BYTE, partner, TAG, comm, MPI_STATUS_IGNORE);
        else if (receives && !is_seen)
            MPI_Win_wait(window);
    }
    MPI_Group_free(&other);
    MPI_Group_free(&all);
    MPI_Win_free(&window);
    return unseen;
}

/* In all but some of the rounds (allowed), all is seen. tries: until one is as good as MPI_Barrier. */
static void check_progress(int rounds, int allowed, int tries)
{
    const char *const *barriers = choices_of("barrier");
    for (int i = 0; barriers[i]; i++) {
        MPI_Comm comm = duplicate_with("barrier=%s", barriers[i]);
        int after_barrier = 0, unseen = INT_MAX;
        for (int left = tries; left > 0 && max_over(comm, unseen > after_barrier + allowed); left--) {
            after_barrier = count_unseen(comm, MPI_Barrier, rounds);
            unseen = count_unseen(comm, harmonize, rounds);
        }
        CHECK(unseen <= after_barrier + allowed, "%s: in %d of %d rounds, not all was seen; after MPI_Barrier in %d",
              barriers[i], unseen, rounds, after_barrier);
        MPI_Comm_free(&comm);
    }
}

SUB_TEST(progress, SINGLE, "what was sent before a call can be seen after it, as after MPI_Barrier")
{
    check_progress(times(300, 20), times(3, 2), 1);
}

enum { LAST_TAG = 6 };

static void *wait_in_mpi(void *comm)
{
    int last;
    MPI_Recv(&last, 1, MPI_INT, MPI_ANY_SOURCE, LAST_TAG, *(MPI_Comm *)comm, MPI_STATUS_IGNORE);
    return NULL;
}

/*
 * The two threads of a process may share a processor, so a round takes some time slices. Open MPI makes no progress for
 * one thread while another one that does is kept from running. The last message is from another rank: in MPICH 4, a
 * thread may never see that it got one from another thread of its process.
 */
SUB_TEST(progress_beside, MULTIPLE, "the same while another thread waits in MPI")
{
    int last = 1;
    pthread_t thread;
    MPI_Comm own = duplicate(MPI_COMM_WORLD);
    pthread_create(&thread, NULL, wait_in_mpi, &own);
    check_progress(10, 1, 3);
    MPI_Send(&last, 1, MPI_INT, (my_rank + 1) % ranks, LAST_TAG, own);
    pthread_join(thread, NULL);
    MPI_Comm_free(&own);
}

/* The message is so long that it comes only while its receiver calls MPI. */
SUB_TEST(progress_in_wait, SINGLE, "a message is received during a long wait for the deadline")
{
    enum { SENDER = 2, BYTES = 1 << 20, TAG = 5, ROUNDS = 5, LATER_MS = 10 };
    static char data[BYTES];
    int received_in_wait = 0;
    bool waits = my_rank < SENDER, sends = my_rank == SENDER;
    MPI_Comm comm = split(MPI_COMM_WORLD, waits, my_rank);
    set_settings(comm, "slack_min_ns=50000000");
    for (int i = 0; i < ROUNDS && ranks > SENDER; i++) {
        MPI_Request request = MPI_REQUEST_NULL;
        meet(MPI_COMM_WORLD);
        if (my_rank == 0)
            MPI_Irecv(data, BYTES, MPI_CHAR, SENDER, TAG, MPI_COMM_WORLD, &request);
        if (waits)
            harmonize(comm);
        int64_t left_ns = true_ns();
        if (sends) {
            nap_ms(LATER_MS);
            MPI_Isend(data, BYTES, MPI_CHAR, 0, TAG, MPI_COMM_WORLD, &request);
        }
        finish_yielding(&request);
        int64_t sent_ns = max_over(MPI_COMM_WORLD, sends ? true_ns() : INT64_MIN);
        received_in_wait += sent_ns < min_over(MPI_COMM_WORLD, waits ? left_ns : INT64_MAX);
    }
    if (ranks > SENDER)
        CHECK(received_in_wait > 0, "none of %d messages was received before the end of the wait", ROUNDS);
    else
        test_skip("it takes three processes");
    MPI_Comm_free(&comm);
}

/* ---- The deadline */

/*
 * With a least slack, the deadline is at least that much after the last arrival. What the clocks may be wrong by (their
 * bounds) and how much faster than the true time they may run is allowed for.
 */
static void check_deadlines(const char *label)
{
    enum { CALLS = 8 };
    const int64_t slack_ns = 20 * NS_PER_MS;
    int64_t arrived_ns[CALLS], left_ns[CALLS], time_ns, bound_ns = 0;
    MPI_Comm comm = duplicate_with("sync=%s slack_min_ns=20000000 resync_interval_ns=86400000000000", label);
    /* No synchronization follows, so the bound at the end is the maximum. */
    call_after_naps(comm, 829, CALLS, 3, arrived_ns, left_ns);
    CHECK_OK(MPIX_Global_time_ns(comm, &time_ns, &bound_ns));
    int64_t rate_ns = (int64_t)(RATE_DIFFERENCE * (double)slack_ns);
    check_calls(comm, CALLS, slack_ns - max_over(comm, bound_ns) - rate_ns, arrived_ns, left_ns, label);
    MPI_Comm_free(&comm);
}

SUB_TEST(deadline, SINGLE, "nobody leaves before the deadline")
{
    check_deadlines("prop");
    check_deadlines("hca3o/skampi/10");
    check_deadlines("hca3/20/skampi/10");
    check_deadlines("hca3/20/skampi/10+prop");
}

/* ---- The flag tells the truth */

static void check_flags(MPI_Comm comm, const char *tolerance, int calls, int valid_at_least)
{
    int valid = 0;
    CHECK_OK(set_setting(comm, "tolerance_ns", tolerance));
    for (int i = 0; i < calls; i++) {
        int flag = harmonize(comm);
        int64_t lateness_ns = info_number(comm, "lateness_ns"), tolerance_ns = info_number(comm, "tolerance_used_ns");
        CHECK(lateness_ns >= 0, "left %" PRId64 " ns before the deadline", -lateness_ns);
        CHECK(flag == (lateness_ns <= tolerance_ns),
              "flag %d, but the lateness is %" PRId64 " ns with a tolerance of %" PRId64 " ns", flag, lateness_ns,
              tolerance_ns);
        valid += flag;
    }
    CHECK(valid >= valid_at_least, "%d of %d calls were valid with a tolerance of %s ns, expected at least %d", valid,
          calls, tolerance, valid_at_least);
}

SUB_TEST(flag, SINGLE, "the flag is 1 exactly where the lateness is within the tolerance")
{
    int calls = times(150, 60);
    const char *const *barriers = choices_of("barrier");
    for (int i = 0; barriers[i]; i++) {
        MPI_Comm comm = duplicate_with("barrier=%s", barriers[i]);
        check_flags(comm, "1", calls, 0);
        check_flags(comm, "auto", calls, 0);
        check_flags(comm, "20000", calls, 0);
        check_flags(comm, "1000000000", calls, 1);
        MPI_Comm_free(&comm);
    }
    /* Many calls, as conversions between ticks and nanoseconds round now and then only. */
    check_flags(MPI_COMM_SELF, "auto", 5000, 0);
}

/* ---- The flag tells the truth while other programs want the processors */

/* A million calls take seconds, but hours where processes get the processors in turn: there, a few batches. */
enum { LOADED_BATCH = 250, LOADS = 2, LOADED_S = 6, CROWDED_S = 2, QUICK_S = 1 };

static pid_t start_load(void)
{
    pid_t parent = getpid(), child = fork();
    if (child != 0)
        return child;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (getppid() == parent)
        ;
    _exit(0);
}

static void stop_load(pid_t child)
{
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

/*
 * No process leaves before the deadline, so that one that leaves later than another by more than the tolerance is late.
 */
static void check_loaded_batch(MPI_Comm comm, int64_t tolerance_ns, int *valid)
{
    static int64_t exits_ns[LOADED_BATCH], first_ns[LOADED_BATCH];
    static int flags[LOADED_BATCH];
    for (int i = 0; i < LOADED_BATCH; i++) {
        flags[i] = harmonize(comm);
        exits_ns[i] = last_raw_reading_ns();
    }
    MPI_Allreduce(exits_ns, first_ns, LOADED_BATCH, MPI_INT64_T, MPI_MIN, comm);
    for (int i = 0; i < LOADED_BATCH; i++)
        CHECK(!flags[i] || exits_ns[i] - first_ns[i] <= tolerance_ns,
              "valid, but %" PRId64 " ns after the first, with a tolerance of %" PRId64 " ns",
              exits_ns[i] - first_ns[i], tolerance_ns);
    for (int i = 0; i < LOADED_BATCH; i++)
        *valid += flags[i];
}

SUB_TEST(flag_under_load, SINGLE, "the flag is true in a million calls beside other programs")
{
    enum { TOLERANCE_NS = 200 };
    int batches = times(4000, 4), valid = 0;
    int64_t seconds = in_quick_check() ? QUICK_S : times(LOADED_S, CROWDED_S);
    int64_t end_ns = max_over(MPI_COMM_WORLD, true_ns()) + seconds * NS_PER_S;
    pid_t loads[LOADS] = {0};
    MPI_Comm comm = duplicate_with("clock=monotonic_raw sync=prop tolerance_ns=200");
    for (int i = 0; i < LOADS && my_rank == 0; i++)
        loads[i] = start_load();
    for (int i = 0; i < batches && min_over(comm, true_ns()) < end_ns; i++)
        check_loaded_batch(comm, TOLERANCE_NS, &valid);
    for (int i = 0; i < LOADS && my_rank == 0; i++)
        stop_load(loads[i]);
    CHECK(max_over(comm, valid) > 0, "no call was valid on any process");
    MPI_Comm_free(&comm);
}

/* ---- A process is stopped while it waits */

enum { STOP_AFTER_MS = 30, STOPPED_FOR_MS = 250, SLACK_MS = 120, TRIES = 6 };

/* Well after the stop, well before the process goes on. */
static const char stop_slack[] = "120000000"; /* SLACK_MS */

typedef struct stopped_call {
    bool happened; /* the deadline passed while victim was stopped */
    int flag;
    int64_t min_lateness_ns; /* of victim, as the others saw it */
} stopped_call;

/*
 * The deadline is no later than the first exit of the others; where there are none, the process itself has decided
 * before the stop, or else waits for the whole slack after it.
 */
static stopped_call call_and_stop(MPI_Comm comm, int victim, const stopper *stopper)
{
    stopped_call call = {false, 0, 0};
    stop stop = {0, 0};
    meet(comm);
    if (my_rank == victim)
        ask_for_stop(stopper);
    int64_t called_ns = true_ns();
    call.flag = harmonize(comm);
    int64_t left_ns = true_ns();
    if (my_rank == victim)
        stop = await_stop(stopper);
    /* The stopper may have been kept from running. The deadline is stop_slack after the call, or later. */
    bool in_time = max_over(comm, my_rank == victim && stop.stopped_ns < called_ns + (SLACK_MS - 20) * NS_PER_MS) > 0;
    int64_t continued_ns = max_over(comm, stop.continued_ns);
    int64_t others_left_ns = min_over(comm, my_rank == victim ? INT64_MAX : left_ns);
    call.min_lateness_ns = ranks > 1 ? continued_ns - others_left_ns : 1;
    call.happened = ranks > 1 ? call.min_lateness_ns > 20 * NS_PER_MS : left_ns < continued_ns + 100 * NS_PER_MS;
    call.happened &= in_time;
    return call;
}

/* Returns whether it could be tried. */
static bool check_stopped(MPI_Comm comm, int victim, const stopper *stopper)
{
    stopped_call call = {false, 0, 0};
    for (int i = 0; i < TRIES && !call.happened; i++)
        call = call_and_stop(comm, victim, stopper);
    if (!call.happened || my_rank != victim)
        return call.happened;
    int64_t lateness_ns = info_number(comm, "lateness_ns"), tolerance_ns = info_number(comm, "tolerance_used_ns");
    int64_t expected_ns = call.min_lateness_ns - NS_PER_MS; /* what the clocks may be apart */
    CHECK(call.flag == 0, "stopped while the deadline passed, and the flag is 1");
    CHECK(lateness_ns > tolerance_ns, "stopped while the deadline passed, and the lateness is %" PRId64 " ns",
          lateness_ns);
    CHECK(lateness_ns >= expected_ns, "the lateness is %" PRId64 " ns, expected at least %" PRId64 " ns", lateness_ns,
          expected_ns);
    return true;
}

static void check_recovery(MPI_Comm comm)
{
    set_settings(comm, "slack_min_ns=auto tolerance_ns=1000000000");
    int calls = times(400, 100), valid = harmonize_times(comm, calls);
    int64_t slack_ns = info_number(comm, "slack_used_ns");
    CHECK(valid > 0, "none of %d calls after the stop was valid", calls);
    CHECK(slack_ns < 150 * NS_PER_MS, "the slack is %" PRId64 " ns after %d calls that nobody disturbed", slack_ns,
          calls);
    CHECK_OK(set_setting(comm, "tolerance_ns", "auto"));
}

SUB_TEST(stopped, ITSELF, "a process that is stopped while it waits says so")
{
    stopper stopper;
    if (!start_stopper(&stopper, STOP_AFTER_MS, STOPPED_FOR_MS)) {
        test_skip("cannot start another process");
        return;
    }
    start_mpi(MPI_THREAD_SINGLE);
    MPI_Comm comm = duplicate_with("slack_max_ns=10000000000");
    harmonize_times(comm, 10);
    bool tried = true;
    for (int i = 0; i < (ranks > 1 ? 2 : 1); i++) {
        CHECK_OK(set_setting(comm, "slack_min_ns", stop_slack));
        tried = check_stopped(comm, i == 0 ? ranks - 1 : 0, &stopper) && tried;
        check_recovery(comm);
    }
    MPI_Comm_free(&comm);
    end_stopper(&stopper);
    if (!max_over(MPI_COMM_WORLD, tried))
        test_skip("in %d tries no process was stopped while it waited", TRIES);
}

/* ---- Late at the first call */

/* Times of a first call to which processes come late must not set what lasts. The greatest slack is out of the way. */
static void check_late(int late_rank)
{
    const int64_t limit_ns = 250 * NS_PER_MS;
    MPI_Comm comm = duplicate(MPI_COMM_WORLD);
    if (my_rank == late_rank)
        nap_ms(500);
    harmonize(comm);
    int64_t first_ns = info_number(comm, "slack_used_ns");
    CHECK(first_ns < limit_ns, "rank %d was late: the first slack is %" PRId64 " ns", late_rank, first_ns);
    harmonize_times(comm, 50);
    int64_t slack_ns = info_number(comm, "slack_used_ns");
    CHECK(slack_ns < limit_ns, "rank %d was late: the slack is %" PRId64 " ns after 50 calls", late_rank, slack_ns);
    MPI_Comm_free(&comm);
}

SUB_TEST(late, SINGLE, "a late first arrival leaves no trace in the slack")
{
    setenv("MPIX_HARMONIZE_SLACK_MAX_NS", "10000000000", 1);
    check_late(0);
    check_late(ranks - 1);
}
