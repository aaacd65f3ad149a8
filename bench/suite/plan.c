/* SPDX-License-Identifier: BSD-3-Clause */
/* plan.c - the options of mpix_bench and mpix_osu, and the jobs that they describe. */
#include "bench/suite/plan.h"

#include "bench/suite/report.h"

#include "pure/random.h"
#include "common/cli/memory.h"
#include "pure/text.h"
#include "bench/suite/analysis.h"
#include "bench/suite/schemes.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A shorter window is less than a nanosecond. */
#define MIN_WINDOW_US 0.001
#define USUAL_SIZE_FACTOR 2

enum { MAX_JOBS = 20000 };

#define FIELD(field) offsetof(bench_settings_t, field)

/* What stands for ROOT_ROTATES among roots. */
static const char *const roots[] = {"rotate", NULL};

static const option_spec_t options[] = {
    {'m', "message-size", "SIZES", OPTION_SIZES, FIELD(sizes), .max = 1099511627776.0, .section = "What is measured",
     .doc = "message sizes in bytes", .default_doc = "from one element to 1M, or to what the memory limit allows",
     .more = "MIN:MAX is multiplied by the size factor from MIN to at most MAX. K, M and G are times 2^10, 2^20, 2^30. "
             "A message is the data from one rank to one other rank; for `alltoall`, one block. "
             "Listed sizes and MIN must be multiples of the element. "
             "Barriers have no messages, so size, type and rotating buffers do not matter."},
    {0, "size-factor", "F", OPTION_DECIMAL, FIELD(size_factor), .min = 1.01, .max = 1e6, .default_doc = "2",
     .doc = "the factor from one size to the next",
     .more = "Products are rounded down to a multiple of the element. Not for a list."},
    {'T', "type", "TYPE", OPTION_CHOICE, FIELD(datatype), .names = NAMES(datatypes),
     .default_doc = "mpi_float for reductions, mpi_char for others",
     .doc = "the datatype of the elements, by MPI's name in lower case"},
    {0, "op", "OP", OPTION_CHOICE, FIELD(reduction), .names = NAMES(reductions), .default_doc = "sum",
     .doc = "the reduction", .more = "It must be defined for the datatype."},
    {0, "root", "RANK", OPTION_INTEGER, FIELD(root), .max = INT_MAX, .names = NAMES(roots), .default_doc = "0",
     .doc = "the root of operations that have one",
     .more = "`rotate` is the next rank in each measured call, from rank 0 in the first one."},
    {'W', "messages", "N", OPTION_INTEGER, FIELD(messages), .min = 1, .max = MAX_MESSAGES, .default_doc = "64",
     .doc = "the messages of a pair of ranks that are under way at once",
     .more = "Only of bandwidths: bw, bibw, mbw_mr, fans, and one-sided ones."},
    {'p', "num-pairs", "N", OPTION_INTEGER, FIELD(pairs), .min = 1, .max = INT_MAX, .default_doc = "half of the ranks",
     .doc = "the pairs of ranks, the first N of them with the next N",
     .more = "Only of multi_lat, mbw_mr and one-sided operations. Of bw_fan_in and bw_fan_out, it is how many of the "
             "first ranks have several partners: by default one, or on several nodes those of the first node if these "
             "come first."},
    {0, "matrix", NULL, OPTION_SWITCH, FIELD(matrix), .doc = "measure between each two ranks, while the others wait",
     .more = "Only of operations of two ranks, such as latency and bw, with `--comm world`. The pairs of all "
             "operations take turns, at most 256 at a time. Rows have the columns `rank`, the one that sends first, "
             "and `partner`; mpix_report draws a map of them. The mean over ranks, `avg_ns`, and `min_mean_ns` include "
             "the ranks that wait, whose times are near 0."},
    {'q', "partitions", "N", OPTION_INTEGER, FIELD(partitions), .min = 1, .max = MAX_MESSAGES, .default_doc = "8",
     .doc = "the partitions of a message of partitioned_latency",
     .more = "A message that does not divide into so many has the next smaller number of equal partitions."},
    {0, "send-threads", "N", OPTION_INTEGER, FIELD(senders), .min = 1, .max = MAX_THREADS, .default_doc = "1",
     .doc = "the threads of rank 0 that send, of latency_mt; of latency_mp, the processes that rank 0 has forked"},
    {0, "receive-threads", "N", OPTION_INTEGER, FIELD(receivers), .min = 1, .max = MAX_THREADS, .default_doc = "2",
     .doc = "the threads of rank 1 that answer, of latency_mt; of latency_mp, the processes that rank 1 has forked; of "
            "allreduce_mt and so on, the threads of each rank"},
    {'w', "win-options", "WINDOW", OPTION_CHOICE, FIELD(window), .names = NAMES(window_kinds),
     .default_doc = "allocate", .doc = "how the window of one-sided operations is made",
     .more =
         "By MPI_Win_create, MPI_Win_allocate or MPI_Win_create_dynamic. Of the operation `window`, only `create`."},
    {'s', "sync-option", "SYNC", OPTION_CHOICE, FIELD(synchronization), .names = NAMES(synchronizations),
     .default_doc = "flush, of put_bibw and get_bibw pscw", .doc = "the synchronization of one-sided operations",
     .more = "With `pscw` (post, start, complete, wait) and `fence`, targets take part. The others lock the memory of "
             "the target: `lock` and `lock_all` for each call, `flush` and `flush_local` for good. Of the operation "
             "`window`, `fence` alone."},
    {0, "layout", "LAYOUT", OPTION_TEXT, FIELD(layout),
     .doc = "send messages as one element of a derived datatype: cont, vect:STRIDE:BLOCK or indx:FILE",
     .more = "`cont` is all elements of a message, `vect:`STRIDE`:`BLOCK the first BLOCK of STRIDE elements, and so on "
             "up to the last whole stride; lines DISPLACEMENT, LENGTH of FILE are blocks of elements, of which those "
             "are sent that end within the message. The size is that of a message with its gaps; `data_bytes` is "
             "without them. Not for reductions, and not for one-sided, composed and partitioned operations. With MPICH "
             "before 4.3, not for allgather_persistent, gather_persistent and scatter_persistent, which end the "
             "program."},
    {0, "neighborhood", "NEIGHBORHOOD", OPTION_TEXT, FIELD(neighborhood), .default_doc = USUAL_NEIGHBORHOOD,
     .doc = "who are neighbors in neighborhood operations: cart:DIMENSIONS:RADIUS, faces:DIMENSIONS or graph:FILE",
     .more =
         "`cart:`DIMENSIONS`:`RADIUS arranges the ranks in a grid (MPI_Dims_create), closed in each dimension, "
         "where neighbors are at most RADIUS ranks away in each dimension; `cart:1:1` is a ring. `faces:`DIMENSIONS "
         "is such a grid without the neighbors at corners, so each rank has at most two in each dimension. If a "
         "neighbor can be reached in two ways, it is one neighbor. Lines SOURCE, DESTINATION of FILE are the edges "
         "of a graph; a # begins a comment. With MPICH 4.0, neighbor_alltoallw and its other forms take no graph in "
         "which a rank has more sources than destinations: they might not return."},
    {0, "file", "PATH", OPTION_TEXT, FIELD(file), .doc = "the file that operations on files make, write and read",
     .more = "Its name is PATH, a dot, and the number of the operation; where each rank has a file, a dot and the rank "
             "follow. It must not be there, all nodes have to find it if ranks share it, and it is deleted in the end. "
             "Only of operations on files, with `--comm world`."},
    {0, "file-sync", "WHEN", OPTION_CHOICE, FIELD(file_sync), .names = NAMES(storage_syncs), .default_doc = "each",
     .doc = "when what was written goes to the device, by MPI_File_sync",
     .more = "With `each`, it is part of each call that writes. With `none`, what was written may be in memory of the "
             "system only. Only of operations that write files."},
    {'l', "in-place", NULL, OPTION_SWITCH, FIELD(in_place), .doc = "use MPI_IN_PLACE if the operation allows it",
     .more = "Of sendrecv, it is MPI_Sendrecv_replace."},
    {0, "cache", "MODE", OPTION_CHOICE, FIELD(cache), .names = NAMES(cache_modes), .default_text = "warm",
     .doc = "the buffers of successive calls",
     .more = "`warm` uses the same buffers, `rotate` the next ones of a set that exceeds the last-level cache, "
             "`cold` the same buffers, after reading other memory before each call. `rotate` and `cold` need "
             "additional memory of 1.5 times the last-level cache in each process, so --mem-limit may have to be "
             "raised. `cold` reads all of it before each call. If the cache has hundreds of megabytes, this takes "
             "tens of milliseconds: reduce --iterations and --warmup. The buffers of persistent requests do not "
             "rotate."},
    {0, "comm", "COMM", OPTION_TEXT, FIELD(comm), .default_text = "world",
     .doc = "the groups of ranks that communicate: world, node, cart:DIMSxDIMS:DIM, every:K",
     .more = "`world` is all ranks, `node` the ranks of each node. `cart:`DIMS`x`DIMS`:`DIM arranges all ranks in a "
             "grid of this size; the ranks in a line along dimension DIM (from 0) communicate. `every:`K is ranks 0, "
             "K, 2K and so on. Several groups are released together and perform the operation at the same time; a "
             "sample includes all groups. The column `ranks` is the size of the largest group. Ranks that do not "
             "take part wait without using their processors."},
    {0, "overlap", NULL, OPTION_SWITCH, FIELD(overlap),
     .doc = "also measure the overlap of non-blocking and persistent forms with computation", .more = "See OUTPUT."},
    {'t', "test-calls", "N", OPTION_INTEGER, FIELD(test_calls), .max = MAX_TEST_CALLS, .default_doc = "0",
     .doc = "calls of MPI_Test during the computation, at equal intervals", .more = "Only with --overlap."},
    {'c', "validation", NULL, OPTION_SWITCH, FIELD(validation),
     .doc = "check the results of the operation at each size",
     .more = "Every element of the results of three separate calls is checked; with a rotating root, of one call for "
             "each root, at most 64. A barrier has no result."},
    {'M', "mem-limit", "BYTES", OPTION_BYTES, FIELD(mem_limit_bytes), .min = 1, .max = 1099511627776.0,
     .default_doc = "512M", .doc = "the maximum memory for the buffers of each process",
     .more = "Operations share the buffers, so the operation that needs the most memory counts; windows of "
             "--win-options allocate are as much again for each operation that takes turns. "
             "Rank 0 needs additional memory: 40 bytes for each valid sample of a size, and 8 more for each rank with "
             "--arrival, of all operations that take turns. A requested size that needs more is an error. "
             "Without this option, --cache uses at most 384 MiB in addition to the messages. "
             "Standard error says so if this is less than 1.5 times the cache."},
    {0, "shuffle", NULL, OPTION_SWITCH, FIELD(shuffle),
     .doc = "measure the sizes in a random order that depends on the seed"},
    {0, "release", "SCHEME", OPTION_CHOICE, FIELD(release), .names = NAMES(release_schemes),
     .default_text = "harmonize", .section = "How processes are released", .doc = "how calls are released",
     .more = "See Schemes."},
    {0, "barrier", "ALGORITHM", OPTION_CHOICE, FIELD(barrier), .names = NAMES(barriers), .default_doc = "library",
     .doc = "the barrier of the schemes with one",
     .more = "`library` is MPI_Barrier; the others consist of point-to-point messages, so they are the same with "
             "each MPI library."},
    {0, "window-us", "US", OPTION_DECIMAL, FIELD(window_us), .max = 1e9, .default_doc = "0",
     .doc = "the fixed length of the window of --release window; with 0, the program determines and adapts it",
     .more = "Other lengths are at least 0.001."},
    {0, "arrival", "PATTERNS", OPTION_TEXT, FIELD(arrival),
     .doc = "impose arrival patterns, such as ascending,last-late:50,bell:1.5x or file:PATH, one after the other",
     .more = "Only with `--release harmonize`. Each size is measured with one pattern after the other, separated by "
             "commas; see ARRIVAL PATTERNS. Not allowed together with --overlap."},
    {'i', "iterations", "N", OPTION_INTEGER, FIELD(iterations), .min = 1, .max = 1e9, .section = "How much",
     .doc = "valid samples for each size",
     .default_doc = "1000 up to 8192 bytes, 100 above; with --ci-percent or --release round-time 100000"},
    {'x', "warmup", "N", OPTION_INTEGER, FIELD(warmup), .max = 1e9, .default_doc = "200 up to 8192 bytes, 10 above",
     .doc = "calls for each size before the measured ones",
     .more = "They end early after a quarter of a time slice. With `window` and `round-time` ten more calls precede "
             "them, to determine starting times."},
    {'u', "validation-warmup", "N", OPTION_INTEGER, FIELD(validation_warmup), .max = 1e9, .default_doc = "as --warmup",
     .doc = "with --validation, such calls instead of --warmup"},
    {0, "max-repeat", "N", OPTION_INTEGER, FIELD(max_repeat), .min = 1, .max = 1e6, .default_text = "10",
     .doc = "the maximum number of measured calls for each size, invalid ones included, as a multiple of the "
            "number of valid samples"},
    {0, "time-slice-s", "S", OPTION_DECIMAL, FIELD(time_slice_s), .min = 0.001, .max = 1e6,
     .doc = "the maximum time for each size", .default_doc = "0.5 with --release round-time, else no limit",
     .more = "Warming up and the turns of other operations do not count. "
             "A batch takes about a tenth of this time, and is always completed."},
    {0, "ci-percent", "PERCENT", OPTION_DECIMAL, FIELD(ci_percent), .min = 0.001, .max = 100,
     .doc = "stop a size as soon as both bounds of the median's 95 % confidence interval are within PERCENT of the "
            "median",
     .more = "At least 30 valid samples are measured. "
             "The interval is computed again each time the number of samples has grown by a tenth. "
             "A size ends when the interval happens to be narrow, so the interval contains the true median in slightly "
             "less than 95 of 100 runs. Standard error says if the limits above are reached first."},
    {0, "run-time", "KIND", OPTION_CHOICE, FIELD(run_time), .names = NAMES(run_times), .default_text = "local",
     .section = "What is reported", .doc = "the run time of a sample, whose distribution is reported",
     .more = "`local` is the maximum of the ranks' durations, each from the rank's start of the call to its end; "
             "`makespan` is from the first start to the last end by the global clock."},
    {0, "list", NULL, OPTION_SWITCH, FIELD(list), .section = "What concerns all jobs",
     .doc = "print the operations with the functions behind them and exit"},
    {0, "jobs", "FILE", OPTION_TEXT, FIELD(jobs), .doc = "measure what each line of FILE says: options and operations",
     .more = "They are as on the command line, separated by blanks. "
             "A word in single or double quotes may contain blanks. A # begins a comment. "
             "The options and operations of the command line are the defaults of each line. "
             "What concerns all jobs is not allowed in the file."},
    SEED_OPTION(FIELD(seed), .doc = "the seed of the order of turns, of random arrivals, and of --shuffle",
                .more = "It is in the head of the results, and the same seed gives the same order."),
    {'z', "tail", "LIST", OPTION_NUMBERS, FIELD(tail), .min = 0.0001, .max = 100, .default_text = "50,90,95,99",
     .doc = "percentiles to report"},
    {'f', "full", NULL, OPTION_SWITCH, FIELD(full), .doc = "all columns in the table"},
    RESULTS_OPTIONS(FIELD(results), .doc = "write the times of each measured call on each rank to FILE",
                    .more = "See OUTPUT."),
};

