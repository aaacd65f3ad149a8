/* SPDX-License-Identifier: BSD-3-Clause */
/* recording.c - what all parts of the back know of the recording, what they say, and memory for them. */
#define _GNU_SOURCE
#include "interpose/record/recording.h"

#include "interpose/record/lock.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

trace_recording mh_trace = {.world = MPI_COMM_NULL, .from_ns = INT64_MIN, .to_ns = INT64_MAX};

/* Written at once: a launcher may lose what follows, or mix it with other lines. */
void mh_trace_say(const char *format, ...)
{
    static const char name[] = "mpix_trace: ";
    static trace_lock speaking = TRACE_LOCK;
    char text[sizeof mh_choices.folder + 512];
    va_list arguments;
    strcpy(text, name);
    va_start(arguments, format);
    vsnprintf(text + strlen(name), sizeof text - sizeof name, format, arguments);
    va_end(arguments);
    strcat(text, "\n");
    bool is_held = mh_trace_lock(&speaking, TRACE_IN_A_SECOND);
    if (write(STDERR_FILENO, text, strlen(text)) < 0 && errno == EFBIG && is_held)
        mh_trace_take_file_signal();
    if (is_held)
        mh_trace_unlock(&speaking);
}

void *mh_trace_map(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    return memory;
}
