/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * check_waits.c - writes traces of small random programs that never ran: check_waits DIR FIRST COUNT writes DIR/SEED
 * for each of so many seeds. Times are whole nanoseconds, and clocks are right, so a second computation finds the same.
 */
#include "pure/random.h"
#include "trace/test/unit/made_trace.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_RANKS = 5,
    MAX_SENT = 200,
    LATENCY_NS = 700,
    LARGE_BYTES = 100000,
    FIRST_PLACE = 0x1000,
    PLACES = 5,
    WORK_NS = 20000,
    POLL_NS = 1000000 /* more of it between two tests is no wait */
};

/* Communicators beside MPI_COMM_WORLD: ranks in a line, and rank 0 on one side of an intercommunicator. */
enum { LINE = 2, BRIDGE, COMMUNICATORS };

/* A message that was sent, and is not received yet. */
typedef struct {
    int source, destination, tag;
    double sent_ns;
    bool is_received;
} sent_message;

typedef struct {
    made_trace made;
    int ranks, sent_count;
    uint32_t requests[MAX_RANKS];
    int calls[COMMUNICATORS];
    sent_message sent[MAX_SENT];
} program;

static int draw(program *of, int below)
{
    return (int)(random_next(&of->made.chance) % (uint64_t)below);
}

static void draw_place(program *of)
{
    of->made.site = FIRST_PLACE + (uint64_t)draw(of, PLACES);
}

static void work(program *of, int rank)
{
    made_work(&of->made, rank, 1 + draw(of, WORK_NS));
}

static void enter(program *of, int rank, made_name function)
{
    draw_place(of);
    made_enter(&of->made, rank, function);
}

/* The function that completes a request takes until then, or some time. */
static void wait_until(program *of, int rank, double ns)
{
    of->made.now_ns[rank] = fmax(of->made.now_ns[rank] + 50, ns);
}

/* ---- What ranks do */

static int other_rank(program *of, int rank)
{
    return (rank + 1 + draw(of, of->ranks - 1)) % of->ranks;
}

static void send_message(program *of)
{
    const int source = draw(of, of->ranks), destination = other_rank(of, source);
    if (of->sent_count == MAX_SENT)
        return;
    work(of, source);
    draw_place(of);
    sent_message *message = &of->sent[of->sent_count];
    *message = (sent_message){.source = source, .destination = destination, .tag = of->sent_count++};
    message->sent_ns = made_send(&of->made, source, destination, message->tag);
}

/* One that is to be received; NULL: there is none. */
static sent_message *draw_sent(program *of)
{
    sent_message *message = of->sent_count > 0 ? &of->sent[draw(of, of->sent_count)] : NULL;
    if (!message || message->is_received)
        return NULL;
    message->is_received = true;
    if (draw(of, 2))
        work(of, message->destination);
    return message;
}

static void receive_message(program *of)
{
    const sent_message *message = draw_sent(of);
    if (!message)
        return;
    draw_place(of);
    made_receive(&of->made, message->destination, message->source, message->tag, message->sent_ns, LATENCY_NS);
}

/* MPI_Probe of a message that is received directly after it, or after others; it may find it late. */
static void probe_message(program *of)
{
    const int source = draw(of, of->ranks), destination = other_rank(of, source), tag = 1000 + draw(of, 1000000);
    made_work(&of->made, source, 1 + draw(of, 5 * WORK_NS));
    draw_place(of);
    const double sent_ns = made_send(&of->made, source, destination, tag);
    enter(of, destination, MADE_PROBE);
    wait_until(of, destination, sent_ns + LATENCY_NS + (draw(of, 4) ? 0 : draw(of, 2 * POLL_NS)));
    made_leave(&of->made, destination, MADE_PROBE);
    for (int others = draw(of, 2 * of->ranks); others > 0; others--)
        receive_message(of);
    draw_place(of);
    made_receive(&of->made, destination, source, tag, sent_ns, LATENCY_NS);
}

