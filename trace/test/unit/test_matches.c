/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_matches.c - which ends become messages and calls: by posting and by number, where requests complete late, in
 * another thread or never, and where only a part of the run was recorded.
 */
#include "made_trace.h"
#include "unit/support.h"
#include "common/cli/memory.h"

static const made_clock clocks[2] = {{0, 0, 0, 0}, {5000123456, 20e-6, 3e-6, 60}};

/* The trace of a test, and what is found in it. */
static made_trace made;
static trace_matches matches;

static void begin_trace(void)
{
    matches = (trace_matches){0};
    made_begin(&made, 2, clocks, 1);
}

static void end_trace(void)
{
    trace_matches_free(&matches);
    made_free(&made);
}

static void expect_calls(size_t count, size_t incomplete)
{
    made_match(&made, &matches);
    ck_assert_uint_eq(matches.call_count, count);
    ck_assert_uint_eq(matches.calls_incomplete, incomplete);
}

/*
 * Messages of rank 0 to rank 1. An event is its rank, its kind - s: send, p: post, S and P: of partitioned messages,
 * +: their number, r: receive, c: canceled, k: so many were not recorded, K: one, before that of a request,
 * ( and ): a call of MPI_Recv - and its request or its number, if it has one.
 * A message is the places of its send and its receive among the events of their ranks.
 */
static const struct {
    const char *events, *messages;
    size_t sends_alone, receives_alone;
} streams[] = {
    /* Receives that were posted in one order and are complete in another; a send that was canceled. */
    {"0s1 0s2 0s3 0c2 1p7 1p8 1r8 1r7 1r", "0-3 2-2 ", 0, 1},
    /* A call that waits posts when it is entered: here before another receive, which is complete earlier. */
    {"0s 0s 1( 1p7 1r7 1r 1)", "0-3 1-2 ", 0, 0},
    /* So does it send: here before the send of a callback. */
    {"0( 0( 0s 0) 0s 0) 1r 1r", "4-0 2-1 ", 0, 0},
    /* Partitioned messages are received by partitioned receives. */
    {"0s 0S1 0+1 1P7 1+1 1p8 1r7 1r8", "0-4 1-3 ", 0, 0},
    /* Each request of those for itself. */
    {"0S1 0+2 0S2 0+1 1P7 1+1 1P8 1+2 1r7 1r8", "2-4 0-5 ", 0, 0},
    /* Nobody knows which one. */
    {"0S1 0S2 1P7 1P8 1r7 1r8", "", 2, 2},
    /* A receive that nobody saw complete had the first message. */
    {"0s 0s 1p7 1p8 1r8", "1-2 ", 1, 0},
    /* What was sent and not recorded counts: the first receive is of such a message. */
    {"1r 0k1 0s 1r 0s 1r 0s 1r", "1-1 2-2 3-3 ", 0, 1},
    /* As many sends as receives, but the first receive and the last send have no counterpart. */
    {"1r 0k1 0s 1r 0s 1r 0s", "1-1 2-2 ", 1, 1},
    /* On either side, in the middle; one that was sent without being recorded was received so, too. */
    {"0s 1r 0k2 0s 1k3 0s 1r", "0-0 3-2 ", 1, 0},
    /* They came before the receive of a call, and before that of a request that took any message. */
    {"0k1 0s 0s 1( 1k1 1r 1)", "1-2 ", 1, 0},
    {"0k2 0s 0s 1p7 1p8 1K8 1r8 1r7", "1-3 ", 1, 1},
};

LOOP_TEST(sends_and_receives_become_messages, COUNT_OF(streams))
{
    static const uint8_t kinds[] = {
        ['s'] = TRACE_SEND,         ['p'] = TRACE_RECEIVE_POST, ['r'] = TRACE_RECEIVE, ['S'] = TRACE_SEND,
        ['P'] = TRACE_RECEIVE_POST, ['c'] = TRACE_CANCELED,     ['('] = TRACE_ENTER,   [')'] = TRACE_LEAVE,
        ['+'] = TRACE_PARTS,        ['k'] = TRACE_SKIPPED,      ['K'] = TRACE_SKIPPED};
    static const uint8_t modes[128] = {['S'] = TRACE_PARTITIONED, ['P'] = TRACE_PARTITIONED};
    char found[64] = "";
    double at_ns = 0;
    size_t length = 0;
    for (const char *next = streams[_i].events; *next != '\0'; at_ns += 1000) {
        const uint8_t kind = kinds[(uint8_t)next[1]];
        const uint32_t number = next[2] > ' ' ? (uint32_t)(next[2] - '0') : 0;
        const bool is_number = kind == TRACE_PARTS || next[1] == 'k';
        made_event(&made, next[0] - '0', at_ns,
                   (trace_event){.kind = kind,
                                 .id = kind <= TRACE_LEAVE ? MADE_RECV : 0,
                                 .partner = '1' - next[0],
                                 .mode = kind == TRACE_SKIPPED && next[0] == '1' ? TRACE_WAY_RECEIVED
                                                                                 : modes[(uint8_t)next[1]],
                                 .value = is_number ? number : next[1] == 'K',
                                 .request = is_number ? 0 : number});
        next += strcspn(next, " ");
        next += strspn(next, " ");
    }
    made_records(&made, 0, 1);
    made_match(&made, &matches);
    for (size_t i = 0; i < matches.message_count; i++)
        length += (size_t)snprintf(found + length, sizeof found - length, "%zu-%zu ", matches.messages[i].send.event,
                                   matches.messages[i].receive.event);
    ck_assert_str_eq(found, streams[_i].messages);
    ck_assert_uint_eq(matches.sends_alone, streams[_i].sends_alone);
    ck_assert_uint_eq(matches.receives_alone, streams[_i].receives_alone);
}

