/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace_dump.c - what a process recorded, as text, a line for each thing in it: trace_dump DIR RANK. A torn block at
 * the end is left out, and said.
 */
#include "trace/read/trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const kinds[] = {"?",       "enter",    "leave",      "send",           "send_done",       "post",
                                    "receive", "canceled", "collective", "collective_out", "collective_done", "parts",
                                    "dropped", "ready",    "arrived",    "skipped"};
static const char *const accesses[] = {"put",    "get",   "update",     "lock_shared", "lock_exclusive",
                                       "unlock", "flush", "flush_local"};

static void print_event(char *const *names, int thread, const trace_event *e)
{
    static const char *const modes[] = {"", "s", "b", "p"};
    printf("event %d %" PRId64 " ", thread, e->time_ns);
    if (e->kind == TRACE_ACCESS)
        printf("%s", accesses[e->mode]);
    else
        printf("%s%s", modes[e->mode], kinds[e->kind]);
    if (e->kind == TRACE_ENTER)
        printf(" %s\n", names[e->id]);
    else if (e->kind == TRACE_LEAVE)
        printf(" %s %" PRIu64 "\n", names[e->id], e->value);
    else if (e->kind == TRACE_COLLECTIVE_OUT)
        printf(" partner %d tag %d bytes %" PRIu64 " of %s request %u\n", e->partner, e->tag, e->value, names[e->id],
               e->request);
    else
        printf(" partner %d tag %d bytes %" PRIu64 " comm %u request %u\n", e->partner, e->tag, e->value, e->id,
               e->request);
}

static void print_comm(size_t id, const trace_communicator *comm)
{
    if (comm->size == 0)
        return;
    printf("comm %zu context %u size %d inter %d ranks", id, comm->context, comm->size, comm->is_inter);
    for (int i = 0; i < comm->size; i++)
        printf(" %d", comm->ranks[i]);
    printf("\n");
}

static void print_clock(const trace_clock_record *record)
{
    printf("clock %" PRId64 " %" PRId64 ".%03" PRId64 " deviation %.3f bound %.0f burst %" PRId64 "\n",
           record->pair.at_ns, record->pair.ahead_ns, record->pair.ahead_ps, record->pair.deviation_ns,
           record->pair.bound_ns, record->burst_ns);
}

static void dump(const trace *of, const trace_process *process)
{
    printf("%s", process->text ? process->text : "");
    for (size_t id = 0; id < process->communicator_count; id++)
        print_comm(id, &process->communicators[id]);
    for (size_t i = 0; i < process->site_count; i++)
        printf("site %" PRIx64 " %s\n", process->sites[i].address, process->sites[i].symbol);
    for (size_t i = 0; i < process->path_count; i++) {
        const trace_call_path *path = &process->paths[i];
        printf("path %" PRIx64 " %s", path->number, of->names[path->function]);
        for (uint32_t k = 0; k < path->count; k++)
            printf(" %" PRIx64, path->frames[k]);
        printf(" shown %u\n", path->shown);
    }
    for (size_t i = 0; i < process->record_count; i++)
        print_clock(&process->records[i]);
    for (size_t i = 0; i < process->location_count; i++)
        for (size_t k = 0; k < process->locations[i].count; k++)
            print_event(of->names, process->locations[i].thread, &process->locations[i].events[k]);
    for (const trace_now *now = process->now; now < process->now + process->now_count; now++)
        printf("now %u %" PRId64 " since %" PRId64 " %s polls %u partner %d comm %u request %u\n", now->thread,
               now->seen_ns, now->since_ns, now->id < of->name_count ? of->names[now->id] : "?", now->polls,
               now->partner, now->comm, now->request);
    if (process->is_finished)
        printf("end %" PRId64 " events %" PRIu64 " dropped %" PRIu64 "\n", process->end.time_ns, process->end.events,
               process->end.dropped);
    if (process->is_torn)
        printf("torn\n");
}

int main(int argc, char **argv)
{
    char message[TRACE_MESSAGE_SIZE] = "give DIR RANK";
    trace read;
    const int rank = argc == 3 ? atoi(argv[2]) : -1;
    if (rank < 0 || !trace_read(&read, argv[1], message) || rank >= read.size) {
        fprintf(stderr, "trace_dump: %s\n", message);
        return 1;
    }
    dump(&read, &read.processes[rank]);
    trace_free(&read);
    return ferror(stdout) != 0;
}
