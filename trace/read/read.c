/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * read.c - a folder of traces in memory. Whatever a file contains, what tools get is sound: names and communicators of
 * all events exist, times do not decrease within a thread, and sums of times do not overflow. First all but events is
 * read of all processes: then it is known how many events there are, and when the run began.
 */
#include "common/cli/memory.h"
#include "common/cli/text.h"
#include "trace/read/parse.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const uint32_t swapped_order = 0x04030201;

enum { HOST_SIZE = 64, RANKS_SIZE = 128 };

/* The ranks of which there are files, in order. */
typedef struct {
    int *ranks, count;
} file_list;

static int compare_ranks(const void *first, const void *second)
{
    const int a = *(const int *)first, b = *(const int *)second;
    return (a > b) - (a < b);
}

/* Leaves the list empty if there is no file, with the reason in the message. */
static void list_files(const char *folder, file_list *list, char *message)
{
    DIR *directory = opendir(folder);
    if (!directory) {
        trace_fail(message, "%s: this folder cannot be read: %s", folder, strerror(errno));
        return;
    }
    for (struct dirent *entry; (entry = readdir(directory));) {
        int rank, length = 0;
        if (sscanf(entry->d_name, TRACE_FILE_PATTERN "%n", &rank, &length) != 1 || length == 0 || rank < 0 ||
            entry->d_name[length] != '\0')
            continue;
        if ((list->count & (list->count - 1)) == 0) /* room doubles */
            list->ranks = or_exit(realloc(list->ranks, (size_t)(list->count ? 2 * list->count : 1) * sizeof(int)));
        list->ranks[list->count++] = rank;
    }
    closedir(directory);
    if (list->count > 0)
        qsort(list->ranks, (size_t)list->count, sizeof *list->ranks, compare_ranks);
    else
        trace_fail(message, "%s: there is no trace in this folder: it has no file rank-N.mpixtrace", folder);
}

void trace_path(char path[TRACE_PATH_SIZE], const char *folder, int rank)
{
    size_t length = (size_t)snprintf(path, TRACE_PATH_SIZE, "%s/", folder);
    if (length < TRACE_PATH_SIZE)
        snprintf(path + length, TRACE_PATH_SIZE - length, TRACE_FILE_PATTERN, rank);
}

/* ---- One file */

static bool check_head(const trace_file *file, const trace_file_head *head, const trace *of)
{
    if (memcmp(head->magic, TRACE_MAGIC, sizeof head->magic) != 0)
        return trace_fail(file->message, "%s: this is not a trace: it does not begin with %s", file->path, TRACE_MAGIC);
    if (head->byte_order == swapped_order)
        return trace_fail(file->message, "%s: written on a machine of the other byte order", file->path);
    if (head->byte_order != TRACE_BYTE_ORDER)
        return trace_fail(file->message, "%s: of an unknown byte order", file->path);
    if (head->version != TRACE_VERSION)
        return trace_fail(file->message, "%s: of version %" PRIu32 ", and only %d can be read", file->path,
                          head->version, TRACE_VERSION);
    if (head->size < 1 || head->rank < 0 || head->rank >= head->size)
        return trace_fail(file->message,
                          "%s: of rank %" PRId32 " in a job of %" PRId32 " processes, which is impossible", file->path,
                          head->rank, head->size);
    if (head->rank != file->rank)
        return trace_fail(file->message, "%s: the file is of rank %" PRId32, file->path, head->rank);
    if (of->size != 0 && (head->job != of->job || head->size != of->size))
        return trace_fail(file->message, "%s: of another job than the files before it", file->path);
    return true;
}

/* A block whose end is missing is torn, and the last of the file. */
static bool read_blocks(trace_file *file)
{
    trace_block_head head;
    char zeros[8];
    while (file->bytes_left >= sizeof head) {
        if (fread(&head, sizeof head, 1, file->stream) != 1)
            return trace_fail(file->message, "%s: cannot be read", file->path);
        const uint64_t room = file->bytes_left - sizeof head, padding = -head.bytes % 8;
        if (head.bytes > room || padding > room - head.bytes)
            break;
        if (!trace_parse_block(file, &head))
            return false;
        if (padding > 0 && fread(zeros, (size_t)padding, 1, file->stream) != 1)
            return trace_fail(file->message, "%s: cannot be read", file->path);
        file->bytes_left = room - head.bytes - padding;
    }
    file->process->is_torn = file->bytes_left > 0;
    return true;
}

static bool read_open_file(trace_file *file, trace *into)
{
    struct stat status;
    trace_file_head head;
    if (fstat(fileno(file->stream), &status) != 0 || !S_ISREG(status.st_mode))
        return trace_fail(file->message, "%s: this file cannot be read", file->path);
    file->bytes = file->bytes_left = (uint64_t)status.st_size;
    if (file->bytes_left < sizeof head || fread(&head, sizeof head, 1, file->stream) != 1)
        return trace_fail(file->message, "%s: it ends within its first %zu bytes", file->path, sizeof head);
    if (!check_head(file, &head, into))
        return false;
    file->bytes_left -= sizeof head;
    into->size = head.size;
    into->job = head.job;
    return file->step == TRACE_READ_HEAD || read_blocks(file);
}

