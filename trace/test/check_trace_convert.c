/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * check_trace_convert - writes a trace of a program that never ran, so that it is known what is in it: three processes
 * on two hosts, whose clocks differ by seconds and drift; each kind of event; communicators of which each process has
 * its own ids. check_trace_convert.py knows the program too.
 *
 * Clocks are recorded at each period, or with -1 once, with -2 never, with -3 twice before the first event. Global
 * time is 0 at ZERO_NS of true time. Record UNKNOWN of each process, counted from 0, has no bound. In FOLDER.true, a
 * line for each event of a first thread has its rank, thread, and true time; in FOLDER.clocks, one for each clock
 * record its rank, local time, offset, and deviation.
 */
#include "common/cli/memory.h"
#include "trace/test/unit/made_trace.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROCESSES = 3, START_NS = 2000000000, LATENCY_NS = 5000, TRUE_PATH_SIZE = 4096 };

/* Further names, and the ids of communicators on rank 0. Rank 2 has them in another order. */
enum {
    NAME_CANCEL = MADE_NAMES,
    NAME_CLOCK,
    NAME_REGION,
    NAME_ALLREDUCE_INIT,
    NAME_START,
    NAME_ACCUMULATE,
    NAME_FILE,
    NAMES
};
enum { COMM_WORLD, COMM_SELF, COMM_PAIR, COMM_INTER, COMM_FOREIGN, COMMS };

#define MAIN_ADDRESS 0x1234

static void enter(made_trace *made, int rank, int name)
{
    made_work(made, rank, 1000);
    made->site = MAIN_ADDRESS;
    made_enter(made, rank, name);
    made->site = 0;
}

/* ---- Definitions */

static void set_communicator(made_trace *made, int rank, int id, trace_communicator as, const int *ranks)
{
    trace_communicator *communicator = &made->trace.processes[rank].communicators[id];
    free(communicator->ranks);
    *communicator = as;
    communicator->ranks = malloc((size_t)as.size * sizeof(int));
    memcpy(communicator->ranks, ranks, (size_t)as.size * sizeof(int));
}

/* A communicator of ranks 2 and 0, in this order; one between rank 0 and ranks 2 and 1; one with a foreign process. */
static void set_communicators(made_trace *made)
{
    static const int pair[] = {2, 0}, foreign[] = {0, -1};
    for (int rank = 0; rank < PROCESSES; rank++) {
        trace_process *process = &made->trace.processes[rank];
        process->communicators = realloc(process->communicators, COMMS * sizeof(trace_communicator));
        memset(&process->communicators[1], 0, (COMMS - 1) * sizeof(trace_communicator));
        process->communicator_count = COMMS;
        set_communicator(made, rank, COMM_SELF, (trace_communicator){.context = 1, .size = 1}, &rank);
        set_communicator(made, rank, rank == 2 ? COMM_PAIR : COMM_INTER,
                         (trace_communicator){.context = 6, .size = rank == 0 ? 2 : 1, .is_inter = true},
                         rank == 0 ? (const int[]){2, 1} : (const int[]){0});
        if (rank != 1)
            set_communicator(made, rank, rank == 2 ? COMM_INTER : COMM_PAIR,
                             (trace_communicator){.context = 5, .size = 2}, pair);
    }
    /* With a process of another job. */
    set_communicator(made, 0, COMM_FOREIGN, (trace_communicator){.context = 7, .size = 2}, foreign);
}

static void set_names(made_trace *made)
{
    static const char *const further[] = {"MPI_Cancel",         "clock",     "region 1",
                                          "MPI_Allreduce_init", "MPI_Start", "MPI_Get_accumulate",
                                          "MPI_File_write_at"};
    made->trace.names = realloc(made->trace.names, NAMES * sizeof(char *));
    for (int i = MADE_NAMES; i < NAMES; i++)
        made->trace.names[i] = strdup(further[i - MADE_NAMES]);
    made->trace.name_count = NAMES;
}

static void set_processes(made_trace *made)
{
    for (int rank = 0; rank < PROCESSES; rank++) {
        trace_process *process = &made->trace.processes[rank];
        free(process->text);
        process->text = strdup(rank < 2 ? "program known\nhost first, \"the\" node\n" : "program known\nhost second\n");
        process->sites = malloc(sizeof(trace_site));
        process->sites[0] = (trace_site){MAIN_ADDRESS, strdup("main+0x12 (0x1112) in known, of process")};
        process->site_count = 1;
    }
}