static const option_spec_t operand = {0, "operation", "OPERATION", OPTION_TEXTS, .place = FIELD(operations)};

#define NOTES_ON_SAMPLES                                                                                              \
    "A sample is one call of the operation on all ranks. It is valid if all ranks started as the scheme promises.\n"  \
    "Else it is missed (a rank received the start, or was ready, only after it had passed) or late (a rank started\n" \
    "later than the tolerance allows), does not count, and is measured again. mpix_bench(1) explains the figures.\n"  \
    "\n"                                                                                                              \
    "Exit status: 0 if all is well, 1 if a call failed, a row has no valid sample, or a result is wrong, 2 for a\n"   \
    "bad option, before anything is measured.\n"

static const char notes[] =
    "OPERATION: one of --list, or blocking, nonblocking, persistent, composed, point-to-point, one-sided,\n"
    "neighborhood, all. Several operations, or the lines of --jobs, take turns.\n"
    "\n" NOTES_ON_SAMPLES;

static const char osu_notes[] =
    "NAME: one of --list, of which OSU has osu_NAME. The table has OSU's figures in OSU's columns. OSU's options have\n"
    "OSU's meaning, also -z and -c with a value or none, -k, -N, -R, -b and -T all: see mpix_osu(1).\n"
    "\n" NOTES_ON_SAMPLES;

