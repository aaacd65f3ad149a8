/* SPDX-License-Identifier: BSD-3-Clause */
/* options.c - what mpix_trace passes in the environment, which it has checked. */
#include "trace/back/options.h"

#include "pure/text.h"

#include <stdio.h>
#include <stdlib.h>

static const int64_t default_buffer_bytes = INT64_C(64) << 20;

static void copy(char *text, size_t size, const char *name)
{
    const char *value = getenv(name);
    snprintf(text, size, "%s", value ? value : "");
}

/* A number of seconds in nanoseconds; absent if it is not given. */
static int64_t read_ns(const char *name, int64_t absent)
{
    const char *value = getenv(name);
    int64_t ns;
    return value && mh_parse_billionths(value, &ns) == 0 ? ns : absent;
}

void mh_trace_read_options(trace_options *options)
{
    const char *bytes = getenv("MPIX_TRACE_BUFFER_BYTES");
    copy(options->folder, sizeof options->folder, "MPIX_TRACE_DIR");
    copy(options->only, sizeof options->only, "MPIX_TRACE_ONLY");
    if (!bytes || mh_parse_whole(bytes, &options->buffer_bytes) != 0)
        options->buffer_bytes = default_buffer_bytes;
    options->from_ns = read_ns("MPIX_TRACE_FROM_S", INT64_MIN);
    options->to_ns = read_ns("MPIX_TRACE_TO_S", INT64_MAX);
}