static void enter_test(program *of, int rank, int place)
{
    of->made.site = FIRST_PLACE + (uint64_t)place;
    made_enter(&of->made, rank, MADE_TEST);
}

static void leave_tests(program *of, int rank)
{
    made_put(&of->made, rank, (trace_event){.kind = TRACE_LEAVE, .id = MADE_TEST, .value = 1 + (uint64_t)draw(of, 9)});
}

/* MPI_Test at two places, in turn or at one after the other, until it succeeds there or at any place. */
static void test_message(program *of)
{
    const sent_message *message = draw_sent(of);
    if (!message)
        return;
    const int rank = message->destination, first = draw(of, PLACES), apart = 1 + draw(of, PLACES - 1);
    const int places[] = {first, (first + apart) % PLACES, draw(of, PLACES)};
    const bool is_in_turn = draw(of, 2);
    trace_event event = {
        .kind = TRACE_RECEIVE_POST, .partner = message->source, .tag = message->tag, .request = ++of->requests[rank]};
    enter(of, rank, MADE_IRECV);
    made_put(&of->made, rank, event);
    wait_until(of, rank, 0);
    made_leave(&of->made, rank, MADE_IRECV);
    work(of, rank);
    enter_test(of, rank, places[0]);
    wait_until(of, rank, 0);
    if (!is_in_turn)
        leave_tests(of, rank);
    made_work(&of->made, rank, draw(of, WORK_NS));
    enter_test(of, rank, places[1]);
    wait_until(of, rank, message->sent_ns - draw(of, WORK_NS));
    leave_tests(of, rank);
    if (is_in_turn)
        leave_tests(of, rank);
    made_work(&of->made, rank, draw(of, draw(of, 2) ? WORK_NS : 2 * POLL_NS));
    enter_test(of, rank, places[draw(of, 3)]);
    wait_until(of, rank, message->sent_ns + LATENCY_NS);
    event.kind = TRACE_RECEIVE;
    made_put(&of->made, rank, event);
    made_leave(&of->made, rank, MADE_TEST);
}

/* A message whose send waits for the receive, for long if it is not large; both may be requests. */
static void send_waiting(program *of)
{
    const int bytes = draw(of, 2) ? LARGE_BYTES : 8;
    const int source = draw(of, of->ranks), destination = other_rank(of, source), tag = 1000 + draw(of, 1000000);
    const bool is_request = draw(of, 2);
    const uint32_t send = is_request ? ++of->requests[source] : 0;
    const uint32_t receive = is_request ? ++of->requests[destination] : 0;
    work(of, source);
    made_work(&of->made, destination, 1 + draw(of, bytes == LARGE_BYTES ? WORK_NS : 10 * WORK_NS));
    const double sent_ns = of->made.now_ns[source], posted_ns = of->made.now_ns[destination];
    enter(of, source, is_request ? MADE_ISEND : MADE_SEND);
    made_put(&of->made, source,
             (trace_event){
                 .kind = TRACE_SEND, .partner = destination, .tag = tag, .value = (uint64_t)bytes, .request = send});
    enter(of, destination, is_request ? MADE_IRECV : MADE_RECV);
    if (is_request) {
        made_put(&of->made, destination,
                 (trace_event){.kind = TRACE_RECEIVE_POST, .partner = source, .tag = tag, .request = receive});
        wait_until(of, source, 0);
        made_leave(&of->made, source, MADE_ISEND);
        wait_until(of, destination, 0);
        made_leave(&of->made, destination, MADE_IRECV);
        work(of, source);
        enter(of, source, MADE_WAIT);
        work(of, destination);
        enter(of, destination, MADE_WAIT);
    }
    wait_until(of, source, posted_ns + LATENCY_NS);
    if (is_request)
        made_put(&of->made, source, (trace_event){.kind = TRACE_SEND_DONE, .request = send});
    made_leave(&of->made, source, is_request ? MADE_WAIT : MADE_SEND);
    wait_until(of, destination, fmax(sent_ns, posted_ns) + 2 * LATENCY_NS);
    made_put(&of->made, destination,
             (trace_event){
                 .kind = TRACE_RECEIVE, .partner = source, .tag = tag, .value = (uint64_t)bytes, .request = receive});
    made_leave(&of->made, destination, is_request ? MADE_WAIT : MADE_RECV);
}

