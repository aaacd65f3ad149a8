/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_overlaps.c - who waits for whom where a process begins a message, or an operation, and computes before it
 * completes it.
 */
#include "unit/support.h"
#include "analyzed.h"

enum { BUSY_NS = 1000000, BRIEF_NS = 30000, MESSAGE_BYTES = 1000 };

typedef enum { RECEIVES, SENDS, COMPLETES_SEND } way;

static void leave_at(made_trace *made, int rank, made_name function, double ns)
{
    made->now_ns[rank] = fmax(made->now_ns[rank] + RESULT_NS, ns);
    made_leave(made, rank, function);
}

/* A request of a message, which the call of this name begins. */
static trace_event message_event(made_name function, int partner, uint32_t request)
{
    const bool is_send = function == MADE_SEND || function == MADE_ISEND;
    return (trace_event){.kind = is_send ? TRACE_SEND : TRACE_RECEIVE_POST,
                         .partner = partner,
                         .tag = (int32_t)request,
                         .value = is_send ? MESSAGE_BYTES : 0,
                         .request = function == MADE_SEND ? 0 : request};
}

static void begin_request(made_trace *made, int rank, made_name function, uint32_t request)
{
    made_enter(made, rank, function);
    made_put(made, rank, message_event(function, 1 - rank, request));
    leave_at(made, rank, function, 0);
}

static void end_call(made_trace *made, int rank, made_name function, bool receives, uint32_t request, double ns)
{
    made->now_ns[rank] = fmax(made->now_ns[rank] + RESULT_NS, ns);
    if (receives || function == MADE_WAIT)
        made_put(made, rank,
                 (trace_event){.kind = receives ? TRACE_RECEIVE : TRACE_SEND_DONE,
                               .partner = 1 - rank,
                               .tag = (int32_t)request,
                               .value = receives ? MESSAGE_BYTES : 0,
                               .request = function == MADE_WAIT ? request : 0});
    made_leave(made, rank, function);
}

/*
 * Rank 1 begins its end of a message, computes, and waits for it. Rank 0 is in a call from soon after that beginning
 * until so long after rank 1 called MPI again, or after its own beginning. Returns for how long rank 1 let it be there.
 */
static int64_t exchange(made_trace *made, way how, uint32_t request, int64_t busy_ns, int64_t takes_ns, bool is_alone)
{
    made->now_ns[0] = made->now_ns[1] = fmax(made->now_ns[0], made->now_ns[1]) + WORK_NS;
    begin_request(made, 1, how == RECEIVES ? MADE_ISEND : MADE_IRECV, request);
    made_work(made, 0, LATENCY_NS);
    if (how == COMPLETES_SEND)
        begin_request(made, 0, MADE_ISEND, request);
    const made_name function = how == RECEIVES ? MADE_RECV : how == SENDS ? MADE_SEND : MADE_WAIT;
    const double began_ns = made->now_ns[0];
    made_enter(made, 0, function);
    if (how == SENDS)
        made_put(made, 0, message_event(MADE_SEND, 1, request));
    made_work(made, 1, (double)busy_ns);
    const double called_ns = made->now_ns[1];
    end_call(made, 0, function, how == RECEIVES, request,
             (is_alone ? began_ns : fmax(began_ns, called_ns)) + (double)takes_ns);
    made_enter(made, 1, MADE_WAIT);
    end_call(made, 1, MADE_WAIT, how != RECEIVES, request, made->now_ns[0]);
    return (int64_t)(called_ns - began_ns);
}

static const struct {
    const char *name;
    way how;
    int64_t busy_ns, takes_ns;
    int64_t other_ns; /* what another exchange takes while both are in MPI; 0: there is none */
    bool is_alone;    /* another one is complete while rank 1 computes */
    bool waits, is_known;
} busy_ends[] = {
    {"a receive", RECEIVES, BUSY_NS, LATENCY_NS, 0, false, true, true},
    {"a send", SENDS, BUSY_NS, LATENCY_NS, 0, false, true, true},
    {"a send with a request", COMPLETES_SEND, BUSY_NS, LATENCY_NS, 0, false, true, true},
    {"a brief computation", RECEIVES, BRIEF_NS, LATENCY_NS, 0, false, false, true},
    {"a receive that takes long", RECEIVES, BUSY_NS, BUSY_NS / 2, 0, false, false, false},
    {"a receive that takes as long as another one", RECEIVES, BUSY_NS, BUSY_NS / 2, BUSY_NS / 2, false, true, true},
    {"a receive that takes less than another one", RECEIVES, BUSY_NS, BUSY_NS / 2, BUSY_NS, false, false, false},
    {"a receive that takes very long", RECEIVES, INT64_C(2) * BRIEF_NS, BUSY_NS, 0, false, false, true},
    {"a receive after one without the sender", RECEIVES, BUSY_NS, LATENCY_NS, 0, true, false, true},
    {"a request after one without the receiver", COMPLETES_SEND, BUSY_NS, LATENCY_NS, 0, true, false, true},
    {"a send after one without the receiver", SENDS, BUSY_NS, LATENCY_NS, 0, true, true, true}};

