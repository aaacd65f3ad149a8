/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpix_clock record - write what the clocks of each host are on the global clock, again and again, so that timestamps
 * of any program there can be converted: one process a host, beside the job or with a command.
 *
 * Between two records a process sleeps. It looks at the clocks of its host beside MONOTONIC_RAW several times a second,
 * because a clock that is slewed or set between two records is found in no other way. At a record all processes meet
 * without spinning, synchronize, read the global clock beside MONOTONIC_RAW, and rank 0 writes what all have.
 */
#define _GNU_SOURCE /* CLOCK_TAI */
#include "bench/clock/clock.h"
#include "common/cli/output.h"
#include "common/mpi/kernel.h"
#include "common/mpi/machine_clock.h"
#include "common/mpi/world.h"
#include "pure/clock_writer.h"
#include "pure/model.h"
#include "pure/units.h"
#include "pure/utc_word.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

/* The first records are soon after each other: by these the clock learns how the hosts drift. */
enum { EARLY_RECORDS = 6 };
#define EARLY_INTERVAL_NS (MH_NS_PER_S / 2)
/* Beside each other, two clocks are read so often, and the reading counts that took least. */
enum { READINGS = 5 };
/* While others are waited for. */
#define MEETING_PAUSE_NS (2 * MH_NS_PER_MS)
/*
 * What looks of the last time say is written so often, at first more often, by an eighth of the time so far, and at the
 * end: an hour of many hosts would be looks for the most part. They are written at records, so a recorder that is
 * killed loses as much and one interval.
 */
#define UNWRITTEN_NS (30 * MH_NS_PER_S)
enum { UNWRITTEN_PART = 8 };
/* Looks that are to be written before the next record. */
enum { MAX_PENDING_BYTES = 1 << 20, HOST_BYTES = 256, PATH_OF_LOCK_BYTES = 64 };

typedef struct record_settings {
    const char *path;
    double interval_s;
    int64_t look_ms;
    double duration_s; /* or ABSENT */
} record_settings_t;

typedef struct record_run {
    world_t world; /* the first member: see clock_command_t */
    record_settings_t settings;
    char host[HOST_BYTES];
    int lock;                             /* a file that one recorder of the host locks, until it ends */
    FILE *file;                           /* rank 0 */
    int64_t began_ns, due_ns, written_ns; /* written_ns: all looks; 0: not yet */
    int64_t records;
    bool is_synchronized; /* with UTC, says the kernel */
    mh_look_filter filters[MPIX_CLOCK_IDS];
    char pending[MAX_PENDING_BYTES];
    size_t pending_bytes;
    bool lost_looks;
    pid_t child; /* 0: none, or it has ended */
    int status;
    int passed_on;    /* signals that the child got */
    MPI_Comm endings; /* on which all meet when their commands have ended */
    MPI_Request ending;
    bool has_ended, all_ended;
} record_run_t;

#define FIELD(field) offsetof(record_settings_t, field)

static const option_spec_t options[] = {
    {'o', "output", "FILE", OPTION_TEXT, FIELD(path), .doc = "the file to write, which must not exist yet",
     .more =
         "What was written stays readable, however the recorder ends. If it is killed, looks of the last 30 s and one "
         "interval may be missing."},
    {0, "interval-s", "S", OPTION_DECIMAL, FIELD(interval_s), .min = 0.1, .max = 3600, .default_text = "5",
     .doc = "the time from a record to the next",
     .more = "The first six records come every 0.5 s: by these the clock learns how the hosts drift."},
    {0, "look-ms", "MS", OPTION_INTEGER, FIELD(look_ms), .min = 1, .max = 1000, .default_text = "50",
     .doc = "the time from a look at the clocks of a host to the next",
     .more = "A look costs no messages. Of a clock that is slewed or set, a look finds when that was. What is changed "
             "twice between two looks is not found."},
    {0, "duration-s", "S", OPTION_DECIMAL, FIELD(duration_s), .min = 0.1, .max = 1e9,
     .default_doc = "until PROGRAM ends, or a signal SIGINT or SIGTERM comes", .doc = "when to end"},
};

