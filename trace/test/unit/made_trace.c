/* SPDX-License-Identifier: BSD-3-Clause */
/* made_trace.c - make events of a program that never ran, with clocks that drift. */
#include "made_trace.h"

#include "pure/random.h"
#include "common/cli/memory.h"
#include "trace/read/calls.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double second_ns = 1e9, turn = 6.283185307179586;

/* What a call takes beside the time of its messages. */
static const double call_ns = 200;

static const char *const names[MADE_NAMES] = {"none",          "MPI_Send",       "MPI_Recv",
                                              "MPI_Isend",     "MPI_Irecv",      "MPI_Wait",
                                              "MPI_Barrier",   "MPI_Allreduce",  "MPI_Bcast",
                                              "MPI_Reduce",    "MPI_Iallreduce", "MPI_Scan",
                                              "MPI_Alltoallv", "MPI_Init",       "MPI_Finalize",
                                              "MPI_Win_post",  "MPI_Win_start",  "MPI_Win_complete",
                                              "MPI_Win_wait",  "MPI_Test",       "MPI_Neighbor_allgather",
                                              "MPI_Allgather", "MPI_Put",        "MPI_Win_lock",
                                              "MPI_Win_flush", "MPI_Win_unlock", "MPI_Probe",
                                              "clock",         "unrecorded"};

static void add_world(trace_process *process, int rank, int size)
{
    process->communicator_count = 1;
    process->communicators = or_exit(calloc(1, sizeof(trace_communicator)));
    process->communicators[0].size = size;
    process->communicators[0].place = rank;
    process->communicators[0].ranks = or_exit(calloc((size_t)size, sizeof(int)));
    for (int i = 0; i < size; i++)
        process->communicators[0].ranks[i] = i;
}

void made_begin(made_trace *made, int size, const made_clock *clocks, uint64_t seed)
{
    const size_t count = (size_t)size;
    *made = (made_trace){.trace = {.size = size, .job = seed, .name_count = MADE_NAMES}, .chance = seed};
    made->clocks = or_exit(calloc(count, sizeof *clocks));
    memcpy(made->clocks, clocks, count * sizeof *clocks);
    made->now_ns = or_exit(calloc(count, sizeof(double)));
    made->true_ns = or_exit(calloc(count, sizeof(double *)));
    made->room = or_exit(calloc(count, sizeof(size_t)));
    made->trace.names = or_exit(calloc(MADE_NAMES, sizeof(char *)));
    for (int i = 0; i < MADE_NAMES; i++)
        made->trace.names[i] = strdup(names[i]);
    made->trace.processes = or_exit(calloc(count, sizeof(trace_process)));
    for (int rank = 0; rank < size; rank++) {
        trace_process *process = &made->trace.processes[rank];
        add_world(process, rank, size);
        process->text = strdup("program made\nmpix_harmonize_wander_max_ppb_per_s 320\n");
        process->location_count = 1;
        process->locations = or_exit(calloc(1, sizeof(trace_location)));
        process->locations[0].process = process;
        process->locations[0].rank = rank;
        process->locations[0].index = made->trace.location_count++;
        process->is_finished = true;
    }
}

void made_leave_out(made_trace *made, int rank)
{
    for (; rank < made->trace.size; rank++) {
        trace_process *process = &made->trace.processes[rank];
        free(process->locations[0].events);
        process->location_count = 0;
        made->trace.location_count--;
    }
}

void made_bridge(made_trace *made)
{
    for (int rank = 0; rank < 2; rank++) {
        trace_process *process = &made->trace.processes[rank];
        process->communicators = or_exit(realloc(process->communicators, 2 * sizeof(trace_communicator)));
        process->communicator_count = 2;
        process->communicators[1] = (trace_communicator){.context = 1,
                                                         .size = 1,
                                                         .is_inter = true,
                                                         .ranks = or_exit(calloc(1, sizeof(int))),
                                                         .lowest = 1 - rank,
                                                         .place = rank,
                                                         .local_size = 1,
                                                         .local_lowest = rank};
        process->communicators[1].ranks[0] = 1 - rank;
    }
}