static int64_t waited_ns(const wait_analysis *of)
{
    int64_t ns = 0;
    for (size_t i = 0; i < of->waits.count; i++)
        if (of->waits.list[i].state == STATE_PROGRESS && of->waits.list[i].lane == 0)
            ns += of->waits.list[i].end_ns - of->waits.list[i].begin_ns;
    return ns;
}

LOOP_TEST(the_other_end_of_a_message_may_compute, COUNT_OF(busy_ends))
{
    made_trace made;
    wait_analysis found;
    trace_matches matches;
    begin(&made, 2);
    made_calls(&made, MADE_INIT);
    if (busy_ends[_i].other_ns > 0)
        exchange(&made, busy_ends[_i].how, 1, 0, busy_ends[_i].other_ns, false);
    if (busy_ends[_i].is_alone)
        exchange(&made, busy_ends[_i].how, 1, BUSY_NS, LATENCY_NS, true);
    const int64_t busy_ns = exchange(&made, busy_ends[_i].how, 2, busy_ends[_i].busy_ns, busy_ends[_i].takes_ns, false);
    made_calls(&made, MADE_FINALIZE);
    made_records(&made, 0, 0);
    analyze(&found, &matches, &made, TRACE_GLOBAL);
    EXPECT(waited_ns(&found) == (busy_ends[_i].waits ? busy_ns : 0), "%s: it waits for %" PRId64 " ns, not %" PRId64,
           busy_ends[_i].name, waited_ns(&found), busy_ns);
    EXPECT(busy_ends[_i].is_known ? found.unseen_ns == 0 : found.unseen_ns >= busy_ns,
           "%s: %" PRId64 " ns are not attributed", busy_ends[_i].name, found.unseen_ns);
    forget(&found, &matches, &made);
}

/* Of three ranks that began an operation, rank 1 computes longest. The others end soon after it called MPI, or not. */
LOOP_TEST(an_operation_goes_on_when_the_last_one_calls, 2)
{
    made_trace made;
    wait_analysis found;
    trace_matches matches;
    begin(&made, 3);
    made_calls(&made, MADE_INIT);
    for (int rank = 0; rank < 3; rank++) {
        made_enter(&made, rank, MADE_IALLREDUCE);
        made_put(&made, rank,
                 (trace_event){.kind = TRACE_COLLECTIVE, .partner = -1, .value = 8, .tag = 1, .request = 1});
        made_put(&made, rank, (trace_event){.kind = TRACE_COLLECTIVE_OUT, .value = 8, .id = MADE_IALLREDUCE});
        leave_at(&made, rank, MADE_IALLREDUCE, 0);
        made_work(&made, rank, rank == 1 ? BUSY_NS : WORK_NS);
    }
    const double called_ns = made.now_ns[1], began_ns = made.now_ns[0];
    for (int rank = 0; rank < 3; rank++) {
        made_enter(&made, rank, MADE_WAIT);
        made.now_ns[rank] = called_ns + (_i == 0 ? LATENCY_NS : 2 * BUSY_NS);
        made_put(&made, rank, (trace_event){.kind = TRACE_COLLECTIVE_DONE, .request = 1});
        made_leave(&made, rank, MADE_WAIT);
    }
    made_calls(&made, MADE_FINALIZE);
    made_records(&made, 0, 0);
    analyze(&found, &matches, &made, TRACE_GLOBAL);
    EXPECT(waited_ns(&found) == (_i == 0 ? (int64_t)(called_ns - began_ns) : 0), "it waits for %" PRId64 " ns",
           waited_ns(&found));
    EXPECT((found.unseen_ns > 0) == (_i == 1), "%" PRId64 " ns are not attributed", found.unseen_ns);
    EXPECT(_i == 1 || (found.order[0]->key.rank == 1 && !found.order[0]->key.is_call), "the cause is another one");
    forget(&found, &matches, &made);
}
