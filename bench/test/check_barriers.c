/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * check_barriers - whether nobody leaves one of the suite's barriers before all have entered, how many messages each
 * takes, and whether a call that fails is named. Prints a line for each that fails; exit status 1 then. All ranks on
 * one node.
 */
#include "bench/suite/schemes.h"

#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { NS_PER_S = 1000000000, LATE_NS = 2000000, LATE_PER_RANK = 2, QUICK_ROUNDS = 20 };

/* What the wrappers below do, and have seen. */
static int64_t messages;
static int64_t message_bytes;
static bool failing;
static const char *failed = ""; /* the call that has failed */

static int outcome(const char *call)
{
    if (!failing)
        return MPI_SUCCESS;
    failed = call;
    return MPI_ERR_OTHER;
}

static int count_message(const char *call, int count, int to)
{
    if (to != MPI_PROC_NULL)
        messages++;
    message_bytes += count;
    return outcome(call);
}

int MPI_Send(const void *buffer, int count, MPI_Datatype datatype, int to, int tag, MPI_Comm comm)
{
    int code = count_message(__func__, count, to);

    return code == MPI_SUCCESS ? PMPI_Send(buffer, count, datatype, to, tag, comm) : code;
}

int MPI_Recv(void *buffer, int count, MPI_Datatype datatype, int from, int tag, MPI_Comm comm, MPI_Status *status)
{
    int code = outcome(__func__);

    return code == MPI_SUCCESS ? PMPI_Recv(buffer, count, datatype, from, tag, comm, status) : code;
}

int MPI_Sendrecv(const void *sent, int sent_count, MPI_Datatype sent_type, int to, int sent_tag, void *received,
                 int received_count, MPI_Datatype received_type, int from, int received_tag, MPI_Comm comm,
                 MPI_Status *status)
{
    int code = count_message(__func__, sent_count, to);

    return code != MPI_SUCCESS ? code
                               : PMPI_Sendrecv(sent, sent_count, sent_type, to, sent_tag, received, received_count,
                                               received_type, from, received_tag, comm, status);
}

int MPI_Barrier(MPI_Comm comm)
{
    int code = outcome(__func__);

    return code == MPI_SUCCESS ? PMPI_Barrier(comm) : code;
}

/* In place of the true one, which ends the job: goes back to who made the call fail. */
static jmp_buf before_failing;
static char named[40];

void world_fail(const world_t *world, int code, const char *call)
{
    if (!failing) {
        printf("%s failed on rank %d\n", call, world->rank);
        MPI_Abort(MPI_COMM_WORLD, code);
    }
    snprintf(named, sizeof named, "%.*s", (int)strcspn(call, "("), call);
    longjmp(before_failing, 1);
}

static int64_t log2_up(int64_t number)
{
    int64_t log2 = 0;

    while (INT64_C(1) << log2 < number)
        log2++;
    return log2;
}

/* By the formulas in barriers.c. */
static int64_t expected_messages(const char *name, int64_t ranks)
{
    int64_t power = 1;

    while (2 * power <= ranks)
        power *= 2;
    if (strcmp(name, "library") == 0 || ranks == 1)
        return 0;
    if (strcmp(name, "doublering") == 0)
        return 2 * ranks;
    if (strcmp(name, "recursivedoubling") == 0)
        return power * log2_up(power) + 2 * (ranks - power);
    if (strcmp(name, "bruck") == 0)
        return ranks * log2_up(ranks);
    return 2 * (ranks - 1);
}

/* The same on all processes of a node. */
static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
}

static int64_t sum_of(int64_t value)
{
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    return value;
}

/* When this process entered and left some calls of a barrier. */
typedef struct passages {
    int64_t entered_ns[QUICK_ROUNDS];
    int64_t minus_left_ns[QUICK_ROUNDS]; /* so that the greatest stands for the first that left */
} passages_t;

static void pass(const barrier_algorithm_t *algorithm, const world_t *span, passages_t *passages, int round)
{
    passages->entered_ns[round] = now_ns();
    algorithm->meet(span);
    passages->minus_left_ns[round] = -now_ns();
}

