/* SPDX-License-Identifier: BSD-3-Clause */
/* write.c - a trace in memory as a folder, in the raw form. */
#include "trace/read/parse.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

static const char zeros[8];

/* What cannot be written shows in the error of the stream. */
static void write_bytes(FILE *stream, const void *bytes, size_t count)
{
    if (count > 0)
        fwrite(bytes, count, 1, stream);
}

static void begin_block(FILE *stream, trace_block_kind kind, uint32_t thread, size_t bytes)
{
    const trace_block_head head = {kind, thread, bytes};
    write_bytes(stream, &head, sizeof head);
}

static void pad(FILE *stream, size_t bytes)
{
    write_bytes(stream, zeros, -bytes % 8);
}

static void write_block(FILE *stream, trace_block_kind kind, uint32_t thread, const void *payload, size_t bytes)
{
    if (bytes == 0)
        return;
    begin_block(stream, kind, thread, bytes);
    write_bytes(stream, payload, bytes);
    pad(stream, bytes);
}

static void write_names(FILE *stream, const trace *of)
{
    size_t bytes = 0;
    for (size_t id = 0; id < of->name_count; id++)
        bytes += 2 * sizeof(uint32_t) + strlen(of->names[id]);
    begin_block(stream, TRACE_BLOCK_NAMES, 0, bytes);
    for (size_t id = 0; id < of->name_count; id++) {
        const uint32_t head[] = {(uint32_t)id, (uint32_t)strlen(of->names[id])};
        write_bytes(stream, head, sizeof head);
        write_bytes(stream, of->names[id], head[1]);
    }
    pad(stream, bytes);
}

static void write_neighbors(FILE *stream, uint32_t id, const trace_communicator *of)
{
    const size_t bytes = (size_t)of->neighbor_count * sizeof *of->neighbors;
    if (!of->neighbors)
        return;
    begin_block(stream, TRACE_BLOCK_NEIGHBORS, 0, sizeof id + bytes);
    write_bytes(stream, &id, sizeof id);
    write_bytes(stream, of->neighbors, bytes);
    pad(stream, sizeof id + bytes);
}

static void write_communicators(FILE *stream, const trace_process *process)
{
    for (size_t id = 0; id < process->communicator_count; id++) {
        const trace_communicator *communicator = &process->communicators[id];
        const trace_comm head = {(uint32_t)id, communicator->context, communicator->size, communicator->is_inter};
        const int size = communicator->size;
        trace_range range;
        size_t bytes = 0;
        for (int next = 0; next < size; next += range.count, bytes += sizeof range)
            range = trace_first_range(communicator->ranks + next, size - next);
        if (size == 0)
            continue;
        begin_block(stream, TRACE_BLOCK_COMM, 0, sizeof head + bytes);
        write_bytes(stream, &head, sizeof head);
        for (int next = 0; next < size; next += range.count) {
            range = trace_first_range(communicator->ranks + next, size - next);
            write_bytes(stream, &range, sizeof range);
        }
        pad(stream, bytes);
        write_neighbors(stream, (uint32_t)id, communicator);
    }
}

static void write_sites(FILE *stream, const trace_process *process)
{
    for (size_t i = 0; i < process->site_count; i++) {
        const trace_site *site = &process->sites[i];
        const uint32_t length[] = {(uint32_t)strlen(site->symbol), 0};
        begin_block(stream, TRACE_BLOCK_SITES, 0,
                    sizeof site->address + sizeof length + ((size_t)length[0] + 7) / 8 * 8);
        write_bytes(stream, &site->address, sizeof site->address);
        write_bytes(stream, length, sizeof length);
        write_bytes(stream, site->symbol, length[0]);
        pad(stream, length[0]);
    }
}

static void write_paths(FILE *stream, const trace_process *process)
{
    for (const trace_call_path *path = process->paths; path < process->paths + process->path_count; path++) {
        const trace_path_head head = {path->number, path->function, path->count};
        const size_t bytes = path->count * sizeof *path->frames;
        begin_block(stream, TRACE_BLOCK_PATHS, 0, sizeof head + bytes);
        write_bytes(stream, &head, sizeof head);
        write_bytes(stream, path->frames, bytes);
    }
}

static void write_process(FILE *stream, const trace *of, int rank)
{
    const trace_process *process = &of->processes[rank];
    trace_file_head head = {
        .byte_order = TRACE_BYTE_ORDER, .version = TRACE_VERSION, .rank = rank, .size = of->size, .job = of->job};
    memcpy(head.magic, TRACE_MAGIC, sizeof head.magic);
    write_bytes(stream, &head, sizeof head);
    write_block(stream, TRACE_BLOCK_TEXT, 0, process->text, process->text ? strlen(process->text) : 0);
    write_names(stream, of);
    write_communicators(stream, process);
    write_sites(stream, process);
    write_paths(stream, process);
    write_block(stream, TRACE_BLOCK_CLOCK, 0, process->records, process->record_count * sizeof *process->records);
    for (size_t i = 0; i < process->location_count; i++) {
        const trace_location *location = &process->locations[i];
        write_block(stream, TRACE_BLOCK_EVENTS, (uint32_t)location->thread, location->events,
                    location->count * sizeof *location->events);
    }
    write_block(stream, TRACE_BLOCK_NOW, 0, process->now, process->now_count * sizeof *process->now);
    if (process->is_finished)
        write_block(stream, TRACE_BLOCK_END, 0, &process->end, sizeof process->end);
}

bool trace_write(const trace *of, const char *folder, char message[TRACE_MESSAGE_SIZE])
{
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return trace_fail(message, "%s: this folder cannot be made: %s", folder, strerror(errno));
    for (int rank = 0; rank < of->size; rank++) {
        char path[TRACE_PATH_SIZE];
        trace_path(path, folder, rank);
        FILE *stream = fopen(path, "wb");
        if (!stream)
            return trace_fail(message, "%s: it cannot be written: %s", path, strerror(errno));
        write_process(stream, of, rank);
        bool failed = ferror(stream) != 0;
        if (fclose(stream) != 0 || failed)
            return trace_fail(message, "%s: it cannot be written completely: %s", path, strerror(errno));
    }
    return true;
}