/* Who speaks in messages: the program, or a line of a file of jobs. */
typedef struct reader {
    plan_t *plan;
    const char *speaker;
    int ranks;
} reader_t;

/* Says in one line what is wrong. Is false. */
#define refuse(reader, ...) (options_refuse((reader)->speaker, __VA_ARGS__) == OPTIONS_RUN)

/* ---- What fits an operation, and what was not given */

static bool fit_arrivals(const reader_t *reader, job_t *job)
{
    const bench_settings_t *settings = &job->settings;
    char why[ARRIVAL_WHY_BYTES];
    if (!arrival_parse(&job->arrivals, &reader->plan->tables, settings->arrival, why))
        return refuse(reader, "option --arrival: %s", why);
    if (job->arrivals.given && settings->release != RELEASE_HARMONIZE)
        return refuse(reader, "option --arrival is not allowed together with --release %s, give harmonize",
                      release_schemes[settings->release].name);
    if (job->arrivals.given && settings->overlap)
        return refuse(reader, "option --arrival is not allowed together with --overlap");
    return true;
}

/* One sample, for which nothing can be released. */
static bool fit_startup(const reader_t *reader, job_t *job, const char *name)
{
    bench_settings_t *settings = &job->settings;
    if (settings->iterations != ABSENT && settings->iterations != 1)
        return refuse(
            reader,
            "option --iterations: %lld is not allowed for %s, give 1: a program starts once, so start several "
            "by mpix_campaign",
            (long long)settings->iterations, name);
    if (job->arrivals.given)
        return refuse(reader, "option --arrival is not allowed: at %s, there is no clock yet to arrive by", name);
    settings->iterations = 1;
    settings->warmup = 0;
    settings->validation_warmup = ABSENT;
    settings->ci_percent = ABSENT;
    settings->release = RELEASE_NONE;
    return true;
}