/* One rank begins its end of a message, and computes. A call of the other one lasts until it calls MPI, and some time,
   or not as long. */
static void overlap_message(program *of)
{
    enum { RECEIVES, COMPLETES_SEND, SENDS, KINDS };
    const int kind = draw(of, KINDS), busy = draw(of, of->ranks), other = other_rank(of, busy);
    const int tag = 1000 + draw(of, 1000000), source = kind == RECEIVES ? busy : other;
    const uint32_t busy_request = ++of->requests[busy], request = kind == COMPLETES_SEND ? ++of->requests[other] : 0;
    const bool waits = draw(of, 3);
    trace_event send = {.kind = TRACE_SEND,
                        .partner = source == busy ? other : busy,
                        .tag = tag,
                        .value = draw(of, 2) ? LARGE_BYTES : 8,
                        .request = source == busy ? busy_request : request};
    trace_event receive = {.kind = TRACE_RECEIVE, .partner = source, .tag = tag, .value = send.value};
    work(of, busy);
    enter(of, busy, kind == RECEIVES ? MADE_ISEND : MADE_IRECV);
    made_put(&of->made, busy,
             kind == RECEIVES
                 ? send
                 : (trace_event){.kind = TRACE_RECEIVE_POST, .partner = source, .tag = tag, .request = busy_request});
    const double begun_ns = of->made.now_ns[busy];
    wait_until(of, busy, 0);
    made_leave(&of->made, busy, kind == RECEIVES ? MADE_ISEND : MADE_IRECV);
    made_work(&of->made, busy, 1 + draw(of, 20 * WORK_NS));
    const double until_ns = of->made.now_ns[busy] + (draw(of, 2) ? LATENCY_NS : draw(of, 20 * WORK_NS));
    if (kind == COMPLETES_SEND) {
        enter(of, other, MADE_ISEND);
        made_put(&of->made, other, send);
        wait_until(of, other, 0);
        made_leave(&of->made, other, MADE_ISEND);
        work(of, other);
    }
    const made_name function = kind == RECEIVES ? MADE_RECV : kind == SENDS ? MADE_SEND : MADE_WAIT;
    enter(of, other, function);
    if (kind == SENDS)
        made_put(&of->made, other, send);
    wait_until(of, other, waits ? until_ns : begun_ns + LATENCY_NS);
    if (kind == RECEIVES)
        made_put(&of->made, other, receive);
    else if (kind == COMPLETES_SEND)
        made_put(&of->made, other, (trace_event){.kind = TRACE_SEND_DONE, .request = request});
    made_leave(&of->made, other, function);
    enter(of, busy, MADE_WAIT);
    wait_until(of, busy, of->made.now_ns[other]);
    receive.request = busy_request;
    made_put(&of->made, busy,
             kind == RECEIVES ? (trace_event){.kind = TRACE_SEND_DONE, .request = busy_request} : receive);
    made_leave(&of->made, busy, MADE_WAIT);
}

/* A call that accesses a window of all, and takes until a time, or some. target -1: all. */
static void call_window(program *of, int rank, made_name function, trace_access mode, int target, int bytes,
                        double until_ns)
{
    trace_event event = {.kind = TRACE_ACCESS, .partner = target, .value = (uint64_t)bytes};
    event.mode = mode;
    enter(of, rank, function);
    wait_until(of, rank, until_ns);
    made_put(&of->made, rank, event);
    made_leave(&of->made, rank, function);
}

