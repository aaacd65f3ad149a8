/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * parse.h - files and their blocks, for read.c and write.c: parse.c adds each block to its process, and settle.c makes
 * processes agree.
 */
#ifndef TRACE_PARSE_H
#define TRACE_PARSE_H

#include "trace/read/trace.h"

#include <stdio.h>

enum { TRACE_PATH_SIZE = 4096 };

/* No time and no offset is beyond this, so that sums of both and differences of these fit. It is 72 years. */
#define TRACE_TIME_LIMIT INT64_C(2300000000000000000)

/* What is read of a file: its head, all blocks but those of events, or these. */
typedef enum { TRACE_READ_HEAD, TRACE_READ_OUTLINE, TRACE_READ_EVENTS } trace_step;

/* A file that is being read. */
typedef struct {
    const char *path;
    FILE *stream;
    int rank;
    int size; /* of the job */
    uint64_t bytes, bytes_left;
    trace_process *process;
    trace_step step;
    char *message;
} trace_file;

/* The file of a rank. */
void trace_path(char path[TRACE_PATH_SIZE], const char *folder, int rank);

/* Sets the message. Returns false. */
bool trace_fail(char message[TRACE_MESSAGE_SIZE], const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Read the payload of a block, all of which is there, or go on after it. */
bool trace_parse_block(trace_file *file, const trace_block_head *head);

/* Whether the id of an event is that of a name. */
static inline bool trace_has_name(const trace_event *event)
{
    return event->kind == TRACE_ENTER || event->kind == TRACE_LEAVE || event->kind == TRACE_COLLECTIVE_OUT;
}

/* When the outlines of all files are read: common names, order, limits of clocks. False: more names than ids. */
bool trace_settle(trace *read);

/* When the events of a process are read: only names and communicators that are there, and calls. */
void trace_settle_events(trace *read, trace_process *process);

/* An array with zeroed elements added up to a count, if it has less. */
void *trace_grow(void *array, size_t *count, size_t wanted, size_t element_bytes);

#endif