/* Rank 1 has recorded the second barrier and the third one only. */
TEST(calls_go_by_their_numbers)
{
    for (int i = 0; i < 3; i++) {
        made_collective(&made, MADE_BARRIER, -1, 100);
        if (i == 0)
            made.trace.processes[1].locations[0].count = 0;
    }
    expect_calls(2, 1);
    for (size_t i = 0; i < 2; i++) {
        ck_assert_uint_eq(matches.calls[i].parts[0].enter.event, 4 * (i + 1));
        ck_assert_uint_eq(matches.calls[i].parts[1].enter.event, 4 * i);
    }
}

/* A call of each rank that does not wait, from 0 to 10 ns. */
static void start_reductions(void)
{
    for (int rank = 0; rank < 2; rank++) {
        made_event(&made, rank, 0, (trace_event){.kind = TRACE_ENTER, .id = MADE_IALLREDUCE});
        made_event(&made, rank, 0, (trace_event){.kind = TRACE_COLLECTIVE, .partner = -1, .request = 5, .tag = 1});
        made_event(&made, rank, 10, (trace_event){.kind = TRACE_LEAVE, .id = MADE_IALLREDUCE});
    }
}

/*
 * Two threads of rank 0 send a message each, at once or in turn. Rank 1 posts two receives, and the second one is
 * complete first.
 */
enum { SENT_AT_ONCE, SENT_IN_TURN, SENDERS };
LOOP_TEST(messages_of_threads_at_once, SENDERS)
{
    const double second_ns = _i == SENT_AT_ONCE ? 510 : 1600;
    trace_event sent[] = {{.time_ns = made_local_ns(&clocks[0], second_ns), .id = MADE_SEND, .kind = TRACE_ENTER},
                          {.time_ns = made_local_ns(&clocks[0], second_ns + 50), .partner = 1, .kind = TRACE_SEND},
                          {.time_ns = made_local_ns(&clocks[0], second_ns + 50), .id = MADE_SEND, .kind = TRACE_LEAVE}};
    made_event(&made, 0, 500, (trace_event){.kind = TRACE_ENTER, .id = MADE_SEND});
    made_event(&made, 0, 1500, (trace_event){.kind = TRACE_SEND, .partner = 1});
    made_event(&made, 0, 1500, (trace_event){.kind = TRACE_LEAVE, .id = MADE_SEND});
    for (uint32_t request = 1; request <= 2; request++)
        made_event(&made, 1, 100 * request, (trace_event){.kind = TRACE_RECEIVE_POST, .request = request});
    made_event(&made, 1, 2000, (trace_event){.kind = TRACE_RECEIVE, .request = 2});
    made_event(&made, 1, 3000, (trace_event){.kind = TRACE_RECEIVE, .request = 1});
    trace_process *process = &made.trace.processes[0];
    trace_location *own = process->locations;
    trace_location both[2] = {own[0],
                              {.process = process, .rank = 0, .thread = 1, .count = COUNT_OF(sent), .events = sent}};
    process->locations = both;
    process->location_count = 2;
    made_match(&made, &matches);
    own[0].calls = both[0].calls;
    free(both[1].calls);
    process->locations = own;
    process->location_count = 1;
    ck_assert_uint_eq(matches.message_count, 2);
    ck_assert_uint_eq(matches.messages_at_once, _i == SENT_AT_ONCE ? 2 : 0);
    ck_assert_int_eq(matches.messages[0].send.at->thread, 0);
    ck_assert_uint_eq(matches.messages[0].receive.event, _i == SENT_AT_ONCE ? 2 : 3);
}

