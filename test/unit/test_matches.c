/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_matches.c - which ends become messages and calls: by posting and by number, where requests complete late, in
 * another thread or never, and where only a part of the run was recorded.
 */
#include "made_trace.h"
#include "support.h"
#include "trace/bulk.h"

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

static void expect_messages(size_t count, size_t sends_alone, size_t receives_alone)
{
    made_match(&made, &matches);
    ck_assert_uint_eq(matches.message_count, count);
    ck_assert_uint_eq(matches.sends_alone, sends_alone);
    ck_assert_uint_eq(matches.receives_alone, receives_alone);
}

static void expect_message(size_t i, size_t send, size_t receive)
{
    const trace_message *found = &matches.messages[i];
    EXPECT(found->send.event == send && found->receive.event == receive, "message %zu: %zu, %zu", i, found->send.event,
           found->receive.event);
}

static void expect_calls(size_t count, size_t incomplete)
{
    made_match(&made, &matches);
    ck_assert_uint_eq(matches.call_count, count);
    ck_assert_uint_eq(matches.calls_incomplete, incomplete);
}

/* Receives that were posted in one order and are complete in another; a send that was canceled. */
TEST(order_is_that_of_posting)
{
    for (int i = 0; i < 3; i++) {
        made_event(&made, 0, 100 * i, (trace_event){.kind = TRACE_ENTER, .id = MADE_ISEND});
        made_event(&made, 0, 100 * i, (trace_event){.kind = TRACE_SEND, .partner = 1, .request = (uint32_t)i + 1});
        made_event(&made, 0, 100 * i + 50, (trace_event){.kind = TRACE_LEAVE, .id = MADE_ISEND});
    }
    made_event(&made, 0, 400, (trace_event){.kind = TRACE_CANCELED, .request = 2});
    made_event(&made, 1, 10, (trace_event){.kind = TRACE_RECEIVE_POST, .request = 7});
    made_event(&made, 1, 20, (trace_event){.kind = TRACE_RECEIVE_POST, .request = 8});
    made_event(&made, 1, 1000, (trace_event){.kind = TRACE_RECEIVE, .request = 8});
    made_event(&made, 1, 2000, (trace_event){.kind = TRACE_RECEIVE, .request = 7});
    made_event(&made, 1, 3000, (trace_event){.kind = TRACE_RECEIVE});
    expect_messages(2, 0, 1);
    expect_message(0, 1, 3);
    expect_message(1, 7, 2);
}

/* A message of 0 to 1: its ends. */
static void put_send(double at_ns)
{
    made_event(&made, 0, at_ns, (trace_event){.kind = TRACE_SEND, .partner = 1});
}

static void put_receive(double at_ns, uint32_t request)
{
    made_event(&made, 1, at_ns, (trace_event){.kind = TRACE_RECEIVE, .request = request});
}

/* A call that waits posts when it is entered: here before another receive, which is complete earlier. */
TEST(a_call_that_waits_posts_at_its_beginning)
{
    put_send(0);
    put_send(10);
    made_event(&made, 1, 20, (trace_event){.kind = TRACE_ENTER, .id = MADE_RECV});
    made_event(&made, 1, 30, (trace_event){.kind = TRACE_RECEIVE_POST, .request = 7});
    put_receive(40, 7);
    put_receive(50, 0);
    made_event(&made, 1, 50, (trace_event){.kind = TRACE_LEAVE, .id = MADE_RECV});
    expect_messages(2, 0, 0);
    expect_message(0, 0, 3);
    expect_message(1, 1, 2);
}

/* A receive that nobody saw complete had the first message. */
TEST(a_receive_without_end_keeps_its_place)
{
    put_send(0);
    put_send(10);
    made_event(&made, 1, 20, (trace_event){.kind = TRACE_RECEIVE_POST, .request = 7});
    made_event(&made, 1, 30, (trace_event){.kind = TRACE_RECEIVE_POST, .request = 8});
    put_receive(40, 8);
    expect_messages(1, 1, 0);
    expect_message(0, 1, 2);
}

static void add_text(const char *text)
{
    for (int rank = 0; rank < made.trace.size; rank++) {
        free(made.trace.processes[rank].text);
        made.trace.processes[rank].text = strdup(text);
    }
}

/* From the middle of the run on: the first receive is of a message that was sent before. */
TEST(a_part_of_a_run_is_matched_from_its_end)
{
    add_text("from_ns 1000\n");
    put_receive(10, 0);
    for (int i = 0; i < 3; i++) {
        put_send(20 + 100 * i);
        put_receive(90 + 100 * i, 0);
    }
    made_records(&made, 0, 1);
    expect_messages(3, 0, 1);
    for (size_t i = 0; i < 3; i++)
        expect_message(i, i, i + 1);
}

/* As many sends as receives, but the first receive and the last send have no counterpart. */
TEST(no_message_of_a_part_is_received_before_it_is_sent)
{
    add_text("from_ns 1000\nto_ns 4000\n");
    for (int i = 0; i < 3; i++) {
        put_receive(10000.0 * i, 0);
        put_send(10000.0 * i + 3000);
    }
    made_records(&made, 0, 1);
    expect_messages(2, 1, 1);
    expect_message(0, 0, 1);
    expect_message(1, 1, 2);
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
    bulk_free(both[1].calls);
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

FIXTURE(begin_trace, end_trace)