/* An epoch of a window of all. MPI_Win_start waits for MPI_Win_post, or MPI_Win_complete does, or neither. */
static void access_window(program *of)
{
    enum { START_WAITS, COMPLETE_WAITS, WAYS = 3 };
    const int origin = draw(of, of->ranks), target = other_rank(of, origin), way = draw(of, WAYS);
    const uint32_t request = ++of->requests[origin];
    work(of, origin);
    work(of, target);
    const double granted_ns = of->made.now_ns[target] + LATENCY_NS;
    enter(of, target, MADE_WIN_POST);
    made_put(&of->made, target, (trace_event){.kind = TRACE_SEND, .partner = origin, .tag = TRACE_TAG_POST});
    wait_until(of, target, 0);
    made_leave(&of->made, target, MADE_WIN_POST);
    enter(of, origin, MADE_WIN_START);
    made_put(&of->made, origin,
             (trace_event){.kind = TRACE_RECEIVE_POST, .partner = -1, .tag = TRACE_TAG_POST, .request = request});
    wait_until(of, origin, way == START_WAITS ? granted_ns : 0);
    made_leave(&of->made, origin, MADE_WIN_START);
    if (draw(of, 2))
        call_window(of, origin, MADE_PUT, TRACE_PUT, target, 8, 0);
    work(of, origin);
    const double complete_ns = of->made.now_ns[origin] + LATENCY_NS;
    enter(of, origin, MADE_WIN_COMPLETE);
    made_put(&of->made, origin, (trace_event){.kind = TRACE_SEND, .partner = target, .tag = TRACE_TAG_COMPLETE});
    wait_until(of, origin, way == COMPLETE_WAITS ? granted_ns : 0);
    made_put(&of->made, origin,
             (trace_event){.kind = TRACE_RECEIVE, .partner = target, .tag = TRACE_TAG_POST, .request = request});
    made_leave(&of->made, origin, MADE_WIN_COMPLETE);
    work(of, target);
    enter(of, target, MADE_WIN_WAIT);
    wait_until(of, target, complete_ns);
    made_put(&of->made, target, (trace_event){.kind = TRACE_RECEIVE, .partner = origin, .tag = TRACE_TAG_COMPLETE});
    made_leave(&of->made, target, MADE_WIN_WAIT);
}

/*
 * Two ranks ask for locks of one target, or of all, the second one while the first one has it. If the locks exclude
 * each other, the second one waits in one of its calls, which may be any.
 */
static void lock_window(program *of)
{
    enum { LOCK_WAITS, FLUSH_WAITS, UNLOCK_WAITS, NOBODY_WAITS, WAYS };
    const int first = draw(of, of->ranks), second = other_rank(of, first), way = draw(of, WAYS);
    const int targets[2] = {draw(of, of->ranks), draw(of, of->ranks)};
    const int asked[2] = {draw(of, 4) ? targets[0] : -1, draw(of, 4) ? targets[0] : draw(of, 2) ? -1 : targets[1]};
    const trace_access locks[2] = {asked[0] >= 0 && draw(of, 2) ? TRACE_LOCK_EXCLUSIVE : TRACE_LOCK_SHARED,
                                   asked[1] >= 0 && draw(of, 4) ? TRACE_LOCK_EXCLUSIVE : TRACE_LOCK_SHARED};
    work(of, first);
    call_window(of, first, MADE_WIN_LOCK, locks[0], asked[0], 0, 0);
    call_window(of, first, MADE_WIN_FLUSH, TRACE_FLUSH, draw(of, 2) ? asked[0] : -1, 0, 0);
    of->made.now_ns[second] = fmax(of->made.now_ns[second], of->made.now_ns[first]);
    work(of, first);
    const double released_ns = of->made.now_ns[first] + LATENCY_NS;
    call_window(of, first, MADE_WIN_UNLOCK, TRACE_UNLOCK, asked[0], 0, 0);
    call_window(of, second, MADE_WIN_LOCK, locks[1], asked[1], 0, way == LOCK_WAITS ? released_ns : 0);
    if (draw(of, 2))
        work(of, second);
    if (draw(of, 2))
        call_window(of, second, MADE_WIN_FLUSH, TRACE_FLUSH_LOCAL, asked[1], 0, draw(of, 2) ? released_ns : 0);
    if (draw(of, 2))
        call_window(of, second, MADE_WIN_FLUSH, TRACE_FLUSH, asked[1], 0, way == FLUSH_WAITS ? released_ns : 0);
    work(of, second);
    call_window(of, second, MADE_WIN_UNLOCK, TRACE_UNLOCK, asked[1], 0, way == UNLOCK_WAITS ? released_ns : 0);
}