void made_free(made_trace *made)
{
    for (int rank = 0; rank < made->trace.size; rank++)
        free(made->true_ns[rank]);
    free(made->clocks);
    free(made->now_ns);
    free(made->true_ns);
    free(made->room);
    trace_free(&made->trace);
}

int64_t made_local_ns(const made_clock *clock, double true_ns)
{
    double swung_ns = 0;
    if (clock->swing != 0) {
        const double period_ns = clock->period_s * second_ns;
        swung_ns = clock->swing * period_ns / turn * (1 - cos(turn * true_ns / period_ns));
    }
    return clock->offset_ns + (int64_t)floor(true_ns + clock->drift * true_ns + swung_ns);
}

void made_event(made_trace *made, int rank, double true_ns, trace_event event)
{
    trace_location *location = &made->trace.processes[rank].locations[0];
    if (location->count == made->room[rank]) {
        made->room[rank] = made->room[rank] * 2 + 64;
        location->events = or_exit(realloc(location->events, made->room[rank] * sizeof(trace_event)));
        made->true_ns[rank] = or_exit(realloc(made->true_ns[rank], made->room[rank] * sizeof(double)));
    }
    event.time_ns = made_local_ns(&made->clocks[rank], true_ns);
    made->true_ns[rank][location->count] = true_ns;
    location->events[location->count++] = event;
    if (true_ns > made->now_ns[rank])
        made->now_ns[rank] = true_ns;
    made->trace.processes[rank].end.events = location->count;
    made->trace.processes[rank].end.time_ns = event.time_ns;
}

void made_work(made_trace *made, int rank, double ns)
{
    made->now_ns[rank] += ns;
}

/* ---- Calls */

void made_put(made_trace *made, int rank, trace_event event)
{
    made_event(made, rank, made->now_ns[rank], event);
}

void made_enter(made_trace *made, int rank, int function)
{
    made_put(made, rank, (trace_event){.kind = TRACE_ENTER, .id = (uint16_t)function, .value = made->site});
}

void made_leave(made_trace *made, int rank, int function)
{
    made_put(made, rank, (trace_event){.kind = TRACE_LEAVE, .id = (uint16_t)function});
}

void made_calls(made_trace *made, made_name function)
{
    for (int rank = 0; rank < made->trace.size; rank++) {
        made_enter(made, rank, function);
        made_work(made, rank, call_ns);
        made_leave(made, rank, function);
    }
}

enum { BYTES = 8 };

/* A process has come to a call that depends on what began then. */
static void wait_for(made_trace *made, int rank, double began_ns)
{
    made->waited_ns += fmax(began_ns - made->now_ns[rank], 0);
}

double made_send(made_trace *made, int source, int destination, int32_t tag)
{
    const double sent_ns = made->now_ns[source];
    made_enter(made, source, MADE_SEND);
    made_event(made, source, sent_ns,
               (trace_event){.kind = TRACE_SEND, .partner = destination, .tag = tag, .value = BYTES});
    made_work(made, source, call_ns);
    made_leave(made, source, MADE_SEND);
    return sent_ns;
}

void made_receive(made_trace *made, int destination, int source, int32_t tag, double sent_ns, double latency_ns)
{
    wait_for(made, destination, sent_ns);
    made_enter(made, destination, MADE_RECV);
    const double received_ns = fmax(made->now_ns[destination] + call_ns, sent_ns + latency_ns);
    made_event(made, destination, received_ns,
               (trace_event){.kind = TRACE_RECEIVE, .partner = source, .tag = tag, .value = BYTES});
    made_leave(made, destination, MADE_RECV);
}

void made_message(made_trace *made, int source, int destination, int32_t tag, double latency_ns)
{
    made_receive(made, destination, source, tag, made_send(made, source, destination, tag), latency_ns);
}