static bool fit_file(const reader_t *reader, job_t *job, bool named)
{
    const operation_t *operation = operation_at(job->operation);
    const char *name = operation->name;
    bench_settings_t *settings = &job->settings;
    if (named && settings->file && operation->form != FORM_FILE)
        return refuse(reader, "option --file is not allowed: %s accesses no file", name);
    if (named && settings->file_sync != ABSENT && !operation->shape->writes)
        return refuse(reader, "option --file-sync is not allowed: %s writes no file", name);
    settings->file_sync = settings->file_sync == ABSENT ? SYNCED_EACH_CALL : settings->file_sync;
    if (operation->form != FORM_FILE)
        return true;
    if (!settings->file)
        return refuse(reader, "%s takes a file: give --file PATH, where it may be made", name);
    if (strlen(settings->file) >= sizeof job->file - FILE_NUMBER_BYTES)
        return refuse(reader, "option --file: \"%.60s\"... is too long", settings->file);
    if (strchr(settings->file, ':'))
        return refuse(reader,
                      "option --file: \"%.60s\" is not allowed: MPI libraries take what is before a colon for a "
                      "kind of file system",
                      settings->file);
    if (settings->release == RELEASE_NONE && operation->shape->access.pointer == BY_SHARED_POINTER)
        return refuse(reader, "option --release none is not allowed: nobody could set the pointer of %s back", name);
    if (job->comm.kind != COMM_WORLD_ALL)
        return refuse(reader, "option --comm %.60s is not allowed for %s, give world", job->comm.text, name);
    snprintf(job->file, sizeof job->file, "%s.%d", settings->file, reader->plan->job_count);
    return true;
}

