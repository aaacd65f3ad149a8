/* SPDX-License-Identifier: BSD-3-Clause */
/* clock_writer.c - which looks are written, and the lines of a file of clock records. */
#include "pure/clock_writer.h"

#include "pure/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* Readings of two clocks at one instant scatter by this, beside what their brackets say. */
enum { SCATTER_NS = 100 };

/* ---- Looks */

static int write_last(mh_look_filter *filter, mh_look written[1])
{
    if (!filter->has_last)
        return 0;
    written[0] = filter->last;
    written[0].bend_ns = filter->between > 0 ? filter->bend_ns : -1;
    filter->written = filter->last;
    filter->has_last = false;
    filter->between = filter->bend_ns = 0;
    return 1;
}

int mh_look_filter_flush(mh_look_filter *filter, mh_look written[1])
{
    return write_last(filter, written);
}

/* Writes a look after which all is new. */
static int write_alone(mh_look_filter *filter, mh_look look, mh_look written[2])
{
    int count = write_last(filter, written);
    look.bend_ns = -1;
    written[count++] = filter->written = look;
    filter->has_written = true;
    return count;
}

int mh_look_filter_add(mh_look_filter *filter, mh_look look, mh_look written[2])
{
    const mh_look *before = filter->has_last ? &filter->last : &filter->written, *from = &filter->written;
    if (!filter->has_written || look.at <= before->at || look.raw_ns - before->raw_ns > 2 * filter->look_ns)
        return write_alone(filter, look, written);
    const double passed = (double)(look.at - from->at), passed_ns = (double)(look.raw_ns - from->raw_ns);
    const int64_t tolerance_ns = SCATTER_NS + 2 * look.half_ns;
    const double least = (passed_ns - (double)tolerance_ns) / passed,
                 most = (passed_ns + (double)tolerance_ns) / passed;
    if (filter->has_last && (passed_ns / passed < filter->least || passed_ns / passed > filter->most))
        return write_alone(filter, look, written);
    filter->least = filter->has_last ? fmax(filter->least, least) : least;
    filter->most = filter->has_last ? fmin(filter->most, most) : most;
    filter->between += filter->has_last;
    filter->bend_ns = tolerance_ns > filter->bend_ns ? tolerance_ns : filter->bend_ns;
    filter->last = look;
    filter->has_last = true;
    return 0;
}

/* ---- Lines */

/* A name of a host is not trusted: characters that a text of JSON cannot have as they are become question marks. */
static int print_host(char *line, const char *host)
{
    char name[256];
    size_t length = 0;
    for (; host[length] != '\0' && length + 1 < sizeof name; length++) {
        name[length] = host[length];
        if (mh_is_control(host[length]) || host[length] == '"' || host[length] == '\\')
            name[length] = '?';
    }
    name[length] = '\0';
    return snprintf(line, MH_CLOCK_LINE_BYTES, "{\"host\": \"%s\"", name);
}

size_t mh_clock_head_line(char line[MH_CLOCK_LINE_BYTES], int64_t unix_ns, int64_t rate_limit_ppb,
                          int64_t wander_ppb_per_s)
{
    return (size_t)snprintf(line, MH_CLOCK_LINE_BYTES,
                            "{\"mpix_clock_records\": 1, \"unix_ns\": %" PRId64 ", \"rate_limit_ppb\": %" PRId64
                            ", \"wander_ppb_per_s\": %" PRId64 "}\n",
                            unix_ns, rate_limit_ppb, wander_ppb_per_s);
}

size_t mh_clock_host_line(char line[MH_CLOCK_LINE_BYTES], const char *host, const char *boot, int64_t look_ns,
                          const int64_t namespace_ns[MPIX_CLOCK_IDS])
{
    int length = print_host(line, host);
    length += snprintf(line + length, (size_t)(MH_CLOCK_LINE_BYTES - length),
                       ", \"boot\": \"%.64s\", \"look_ns\": %" PRId64, boot, look_ns);
    for (int id = 0; id < MPIX_CLOCK_IDS; id++)
        if (namespace_ns[id] != 0)
            length += snprintf(line + length, (size_t)(MH_CLOCK_LINE_BYTES - length), ", \"%s_namespace_ns\": %" PRId64,
                               mpix_clock_id_names[id], namespace_ns[id]);
    return (size_t)length + (size_t)snprintf(line + length, (size_t)(MH_CLOCK_LINE_BYTES - length), "}\n");
}

size_t mh_clock_record_line(char line[MH_CLOCK_LINE_BYTES], const char *host, int64_t raw_ns, int64_t global_ns,
                            int64_t half_ns)
{
    const int length = print_host(line, host);
    return (size_t)length + (size_t)snprintf(line + length, (size_t)(MH_CLOCK_LINE_BYTES - length),
                                             ", \"raw\": [%" PRId64 ", %" PRId64 ", %" PRId64 "]}\n", raw_ns, global_ns,
                                             half_ns);
}

size_t mh_clock_look_line(char line[MH_CLOCK_LINE_BYTES], const char *host, mpix_clock_id clock, mh_look look)
{
    int length = print_host(line, host);
    length +=
        snprintf(line + length, (size_t)(MH_CLOCK_LINE_BYTES - length), ", \"%s\": [%" PRId64 ", %" PRId64 ", %" PRId64,
                 mpix_clock_id_names[clock], look.at, look.raw_ns, look.half_ns);
    if (look.bend_ns >= 0)
        length += snprintf(line + length, (size_t)(MH_CLOCK_LINE_BYTES - length), ", %" PRId64, look.bend_ns);
    return (size_t)length + (size_t)snprintf(line + length, (size_t)(MH_CLOCK_LINE_BYTES - length), "]}\n");
}

size_t mh_clock_utc_line(char line[MH_CLOCK_LINE_BYTES], const char *host, mpix_clock_utc_look look, int64_t tai_s)
{
    const int length = print_host(line, host);
    return (size_t)length + (size_t)snprintf(line + length, (size_t)(MH_CLOCK_LINE_BYTES - length),
                                             ", \"utc\": [%" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64
                                             "], \"tai_s\": %" PRId64 "}\n",
                                             look.at, look.raw_ns, look.within_ns, look.estimate_ns, tai_s);
}
