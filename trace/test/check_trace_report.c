/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * check_trace_report.c - writes a trace of a program that never ran, of which is known when processes come to its
 * calls: check_trace_report DIR RANKS CALLS [TEXT [CLOCK_NS]]. The last rank but one is 300 us late at MPI_Allreduce;
 * then rank r sends to the next one; then it is 20 r us late at MPI_Bcast; with errors of up to 2 us. All leave a
 * barrier together before. Local clocks drift. Global times are off by up to 100 ns, or CLOCK_NS. TEXT is a line in the
 * text of each process.
 */
#define _GNU_SOURCE /* asprintf */
#include "pure/random.h"
#include "trace/test/unit/made_trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_RANKS = 1024, LATE_NS = 300000, STEP_NS = 20000, ERROR_NS = 2000, LATENCY_NS = 3000, CLOCK_NS = 100 };
enum { MANY_CALLS = 4000 }; /* with more, clocks are looked after as seldom as mpix_trace does */

static void be_late(made_trace *made, int rank, double late_ns)
{
    made_work(made, rank, 50000 + late_ns + ERROR_NS * random_fraction(&made->chance));
}

static void call_all(made_trace *made, int calls)
{
    int size = made->trace.size;
    for (int call = 0; call < calls; call++) {
        for (int rank = 0; rank < size; rank++)
            be_late(made, rank, rank == size - 2 ? LATE_NS : 0);
        made_collective(made, MADE_ALLREDUCE, -1, LATENCY_NS);
        for (int rank = 0; rank + 1 < size; rank++)
            made_message(made, rank, rank + 1, call, LATENCY_NS);
        made_collective(made, MADE_BARRIER, -1, LATENCY_NS);
        for (int rank = 0; rank < size; rank++)
            be_late(made, rank, STEP_NS * rank);
        made_collective(made, MADE_BCAST, 0, LATENCY_NS);
        made_collective(made, MADE_BARRIER, -1, LATENCY_NS);
    }
}

/* Places in the program; objects lie elsewhere on each rank. */
static void add_sites(trace_process *process, int rank)
{
    static const char *const symbols[] = {"main+0x10 (0x1010) in <program> & co", "main+0x20 (0x1020) in program",
                                          "+0x1030 in program"};
    static const made_name functions[] = {MADE_ALLREDUCE, MADE_BCAST, MADE_BARRIER};
    trace_location *location = &process->locations[0];
    process->sites = calloc(3, sizeof process->sites[0]);
    process->site_count = process->sites ? 3 : 0;
    for (size_t i = 0; i < process->site_count; i++) {
        process->sites[i] = (trace_site){0x4000 + 0x1000 * (uint64_t)rank + 16 * i, strdup(symbols[i])};
        for (size_t k = 0; k < location->count; k++)
            if (location->events[k].kind == TRACE_ENTER && location->events[k].id == functions[i])
                location->events[k].value = process->sites[i].address;
    }
}

static void add_text(trace_process *process, const char *line)
{
    char *text = NULL;
    if (asprintf(&text, "%s%s\n", process->text, line) < 0)
        return;
    free(process->text);
    process->text = text;
}

int main(int argc, char **argv)
{
    made_trace made;
    made_clock clocks[MAX_RANKS] = {{0}};
    int ranks = argc >= 4 && argc <= 6 ? atoi(argv[2]) : 0;
    if (ranks < 2 || ranks > MAX_RANKS) {
        fprintf(stderr, "usage: check_trace_report DIR RANKS CALLS [TEXT [CLOCK_NS]], 2 to %d ranks\n", MAX_RANKS);
        return 2;
    }
    for (int rank = 0; rank < ranks; rank++)
        clocks[rank] =
            (made_clock){.offset_ns = INT64_C(1000000000000) + INT64_C(7000) * rank, .drift = 5e-6 * (rank % 64)};
    made_begin(&made, ranks, clocks, 7);
    call_all(&made, atoi(argv[3]));
    made_records(&made, atoi(argv[3]) > MANY_CALLS ? 7e8 : 1e6, argc > 5 ? atoi(argv[5]) : CLOCK_NS);
    for (int rank = 0; rank < ranks; rank++)
        add_sites(&made.trace.processes[rank], rank);
    for (int rank = 0; argc > 4 && rank < ranks; rank++)
        add_text(&made.trace.processes[rank], argv[4]);
    return made_write(&made, argv[1]);
}
