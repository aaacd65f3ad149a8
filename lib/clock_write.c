/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * clock_write.c - the first process of each node sends the lines of its host to rank 0, which writes them one host
 * after the other, into a file beside the one that is asked for, and renames this one when it is complete.
 */
#include "clock_write.h"

#include "base/host.h"
#include "pure/units.h"
#include "transport/tags.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = 4096 };

/* Lines of this host. */
typedef struct mh_lines {
    char *text;
    int64_t bytes;
} mh_lines;

static void print_host(mh_comm_state *state, mh_lines *lines, mh_error *error)
{
    char name[MH_HOST_NAME_BYTES], boot[MH_BOOT_ID_BYTES];
    const int64_t monotonic_ns = mh_time_namespace_ns("monotonic");
    const mh_host_names names = {.name = name,
                                 .boot = boot,
                                 .namespace_ns = {[MPIX_CLOCK_MONOTONIC] = monotonic_ns,
                                                  [MPIX_CLOCK_MONOTONIC_RAW] = monotonic_ns,
                                                  [MPIX_CLOCK_BOOTTIME] = mh_time_namespace_ns("boottime")}};
    size_t bytes = 0;
    mh_host_name(name);
    mh_boot_id(boot);
    lines->text = mh_history_lines(&state->history, &state->clock, &names, &bytes);
    lines->bytes = (int64_t)bytes;
    if (!lines->text || bytes > INT_MAX)
        mh_fail(error, MPI_ERR_NO_MEM, "MPIX_Clock_write: out of memory for the lines of %.60s", name);
}

static FILE *open_file(const char *path, char part[PATH_BYTES], mh_error *error)
{
    if (!path) {
        mh_fail(error, MPI_ERR_ARG, "MPIX_Clock_write: path is a null pointer on rank 0; allowed: the name of a file");
        return NULL;
    }
    if (snprintf(part, PATH_BYTES, "%s.part", path) >= PATH_BYTES) {
        mh_fail(error, MPI_ERR_ARG, "MPIX_Clock_write: path is too long; allowed: the name of a file");
        return NULL;
    }
    const int file = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
    FILE *stream = file >= 0 ? fdopen(file, "w") : NULL;
    if (!stream)
        mh_fail(error, MPI_ERR_IO, "MPIX_Clock_write: '%.120s' cannot be created: %s", part, strerror(errno));
    if (!stream && file >= 0)
        close(file);
    return stream;
}

static void write_head(const mh_comm_state *state, FILE *file)
{
    char line[MH_CLOCK_LINE_BYTES];
    double rate_limit, wander_per_s;
    mh_history_limits(&state->clock, &rate_limit, &wander_per_s);
    const double wander_ppb_per_s = fmin(wander_per_s / MH_PPB, 1 / MH_PPB); /* the most that a file can say: any */
    const size_t bytes = mh_clock_head_line(line, state->clock.epoch_unix_ns, (int64_t)ceil(rate_limit / MH_PPB),
                                            (int64_t)ceil(wander_ppb_per_s));
    fwrite(line, 1, bytes, file);
}

/* Lines of another host. A file that cannot be written is no reason to leave a sender alone. */
static int receive_host(const mh_channel *channel, int from, FILE *file, mh_error *error)
{
    char part[MH_ROOM_BYTES];
    int64_t left;
    int code = mh_recv(channel, &left, sizeof left, from, MH_TAG_RECORDS, error);
    for (; code == MPI_SUCCESS && left > 0; left -= MH_ROOM_BYTES) {
        const int bytes = left < MH_ROOM_BYTES ? (int)left : MH_ROOM_BYTES;
        code = mh_recv(channel, part, bytes, from, MH_TAG_RECORDS, error);
        fwrite(part, 1, (size_t)bytes, file);
    }
    return code;
}

static int collect(const mh_comm_state *state, const mh_lines *lines, FILE *file, mh_error *error)
{
    const mh_channel *channel = &state->channel;
    const mh_group *leaders = &state->sites.leaders;
    int code = MPI_SUCCESS;
    if (channel->rank != 0) {
        code = mh_send(channel, &lines->bytes, sizeof lines->bytes, 0, MH_TAG_RECORDS, error);
        return code == MPI_SUCCESS ? mh_send(channel, lines->text, (int)lines->bytes, 0, MH_TAG_RECORDS, error) : code;
    }
    write_head(state, file);
    fwrite(lines->text, 1, (size_t)lines->bytes, file);
    for (int i = 1; i < leaders->size && code == MPI_SUCCESS; i++)
        code = receive_host(channel, mh_group_rank(leaders, i), file, error);
    return code;
}

/* Close the file, and give it its name. Returns whether all is written. */
static void finish(FILE *file, const char *part, const char *path, bool is_complete, mh_error *error)
{
    bool is_written = !ferror(file);
    errno = is_written ? 0 : EIO;
    is_written = fclose(file) == 0 && is_written;
    if (is_complete && is_written && rename(part, path) == 0)
        return;
    mh_fail(error, MPI_ERR_IO, "MPIX_Clock_write: '%.120s' cannot be written: %s", path, strerror(errno));
    unlink(part);
}

int mh_clock_write(mh_comm_state *state, const char *path, mh_error *error)
{
    const bool is_root = state->channel.rank == 0, is_leader = state->sites.node.ranks[0] == state->channel.rank;
    char part[PATH_BYTES] = "";
    FILE *file = NULL;
    mh_lines lines = {NULL, 0};
    if (is_root)
        file = open_file(path, part, error);
    if (is_leader)
        print_host(state, &lines, error);
    int code = mh_error_agree(error, state->channel.comm);
    const bool is_begun = code == MPI_SUCCESS;
    if (is_begun && is_leader)
        code = collect(state, &lines, file, error);
    if (file)
        finish(file, part, path, is_begun && code == MPI_SUCCESS, error);
    free(lines.text);
    if (!is_begun || code != MPI_SUCCESS)
        return code;
    return mh_error_agree(error, state->channel.comm);
}