/* The target of an access computes. What is small may be complete before the target calls MPI. */
static void access_busy_target(program *of)
{
    const int origin = draw(of, of->ranks), target = other_rank(of, origin);
    const bool waits = draw(of, 2);
    const trace_access mode = (trace_access)draw(of, TRACE_UPDATE + 1);
    work(of, origin);
    call_window(of, origin, MADE_WIN_LOCK, TRACE_LOCK_SHARED, target, 0, 0);
    call_window(of, origin, MADE_PUT, mode, target, waits && draw(of, 2) ? LARGE_BYTES : 8, 0);
    made_work(&of->made, target, 1 + draw(of, 20 * WORK_NS));
    const double called_ns = of->made.now_ns[target];
    if (draw(of, 2))
        work(of, origin);
    if (draw(of, 2))
        call_window(of, origin, MADE_WIN_FLUSH, TRACE_FLUSH, draw(of, 2) ? target : -1, 0,
                    waits ? called_ns + LATENCY_NS : 0);
    call_window(of, origin, MADE_WIN_UNLOCK, TRACE_UNLOCK, target, 0, waits ? called_ns + LATENCY_NS : 0);
    call_window(of, target, MADE_WIN_LOCK, TRACE_LOCK_SHARED, target, 0, 0);
    call_window(of, target, MADE_WIN_UNLOCK, TRACE_UNLOCK, target, 0, 0);
}

/* The target of an access is in MPI. */
static void access_waiting_target(program *of)
{
    const int origin = draw(of, of->ranks), target = other_rank(of, origin);
    const trace_access mode = (trace_access)draw(of, TRACE_UPDATE + 1);
    of->made.now_ns[origin] = fmax(of->made.now_ns[origin], of->made.now_ns[target]);
    work(of, origin);
    call_window(of, target, MADE_WIN_FLUSH, TRACE_FLUSH, target, 0, of->made.now_ns[origin] + LATENCY_NS);
    call_window(of, origin, MADE_WIN_LOCK, TRACE_LOCK_SHARED, target, 0, 0);
    call_window(of, origin, MADE_PUT, mode, target, LARGE_BYTES, 0);
    call_window(of, origin, MADE_WIN_UNLOCK, TRACE_UNLOCK, target, 0, 0);
}

static void all_work(program *of)
{
    for (int rank = 0; rank < of->ranks; rank++)
        work(of, rank);
}

static void call_collective(program *of)
{
    static const made_name functions[] = {MADE_BARRIER, MADE_ALLREDUCE, MADE_BCAST,
                                          MADE_REDUCE,  MADE_SCAN,      MADE_ALLTOALLV};
    const made_name function = functions[draw(of, sizeof functions / sizeof functions[0])];
    const bool has_root = function == MADE_BCAST || function == MADE_REDUCE;
    all_work(of);
    draw_place(of);
    made_collective(&of->made, function, has_root ? draw(of, of->ranks) : -1, LATENCY_NS);
}

