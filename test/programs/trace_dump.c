/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace_dump.c - the raw form of a trace as text, a line for each thing in it: trace_dump FILE... A torn block at the
 * end is left out, and said.
 */
#include "pure/trace_format.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NAMES = 65536 };
static char *names[MAX_NAMES];

static const char *const kinds[] = {"?",          "enter",          "leave",           "send",
                                    "send_done",  "post",           "receive",         "canceled",
                                    "collective", "collective_out", "collective_done", "dropped"};
enum { KINDS = sizeof kinds / sizeof *kinds };

static void fail(const char *path, const char *what)
{
    fprintf(stderr, "trace_dump: %s: %s\n", path, what);
    exit(1);
}

static void read_names(const char *payload, uint64_t bytes)
{
    for (uint64_t at = 0; at + 8 <= bytes;) {
        uint32_t head[2];
        memcpy(head, payload + at, sizeof head);
        free(names[head[0]]);
        names[head[0]] = strndup(payload + at + 8, head[1]);
        at += 8 + head[1];
    }
}

static void print_events(const trace_event *events, uint64_t count, unsigned thread)
{
    for (uint64_t i = 0; i < count; i++) {
        const trace_event *e = &events[i];
        const char *name = names[e->id] ? names[e->id] : "?";
        const char *mode = e->mode == TRACE_SYNCHRONOUS ? "s" : e->mode == TRACE_BUFFERED ? "b" : "";
        printf("event %u %" PRId64 " %s%s", thread, e->time_ns, mode, kinds[e->kind < KINDS ? e->kind : 0]);
        if (e->kind == TRACE_ENTER)
            printf(" %s\n", name);
        else if (e->kind == TRACE_LEAVE)
            printf(" %s %" PRIu64 "\n", name, e->value);
        else if (e->kind == TRACE_COLLECTIVE_OUT)
            printf(" partner %d bytes %" PRIu64 " of %s request %u\n", e->partner, e->value, name, e->request);
        else
            printf(" partner %d tag %d bytes %" PRIu64 " comm %u request %u\n", e->partner, e->tag, e->value, e->id,
                   e->request);
    }
}

static void print_comm(const char *payload, uint64_t bytes)
{
    trace_comm comm;
    memcpy(&comm, payload, sizeof comm);
    printf("comm %u context %u size %d inter %d ranks", comm.id, comm.context, comm.size, comm.is_inter);
    for (uint64_t at = sizeof comm; at + sizeof(trace_range) <= bytes; at += sizeof(trace_range)) {
        trace_range range;
        memcpy(&range, payload + at, sizeof range);
        for (int i = 0; i < range.count; i++)
            printf(" %d", range.first + i * range.step);
    }
    printf("\n");
}

static void print_clocks(const trace_clock_record *records, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        printf("clock %" PRId64 " %" PRId64 ".%03" PRId64 " deviation %.3f bound %.0f burst %" PRId64 "\n",
               records[i].time_ns, records[i].global_less_local_ns, records[i].global_less_local_ps,
               records[i].deviation_ns, records[i].bound_ns, records[i].burst_ns);
}

static void print_sites(const char *payload, uint64_t bytes)
{
    for (uint64_t at = 0; at + 16 <= bytes;) {
        uint64_t address;
        uint32_t length;
        memcpy(&address, payload + at, sizeof address);
        memcpy(&length, payload + at + 8, sizeof length);
        printf("site %" PRIx64 " %.*s\n", address, (int)length, payload + at + 16);
        at += 16 + (length + 7) / 8 * 8;
    }
}

static void print_block(const trace_block_head *head, const char *payload)
{
    const trace_end *end = (const trace_end *)(const void *)payload;
    switch (head->kind) {
    case TRACE_BLOCK_TEXT:
        printf("text\n%.*s", (int)head->bytes, payload);
        break;
    case TRACE_BLOCK_NAMES:
        read_names(payload, head->bytes);
        break;
    case TRACE_BLOCK_COMM:
        print_comm(payload, head->bytes);
        break;
    case TRACE_BLOCK_SITES:
        print_sites(payload, head->bytes);
        break;
    case TRACE_BLOCK_CLOCK:
        print_clocks((const trace_clock_record *)(const void *)payload, head->bytes / sizeof(trace_clock_record));
        break;
    case TRACE_BLOCK_EVENTS:
        print_events((const trace_event *)(const void *)payload, head->bytes / sizeof(trace_event), head->thread);
        break;
    case TRACE_BLOCK_END:
        printf("end %" PRId64 " events %" PRIu64 " dropped %" PRIu64 "\n", end->time_ns, end->events, end->dropped);
        break;
    default:
        printf("unknown block %u\n", head->kind);
    }
}

static void dump(const char *path)
{
    trace_file_head head;
    trace_block_head block;
    FILE *file = fopen(path, "rb");
    if (!file || fread(&head, sizeof head, 1, file) != 1 || memcmp(head.magic, TRACE_MAGIC, sizeof head.magic) != 0)
        fail(path, "it is no trace");
    printf("file rank %d size %d job %" PRIx64 "\n", head.rank, head.size, head.job);
    while (fread(&block, sizeof block, 1, file) == 1) {
        size_t bytes = (size_t)((block.bytes + 7) / 8 * 8);
        char *payload = malloc(bytes + 1);
        if (!payload)
            fail(path, "there is no memory");
        if (fread(payload, 1, bytes, file) != bytes) {
            printf("torn\n");
            free(payload);
            break;
        }
        print_block(&block, payload);
        free(payload);
    }
    fclose(file);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        dump(argv[i]);
    for (int i = 0; i < MAX_NAMES; i++)
        free(names[i]);
    return ferror(stdout) != 0;
}