static bool fit_operation(const reader_t *reader, job_t *job, bool named)
{
    const operation_t *operation = operation_at(job->operation);
    const char *name = operation->name;
    bool persists = operation_keeps_buffers(operation), has_halves = operation_has_halves(operation);
    bool is_one_sided = operation->form == FORM_ONE_SIDED, both = operation->shape->directions == 2;
    bench_settings_t *settings = &job->settings;
    if (operation->form == FORM_STARTUP && !fit_startup(reader, job, name))
        return false;
    if (named && settings->root != ABSENT && !operation->shape->has_root)
        return refuse(reader, "option --root is not allowed: %s takes no root", name);
    if (named && settings->reduction != ABSENT && !operation->shape->reduces)
        return refuse(reader, "option --op is not allowed: %s does not reduce", name);
    bool has_many = operation->shape->directions > 0 && operation->form != FORM_FILE;
    if (named && settings->messages != ABSENT && !has_many)
        return refuse(reader, "option --messages is not allowed: %s has one message at once", name);
    if (named && settings->pairs != ABSENT && !operation->shape->pairs_all)
        return refuse(reader, "option --num-pairs is not allowed: %s is not for many pairs", name);
    if (named && settings->partitions != ABSENT && !operation->shape->is_partitioned)
        return refuse(reader, "option --partitions is not allowed: %s has no partitions", name);
    bool counts_sides = operation->shape->has_threads || operation->shape->forks;
    if (named && (settings->senders != ABSENT || settings->receivers != ABSENT) && !counts_sides)
        return refuse(reader, "option --%s is not allowed: %s has one thread of each rank",
                      settings->senders != ABSENT ? "send-threads" : "receive-threads", name);
    if (named && settings->senders != ABSENT && operation->shape->member)
        return refuse(reader,
                      "option --send-threads is not allowed: %s has as many threads of each rank, give "
                      "--receive-threads",
                      name);
    if (named && settings->window != ABSENT && !is_one_sided)
        return refuse(reader, "option --win-options is not allowed: %s is not one-sided", name);
    if (named && settings->synchronization != ABSENT && !is_one_sided)
        return refuse(reader, "option --sync-option is not allowed: %s is not one-sided", name);
    bool is_passive =
        settings->synchronization != ABSENT && !synchronization_is_active((synchronization_t)settings->synchronization);
    bool is_of_all =
        settings->synchronization == ABSENT || synchronization_is_of_all((synchronization_t)settings->synchronization);
    bool is_new = operation->shape->makes_window;
    if (named && is_new && settings->window != ABSENT && settings->window != WINDOW_CREATE)
        return refuse(reader, "option --win-options: %s is not allowed for %s, give create",
                      window_kinds[settings->window], name);
    if (named && is_new && settings->synchronization != ABSENT && settings->synchronization != SYNCHRONIZED_BY_FENCE)
        return refuse(reader, "option --sync-option: %s is not allowed for %s, give fence",
                      synchronizations[settings->synchronization], name);
    if (named && operation->shape->reaches_all && !is_of_all)
        return refuse(reader,
                      "option --sync-option: %s is not allowed for %s, give flush, flush_local, lock_all or fence",
                      synchronizations[settings->synchronization], name);
    if (named && is_one_sided && both && is_passive)
        return refuse(reader, "option --sync-option: %s is not allowed for %s, give pscw or fence",
                      synchronizations[settings->synchronization], name);
    if (named && settings->in_place && !operation_allows_in_place(operation))
        return refuse(reader, "option --in-place is not allowed: %s has no form with MPI_IN_PLACE", name);
    if (named && settings->overlap && !has_halves)
        return refuse(reader, "option --overlap is not allowed: %s is neither non-blocking nor persistent", name);
    if (named && settings->cache == CACHE_ROTATE && persists)
        return refuse(reader, "option --cache rotate is not allowed: %s keeps its buffers, give warm or cold", name);
    if (settings->root == ABSENT || !operation->shape->has_root)
        settings->root = 0;
    if (settings->reduction == ABSENT)
        settings->reduction = names_find(NAMES(reductions), "sum");
    settings->messages = settings->messages == ABSENT ? USUAL_MESSAGES : settings->messages;
    settings->pairs = settings->pairs == ABSENT || !operation->shape->pairs_all ? 0 : settings->pairs;
    settings->senders = settings->senders == ABSENT ? USUAL_SENDERS : settings->senders;
    settings->receivers = settings->receivers == ABSENT ? USUAL_RECEIVERS : settings->receivers;
    settings->partitions = settings->partitions == ABSENT ? USUAL_PARTITIONS : settings->partitions;
    settings->window = settings->window == ABSENT || !is_one_sided ? WINDOW_ALLOCATE : settings->window;
    if (settings->synchronization == ABSENT || !is_one_sided || (both && is_passive) ||
        (operation->shape->reaches_all && !is_of_all))
        settings->synchronization = both ? SYNCHRONIZED_BY_PSCW : SYNCHRONIZED_BY_FLUSH;
    if (is_new) {
        settings->window = WINDOW_CREATE;
        settings->synchronization = SYNCHRONIZED_BY_FENCE;
    }
    settings->in_place = settings->in_place && operation_allows_in_place(operation);
    settings->overlap = settings->overlap && has_halves;
    if (settings->cache == CACHE_ROTATE && persists)
        settings->cache = CACHE_WARM;
    return true;
}

static bool fit_matrix(const reader_t *reader, const job_t *job, bool named)
{
    const operation_t *operation = operation_at(job->operation);
    if (!job->settings.matrix)
        return true;
    if (named && !operation_is_of_two(operation))
        return refuse(reader, "option --matrix is not allowed: %s is not of two ranks", operation->name);
    return job->comm.kind == COMM_WORLD_ALL ||
           refuse(reader, "option --matrix is not allowed together with --comm %.60s, give world", job->comm.text);
}

/* As who typed it knows it. */
static const char *layout_option(const reader_t *reader)
{
    return reader->plan->is_osu ? "-D, --ddt" : "--layout";
}

static const char *neighborhood_option(const reader_t *reader)
{
    return reader->plan->is_osu ? "-N, --nhbr" : "--neighborhood";
}

static bool fit_layout(const reader_t *reader, job_t *job, bool named)
{
    const operation_t *operation = operation_at(job->operation);
    const char *text = job->settings.layout;
    char why[PAIR_LIST_WHY_BYTES];
    if (named && text && !operation_allows_layout(operation))
        return refuse(reader, "option %s is not allowed: %s has no derived datatype", layout_option(reader),
                      operation->name);
    if (!text || !operation_allows_layout(operation))
        return true;
    return layout_parse(&job->layout, &reader->plan->lists, text, why) ||
           refuse(reader, "option %s: %s", layout_option(reader), why);
}

static bool fit_neighborhood(const reader_t *reader, job_t *job, bool named)
{
    const operation_t *operation = operation_at(job->operation);
    const char *text = job->settings.neighborhood;
    char why[PAIR_LIST_WHY_BYTES];
    if (named && text && !operation->shape->has_neighbors)
        return refuse(reader, "option %s is not allowed: %s has no neighbors", neighborhood_option(reader),
                      operation->name);
    if (!operation->shape->has_neighbors)
        return true;
    if (!neighborhood_parse(&job->neighborhood, &reader->plan->lists, text ? text : USUAL_NEIGHBORHOOD, why))
        return refuse(reader, "option %s: %s", neighborhood_option(reader), why);
    if (job->neighborhood.kind == NEIGHBORHOOD_GRID)
        return true;
    if (operation->shape->reaches_all)
        return refuse(reader, "option --neighborhood: \"%.60s\" is not allowed for %s, give a grid", text,
                      operation->name);
    const pair_list_t *graph = &reader->plan->lists.items[job->neighborhood.graph];
    int sink = operation_hangs_at_sinks(operation) ? graph_sink(graph) : -1;
    return sink < 0 || refuse(reader,
                              "option %s: \"%.60s\" is not allowed for %s, which may not return with MPICH "
                              "4.0, as rank %d has more sources than destinations: give a graph without",
                              neighborhood_option(reader), text, operation->name, sink);
}