/* Each rank leaves when those have entered that it is to wait for. */
static void call_on(program *of, made_name function, uint32_t communicator, bool (*waits_for)(int rank, int other))
{
    double entered_ns[MAX_RANKS];
    all_work(of);
    draw_place(of);
    of->calls[communicator]++;
    for (int rank = 0; rank < of->ranks; rank++) {
        entered_ns[rank] = of->made.now_ns[rank];
        made_enter(&of->made, rank, function);
    }
    for (int rank = 0; rank < of->ranks; rank++) {
        wait_until(of, rank, 0);
        for (int other = 0; other < of->ranks; other++)
            if (waits_for(rank, other))
                wait_until(of, rank, entered_ns[other] + LATENCY_NS);
        made_put(&of->made, rank,
                 (trace_event){.kind = TRACE_COLLECTIVE,
                               .partner = -1,
                               .value = 8,
                               .tag = of->calls[communicator],
                               .id = communicator});
        made_put(&of->made, rank, (trace_event){.kind = TRACE_COLLECTIVE_OUT, .value = 8, .id = (uint16_t)function});
        made_leave(&of->made, rank, function);
    }
}

static bool are_neighbors(int rank, int other)
{
    return other == rank - 1 || other == rank + 1;
}

static void call_of_neighbors(program *of)
{
    call_on(of, MADE_NEIGHBOR_ALLGATHER, LINE, are_neighbors);
}

static bool are_of_two_groups(int rank, int other)
{
    return (rank == 0) != (other == 0);
}

static void call_between_groups(program *of)
{
    call_on(of, MADE_ALLGATHER, BRIDGE, are_of_two_groups);
}

static trace_communicator communicator_of(uint32_t context, int first, int size)
{
    trace_communicator made = {.context = context, .size = size, .ranks = calloc((size_t)size, sizeof(int))};
    for (int i = 0; made.ranks && i < size; i++)
        made.ranks[i] = first + i;
    return made;
}

static void add_communicators(trace_process *process, int rank, int ranks)
{
    process->communicators = realloc(process->communicators, COMMUNICATORS * sizeof process->communicators[0]);
    if (!process->communicators)
        abort();
    process->communicator_count = COMMUNICATORS;
    process->communicators[1] = (trace_communicator){.size = 0};
    trace_communicator *line = &process->communicators[LINE], *bridge = &process->communicators[BRIDGE];
    *line = communicator_of(1, 0, ranks);
    line->neighbor_count = 2;
    line->neighbors = malloc(2 * sizeof(int));
    if (line->neighbors) {
        line->neighbors[0] = rank - 1;
        line->neighbors[1] = rank + 1 < ranks ? rank + 1 : -1;
    }
    *bridge = rank == 0 ? communicator_of(2, 1, ranks - 1) : communicator_of(2, 0, 1);
    bridge->is_inter = true;
}

/* MPI_Iallreduce, computation, which may be long on one rank for which the others wait then, or not, and MPI_Wait. */
static void call_nonblocking(program *of)
{
    const int busy = draw(of, of->ranks), takes_ns = draw(of, 2) ? LATENCY_NS : draw(of, 20 * WORK_NS);
    const uint64_t bytes = UINT64_C(8) << draw(of, 8);
    const bool waits = draw(of, 2);
    double last_ns = 0;
    all_work(of);
    of->made.calls++;
    for (int rank = 0; rank < of->ranks; rank++) {
        last_ns = fmax(last_ns, of->made.now_ns[rank]);
        enter(of, rank, MADE_IALLREDUCE);
        made_put(&of->made, rank,
                 (trace_event){.kind = TRACE_COLLECTIVE,
                               .partner = -1,
                               .value = bytes,
                               .tag = of->made.calls,
                               .request = ++of->requests[rank]});
        made_put(&of->made, rank, (trace_event){.kind = TRACE_COLLECTIVE_OUT, .value = bytes, .id = MADE_IALLREDUCE});
        wait_until(of, rank, 0);
        made_leave(&of->made, rank, MADE_IALLREDUCE);
    }
    all_work(of);
    made_work(&of->made, busy, draw(of, 20 * WORK_NS));
    const double called_ns = of->made.now_ns[busy];
    for (int rank = 0; rank < of->ranks; rank++) {
        enter(of, rank, MADE_WAIT);
        wait_until(of, rank, fmax(last_ns + LATENCY_NS, waits && rank != busy ? called_ns + takes_ns : 0));
        made_put(&of->made, rank, (trace_event){.kind = TRACE_COLLECTIVE_DONE, .request = of->requests[rank]});
        made_leave(&of->made, rank, MADE_WAIT);
    }
}

