/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_overlaps.c - who waits for whom where a process begins a message, or an operation, and computes before it
 * completes it.
 */
#include "unit/support.h"
#include "analyzed.h"

#include <time.h>

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

/* A call that does nothing for messages. */
static void call_local(made_trace *made, int rank)
{
    free(made->trace.names[MADE_PROBE]);
    made->trace.names[MADE_PROBE] = strdup("MPI_Wtime");
    made_enter(made, rank, MADE_PROBE);
    made_leave(made, rank, MADE_PROBE);
}

/*
 * Rank 1 begins its end of a message, computes, and waits for it. Rank 0 is in a call from soon after that beginning
 * until so long after rank 1 called MPI again, or after its own beginning. Returns for how long rank 1 let it be there.
 * is_timed: rank 1 asks for the time before and after it computes.
 */
static int64_t exchange(made_trace *made, way how, uint32_t request, int64_t busy_ns, int64_t takes_ns, bool is_alone,
                        bool is_timed)
{
    made->now_ns[0] = made->now_ns[1] = fmax(made->now_ns[0], made->now_ns[1]) + WORK_NS;
    begin_request(made, 1, how == RECEIVES ? MADE_ISEND : MADE_IRECV, request);
    if (is_timed)
        call_local(made, 1);
    made_work(made, 0, LATENCY_NS);
    if (how == COMPLETES_SEND)
        begin_request(made, 0, MADE_ISEND, request);
    const made_name function = how == RECEIVES ? MADE_RECV : how == SENDS ? MADE_SEND : MADE_WAIT;
    const double began_ns = made->now_ns[0];
    made_enter(made, 0, function);
    if (how == SENDS)
        made_put(made, 0, message_event(MADE_SEND, 1, request));
    made_work(made, 1, (double)busy_ns);
    if (is_timed)
        call_local(made, 1);
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
    bool waits, is_known, is_timed;
} busy_ends[] = {
    {"a receive", RECEIVES, BUSY_NS, LATENCY_NS, 0, false, true, true, false},
    {"a send", SENDS, BUSY_NS, LATENCY_NS, 0, false, true, true, false},
    {"a send with a request", COMPLETES_SEND, BUSY_NS, LATENCY_NS, 0, false, true, true, false},
    {"a receive, of one that asks for the time", RECEIVES, BUSY_NS, LATENCY_NS, 0, false, true, true, true},
    {"such a receive after one without the sender", RECEIVES, BUSY_NS, LATENCY_NS, 0, true, false, true, true},
    {"a brief computation", RECEIVES, BRIEF_NS, LATENCY_NS, 0, false, false, true, false},
    {"a receive that takes long", RECEIVES, BUSY_NS, BUSY_NS / 2, 0, false, false, false, false},
    {"a receive that takes as long as another one", RECEIVES, BUSY_NS, BUSY_NS / 2, BUSY_NS / 2, false, true, true,
     false},
    {"a receive that takes less than another one", RECEIVES, BUSY_NS, BUSY_NS / 2, BUSY_NS, false, false, false, false},
    {"a receive that takes very long", RECEIVES, INT64_C(2) * BRIEF_NS, BUSY_NS, 0, false, false, true, false},
    {"a receive after one without the sender", RECEIVES, BUSY_NS, LATENCY_NS, 0, true, false, true, false},
    {"a request after one without the receiver", COMPLETES_SEND, BUSY_NS, LATENCY_NS, 0, true, false, true, false},
    {"a send after one without the receiver", SENDS, BUSY_NS, LATENCY_NS, 0, true, true, true, false}};

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
        exchange(&made, busy_ends[_i].how, 1, 0, busy_ends[_i].other_ns, false, false);
    if (busy_ends[_i].is_alone)
        exchange(&made, busy_ends[_i].how, 1, BUSY_NS, LATENCY_NS, true, busy_ends[_i].is_timed);
    const int64_t busy_ns = exchange(&made, busy_ends[_i].how, 2, busy_ends[_i].busy_ns, busy_ends[_i].takes_ns, false,
                                     busy_ends[_i].is_timed);
    made_calls(&made, MADE_FINALIZE);
    made_records(&made, 0, 0);
    analyze(&found, &matches, &made, TRACE_GLOBAL);
    EXPECT(waited_ns(&found) == (busy_ends[_i].waits ? busy_ns : 0), "%s: it waits for %" PRId64 " ns, not %" PRId64,
           busy_ends[_i].name, waited_ns(&found), busy_ns);
    EXPECT(busy_ends[_i].is_known ? found.unseen_ns == 0 : found.unseen_ns >= busy_ns,
           "%s: %" PRId64 " ns are not attributed", busy_ends[_i].name, found.unseen_ns);
    forget(&found, &matches, &made);
}

/* A rank begins an operation of all, the one of this number. */
static void begin_operation(made_trace *made, int rank, uint32_t number, uint64_t bytes)
{
    made_enter(made, rank, MADE_IALLREDUCE);
    made_put(made, rank,
             (trace_event){
                 .kind = TRACE_COLLECTIVE, .partner = -1, .value = bytes, .tag = (int32_t)number, .request = number});
    made_put(made, rank, (trace_event){.kind = TRACE_COLLECTIVE_OUT, .value = bytes, .id = MADE_IALLREDUCE});
    leave_at(made, rank, MADE_IALLREDUCE, 0);
}