static const char notes[] =
    "PROGRAM and its arguments, behind --, run on each host, and records end with the last of them.\n"
    "mpix_clock_convert converts timestamps by the file. mpix_clock_reader(3) describes the file.\n"
    "\n"
    "Exit status: 0 if all is well, 1 if a call failed or the file could not be written, 2 for a bad option; else the\n"
    "largest exit status of PROGRAM.\n";

static const program_spec_t program = PROGRAM_SPEC(
    "mpix_clock record", "Records what the clocks of each host are on the global clock.", .operand = &options_command,
    .usage = "mpiexec -ppn 1 mpix_clock record -o FILE [OPTION]... [-- PROGRAM [ARGUMENT]...]");

/* ---- Signals, and the program */

static volatile sig_atomic_t signal_got, signals; /* the last one, and how many came */

static void take_signal(int number)
{
    signal_got = number;
    signals++;
}

static void catch_signals(void)
{
    const struct sigaction action = {.sa_handler = take_signal};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

static void start_program(record_run_t *run, char **command)
{
    run->child = fork();
    if (run->child < 0)
        world_abort(&run->world, "no process can be started");
    if (run->child > 0)
        return;
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    execvp(command[0], command);
    fprintf(stderr, "mpix_clock record: %.200s cannot be started: %s\n", command[0], strerror(errno));
    _exit(127);
}

/* Looks whether this process has nothing more to wait for, and whether no process has. Local. */
static void look_for_end(record_run_t *run)
{
    int state, done = 0;
    if (run->child > 0 && run->passed_on != signals) {
        run->passed_on = signals;
        kill(run->child, signal_got);
    }
    if (run->child > 0 && waitpid(run->child, &state, WNOHANG) == run->child) {
        run->status = WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
        run->child = 0;
        run->has_ended = true;
    }
    const double duration_s = run->settings.duration_s;
    if (run->child == 0 &&
        (signal_got || (duration_s > 0 && system_time_ns() - run->began_ns >= (int64_t)(duration_s * 1e9))))
        run->has_ended = true;
    if (run->has_ended && run->ending == MPI_REQUEST_NULL && !run->all_ended)
        world_require(&run->world, MPI_Ibarrier(run->endings, &run->ending));
    if (run->ending != MPI_REQUEST_NULL)
        world_require(&run->world, MPI_Test(&run->ending, &done, MPI_STATUS_IGNORE));
    run->all_ended = run->all_ended || done;
}

/* ---- Looks */

static const clockid_t system_clocks[MPIX_CLOCK_IDS] = {
    [MPIX_CLOCK_MONOTONIC_RAW] = CLOCK_MONOTONIC_RAW,
    [MPIX_CLOCK_MONOTONIC] = CLOCK_MONOTONIC,
    [MPIX_CLOCK_BOOTTIME] = CLOCK_BOOTTIME,
    [MPIX_CLOCK_REALTIME] = CLOCK_REALTIME,
    [MPIX_CLOCK_TAI] = CLOCK_TAI,
};

static int64_t read_clock(int id)
{
    struct timespec now = {0, 0};
    if (id == MPIX_CLOCK_COUNTER)
        return machine_counter_ticks();
    clock_gettime(system_clocks[id], &now);
    return (int64_t)now.tv_sec * MH_NS_PER_S + now.tv_nsec;
}

static mh_look look_at(int id)
{
    mh_look best = {.half_ns = INT64_MAX, .bend_ns = -1};
    for (int i = 0; i < READINGS; i++) {
        const int64_t before_ns = read_clock(MPIX_CLOCK_MONOTONIC_RAW), at = read_clock(id);
        const int64_t width_ns = read_clock(MPIX_CLOCK_MONOTONIC_RAW) - before_ns;
        if ((width_ns + 1) / 2 < best.half_ns)
            best = (mh_look){at, before_ns + width_ns / 2, (width_ns + 1) / 2, -1};
    }
    return best;
}

static bool has_clock(int id)
{
    return id == MPIX_CLOCK_COUNTER ? machine_clock_lack(MACHINE_COUNTER) == NULL : id != MPIX_CLOCK_MONOTONIC_RAW;
}

static void keep(record_run_t *run, const char *line, size_t bytes)
{
    if (run->pending_bytes + bytes > sizeof run->pending) {
        run->lost_looks = true;
        return;
    }
    memcpy(run->pending + run->pending_bytes, line, bytes);
    run->pending_bytes += bytes;
}

static void keep_looks(record_run_t *run, int id, const mh_look *looks, int count)
{
    char line[MH_CLOCK_LINE_BYTES];
    for (int i = 0; i < count; i++) {
        const size_t bytes = mh_clock_look_line(line, run->host, (mpix_clock_id)id, looks[i]);
        keep(run, line, bytes);
    }
}

static void look_around(record_run_t *run)
{
    mh_look written[2];
    for (int id = 0; id < MPIX_CLOCK_IDS; id++)
        if (has_clock(id))
            keep_looks(run, id, written, mh_look_filter_add(&run->filters[id], look_at(id), written));
}

/* ---- Records */

typedef struct global_look {
    int64_t raw_ns, global_ns, half_ns;
} global_look_t;

static global_look_t look_at_global(const world_t *world)
{
    global_look_t look;
    world_require(world,
                  MPIX_Clock_pair(world->comm, CLOCK_MONOTONIC_RAW, &look.raw_ns, &look.global_ns, &look.half_ns));
    return look;
}

static void record_global(record_run_t *run)
{
    char line[MH_CLOCK_LINE_BYTES];
    const global_look_t now = look_at_global(&run->world);
    if (now.half_ns == INT64_MAX)
        return;
    const size_t bytes = mh_clock_record_line(line, run->host, now.raw_ns, now.global_ns, now.half_ns);
    keep(run, line, bytes);
}

/* What the kernel says of UTC. */
static void record_utc(record_run_t *run)
{
    char line[MH_CLOCK_LINE_BYTES];
    const mh_utc_word word = mh_utc_word_ask();
    const bool was_synchronized = run->is_synchronized, is_due = run->written_ns == 0;
    run->is_synchronized = word.is_synchronized;
    if (!run->is_synchronized && !was_synchronized && !is_due)
        return;
    const mpix_clock_utc_look look = mh_utc_word_look(word, look_at(MPIX_CLOCK_REALTIME));
    const size_t bytes = mh_clock_utc_line(line, run->host, look, word.tai_s);
    keep(run, line, bytes);
}

/* Looks that the filters hold back, now and then. */
static void write_looks(record_run_t *run, bool is_last)
{
    mh_look written[1];
    const int64_t now_ns = system_time_ns(), so_far_ns = now_ns - run->began_ns;
    const int64_t held_ns = now_ns - run->written_ns;
    if (!is_last && run->written_ns > 0 && held_ns < UNWRITTEN_NS && held_ns < so_far_ns / UNWRITTEN_PART)
        return;
    for (int id = 0; id < MPIX_CLOCK_IDS; id++)
        keep_looks(run, id, written, mh_look_filter_flush(&run->filters[id], written));
    record_utc(run);
    run->written_ns = now_ns;
}

/* Rank 0 gets the lines of all, and writes them. Collective. */
static void write_pending(record_run_t *run)
{
    const world_t *world = &run->world;
    const int bytes = (int)run->pending_bytes, root = world->rank == 0;
    int *counts = world_allocate(world, root ? world->ranks : 1, sizeof *counts, "");
    int *places = world_allocate(world, root ? world->ranks : 1, sizeof *places, "");
    world_require(world, MPI_Gather(&bytes, 1, MPI_INT, counts, 1, MPI_INT, 0, world->comm));
    int64_t all_bytes = 0;
    for (int rank = 0; root && rank < world->ranks; rank++) {
        places[rank] = (int)all_bytes;
        all_bytes += counts[rank];
    }
    if (all_bytes > INT_MAX)
        world_abort(world, "the hosts have more lines than fit into memory: give less for --interval-s");
    char *all = world_allocate(world, all_bytes > 0 ? all_bytes : 1, 1, "");
    world_require(world, MPI_Gatherv(run->pending, bytes, MPI_CHAR, all, counts, places, MPI_CHAR, 0, world->comm));
    if (root) {
        fwrite(all, 1, (size_t)all_bytes, run->file);
        fflush(run->file);
    }
    free(all);
    free(places);
    free(counts);
    run->pending_bytes = 0;
}

/* Waits for all without spinning, while looks go on. Returns whether this was the last record. Collective. */
static bool meet(record_run_t *run)
{
    const world_t *world = &run->world;
    MPI_Request request;
    int met = 0, last;
    world_require(world, MPI_Ibarrier(world->comm, &request));
    for (int64_t looked_ns = system_time_ns();;) {
        world_require(world, MPI_Test(&request, &met, MPI_STATUS_IGNORE));
        if (met)
            break;
        system_sleep_ns(MEETING_PAUSE_NS);
        if (system_time_ns() - looked_ns >= run->settings.look_ms * MH_NS_PER_MS) {
            looked_ns = system_time_ns();
            look_around(run);
        }
    }
    look_for_end(run);
    /* Whoever has seen that all have ended has all others beside it. So has a signal that only one process got. */
    last = run->all_ended || (signal_got && run->child == 0);
    world_require(world, MPI_Allreduce(MPI_IN_PLACE, &last, 1, MPI_INT, MPI_MAX, world->comm));
    return last;
}

/* Collective. */
static void take_record(record_run_t *run, bool is_last)
{
    world_require(&run->world, MPIX_Clock_sync(run->world.comm));
    look_around(run);
    record_global(run);
    write_looks(run, is_last);
    write_pending(run);
    run->records++;
}

static void wait_until_due(record_run_t *run)
{
    run->due_ns += run->records <= EARLY_RECORDS ? EARLY_INTERVAL_NS : (int64_t)(run->settings.interval_s * 1e9);
    while (system_time_ns() < run->due_ns && !run->all_ended && !(signal_got && run->child == 0)) {
        system_sleep_ns(run->settings.look_ms * MH_NS_PER_MS);
        look_around(run);
        look_for_end(run);
    }
}

/* ---- The beginning */

/* What the time namespace of this process adds to a clock. */
static int64_t namespace_ns(const char *clock)
{
    char text[KERNEL_WORD_BYTES];
    char *end;
    if (!kernel_value("/proc/self/timens_offsets", clock, text, sizeof text))
        return 0;
    const int64_t seconds = strtoll(text, &end, 10);
    return seconds * MH_NS_PER_S + strtoll(end, NULL, 10);
}

static void keep_host(record_run_t *run)
{
    char line[MH_CLOCK_LINE_BYTES], boot[KERNEL_WORD_BYTES];
    const int64_t added_ns[MPIX_CLOCK_IDS] = {[MPIX_CLOCK_MONOTONIC] = namespace_ns("monotonic"),
                                              [MPIX_CLOCK_MONOTONIC_RAW] = namespace_ns("monotonic"),
                                              [MPIX_CLOCK_BOOTTIME] = namespace_ns("boottime")};
    kernel_value("/proc/sys/kernel/random/boot_id", "", boot, sizeof boot);
    const size_t bytes = mh_clock_host_line(line, run->host, boot, run->settings.look_ms * MH_NS_PER_MS, added_ns);
    keep(run, line, bytes);
}

/* The time since 1970 at global time 0, by the clock of rank 0. */
static int64_t unix_zero_ns(const world_t *world)
{
    const global_look_t global = look_at_global(world);
    const mh_look real = look_at(MPIX_CLOCK_REALTIME);
    return real.at - (global.global_ns + (real.raw_ns - global.raw_ns));
}

/* Refuses processes that share a host with another recorder, of this job or of another one. Returns a status. */
static int check_alone(record_run_t *run)
{
    const world_t *world = &run->world;
    char lock[PATH_OF_LOCK_BYTES];
    int ranks;
    MPI_Comm same = world_split(world, run->host);
    MPI_Comm_size(same, &ranks);
    MPI_Comm_free(&same);
    if (!world_all(world, ranks == 1))
        return world_refuse(world, "several processes are on one host: start one a host, mpiexec -ppn 1, mpiexec "
                                   "--map-by ppr:1:node (Open MPI), or srun --ntasks-per-node=1");
    snprintf(lock, sizeof lock, "/tmp/mpix_clock_record.%.20s", run->host);
    run->lock = open(lock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (!world_all(world, run->lock < 0 || flock(run->lock, LOCK_EX | LOCK_NB) == 0))
        return world_refuse(
            world, "another mpix_clock record runs on one of the hosts, which has its file for all programs there");
    return STATUS_GOOD;
}

static int open_file(record_run_t *run)
{
    const world_t *world = &run->world;
    const char *path = run->settings.path;
    int problem = 0;
    if (world->rank == 0 && path) {
        run->file = fopen(path, "wx");
        problem = run->file ? 0 : errno;
    }
    int given = world->rank > 0 || path;
    if (!world_all(world, given))
        return world_refuse(world, "option --output is missing, give the file to be written");
    if (!world_all(world, problem == 0))
        return world_refuse(world, "option --output: \"%.200s\" cannot be created: %s", path, strerror(problem));
    return STATUS_GOOD;
}

static int run_record(void *state, char **argv)
{
    record_run_t *run = state;
    const world_t *world = &run->world;
    char line[MH_CLOCK_LINE_BYTES];
    int place = optind; /* of the program on the command line, which rank 0 has read */
    world_require(world, MPI_Bcast(&place, 1, MPI_INT, 0, world->comm));
    char **command = argv + place;
    gethostname(run->host, sizeof run->host - 1);
    if (check_alone(run) != STATUS_GOOD || open_file(run) != STATUS_GOOD)
        return STATUS_BAD_OPTION;
    catch_signals();
    world_require(world, MPI_Comm_dup(world->comm, &run->endings));
    run->ending = MPI_REQUEST_NULL;
    for (int id = 0; id < MPIX_CLOCK_IDS; id++)
        run->filters[id].look_ns = run->settings.look_ms * MH_NS_PER_MS;
    world_require(world, MPIX_Clock_sync(world->comm));
    if (world->rank == 0) {
        const size_t bytes =
            mh_clock_head_line(line, unix_zero_ns(world), (int64_t)(MH_RAW_RATE_LIMIT / MH_PPB), MH_WANDER_PPB_PER_S);
        fwrite(line, 1, bytes, run->file);
    }
    keep_host(run);
    run->began_ns = run->due_ns = system_time_ns();
    take_record(run, false); /* before PROGRAM starts, so that all its times are between two records */
    if (command[0])
        start_program(run, command);
    for (bool is_last = false; !is_last;) {
        wait_until_due(run);
        is_last = meet(run);
        take_record(run, is_last);
    }
    /* MPI has no way to give up a barrier, so all take part in it, whoever has not yet. */
    if (run->ending == MPI_REQUEST_NULL && !run->all_ended)
        world_require(world, MPI_Ibarrier(run->endings, &run->ending));
    world_require(world, MPI_Wait(&run->ending, MPI_STATUS_IGNORE));
    MPI_Comm_free(&run->endings);
    const int lost = (int)world_max(world, run->lost_looks), status = (int)world_max(world, run->status);
    if (world->rank == 0 && lost)
        fprintf(
            stderr,
            "mpix_clock record: more looks than fit between two records were left out; give less for --interval-s\n");
    const int written = world->rank > 0 || output_finish(run->file, run->settings.path, "mpix_clock record");
    return world_all(world, written) ? status : STATUS_FAILED;
}

static record_run_t the_run;
const clock_command_t clock_record = CLOCK_COMMAND("record", record_run_t, the_run, run_record);