static bool fit_datatype(const reader_t *reader, job_t *job)
{
    const operation_t *operation = operation_at(job->operation);
    bench_settings_t *settings = &job->settings;
    if (settings->datatype == ABSENT)
        settings->datatype = names_find(NAMES(datatypes), operation->shape->reduces    ? "mpi_float"
                                                          : operation->shape->compares ? "mpi_int"
                                                                                       : "mpi_char");
    element_class_t class = datatypes[settings->datatype].class;
    bool has_equality = class == ELEMENT_INTEGER || class == ELEMENT_LOGICAL || class == ELEMENT_BYTE;
    if (operation->shape->compares && !has_equality)
        return refuse(reader, "option --type: MPI_Compare_and_swap does not take %s, give an integer such as mpi_int",
                      datatypes[settings->datatype].name);
    if (operation->shape->reduces && datatypes[settings->datatype].class == ELEMENT_TEXT)
        return refuse(reader,
                      "option --type: MPI defines no reduction of %s, give another type, such as mpi_signed_char",
                      datatypes[settings->datatype].name);
    if (operation->shape->reduces &&
        !reduction_allows(&reductions[settings->reduction], &datatypes[settings->datatype]))
        return refuse(reader, "option --op: %s is not defined on %s, give another --op or --type",
                      reductions[settings->reduction].name, datatypes[settings->datatype].name);
    return true;
}

static bool fit_sizes(const reader_t *reader, job_t *job)
{
    const operation_t *operation = operation_at(job->operation);
    const element_t *element = &datatypes[job->settings.datatype];
    size_list_t *sizes = &job->settings.sizes;
    double factor = job->settings.size_factor;
    bool listed = sizes->count > 0;
    if (listed && factor > 0)
        return refuse(reader, "option --size-factor is not allowed together with a list of sizes, give MIN:MAX");
    if (!operation_has_size(operation) || operation->shape->has_one_element) {
        sizes->count = 1;
        sizes->bytes[0] = operation->shape->has_one_element ? element->bytes : 0;
        return true;
    }
    /* As OSU, which leaves out messages without an element. */
    if (reader->plan->is_osu && !listed && sizes->min_bytes > 0 && sizes->min_bytes < element->bytes &&
        element->bytes <= sizes->max_bytes)
        sizes->min_bytes = element->bytes;
    options_begin_sizes(sizes, element->bytes);
    int64_t wrong_bytes = options_list_sizes(sizes, factor > 0 ? factor : USUAL_SIZE_FACTOR, element->bytes);
    if (wrong_bytes >= 0)
        return refuse(
            reader,
            "option --message-size: %lld is not allowed for %s, give multiples of %d, the bytes of an element "
            "(%s)",
            (long long)wrong_bytes, operation->name, element->bytes, element->name);
    if (!listed && sizes->count == MAX_SIZES && factor > 0 && factor < USUAL_SIZE_FACTOR)
        return refuse(reader, "option --size-factor: %g gives more than %d sizes, give more", factor, MAX_SIZES);
    return true;
}

static bool fit_scheme(const reader_t *reader, job_t *job)
{
    bench_settings_t *settings = &job->settings;
    const char *allowed = communicator_parse(&job->comm, settings->comm, reader->ranks);
    const char *scheme = release_schemes[settings->release].name;
    if (allowed)
        return refuse(reader, "option --comm: \"%.60s\" is not allowed, give %s", settings->comm, allowed);
    if (settings->barrier != ABSENT && !release_schemes[settings->release].has_barrier)
        return refuse(reader, "option --barrier is not allowed together with --release %s, give barrier or barrier2",
                      scheme);
    if (settings->window_us >= 0 && settings->release != RELEASE_WINDOW)
        return refuse(reader, "option --window-us is not allowed together with --release %s, give window", scheme);
    if (settings->window_us > 0 && settings->window_us < MIN_WINDOW_US)
        return refuse(reader, "option --window-us: %g is not allowed, give 0 or at least %g", settings->window_us,
                      MIN_WINDOW_US);
    if (settings->test_calls != ABSENT && !settings->overlap)
        return refuse(reader, "option --test-calls is not allowed without --overlap");
    settings->barrier = settings->barrier == ABSENT ? 0 : settings->barrier;
    settings->window_us = settings->window_us < 0 ? 0 : settings->window_us;
    settings->test_calls = settings->test_calls == ABSENT ? 0 : settings->test_calls;
    return true;
}

/* The operation itself was named, not a group, of which each member heeds what it can. */
static bool fit(const reader_t *reader, job_t *job, bool named)
{
    if (!fit_scheme(reader, job) || !fit_arrivals(reader, job) || !fit_operation(reader, job, named) ||
        !fit_file(reader, job, named) || !fit_matrix(reader, job, named) || !fit_neighborhood(reader, job, named) ||
        !fit_layout(reader, job, named) || !fit_datatype(reader, job) || !fit_sizes(reader, job))
        return false;
    size_list_t *sizes = &job->settings.sizes;
    uint64_t dice = (uint64_t)job->settings.seed;
    if (job->settings.shuffle)
        random_shuffle(sizes->bytes, sizes->count, sizeof sizes->bytes[0], &dice);
    return true;
}

/* ---- Jobs */