/* It completes those of these numbers. */
static void end_operations(made_trace *made, int rank, uint32_t first, uint32_t last, double ns)
{
    made_enter(made, rank, MADE_WAIT);
    made->now_ns[rank] = fmax(made->now_ns[rank] + RESULT_NS, ns);
    for (uint32_t number = first; number <= last; number++)
        made_put(made, rank, (trace_event){.kind = TRACE_COLLECTIVE_DONE, .request = number});
    made_leave(made, rank, MADE_WAIT);
}

/*
 * Of three ranks that began an operation, rank 1 computes longest. The others end it so long after rank 1 called MPI,
 * or after they did: rank 0, or both of them. Returns for how long rank 1 let rank 0 be there.
 */
static int64_t operate(made_trace *made, uint32_t number, uint64_t bytes, int64_t takes_ns, int alone)
{
    const double from_ns = fmax(fmax(made->now_ns[0], made->now_ns[1]), made->now_ns[2]) + WORK_NS;
    for (int rank = 0; rank < 3; rank++) {
        made->now_ns[rank] = from_ns;
        begin_operation(made, rank, number, bytes);
        made_work(made, rank, rank == 1 ? BUSY_NS : WORK_NS);
    }
    const double called_ns = made->now_ns[1], began_ns = made->now_ns[0];
    for (int rank = 0; rank < 3; rank++) {
        const bool is_alone = rank == 0 ? alone > 0 : rank == 2 && alone > 1;
        end_operations(made, rank, number, number, (is_alone ? made->now_ns[rank] : called_ns) + (double)takes_ns);
    }
    return (int64_t)(called_ns - began_ns);
}

static const struct {
    const char *name;
    int64_t takes_ns;
    int alone; /* so many end another one while rank 1 computes */
    uint64_t alone_bytes;
    bool waits, is_known;
} busy_operations[] = {{"soon", LATENCY_NS, 0, 0, true, true},
                       {"late", INT64_C(2) * BUSY_NS, 0, 0, false, false},
                       {"soon, after one that did without rank 1", LATENCY_NS, 2, 8, false, true},
                       {"late, after one that did without rank 1", INT64_C(2) * BUSY_NS, 2, 8, false, true},
                       {"soon, after a smaller one that did without rank 1", LATENCY_NS, 2, 4, true, true},
                       {"soon, after one in which only rank 0 did without rank 1", LATENCY_NS, 1, 8, true, true}};

LOOP_TEST(an_operation_goes_on_when_the_last_one_calls, COUNT_OF(busy_operations))
{
    made_trace made;
    wait_analysis found;
    trace_matches matches;
    begin(&made, 3);
    made_calls(&made, MADE_INIT);
    if (busy_operations[_i].alone > 0)
        operate(&made, 1, busy_operations[_i].alone_bytes, LATENCY_NS, busy_operations[_i].alone);
    const int64_t busy_ns = operate(&made, 2, 8, busy_operations[_i].takes_ns, 0);
    made_calls(&made, MADE_FINALIZE);
    made_records(&made, 0, 0);
    analyze(&found, &matches, &made, TRACE_GLOBAL);
    EXPECT(waited_ns(&found) == (busy_operations[_i].waits ? busy_ns : 0), "%s: it waits for %" PRId64 " ns",
           busy_operations[_i].name, waited_ns(&found));
    EXPECT((found.unseen_ns == 0) == busy_operations[_i].is_known, "%s: %" PRId64 " ns are not attributed",
           busy_operations[_i].name, found.unseen_ns);
    EXPECT(!busy_operations[_i].waits || (found.order[0]->key.rank == 1 && !found.order[0]->key.is_call),
           "%s: the cause is another one", busy_operations[_i].name);
    forget(&found, &matches, &made);
}

/* Two ranks begin operations one after the other, rank 1 computes, and one call completes all. Returns what their
   analysis takes of a processor, in seconds. */
static double analyze_many(uint32_t count)
{
    made_trace made;
    wait_analysis found;
    trace_matches matches;
    begin(&made, 2);
    made_calls(&made, MADE_INIT);
    for (uint32_t number = 1; number <= count; number++)
        for (int rank = 0; rank < 2; rank++)
            begin_operation(&made, rank, number, 8);
    made_work(&made, 1, BUSY_NS);
    const double called_ns = made.now_ns[1], began_ns = made.now_ns[0];
    for (int rank = 0; rank < 2; rank++)
        end_operations(&made, rank, 1, count, called_ns + LATENCY_NS);
    made_calls(&made, MADE_FINALIZE);
    made_records(&made, 0, 0);
    const clock_t from = clock();
    analyze(&found, &matches, &made, TRACE_GLOBAL);
    const double took_s = (double)(clock() - from) / CLOCKS_PER_SEC;
    EXPECT(waited_ns(&found) == (int64_t)(called_ns - began_ns), "of %" PRIu32 ": it waits for %" PRId64 " ns", count,
           waited_ns(&found));
    forget(&found, &matches, &made);
    return took_s;
}

/* Where each operation looks at all calls until it ends, four times as many take 16 times as long. */
TEST(many_operations_may_be_under_way)
{
    enum { FEW = 10000, MORE = 4, LEAST_MS = 20 };
    const double few_s = fmax(analyze_many(FEW), LEAST_MS / 1e3), many_s = analyze_many(MORE * FEW);
    EXPECT(many_s < (MORE + MORE * MORE) / 2.0 * few_s, "%d: %.3f s, %d: %.3f s", FEW, few_s, MORE * FEW, many_s);
}
