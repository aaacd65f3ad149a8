/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * clock_write.c - the first process of each node sends the lines of its host to rank 0 when it is its turn. Rank 0
 * writes them one host after the other, into a file beside the one that is asked for, and renames this one when it is
 * complete.
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
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* Of a path, and of what its file is named until it is complete. */
enum { PATH_BYTES = 4096, PART_BYTES = PATH_BYTES + 32 };

/* On rank 0. */
typedef struct mh_output {
    const char *path;        /* as it was given */
    char target[PATH_BYTES]; /* what is to be replaced: where links lead */
    char part[PART_BYTES];
    struct stat replaced; /* the target; st_nlink is 0: there is none */
    FILE *file;
    int64_t bytes, most;
    int reason; /* the first errno; nothing is written any more */
} mh_output;

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

/* ---- The file */

static void fail(const mh_output *output, int reason, mh_error *error)
{
    errno = reason;
    mh_fail(error, MPI_ERR_IO, "MPIX_Clock_write: '%.120s' cannot be written: %m", output->path);
}

/* Find what is to be replaced. Devices and others are not. Returns whether this may be. */
static bool find_target(mh_output *output, mh_error *error)
{
    struct stat there;
    char *found = NULL;
    if (lstat(output->path, &there) == 0) {
        found = realpath(output->path, NULL);
        if (!found || stat(found, &there) != 0) {
            fail(output, errno, error);
            free(found);
            return false;
        }
        output->replaced = there;
        if (!S_ISREG(there.st_mode))
            mh_fail(error, MPI_ERR_IO, "MPIX_Clock_write: '%.120s' is not a regular file", output->path);
    }
    const int length = snprintf(output->target, PATH_BYTES, "%s", found ? found : output->path);
    free(found);
    if (length >= PATH_BYTES)
        mh_fail(error, MPI_ERR_ARG, "MPIX_Clock_write: path is too long; allowed: the name of a file");
    return error->code == MPI_SUCCESS;
}

/* The new file belongs to whom the old one did, as far as this process may give it away, and has its mode. */
static void take_over_mode(const mh_output *output, int file)
{
    const struct stat *old = &output->replaced;
    mode_t mode = old->st_mode & 0777;
    if (old->st_nlink == 0)
        return;
    if (fchown(file, old->st_uid, old->st_gid) != 0 && fchown(file, (uid_t)-1, old->st_gid) != 0)
        mode &= 0707; /* the group is another one */
    (void)fchmod(file, mode);
}

static void open_file(mh_output *output, mh_error *error)
{
    struct rlimit limit;
    if (!output->path) {
        mh_fail(error, MPI_ERR_ARG, "MPIX_Clock_write: path is a null pointer on rank 0; allowed: the name of a file");
        return;
    }
    if (!find_target(output, error))
        return;
    snprintf(output->part, PART_BYTES, "%s.%016llx.part", output->target, (unsigned long long)mh_fresh_number());
    const int file = open(output->part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file >= 0)
        take_over_mode(output, file);
    output->file = file >= 0 ? fdopen(file, "w") : NULL;
    if (!output->file)
        fail(output, errno, error);
    if (!output->file && file >= 0) {
        close(file);
        unlink(output->part);
    }
    const bool is_limited = getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < INT64_MAX;
    output->most = is_limited ? (int64_t)limit.rlim_cur : INT64_MAX;
}

/* A file above the size limit would raise SIGXFSZ. */
static void put(mh_output *output, const char *text, size_t bytes)
{
    output->bytes += (int64_t)bytes;
    if (output->reason == 0 && output->bytes > output->most)
        output->reason = EFBIG;
    if (output->reason == 0 && fwrite(text, 1, bytes, output->file) != bytes)
        output->reason = errno;
}

/* Some file systems cannot do it. */
static bool is_on_disk(FILE *file)
{
    return fflush(file) == 0 && (fsync(fileno(file)) == 0 || errno == EINVAL || errno == ENOSYS);
}