static bool add_pair(const reader_t *reader, const bench_settings_t *settings, int operation, bool named,
                     const int pair[2])
{
    plan_t *plan = reader->plan;
    if (plan->job_count == MAX_JOBS)
        return refuse(reader, "more than %d operations are not allowed", MAX_JOBS);
    job_t *jobs = array_grow(plan->jobs, plan->job_count, sizeof jobs[0]);
    if (!jobs)
        return refuse(reader, "out of memory");
    plan->jobs = jobs;
    job_t *job = &plan->jobs[plan->job_count++];
    *job = (job_t){.settings = *settings, .operation = operation, .pair = {pair[0], pair[1]}};
    return fit(reader, job, named);
}

/* Of a matrix, a job for each two ranks. */
static bool add_job(const reader_t *reader, const bench_settings_t *settings, int operation, bool named)
{
    bool is_matrix = settings->matrix && operation_is_of_two(operation_at(operation)) && reader->ranks > 1;
    if (!is_matrix)
        return add_pair(reader, settings, operation, named, (const int[2]){0, 0});
    for (int rank = 0; rank < reader->ranks; rank++)
        for (int partner = rank + 1; partner < reader->ranks; partner++)
            if (!add_pair(reader, settings, operation, named, (const int[2]){rank, partner}))
                return false;
    return true;
}

/* Operations that take more ranks than there are have no job. */
static bool add_group(const reader_t *reader, const bench_settings_t *settings, int group)
{
    int before = reader->plan->job_count;
    for (int i = 0; operation_at(i); i++)
        if (operation_is_in_group(operation_at(i), group) && operation_at(i)->shape->min_ranks <= reader->ranks &&
            !add_job(reader, settings, i, false))
            return false;
    if (reader->plan->job_count == before)
        return refuse(reader, "this MPI library has no operation of \"%s\", give one of --list",
                      operation_groups[group]);
    return true;
}

/* Adds a job for each operation that the settings name. */
static bool add_jobs(const reader_t *reader, const bench_settings_t *settings)
{
    if (settings->operations.count == 0)
        return refuse(reader, "no operation is named, give one of --list");
    for (int64_t i = 0; i < settings->operations.count; i++) {
        const char *name = settings->operations.texts[i];
        int operation = operation_find(name);
        int group = names_find(NAMES(operation_groups), name);
        if (operation < 0 && operation_absence(name))
            return refuse(reader, "operation \"%.60s\" is not there: %s", name, operation_absence(name));
        if (operation < 0 && group < 0)
            return refuse(reader, "operation \"%.60s\" is unknown, give one of --list", name);
        if (operation >= 0 ? !add_job(reader, settings, operation, true) : !add_group(reader, settings, group))
            return false;
    }
    return true;
}

/* What concerns all jobs stands on the command line only. Returns the name of such an option that a line gave, or NULL.
 */
static const char *find_common_option(const bench_settings_t *line, const bench_settings_t *command)
{
    const option_spec_t *end = options + sizeof options / sizeof options[0];
    for (const option_spec_t *option = options; option < end; option++) {
        bool is_common = option->place >= FIELD(list);
        size_t bytes = option->kind == OPTION_NUMBERS ? sizeof(number_list_t) : sizeof(int64_t);
        if (is_common && memcmp((const char *)line + option->place, (const char *)command + option->place, bytes) != 0)
            return option->name;
    }
    return NULL;
}

/* Takes a line of the file of jobs. command: the reader of the command line */
static bool take_line(void *command, const char *speaker, int argc, char **argv)
{
    reader_t reader = *(const reader_t *)command;
    const program_spec_t spec = PROGRAM_SPEC(speaker, "", .operand = &operand, .answers_nothing = true);
    bench_settings_t settings = reader.plan->settings;
    reader.speaker = speaker;
    settings.operations.count = 0;
    if (options_parse(&spec, argc, argv, &settings) != OPTIONS_RUN)
        return false;
    const char *common = find_common_option(&settings, &reader.plan->settings);
    if (common)
        return refuse(&reader, "option --%s is not allowed in a file of jobs, give it on the command line", common);
    if (settings.operations.count == 0)
        settings.operations = reader.plan->settings.operations;
    return add_jobs(&reader, &settings);
}

static bool read_jobs(reader_t *command, const char *path)
{
    if (!words_read(path, "option --jobs: ", command->speaker, take_line, command))
        return false;
    return command->plan->job_count > 0 ||
           refuse(command, "option --jobs: \"%.200s\" is not allowed, give a file with a job", path);
}

static options_outcome_t print_list(bool is_osu)
{
    for (int i = 0; operation_at(i); i++)
        if (!is_osu || operation_is_osus(operation_at(i)))
            printf("%-32s %s\n", operation_at(i)->name, operation_at(i)->function);
    return OPTIONS_ANSWERED;
}

/* Whether one operation is named, which OSU has. */
static bool check_osu_name(const reader_t *reader, const text_list_t *operations)
{
    enum { MAX_NAMES = 100 };
    const char *names[MAX_NAMES], *name = operations->texts[0];
    size_t count = 0;
    for (int64_t i = 0; i < operations->count; i++)
        if (osu_advice(operations->texts[i]))
            return refuse(reader, "argument \"%.60s\" is not allowed: %s", operations->texts[i],
                          osu_advice(operations->texts[i]));
    if (operations->count != 1)
        return refuse(reader, operations->count > 1 ? "more than one operation is named, give one of --list"
                                                    : "no operation is named, give one of --list");
    for (int i = 0; operation_at(i) && count < MAX_NAMES; i++)
        if (operation_is_osus(operation_at(i)))
            names[count++] = operation_at(i)->name;
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    if (operation_find(name) >= 0)
        return refuse(reader, "OSU has no operation \"%.60s\": measure it by mpix_bench", name);
    if (operation_absence(name))
        return refuse(reader, "operation \"%.60s\" is not there: %s", name, operation_absence(name));
    size_t likest = mh_likest(name, names, count);
    return refuse(reader, "operation \"%.60s\" is unknown%s%s, give one of --list", name,
                  likest < count ? "; did you mean " : "", likest < count ? names[likest] : "");
}