/* Processes are in the call until the last of those has entered whom they wait for: in MPI_Scan those with lower ranks,
 * and in MPI_Alltoallv the same, as if others had nothing for them. */
void made_collective(made_trace *made, made_name function, int root, double latency_ns)
{
    const int size = made->trace.size;
    const bool to_root = function == MADE_REDUCE, is_partial = function == MADE_SCAN || function == MADE_ALLTOALLV;
    double last_ns = 0, lower_ns = -latency_ns, root_ns = root < 0 ? 0 : made->now_ns[root];
    made->calls++;
    for (int rank = 0; rank < size; rank++) {
        last_ns = fmax(last_ns, made->now_ns[rank]);
        made_enter(made, rank, function);
    }
    for (int rank = 0; rank < size; rank++) {
        const bool waits_for_all = root < 0 || (to_root && rank == root), waits_for_root = root >= 0 && !to_root;
        const double began_ns = is_partial                       ? lower_ns
                                : waits_for_all                  ? last_ns
                                : waits_for_root && rank != root ? root_ns
                                                                 : -latency_ns;
        const double ready_ns = fmax(made->now_ns[rank] + call_ns, began_ns + latency_ns);
        lower_ns = fmax(lower_ns, made->now_ns[rank]);
        wait_for(made, rank, began_ns);
        const uint64_t put = function == MADE_BARRIER || (waits_for_root && rank != root) ? 0 : BYTES;
        made_event(made, rank, ready_ns,
                   (trace_event){.kind = TRACE_COLLECTIVE, .partner = root, .value = put, .tag = made->calls});
        made_event(made, rank, ready_ns,
                   (trace_event){.kind = TRACE_COLLECTIVE_OUT,
                                 .value = function == MADE_BARRIER ? 0 : BYTES,
                                 .id = (uint16_t)function});
        made_leave(made, rank, function);
    }
}

void made_match(made_trace *made, trace_matches *matches)
{
    for (trace_location *at = NULL; (at = trace_next_location(&made->trace, at));)
        calls_find(at);
    trace_match(&made->trace, matches);
}

/* ---- Clocks */

static trace_clock_record record_at(made_trace *made, int rank, double true_ns, double error_ns)
{
    trace_clock_record record = {.pair.at_ns = made_local_ns(&made->clocks[rank], true_ns),
                                 .pair.deviation_ns = error_ns / 2,
                                 .pair.bound_ns = error_ns,
                                 .burst_ns = 0};
    const double error = rank == 0 ? 0 : error_ns * (2 * random_fraction(&made->chance) - 1);
    const double offset_ns = floor(true_ns + error);
    record.pair.ahead_ns = (int64_t)offset_ns - record.pair.at_ns;
    record.pair.ahead_ps = (int64_t)(1000 * (true_ns + error - offset_ns));
    return record;
}

void made_records(made_trace *made, double period_ns, double error_ns)
{
    double end_ns = 0;
    for (int rank = 0; rank < made->trace.size; rank++)
        end_ns = fmax(end_ns, made->now_ns[rank]);
    const size_t count = period_ns > 0 ? (size_t)ceil(end_ns / period_ns) + 1 : 2;
    for (int rank = 0; rank < made->trace.size; rank++) {
        trace_process *process = &made->trace.processes[rank];
        free(process->records);
        process->records = or_exit(calloc(count, sizeof(trace_clock_record)));
        process->record_count = count;
        for (size_t i = 0; i < count; i++)
            process->records[i] = record_at(made, rank, i + 1 < count ? (double)i * period_ns : end_ns, error_ns);
    }
}

int made_write(made_trace *made, const char *folder)
{
    char message[TRACE_MESSAGE_SIZE];
    const bool is_written = trace_write(&made->trace, folder, message);
    if (!is_written)
        fprintf(stderr, "%s\n", message);
    made_free(made);
    return is_written ? 0 : 1;
}