/* Of the head, only how many processes there are is kept. */
static bool read_file(trace *into, trace_process *process, const char *folder, int rank, trace_step step, char *message)
{
    char path[TRACE_PATH_SIZE];
    trace_path(path, folder, rank);
    trace_file file = {
        .path = path, .rank = rank, .message = message, .size = into->size, .process = process, .step = step};
    file.stream = fopen(path, "rb");
    if (!file.stream)
        return trace_fail(message, "%s: it cannot be read: %s", path, strerror(errno));
    bool is_good = read_open_file(&file, into);
    fclose(file.stream);
    return is_good;
}

/* ---- All files */

/* Ranks without a file, as "1, 3 to 5", as far as there is room. Returns the first one. */
static int list_missing(const file_list *list, int size, char *text, size_t text_bytes)
{
    int first = -1, next = 0; /* the rank after the last file */
    text[0] = '\0';
    for (int i = 0; next < size; i++) {
        const int rank = i < list->count && list->ranks[i] < size ? list->ranks[i] : size;
        if (rank > next && strlen(text) > text_bytes / 2) {
            text_append(text, text_bytes, ", ...");
            break;
        }
        if (rank > next)
            text_append(text, text_bytes, "%s%d", first >= 0 ? ", " : "", next);
        if (rank - 1 > next)
            text_append(text, text_bytes, " to %d", rank - 1);
        if (rank > next && first < 0)
            first = next;
        next = rank < size ? rank + 1 : size;
    }
    return first;
}

/* Each host may have a folder of this name. */
static bool refuse_missing(trace *read, const char *folder, const file_list *list, char *message)
{
    char path[TRACE_PATH_SIZE], missing[RANKS_SIZE], host[HOST_SIZE] = "", from[HOST_SIZE + RANKS_SIZE] = "";
    trace_process process = {0};
    if (read_file(read, &process, folder, list->ranks[0], TRACE_READ_OUTLINE, message))
        trace_text(&process, "host", host, sizeof host);
    trace_free_process(&process);
    if (host[0] != '\0')
        snprintf(from, sizeof from, " (that of rank %d is from %s)", list->ranks[0], host);
    trace_path(path, folder, list_missing(list, read->size, missing, sizeof missing));
    return trace_fail(message,
                      "%s: missing; ranks without a file: %s, of %d%s: copy the files from the hosts of these ranks, "
                      "or record in a folder that all hosts share",
                      path, missing, read->size, from);
}

static bool read_listed(trace *read, const char *folder, const file_list *list, char *message)
{
    if (!read_file(read, NULL, folder, list->ranks[0], TRACE_READ_HEAD, message))
        return false;
    if (list->count < read->size)
        return refuse_missing(read, folder, list, message);
    if (list->count > read->size || read->size < 1)
        return trace_fail(message, "%s: files of several jobs: one had %d processes, and there are %d files", folder,
                          read->size, list->count);
    read->processes = or_exit(calloc((size_t)read->size, sizeof *read->processes));
    for (int rank = 0; rank < read->size; rank++)
        if (!read_file(read, &read->processes[rank], folder, rank, TRACE_READ_OUTLINE, message))
            return false;
    return trace_settle(read) || trace_fail(message, "%s: too many names", folder);
}

bool trace_read_outline(trace *read, const char *folder, char message[TRACE_MESSAGE_SIZE])
{
    file_list list = {NULL, 0};
    *read = (trace){.size = 0};
    list_files(folder, &list, message);
    const bool is_good = list.count > 0 && read_listed(read, folder, &list, message);
    free(list.ranks);
    if (!is_good)
        trace_free(read);
    return is_good;
}

bool trace_read_events(trace *read, const char *folder, int rank, char message[TRACE_MESSAGE_SIZE])
{
    trace_process *process = &read->processes[rank];
    for (size_t i = 0; i < process->location_count; i++) {
        process->locations[i].events = array_or_exit(process->locations[i].count, sizeof(trace_event));
        process->locations[i].room = process->locations[i].count;
        process->locations[i].count = 0;
    }
    if (!read_file(read, process, folder, rank, TRACE_READ_EVENTS, message))
        return false;
    trace_settle_events(read, process);
    return true;
}

bool trace_read(trace *read, const char *folder, char message[TRACE_MESSAGE_SIZE])
{
    if (!trace_read_outline(read, folder, message))
        return false;
    for (int rank = 0; rank < read->size; rank++)
        if (!trace_read_events(read, folder, rank, message)) {
            trace_free(read);
            return false;
        }
    return true;
}