static bool take_osu(const reader_t *reader, osu_command_t *command)
{
    plan_t *plan = reader->plan;
    const text_list_t *operations = &command->bench.operations;
    if (!check_osu_name(reader, operations) ||
        !osu_take(command, reader->speaker, operation_at(operation_find(operations->texts[0]))))
        return false;
    plan->settings = command->bench;
    plan->has_types = command->type_count > 1 && !command->bench.jobs;
    plan->shows_tail = command->shows_tail;
    plan->shows_rate = command->shows_rate;
    plan->has_session = command->session != 0;
    snprintf(plan->note, sizeof plan->note, "%s", command->note);
    return true;
}

/* A job for each type, or the jobs of a file. */
static bool add_command(reader_t *reader, const osu_command_t *command)
{
    bench_settings_t settings = reader->plan->settings;
    if (settings.jobs)
        return read_jobs(reader, settings.jobs);
    for (int i = 1; i < command->type_count; i++) {
        if (!add_jobs(reader, &settings))
            return false;
        settings.datatype = command->types[i];
    }
    return add_jobs(reader, &settings);
}

options_outcome_t plan_read(plan_t *plan, const char *program, bool is_osu, int argc, char **argv, int ranks)
{
    reader_t reader = {plan, program, ranks};
    program_spec_t spec =
        PROGRAM_SPEC(program, "Measures MPI operations, with a choice of how processes start together.",
                     .operand = &operand, .schemas = SCHEMAS(&report_schema, &report_raw_schema));
    if (is_osu) {
        spec.purpose =
            "Measures an operation of the OSU micro-benchmarks, with a choice of how processes start together.";
        spec.usage = "mpiexec -n RANKS mpix_osu NAME [OPTION]...";
        spec.notes = osu_notes;
        spec.others = osu_options;
        spec.other_count = osu_option_count;
    }
    *plan = (plan_t){.is_osu = is_osu, .shows_rate = !is_osu};
    osu_command_t command = osu_begin(is_osu);
    options_outcome_t outcome = options_parse(&spec, argc, argv, &command);
    plan->settings = command.bench;
    if (outcome != OPTIONS_RUN)
        return outcome;
    if (plan->settings.list)
        return print_list(is_osu);
    if (is_osu && !take_osu(&reader, &command))
        return OPTIONS_BAD;
    return add_command(&reader, &command) ? OPTIONS_RUN : OPTIONS_BAD;
}

const char *job_name(const plan_t *plan, const job_t *job)
{
    return plan->has_types ? datatypes[job->settings.datatype].name : operation_at(job->operation)->name;
}

/* ---- What holds for a job if its settings do not say */

/* As OSU: messages above this are slow and their times steady, so fewer calls do. */
enum { LARGE_BYTES = 8192 };
enum { SMALL_ITERATIONS = 1000, LARGE_ITERATIONS = 100, SMALL_WARMUP = 200, LARGE_WARMUP = 10 };
/* Where an interval or a time slice decides when to stop. */
enum { MAX_ITERATIONS = 100000 };
#define ROUND_TIME_SLICE_S 0.5
#define USUAL_MEM_LIMIT_BYTES (INT64_C(512) << 20)

int job_turns(const job_t *job)
{
    const operation_t *operation = operation_at(job->operation);
    int senders = (int)job->settings.senders, receivers = (int)job->settings.receivers;
    int messages = operation->shape->has_threads ? operation_thread_messages(senders, receivers) / senders : 1;
    return messages * operation_turns(operation, (synchronization_t)job->settings.synchronization);
}

int64_t job_wanted(const job_t *job, int64_t size_bytes)
{
    if (job->settings.iterations != ABSENT)
        return job->settings.iterations;
    if (job->settings.ci_percent > 0 || job->settings.release == RELEASE_ROUND_TIME)
        return MAX_ITERATIONS;
    return size_bytes > LARGE_BYTES ? LARGE_ITERATIONS : SMALL_ITERATIONS;
}

int64_t job_warmup(const job_t *job, int64_t size_bytes)
{
    if (job->settings.validation && job->settings.validation_warmup != ABSENT)
        return job->settings.validation_warmup;
    if (job->settings.warmup != ABSENT)
        return job->settings.warmup;
    return size_bytes > LARGE_BYTES ? LARGE_WARMUP : SMALL_WARMUP;
}

int64_t job_mem_limit_bytes(const job_t *job)
{
    return job->settings.mem_limit_bytes == ABSENT ? USUAL_MEM_LIMIT_BYTES : job->settings.mem_limit_bytes;
}

/* Buffers take half more than the cache, and that is not to be more than three quarters of the limit. */
int64_t job_cache_bytes(const job_t *job, int64_t cache_bytes)
{
    int64_t max = USUAL_MEM_LIMIT_BYTES / 2;
    return job->settings.mem_limit_bytes == ABSENT && cache_bytes > max ? max : cache_bytes;
}

double job_time_slice_s(const job_t *job)
{
    if (job->settings.time_slice_s > 0)
        return job->settings.time_slice_s;
    return job->settings.release == RELEASE_ROUND_TIME ? ROUND_TIME_SLICE_S : 0;
}

void plan_free(plan_t *plan)
{
    arrival_tables_free(&plan->tables);
    pair_lists_free(&plan->lists);
    free(plan->jobs);
    plan->jobs = NULL;
}