/* The wait of rank 1 is in its second thread. */
TEST(another_thread_completes_a_call)
{
    static trace_event waited[] = {{.time_ns = 0, .id = MADE_WAIT, .kind = TRACE_ENTER},
                                   {.time_ns = 0, .request = 5, .kind = TRACE_COLLECTIVE_DONE},
                                   {.time_ns = 0, .id = MADE_WAIT, .kind = TRACE_LEAVE}};
    start_reductions();
    made_event(&made, 0, 90, (trace_event){.kind = TRACE_COLLECTIVE_DONE, .request = 5});
    trace_location both[2] = {
        made.trace.processes[1].locations[0],
        {.process = &made.trace.processes[1], .rank = 1, .thread = 1, .count = COUNT_OF(waited), .events = waited}};
    trace_location *own = made.trace.processes[1].locations;
    for (int i = 0; i < COUNT_OF(waited); i++)
        waited[i].time_ns = made_local_ns(&clocks[1], 100);
    made.trace.processes[1].locations = both;
    made.trace.processes[1].location_count = 2;
    made_match(&made, &matches);
    own[0].calls = both[0].calls;
    free(both[1].calls);
    made.trace.processes[1].locations = own;
    made.trace.processes[1].location_count = 1;
    ck_assert_uint_eq(matches.call_count, 1);
    const trace_part *part = &matches.calls[0].parts[1];
    EXPECT(part->enter.at == &both[0] && part->wait.at == &both[1] && part->leave.at == &both[1] &&
               part->enter.event == 0 && part->wait.event == 0 && part->leave.event == 1,
           "wait %zu, leave %zu", part->wait.event, part->leave.event);
}

/* A call that does not wait ends where it is seen to be complete, after another one. */
TEST(calls_that_do_not_wait)
{
    made.calls = 1;
    start_reductions();
    made_collective(&made, MADE_BARRIER, -1, 100);
    for (int rank = 0; rank < 2; rank++)
        made_event(&made, rank, 900, (trace_event){.kind = TRACE_COLLECTIVE_DONE, .request = 5});
    made_event(&made, 1, 950, (trace_event){.kind = TRACE_ENTER, .id = MADE_BARRIER});
    made_event(&made, 1, 960, (trace_event){.kind = TRACE_COLLECTIVE, .partner = -1, .tag = 3});
    made_event(&made, 1, 960, (trace_event){.kind = TRACE_LEAVE, .id = MADE_BARRIER});
    expect_calls(2, 1);
    ck_assert_int_eq(matches.calls[0].function, MADE_IALLREDUCE);
    ck_assert_uint_eq(matches.calls[0].parts[0].enter.event, 0);
    ck_assert_uint_eq(matches.calls[0].parts[0].leave.event, 7);
    ck_assert_int_eq(matches.calls[1].function, MADE_BARRIER);
}

/* Two persistent requests, which the processes start in different orders. */
TEST(persistent_calls_in_any_order)
{
    for (int rank = 0; rank < 2; rank++)
        for (int i = 0; i < 4; i++) {
            const int32_t which = 1 + (i + rank) % 2;
            const uint32_t request = (uint32_t)i + 1;
            made_event(&made, rank, 10 * i, (trace_event){.kind = TRACE_ENTER, .id = MADE_WAIT});
            made_event(&made, rank, 10 * i,
                       (trace_event){.kind = TRACE_COLLECTIVE, .request = request, .tag = 1 + i / 2});
            made_event(&made, rank, 10 * i,
                       (trace_event){.kind = TRACE_COLLECTIVE_OUT, .id = MADE_BARRIER, .tag = which});
            made_event(&made, rank, 10 * i + 5, (trace_event){.kind = TRACE_COLLECTIVE_DONE, .request = request});
            made_event(&made, rank, 10 * i + 5, (trace_event){.kind = TRACE_LEAVE, .id = MADE_WAIT});
        }
    expect_calls(4, 0);
    for (size_t i = 0; i < 4; i++)
        ck_assert_uint_eq(matches.calls[i].parts[0].enter.event, 10 * (i % 2) + 5 * (i / 2));
    for (size_t i = 0; i < 4; i++)
        ck_assert_uint_eq(matches.calls[i].parts[1].enter.event, 10 * (i % 2) + 5 * (1 - i / 2));
}

/* The roots that both ranks name. Without a root in the other group, what a file has is no call. */
static const struct {
    int32_t roots[2];
    size_t calls;
} rooted[] = {{{0, TRACE_ROOT_SELF}, 1},
              {{TRACE_ROOT_SELF, 0}, 1},
              {{1, TRACE_ROOT_SELF}, 0},
              {{TRACE_ROOT_THIS_GROUP, 1}, 0},
              {{INT32_MAX, TRACE_ROOT_THIS_GROUP}, 0}};

LOOP_TEST(roots_are_of_the_other_group, COUNT_OF(rooted))
{
    made_bridge(&made);
    for (int rank = 0; rank < 2; rank++) {
        made_event(&made, rank, 0, (trace_event){.kind = TRACE_ENTER, .id = MADE_BCAST});
        made_event(&made, rank, 10,
                   (trace_event){.kind = TRACE_COLLECTIVE, .partner = rooted[_i].roots[rank], .tag = 1, .id = 1});
        made_event(&made, rank, 10, (trace_event){.kind = TRACE_COLLECTIVE_OUT, .id = MADE_BCAST});
        made_event(&made, rank, 10, (trace_event){.kind = TRACE_LEAVE, .id = MADE_BCAST});
    }
    expect_calls(rooted[_i].calls, 1 - rooted[_i].calls);
}

FIXTURE(begin_trace, end_trace)