/* ---- Events */

/* A call, in which so much is computed before these events, up to one of no kind. */
static void call(made_trace *made, int rank, int name, double work_ns, const trace_event *events)
{
    enter(made, rank, name);
    made_work(made, rank, work_ns);
    for (; events->kind != 0; events++)
        made_put(made, rank, *events);
    made_leave(made, rank, name);
}
#define CALL(rank, name, work_ns, ...) call(made, rank, name, work_ns, (trace_event[]){__VA_ARGS__, {.kind = 0}})

static void put_requests(made_trace *made)
{
    CALL(0, MADE_ISEND, 0, {.kind = TRACE_SEND, .partner = 2, .tag = 9, .value = 16, .request = 1});
    CALL(2, MADE_IRECV, 0, {.kind = TRACE_RECEIVE_POST, .request = 1});
    enter(made, 2, MADE_TEST);
    made_work(made, 2, 100);
    made_put(made, 2, (trace_event){.kind = TRACE_LEAVE, .id = MADE_TEST, .value = 41});
    CALL(0, MADE_WAIT, 0, {.kind = TRACE_SEND_DONE, .request = 1});
    CALL(2, MADE_WAIT, LATENCY_NS, {.kind = TRACE_RECEIVE, .partner = 0, .tag = 9, .value = 16, .request = 1});
    CALL(1, MADE_IRECV, 0, {.kind = TRACE_RECEIVE_POST, .request = 5});
    CALL(1, NAME_CANCEL, 0, {.kind = TRACE_CANCELED, .request = 5});
}

/* The ids of communicators, and the ranks in them, are those of each side. */
static void put_messages(made_trace *made)
{
    made_message(made, 0, 1, 7, LATENCY_NS);
    made_message(made, 1, 2, 8, LATENCY_NS);
    CALL(0, MADE_SEND, 0, {.kind = TRACE_SEND, .partner = 0, .tag = 11, .value = 100, .id = COMM_PAIR});
    CALL(2, MADE_RECV, LATENCY_NS, {.kind = TRACE_RECEIVE, .partner = 1, .tag = 11, .value = 100, .id = COMM_INTER});
    CALL(0, MADE_SEND, 0, {.kind = TRACE_SEND, .partner = 1, .tag = 12, .value = 200, .id = COMM_INTER});
    CALL(1, MADE_RECV, LATENCY_NS, {.kind = TRACE_RECEIVE, .partner = 0, .tag = 12, .value = 200, .id = COMM_INTER});
    CALL(1, MADE_SEND, 0, {.kind = TRACE_SEND, .partner = 0, .tag = 13, .value = 300, .id = COMM_SELF});
    CALL(1, MADE_RECV, LATENCY_NS, {.kind = TRACE_RECEIVE, .partner = 0, .tag = 13, .value = 300, .id = COMM_SELF});
}

/* MPI_Isendrecv of ranks 0 and 1: one request sends and receives. */
static void put_both_ways(made_trace *made)
{
    made->now_ns[0] = made->now_ns[1] = fmax(made->now_ns[0], made->now_ns[1]);
    for (int rank = 0; rank < 2; rank++) {
        CALL(rank, MADE_ISEND, 0, {.kind = TRACE_SEND, .partner = 1 - rank, .tag = 14, .value = 8, .request = 6},
             {.kind = TRACE_RECEIVE_POST, .partner = 1 - rank, .tag = 14, .value = 8, .request = 6});
        CALL(rank, MADE_WAIT, LATENCY_NS, {.kind = TRACE_SEND_DONE, .request = 6},
             {.kind = TRACE_RECEIVE, .partner = 1 - rank, .tag = 14, .value = 8, .request = 6});
    }
}

/* From rank 0 to the others, by the communicator between them. */
static void put_inter(made_trace *made)
{
    for (int rank = 0; rank < PROCESSES; rank++)
        CALL(rank, MADE_BCAST, LATENCY_NS,
             {.kind = TRACE_COLLECTIVE,
              .partner = rank == 0 ? TRACE_ROOT_SELF : 0,
              .value = rank == 0 ? 40 : 0,
              .tag = 1,
              .id = rank == 2 ? COMM_PAIR : COMM_INTER},
             {.kind = TRACE_COLLECTIVE_OUT, .value = rank == 0 ? 0 : 40, .id = MADE_BCAST});
}

