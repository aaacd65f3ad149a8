/* SPDX-License-Identifier: BSD-3-Clause */
/* test_host_clocks.c - the clocks of the host beside the global one. */
#define _GNU_SOURCE /* CLOCK_TAI */
#include "mpix_test.h"

#include "mpix_clock_reader.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const struct {
    const char *name;
    clockid_t posix;
} host_clocks[] = {{"CLOCK_REALTIME", CLOCK_REALTIME},
                   {"CLOCK_MONOTONIC", CLOCK_MONOTONIC},
                   {"CLOCK_MONOTONIC_RAW", CLOCK_MONOTONIC_RAW},
                   {"CLOCK_BOOTTIME", CLOCK_BOOTTIME},
                   {"CLOCK_TAI", CLOCK_TAI}};

enum { HOST_CLOCKS = sizeof host_clocks / sizeof *host_clocks };

static int64_t host_ns(int i)
{
    struct timespec now;
    clock_gettime(host_clocks[i].posix, &now);
    return (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
}

/* ---- Pairs */

static void check_pair(MPI_Comm comm, int i)
{
    int64_t bound_ns, later_bound_ns, local_ns = -1, time_ns = -1, pair_bound_ns = -1;
    const int64_t before_ns = read_ns(comm, &bound_ns), host_before_ns = host_ns(i);
    CHECK_OK(MPIX_Clock_pair(comm, host_clocks[i].posix, &local_ns, &time_ns, &pair_bound_ns));
    const int64_t host_after_ns = host_ns(i), after_ns = read_ns(comm, &later_bound_ns);
    CHECK(host_before_ns <= local_ns && local_ns <= host_after_ns,
          "%s is %" PRId64 ", but was %" PRId64 " before and %" PRId64 " after", host_clocks[i].name, local_ns,
          host_before_ns, host_after_ns);
    CHECK(pair_bound_ns > 0 && pair_bound_ns < NS_PER_S, "%s: the bound is %" PRId64 " ns", host_clocks[i].name,
          pair_bound_ns);
    CHECK(time_ns >= before_ns - bound_ns && time_ns <= after_ns + 1,
          "%s: the time is %" PRId64 ", but was %" PRId64 " (bound %" PRId64 ") before and %" PRId64 " after",
          host_clocks[i].name, time_ns, before_ns, bound_ns, after_ns);
}

SUB_TEST(clock_pairs, SINGLE, "each clock of the host beside the global one")
{
    MPI_Comm comm = duplicate(MPI_COMM_WORLD);
    for (int round = 0; round < 3; round++) {
        CHECK_OK(MPIX_Clock_sync(comm));
        for (int i = 0; i < HOST_CLOCKS; i++)
            check_pair(comm, i);
    }
    MPI_Comm_free(&comm);
}

/* ---- Times of readings */

typedef struct moment {
    int64_t host_ns[HOST_CLOCKS];
    int64_t before_ns, before_bound_ns, after_ns, after_bound_ns; /* on the global clock */
} moment;

static moment take_moment(MPI_Comm comm)
{
    moment now;
    now.before_ns = read_ns(comm, &now.before_bound_ns);
    for (int i = 0; i < HOST_CLOCKS; i++)
        now.host_ns[i] = host_ns(i);
    now.after_ns = read_ns(comm, &now.after_bound_ns);
    return now;
}

/* The bounds of both hold the true time, so they overlap. The kernel may have corrected or set other clocks than raw
 * ones while nobody looked. */
static void check_moment(MPI_Comm comm, const moment *then, int64_t widest_ns, const char *what)
{
    for (int i = 0; i < HOST_CLOCKS; i++) {
        const bool is_raw = host_clocks[i].posix == CLOCK_MONOTONIC_RAW;
        int64_t time_ns = -1, bound_ns = -1;
        CHECK_OK(MPIX_Global_time_of(comm, host_clocks[i].posix, then->host_ns[i], &time_ns, &bound_ns));
        CHECK(bound_ns > 0 && (!is_raw || bound_ns < widest_ns), "%s: %s: the bound is %" PRId64 " ns", what,
              host_clocks[i].name, bound_ns);
        CHECK(time_ns + bound_ns >= then->before_ns - then->before_bound_ns &&
                  time_ns - bound_ns <= then->after_ns + then->after_bound_ns,
              "%s: %s: the time is %" PRId64 " (bound %" PRId64 "), but was %" PRId64 " (bound %" PRId64
              ") before and %" PRId64 " after",
              what, host_clocks[i].name, time_ns, bound_ns, then->before_ns, then->before_bound_ns, then->after_ns);
    }
}

static void check_moments(MPI_Comm comm)
{
    enum { MOMENTS = 20 };
    moment moments[MOMENTS];
    for (int i = 0; i < MOMENTS; i++) {
        if (i % 3 == 0)
            CHECK_OK(MPIX_Clock_sync(comm));
        moments[i] = take_moment(comm);
        check_moment(comm, &moments[i], 100 * NS_PER_MS, "now");
        nap_ms(i % 4);
    }
    for (int i = 0; i < MOMENTS; i++)
        check_moment(comm, &moments[i], 100 * NS_PER_MS, "a moment ago");
}

SUB_TEST(times_of, SINGLE, "readings of each clock of the host, of now and of the past, are within their bounds")
{
    static const char *const clocks[] = {"auto", "monotonic_raw", "monotonic"};
    for (int i = 0; i < 3; i++) {
        MPI_Comm comm = duplicate_with("clock=%s", clocks[i]);
        CHECK_OK(MPIX_Clock_sync(comm));
        check_moments(comm);
        MPI_Comm_free(&comm);
    }
}

/* ---- Readings beside synchronizations in another thread */

typedef struct converter {
    pthread_t thread;
    MPI_Comm comm;
    _Atomic bool stop;
    int64_t conversions, failures, misses;
} converter;

static void convert_one(converter *me, int clock)
{
    int64_t before_ns = 0, before_bound_ns = 0, after_ns = 0, after_bound_ns = 0, time_ns = 0, bound_ns = 0;
    me->failures += MPIX_Global_time_ns(me->comm, &before_ns, &before_bound_ns) != MPI_SUCCESS;
    const int64_t reading_ns = host_ns(clock);
    me->failures += MPIX_Global_time_ns(me->comm, &after_ns, &after_bound_ns) != MPI_SUCCESS;
    me->failures +=
        MPIX_Global_time_of(me->comm, host_clocks[clock].posix, reading_ns, &time_ns, &bound_ns) != MPI_SUCCESS;
    me->conversions++;
    const bool is_known = before_bound_ns < NS_PER_S && after_bound_ns < NS_PER_S && bound_ns < INT64_MAX;
    me->misses += is_known &&
                  (time_ns + bound_ns < before_ns - before_bound_ns || time_ns - bound_ns > after_ns + after_bound_ns);
}

static void *keep_converting(void *data)
{
    converter *me = data;
    for (int i = 0; !atomic_load(&me->stop); i = (i + 1) % HOST_CLOCKS)
        convert_one(me, i);
    return NULL;
}

SUB_TEST(times_of_beside, MULTIPLE, "a thread converts readings while another one synchronizes and writes a file")
{
    MPI_Comm comm = duplicate_with("history=%s", "4");
    CHECK_OK(MPIX_Clock_sync(comm));
    converter other = {.comm = comm};
    pthread_create(&other.thread, NULL, keep_converting, &other);
    for (int i = 0; i < times(60, 12); i++) {
        CHECK_OK(MPIX_Clock_sync(comm));
        if (i % 8 == 0)
            CHECK_CLASS(MPIX_Clock_write(comm, "/dev"), MPI_ERR_IO, "a folder");
        nap_ms(1);
    }
    atomic_store(&other.stop, true);
    pthread_join(other.thread, NULL);
    CHECK(other.failures == 0 && other.conversions > 0, "%" PRId64 " of %" PRId64 " conversions failed", other.failures,
          other.conversions);
    CHECK(other.misses == 0, "%" PRId64 " of %" PRId64 " times are not within their bounds", other.misses,
          other.conversions);
    MPI_Comm_free(&comm);
}

/* How far global time passes, and from when, is not changed by what is asked. */
SUB_TEST(times_of_before, SINGLE, "readings from before the first synchronization, and of the future, have wide bounds")
{
    enum { CLOCK = 2 };
    int64_t time_ns, bound_ns, later_bound_ns;
    MPI_Comm comm = duplicate_with("history=2");
    const int64_t before_ns = host_ns(CLOCK);
    nap_ms(20);
    for (int i = 0; i < 10; i++)
        CHECK_OK(MPIX_Clock_sync(comm));
    const moment now = take_moment(comm);
    CHECK_OK(MPIX_Global_time_of(comm, host_clocks[CLOCK].posix, before_ns, &time_ns, &bound_ns));
    /* The reading of now was between two of the global clock, whose rate differs by little. */
    const int64_t ago_ns = now.host_ns[CLOCK] - before_ns, slack_ns = NS_PER_MS + ago_ns / 1000;
    CHECK(time_ns - bound_ns <= now.after_ns - ago_ns + now.after_bound_ns + slack_ns &&
              time_ns + bound_ns >= now.before_ns - ago_ns - now.before_bound_ns - slack_ns,
          "it was %" PRId64 " (bound %" PRId64 "), expected %" PRId64 " to %" PRId64, time_ns, bound_ns,
          now.before_ns - ago_ns, now.after_ns - ago_ns);
    CHECK_OK(MPIX_Global_time_of(comm, host_clocks[CLOCK].posix, before_ns - NS_PER_S, &time_ns, &later_bound_ns));
    CHECK(later_bound_ns > bound_ns, "the bound is %" PRId64 " ns, and %" PRId64 " ns a second before", bound_ns,
          later_bound_ns);
    for (int i = 0; i < 2; i++)
        CHECK_OK(MPIX_Global_time_of(comm, host_clocks[CLOCK].posix, i ? INT64_MAX : INT64_MIN, &time_ns, &bound_ns));
    CHECK(bound_ns > NS_PER_S, "the bound is %" PRId64 " ns after centuries", bound_ns);
    MPI_Comm_free(&comm);
}

SUB_TEST(times_of_wander, SINGLE, "a looser limit of wander makes the bounds of the past wider at once")
{
    enum { CLOCK = 2 };
    int64_t time_ns, bound_ns, looser_bound_ns;
    MPI_Comm comm = duplicate_with("clock=monotonic_raw");
    CHECK_OK(MPIX_Clock_sync(comm));
    nap_ms(20);
    const int64_t reading_ns = host_ns(CLOCK);
    nap_ms(20);
    CHECK_OK(MPIX_Clock_sync(comm));
    CHECK_OK(MPIX_Global_time_of(comm, host_clocks[CLOCK].posix, reading_ns, &time_ns, &bound_ns));
    CHECK_OK(set_setting(comm, "wander_max_ppb_per_s", "1000000"));
    CHECK_OK(MPIX_Global_time_of(comm, host_clocks[CLOCK].posix, reading_ns, &time_ns, &looser_bound_ns));
    CHECK(looser_bound_ns > bound_ns + 1000, "the bound is %" PRId64 " ns, and was %" PRId64 " ns", looser_bound_ns,
          bound_ns);
    MPI_Comm_free(&comm);
}

SUB_TEST(times_of_unknown, SEVERAL, "without synchronization there is a time, and no bound")
{
    int64_t bound_ns = 0, time_ns;
    MPI_Comm comm = duplicate_with("sync=none");
    CHECK_OK(MPIX_Clock_sync(comm));
    CHECK_OK(MPIX_Global_time_of(comm, CLOCK_MONOTONIC, host_ns(1), &time_ns, &bound_ns));
    CHECK(my_rank == 0 || bound_ns == INT64_MAX, "the bound is %" PRId64 " ns", bound_ns);
    MPI_Comm_free(&comm);
}

/* ---- Files of records */

enum { PATH_BYTES = 64 };

/* A name that only rank 0 has. */
static void make_path(char path[PATH_BYTES])
{
    snprintf(path, PATH_BYTES, "%s", my_rank == 0 ? "/tmp/mpix_clock_write_XXXXXX" : "/nowhere/file");
    if (my_rank == 0)
        close(mkstemp(path));
}

/* The same times as by the library. */
static void check_file(const char *path, const char *host, const moment *moments, int count)
{
    static const mpix_clock_id ids[HOST_CLOCKS] = {MPIX_CLOCK_REALTIME, MPIX_CLOCK_MONOTONIC, MPIX_CLOCK_MONOTONIC_RAW,
                                                   MPIX_CLOCK_BOOTTIME, MPIX_CLOCK_TAI};
    char why[MPIX_CLOCK_WHY_BYTES] = "";
    mpix_clock_file *file = mpix_clock_open(path, why);
    CHECK(file, "%s", why);
    const int number = file ? mpix_clock_find_host(file, host) : -1;
    CHECK(number >= 0, "%s is not among the hosts", host);
    for (int i = 0; i < count * HOST_CLOCKS && number >= 0; i++) {
        const moment *then = &moments[i / HOST_CLOCKS];
        mpix_clock_time time = {.bound_ns = -1};
        mpix_clock_convert(file, number, ids[i % HOST_CLOCKS], then->host_ns[i % HOST_CLOCKS], &time);
        const bool is_raw = ids[i % HOST_CLOCKS] == MPIX_CLOCK_MONOTONIC_RAW;
        CHECK(time.bound_ns > 0 && (!is_raw || time.bound_ns < 100 * NS_PER_MS), "the bound is %" PRId64 " ns",
              time.bound_ns);
        CHECK(time.global_ns + time.bound_ns >= then->before_ns - then->before_bound_ns &&
                  time.global_ns - time.bound_ns <= then->after_ns + then->after_bound_ns,
              "%s: the time is %" PRId64 " (bound %" PRId64 "), but was %" PRId64 " before",
              host_clocks[i % HOST_CLOCKS].name, time.global_ns, time.bound_ns, then->before_ns);
    }
    mpix_clock_close(file);
}

SUB_TEST(clock_write, SINGLE, "a file of clock records has all hosts, and the times of the library")
{
    enum { MOMENTS = 5, HOST_BYTES = 256 };
    char path[PATH_BYTES], host[HOST_BYTES] = "";
    moment moments[MOMENTS];
    MPI_Comm comm = duplicate(MPI_COMM_WORLD);
    make_path(path);
    CHECK_OK(MPIX_Clock_sync(comm));
    for (int i = 0; i < MOMENTS; i++) {
        nap_ms(3);
        moments[i] = take_moment(comm);
    }
    CHECK_OK(MPIX_Clock_write(comm, path));
    gethostname(host, sizeof host - 1);
    MPI_Bcast(path, PATH_BYTES, MPI_CHAR, 0, MPI_COMM_WORLD);
    check_file(path, host, moments, MOMENTS);
    CHECK_OK(MPIX_Clock_write(comm, path)); /* in the place of the first one */
    check_file(path, host, moments, MOMENTS);
    meet(MPI_COMM_WORLD);
    if (my_rank == 0)
        unlink(path);
    MPI_Comm_free(&comm);
}

/* How many words of UTC a file has; and the first of a host. */
static int count_words(const char *path, const char *host, mpix_clock_utc_look *word)
{
    enum { LINE_BYTES = 512 };
    char line[LINE_BYTES], begin[LINE_BYTES];
    int words = 0;
    FILE *file = fopen(path, "r");
    snprintf(begin, sizeof begin, "{\"host\": \"%.255s\", \"utc\": [", host);
    while (file && fgets(line, sizeof line, file)) {
        words += strstr(line, "\"utc\": [") != NULL;
        if (word->within_ns == INT64_MIN && strncmp(line, begin, strlen(begin)) == 0)
            sscanf(line + strlen(begin), "%" SCNd64 ", %" SCNd64 ", %" SCNd64 ", %" SCNd64, &word->at, &word->raw_ns,
                   &word->within_ns, &word->estimate_ns);
    }
    if (file)
        fclose(file);
    return words;
}

SUB_TEST(clock_write_utc, SINGLE, "a file of clock records has, for each host, what its kernel says of UTC")
{
    enum { HOST_BYTES = 256, REALTIME = 0 };
    char path[PATH_BYTES], host[HOST_BYTES] = "", why[MPIX_CLOCK_WHY_BYTES] = "";
    mpix_clock_utc_look word = {.within_ns = INT64_MIN};
    mpix_clock_utc utc;
    MPI_Comm comm = duplicate(MPI_COMM_WORLD);
    make_path(path);
    gethostname(host, sizeof host - 1);
    CHECK_OK(MPIX_Clock_sync(comm));
    const int64_t before_ns = host_ns(REALTIME);
    meet(MPI_COMM_WORLD);
    CHECK_OK(MPIX_Clock_write(comm, path));
    const int64_t after_ns = host_ns(REALTIME);
    MPI_Bcast(path, PATH_BYTES, MPI_CHAR, 0, MPI_COMM_WORLD);
    const int words = count_words(path, host, &word);
    mpix_clock_file *file = mpix_clock_open(path, why);
    CHECK(file, "%s", why);
    const int most = processes_of_node() == ranks ? 1 : ranks;
    CHECK(file && words >= mpix_clock_host_count(file) && words <= most, "%d words of UTC of %d hosts, of %d processes",
          words, file ? mpix_clock_host_count(file) : 0, ranks);
    CHECK(before_ns <= word.at && word.at <= after_ns,
          "the word is of %" PRId64 ", but it was %" PRId64 " before and %" PRId64 " after", word.at, before_ns,
          after_ns);
    CHECK(word.within_ns >= -1, "UTC is within %" PRId64 " ns", word.within_ns);
    /* Whether a kernel knows UTC is not the library's business, but whether it was asked. */
    CHECK(file && mpix_clock_find_utc(file, read_ns(comm, NULL), &utc) >= 0, "no kernel was asked");
    mpix_clock_close(file);
    meet(MPI_COMM_WORLD);
    if (my_rank == 0)
        unlink(path);
    MPI_Comm_free(&comm);
}

static bool is_mine(const char *path)
{
    char text[8] = "";
    FILE *file = fopen(path, "r");
    const bool is = file && fgets(text, sizeof text, file) && strcmp(text, "mine") == 0;
    if (file)
        fclose(file);
    return is;
}

static void make_mine(const char *path)
{
    FILE *file = fopen(path, "w");
    CHECK(file && fputs("mine", file) >= 0 && fclose(file) == 0, "%s cannot be written", path);
}

/* With so many bytes as the greatest size of a file on rank 0. */
static int write_below(MPI_Comm comm, const char *path, rlim_t bytes)
{
    struct rlimit before, limit;
    getrlimit(RLIMIT_FSIZE, &before);
    limit = before;
    limit.rlim_cur = bytes;
    if (my_rank == 0)
        setrlimit(RLIMIT_FSIZE, &limit);
    const int code = MPIX_Clock_write(comm, path);
    setrlimit(RLIMIT_FSIZE, &before);
    return code;
}

SUB_TEST(clock_write_replaces, SINGLE,
         "a file is replaced where a link leads, or not at all, and nothing else is touched")
{
    enum { FILE_OF_MINE, TO_FILE, PART, TO_NOTHING, FIFO, NAMES };
    static const char *const names[NAMES] = {"file", "link", "file.part", "lost", "pipe"};
    char folder[] = "/tmp/mpix_clock_write_XXXXXX", paths[NAMES][PATH_BYTES];
    struct stat there;
    MPI_Comm comm = duplicate(MPI_COMM_WORLD);
    CHECK(my_rank > 0 || mkdtemp(folder), "no folder");
    for (int i = 0; i < NAMES; i++)
        snprintf(paths[i], PATH_BYTES, "%s/%s", folder, names[i]);
    if (my_rank == 0) {
        make_mine(paths[FILE_OF_MINE]);
        make_mine(paths[PART]);
        CHECK(symlink("file", paths[TO_FILE]) == 0 && symlink("nothing", paths[TO_NOTHING]) == 0, "no links");
        CHECK(mkfifo(paths[FIFO], 0600) == 0, "no pipe");
        CHECK(chmod(paths[FILE_OF_MINE], 0640) == 0, "no mode");
    }
    CHECK_OK(MPIX_Clock_sync(comm));
    CHECK_CLASS(write_below(comm, paths[FILE_OF_MINE], 64), MPI_ERR_IO, "a limit of 64 bytes");
    CHECK_MESSAGE(comm, "/file'", "File too large");
    CHECK(my_rank > 0 || is_mine(paths[FILE_OF_MINE]), "the file has not survived");
    CHECK_CLASS(MPIX_Clock_write(comm, paths[TO_NOTHING]), MPI_ERR_IO, "a link to nothing");
    CHECK_CLASS(MPIX_Clock_write(comm, paths[FIFO]), MPI_ERR_IO, "a pipe");
    CHECK_MESSAGE(comm, "/pipe'", "is not a regular file");
    CHECK_OK(MPIX_Clock_write(comm, paths[TO_FILE]));
    if (my_rank == 0) {
        CHECK(lstat(paths[TO_FILE], &there) == 0 && S_ISLNK(there.st_mode), "the link is no link any more");
        CHECK(!is_mine(paths[FILE_OF_MINE]) && is_mine(paths[PART]), "the file is not replaced, or another one is");
        CHECK(stat(paths[FILE_OF_MINE], &there) == 0 && (there.st_mode & 0777) == 0640, "the mode is %o",
              there.st_mode & 0777);
        for (int i = 0; i < NAMES; i++)
            CHECK(unlink(paths[i]) == 0, "%s is not there", paths[i]);
        CHECK(rmdir(folder) == 0, "%s has more files", folder);
    }
    MPI_Comm_free(&comm);
}

SUB_TEST(clock_write_refused, SINGLE, "a file that cannot be written is the same error on all processes")
{
    static char too_long[5000];
    char path[PATH_BYTES];
    MPI_Comm comm = duplicate(MPI_COMM_WORLD);
    CHECK_CLASS(MPIX_Clock_write(comm, "/tmp/x"), MPI_ERR_OTHER, "never synchronized");
    CHECK_MESSAGE(comm, "MPIX_Clock_sync");
    CHECK_OK(MPIX_Clock_sync(comm));
    CHECK_CLASS(MPIX_Clock_write(comm, "/nowhere/file"), MPI_ERR_IO, "a folder that is not there");
    CHECK_MESSAGE(comm, "/nowhere/file", "No such file");
    CHECK_CLASS(MPIX_Clock_write(comm, my_rank == 0 ? NULL : "x"), MPI_ERR_ARG, "no path on rank 0");
    CHECK_MESSAGE(comm, "MPIX_Clock_write: path is a null pointer");
    memset(too_long, 'x', sizeof too_long - 1);
    CHECK_CLASS(MPIX_Clock_write(comm, too_long), MPI_ERR_ARG, "a path that is too long");
    make_path(path);
    CHECK_OK(MPIX_Clock_write(comm, my_rank == 0 ? path : NULL)); /* errors leave nothing behind */
    if (my_rank == 0)
        unlink(path);
    CHECK_CLASS(MPIX_Clock_write(comm, "/"), MPI_ERR_IO, "a folder");
    MPI_Comm_free(&comm);
}