static void name_places(trace_process *process)
{
    char name[32];
    process->sites = calloc(PLACES, sizeof process->sites[0]);
    process->site_count = process->sites ? PLACES : 0;
    for (size_t i = 0; i < process->site_count; i++) {
        snprintf(name, sizeof name, "place_%zu", i);
        process->sites[i] = (trace_site){FIRST_PLACE + i, strdup(name)};
    }
}

/* MPI_Init or MPI_Finalize: ranks wait in it for the last one, or leave at once. */
static void call_edge(program *of, made_name function, bool waits)
{
    double last_ns = 0;
    for (int rank = 0; rank < of->ranks; rank++)
        last_ns = fmax(last_ns, of->made.now_ns[rank]);
    for (int rank = 0; rank < of->ranks; rank++) {
        enter(of, rank, function);
        wait_until(of, rank, waits ? last_ns + LATENCY_NS : 0);
        made_leave(&of->made, rank, function);
    }
}

static void make(program *of, uint64_t seed)
{
    static void (*const steps[])(program *) = {
        send_message,       send_message,          receive_message,     receive_message,
        test_message,       send_waiting,          call_collective,     call_nonblocking,
        access_window,      call_of_neighbors,     call_between_groups, lock_window,
        access_busy_target, access_waiting_target, probe_message,       overlap_message};
    made_clock clocks[MAX_RANKS] = {{0}};
    *of = (program){.ranks = 2 + (int)(seed % (MAX_RANKS - 1))};
    for (int rank = 0; rank < of->ranks; rank++)
        clocks[rank].offset_ns = INT64_C(1000003) * rank;
    made_begin(&of->made, of->ranks, clocks, seed);
    for (int rank = 0; rank < of->ranks; rank++)
        made_work(&of->made, rank, draw(of, 2) ? draw(of, WORK_NS) : 0);
    call_edge(of, MADE_INIT, draw(of, 2));
    for (int step = 10 + draw(of, 50); step > 0; step--)
        steps[draw(of, sizeof steps / sizeof steps[0])](of);
    all_work(of);
    call_edge(of, MADE_FINALIZE, draw(of, 2));
    made_records(&of->made, 0, 0);
    for (int rank = 0; rank < of->ranks; rank++) {
        name_places(&of->made.trace.processes[rank]);
        add_communicators(&of->made.trace.processes[rank], rank, of->ranks);
    }
}

int main(int argc, char **argv)
{
    static program one;
    char path[4096], message[TRACE_MESSAGE_SIZE];
    if (argc != 4) {
        fputs("usage: check_waits DIR FIRST COUNT\n", stderr);
        return 2;
    }
    const uint64_t first = strtoull(argv[2], NULL, 10), count = strtoull(argv[3], NULL, 10);
    for (uint64_t seed = first; seed < first + count; seed++) {
        make(&one, seed);
        snprintf(path, sizeof path, "%s/%" PRIu64, argv[1], seed);
        const bool good = trace_write(&one.made.trace, path, message);
        made_free(&one.made);
        if (!good) {
            fprintf(stderr, "check_waits: %s\n", message);
            return 1;
        }
    }
    return 0;
}