/* An allreduce of a request: which function begins it and which one made it, how many bytes, its number in all. */
static void put_allreduce(made_trace *made, int rank, int name, uint16_t made_by, uint64_t bytes, int number)
{
    const uint32_t request = 3 + (uint32_t)number;
    CALL(rank, name, 0, {.kind = TRACE_COLLECTIVE, .partner = -1, .value = bytes, .request = request, .tag = number},
         {.kind = TRACE_COLLECTIVE_OUT, .value = bytes, .id = made_by});
}

static void put_done(made_trace *made, int rank, int number)
{
    CALL(rank, MADE_WAIT, 2 * LATENCY_NS, {.kind = TRACE_COLLECTIVE_DONE, .request = 3 + (uint32_t)number});
}

/* The last allreduce but one is of a persistent request. For the last one, the second thread of rank 1 waits. */
static void put_collectives(made_trace *made)
{
    made_collective(made, MADE_ALLREDUCE, -1, LATENCY_NS);
    made_collective(made, MADE_BCAST, 1, LATENCY_NS);
    for (int rank = 0; rank < PROCESSES; rank++) {
        enter(made, rank, MADE_BARRIER);
        enter(made, rank, NAME_CLOCK);
        made_work(made, rank, 3 * LATENCY_NS);
        made_leave(made, rank, NAME_CLOCK);
        made_put(made, rank, (trace_event){.kind = TRACE_COLLECTIVE, .partner = -1, .tag = 3});
        made_leave(made, rank, MADE_BARRIER);
        put_allreduce(made, rank, MADE_IALLREDUCE, MADE_IALLREDUCE, 24, 4);
        put_done(made, rank, 4);
        put_allreduce(made, rank, NAME_START, NAME_ALLREDUCE_INIT, 32, 5);
        put_done(made, rank, 5);
    }
    put_inter(made);
    for (int rank = 0; rank < PROCESSES; rank++) {
        put_allreduce(made, rank, MADE_IALLREDUCE, MADE_IALLREDUCE, 48, 6);
        if (rank == 1)
            made_work(made, rank, 2 * LATENCY_NS);
        else
            put_done(made, rank, 6);
    }
}

/* A second thread of rank 1, which is in a region while others compute, and at the end waits for a request. */
static void put_thread(made_trace *made)
{
    enum { REGION_EVENTS = 4, EVENTS = 7 };
    const int64_t end_ns = made_local_ns(&made->clocks[1], made->now_ns[1]);
    trace_process *process = &made->trace.processes[1];
    process->locations = realloc(process->locations, 2 * sizeof(trace_location));
    process->location_count = 2;
    trace_location *location = &process->locations[1];
    *location = (trace_location){.rank = 1, .thread = 1, .count = EVENTS};
    location->events = zeros_or_exit(EVENTS, sizeof(trace_event));
    for (int i = 0; i < REGION_EVENTS; i++)
        location->events[i] = (trace_event){.time_ns = made_local_ns(&made->clocks[1], START_NS + 1000.0 * i),
                                            .id = NAME_REGION,
                                            .kind = i % 2 == 0 ? TRACE_ENTER : TRACE_LEAVE};
    location->events[4] = (trace_event){.time_ns = end_ns - LATENCY_NS, .id = MADE_WAIT, .kind = TRACE_ENTER};
    location->events[5] = (trace_event){.time_ns = end_ns, .request = 9, .kind = TRACE_COLLECTIVE_DONE};
    location->events[6] = (trace_event){.time_ns = end_ns, .id = MADE_WAIT, .kind = TRACE_LEAVE};
}