/* Close the file, and give it its name. */
static void finish(mh_output *output, bool is_complete, mh_error *error)
{
    if (output->reason == 0 && is_complete && !is_on_disk(output->file))
        output->reason = errno;
    if (fclose(output->file) != 0 && output->reason == 0)
        output->reason = errno;
    if (output->reason == 0 && is_complete && rename(output->part, output->target) == 0)
        return;
    fail(output, output->reason != 0 ? output->reason : errno, error);
    unlink(output->part);
}

/* ---- Lines of all hosts */

static void write_head(const mh_comm_state *state, mh_output *output)
{
    char line[MH_CLOCK_LINE_BYTES];
    double rate_limit, wander_per_s;
    mh_history_limits(&state->clock, &rate_limit, &wander_per_s);
    const double wander_ppb_per_s = fmin(wander_per_s / MH_PPB, 1 / MH_PPB); /* the most that a file can say: any */
    const size_t bytes = mh_clock_head_line(line, state->clock.epoch_unix_ns, (int64_t)ceil(rate_limit / MH_PPB),
                                            (int64_t)ceil(wander_ppb_per_s));
    put(output, line, bytes);
}

/*
 * If all sent at once, rank 0 would have to hold what does not fit yet. A file that cannot be written is no reason to
 * leave a sender alone.
 */
static int receive_host(const mh_channel *channel, int from, mh_output *output, mh_error *error)
{
    char part[MH_ROOM_BYTES];
    int64_t left = 0;
    int code = mh_send(channel, &left, sizeof left, from, MH_TAG_RECORDS, error);
    if (code == MPI_SUCCESS)
        code = mh_recv(channel, &left, sizeof left, from, MH_TAG_RECORDS, error);
    for (; code == MPI_SUCCESS && left > 0; left -= MH_ROOM_BYTES) {
        const int bytes = left < MH_ROOM_BYTES ? (int)left : MH_ROOM_BYTES;
        code = mh_recv(channel, part, bytes, from, MH_TAG_RECORDS, error);
        put(output, part, (size_t)bytes);
    }
    return code;
}

static int send_host(const mh_channel *channel, const mh_lines *lines, mh_error *error)
{
    int64_t turn;
    int code = mh_recv(channel, &turn, sizeof turn, 0, MH_TAG_RECORDS, error);
    if (code == MPI_SUCCESS)
        code = mh_send(channel, &lines->bytes, sizeof lines->bytes, 0, MH_TAG_RECORDS, error);
    return code == MPI_SUCCESS ? mh_send(channel, lines->text, (int)lines->bytes, 0, MH_TAG_RECORDS, error) : code;
}

static int collect(const mh_comm_state *state, const mh_lines *lines, mh_output *output, mh_error *error)
{
    const mh_channel *channel = &state->channel;
    const mh_group *leaders = &state->sites.leaders;
    int code = MPI_SUCCESS;
    if (channel->rank != 0)
        return send_host(channel, lines, error);
    write_head(state, output);
    put(output, lines->text, (size_t)lines->bytes);
    for (int i = 1; i < leaders->size && code == MPI_SUCCESS; i++)
        code = receive_host(channel, mh_group_rank(leaders, i), output, error);
    return code;
}

int mh_clock_write(mh_comm_state *state, const char *path, mh_error *error)
{
    const bool is_root = state->channel.rank == 0, is_leader = state->sites.node.ranks[0] == state->channel.rank;
    mh_output output = {.path = path};
    mh_lines lines = {NULL, 0};
    if (is_root)
        open_file(&output, error);
    if (is_leader)
        print_host(state, &lines, error);
    int code = mh_error_agree(error, state->channel.comm);
    const bool is_begun = code == MPI_SUCCESS;
    if (is_begun && is_leader)
        code = collect(state, &lines, &output, error);
    if (output.file)
        finish(&output, is_begun && code == MPI_SUCCESS, error);
    free(lines.text);
    if (!is_begun || code != MPI_SUCCESS)
        return code;
    return mh_error_agree(error, state->channel.comm);
}