/* Whether all left after the last had entered, each time. */
static bool in_order(passages_t *passages)
{
    bool all = true;

    MPI_Allreduce(MPI_IN_PLACE, passages, sizeof *passages / sizeof(int64_t), MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    for (int round = 0; round < QUICK_ROUNDS; round++)
        all = passages->entered_ns[round] <= -passages->minus_left_ns[round] && all;
    return all;
}

/* Each rank is late several times. */
static bool holds_whoever_is_late(const barrier_algorithm_t *algorithm, const world_t *span)
{
    const struct timespec pause = {0, LATE_NS};
    passages_t passages = {0};
    int rounds = LATE_PER_RANK * span->ranks;

    for (int round = 0; round < rounds && round < QUICK_ROUNDS; round++) {
        PMPI_Barrier(MPI_COMM_WORLD);
        if (round % span->ranks == span->rank)
            nanosleep(&pause, NULL);
        pass(algorithm, span, &passages, round);
    }
    return in_order(&passages);
}

/* One after the other, with nothing between, so that a message of one may be there before the one before has ended. */
static bool holds_in_a_row(const barrier_algorithm_t *algorithm, const world_t *span)
{
    passages_t passages = {0};
    int64_t sent = messages;

    for (int round = 0; round < QUICK_ROUNDS; round++)
        pass(algorithm, span, &passages, round);
    sent = sum_of(messages - sent);
    return in_order(&passages) && sent == QUICK_ROUNDS * expected_messages(algorithm->name, span->ranks);
}

/* The first call of each rank fails; where there is one rank only, it may have none. */
static bool names_call_that_fails(const barrier_algorithm_t *algorithm, const world_t *span)
{
    failed = "";
    named[0] = '\0';
    failing = true;
    if (setjmp(before_failing) == 0)
        algorithm->meet(span);
    failing = false;
    return sum_of(strcmp(named, failed) == 0 && (failed[0] != '\0' || span->ranks == 1)) == span->ranks;
}

static void no_barrier(const world_t *span)
{
    (void)span;
}

/* One that holds nobody: what is looked for here can be found. */
static bool notices_what_is_none(const world_t *span)
{
    static const barrier_algorithm_t none = {"none", no_barrier};

    return span->ranks == 1 || !holds_whoever_is_late(&none, span);
}

static int complain(const world_t *span, const char *name, const char *what)
{
    if (span->rank == 0)
        printf("%s: %s\n", name, what);
    return 1;
}

static int check(const barrier_algorithm_t *algorithm, const world_t *span)
{
    int bad = 0;

    if (!holds_whoever_is_late(algorithm, span))
        bad |= complain(span, algorithm->name, "a rank left before all had entered");
    if (!holds_in_a_row(algorithm, span))
        bad |= complain(span, algorithm->name, "calls in a row: early exits, or not as many messages as stated");
    if (sum_of(message_bytes) != 0)
        bad |= complain(span, algorithm->name, "messages are not empty");
    if (!names_call_that_fails(algorithm, span))
        bad |= complain(span, algorithm->name, "a call that fails does not end the job, or is not named");
    return bad;
}

int main(int argc, char **argv)
{
    world_t span = {.program = "check_barriers"};
    int bad = 0, count = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &span.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &span.ranks);
    /* Ranks in another order than the world's. */
    MPI_Comm_split(MPI_COMM_WORLD, 0, span.ranks - span.rank, &span.comm);
    MPI_Comm_rank(span.comm, &span.rank);
    MPI_Comm_set_errhandler(span.comm, MPI_ERRORS_RETURN);
    for (; barriers[count].name; count++)
        bad |= check(&barriers[count], &span);
    if (count != 7)
        bad |= complain(&span, "the list", "not seven algorithms");
    if (!notices_what_is_none(&span))
        bad |= complain(&span, "none", "an exit before all have entered is not noticed");
    MPI_Comm_free(&span.comm);
    MPI_Finalize();
    return bad;
}