/* Of rank 0, of a window on the pair, where the other process is the first one, and of a file of all. */
static void put_accesses(made_trace *made)
{
    const trace_event access = {.kind = TRACE_ACCESS, .id = COMM_PAIR};
    trace_event put = access, update = access, get = access, lock = access, flush = access, unlock = access;
    lock.mode = TRACE_LOCK_EXCLUSIVE;
    flush.mode = TRACE_FLUSH;
    unlock.mode = TRACE_UNLOCK;
    put.mode = TRACE_PUT;
    update.mode = TRACE_UPDATE;
    get.mode = TRACE_GET;
    put.value = 400;
    update.value = get.value = 24;
    CALL(0, MADE_WIN_LOCK, LATENCY_NS, lock);
    CALL(0, MADE_PUT, 0, put);
    CALL(0, MADE_WIN_FLUSH, LATENCY_NS, flush);
    CALL(0, NAME_ACCUMULATE, 0, update, get);
    CALL(0, MADE_WIN_UNLOCK, LATENCY_NS, unlock);
    CALL(0, NAME_FILE, LATENCY_NS, {.kind = TRACE_ACCESS, .mode = TRACE_PUT, .partner = -1, .value = 4096});
}

static void put_events(made_trace *made)
{
    for (int rank = 0; rank < PROCESSES; rank++)
        made_work(made, rank, START_NS);
    enter(made, 2, NAME_REGION); /* never left */
    put_messages(made);
    put_requests(made);
    put_both_ways(made);
    for (int rank = 0; rank < PROCESSES; rank++)
        made_work(made, rank, 0.5 * START_NS);
    put_collectives(made);
    put_accesses(made);
}

/* ---- Clocks */

/* Fewer than there should be: one, none, or two. Or the global clock begins when the program has run for a while. */
static void put_records(made_trace *made, double period_ns, int64_t zero_ns, size_t unknown)
{
    static const size_t counts[] = {[1] = 1, [2] = 0, [3] = 2};
    made_records(made, period_ns > 0 ? period_ns : 0.1e9, 100);
    for (int rank = 0; rank < PROCESSES; rank++) {
        trace_process *process = &made->trace.processes[rank];
        if (period_ns < 0)
            process->record_count = counts[(int)-period_ns];
        for (size_t i = 0; i < process->record_count; i++)
            process->records[i].pair.ahead_ns -= zero_ns;
        if (unknown < process->record_count)
            process->records[unknown].pair.bound_ns = INFINITY;
    }
}

/* ---- Files */

static FILE *create(const char *folder, const char *ending)
{
    char path[TRUE_PATH_SIZE];
    snprintf(path, sizeof path, "%s.%s", folder, ending);
    FILE *file = fopen(path, "w");
    if (!file) {
        perror(path);
        exit(1);
    }
    return file;
}

static void write_truth(const made_trace *made, const char *folder)
{
    FILE *times = create(folder, "true"), *clocks = create(folder, "clocks");
    for (int rank = 0; rank < PROCESSES; rank++) {
        const trace_process *process = &made->trace.processes[rank];
        for (size_t i = 0; i < process->locations[0].count; i++)
            fprintf(times, "%d,0,%.3f\n", rank, made->true_ns[rank][i]);
        for (size_t i = 0; i < process->record_count; i++)
            fprintf(clocks, "%d,%" PRId64 ",%" PRId64 ".%03" PRId64 ",%.9g\n", rank, process->records[i].pair.at_ns,
                    process->records[i].pair.ahead_ns, process->records[i].pair.ahead_ps,
                    process->records[i].pair.deviation_ns);
    }
    fclose(times);
    fclose(clocks);
}

int main(int argc, char **argv)
{
    static const made_clock clocks[PROCESSES] = {
        {0, 0, 0, 0}, {7000000000, 20e-6, 0, 0}, {500000000, -35e-6, 1e-9, 0.5}};
    made_trace made;
    if (argc < 3 || argc > 5) {
        fprintf(stderr, "Usage: check_trace_convert FOLDER RECORD_PERIOD_NS|-1|-2|-3 [ZERO_NS [UNKNOWN]]\n");
        return 2;
    }
    made_begin(&made, PROCESSES, clocks, 3);
    set_names(&made);
    set_communicators(&made);
    set_processes(&made);
    put_events(&made);
    put_thread(&made);
    put_records(&made, atof(argv[2]), argc > 3 ? atoll(argv[3]) : 0, argc > 4 ? (size_t)atoll(argv[4]) : SIZE_MAX);
    write_truth(&made, argv[1]);
    return made_write(&made, argv[1]);
}
