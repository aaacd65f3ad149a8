/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpix_clock list - the base clocks of a machine: what a reading costs, what they resolve, which ranks share them, and
 * which one the library takes.
 *
 * Cost, resolution and sharing are measured here. Whether the library can use a clock, and which one it uses by
 * default, is found by asking the library, each time on a new communicator.
 */
#include "bench/clock/clock.h"
#include "common/mpi/burst.h"
#include "common/mpi/kernel.h"
#include "common/mpi/machine_clock.h"
#include "common/results/result_files.h"
#include "pure/order_statistics.h"

#include <mpix_harmonize.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Readings that are timed together, so that the cost of timing does not count. */
enum { BLOCK_READS = 100 };

enum { REASON_BYTES = 256 };

typedef struct list_settings {
    int64_t reads;
    results_t results;
} list_settings_t;

/* What a rank sees of a clock, in ns; and the largest of all ranks with the first rank that sees it. */
enum { READ, STEP, STATED, FIGURES };
typedef struct figure {
    double ns;
    int rank;
} figure_t;

/* A clock as all ranks see it, on rank 0. */
typedef struct listing {
    bool is_foreign;           /* no rank's kind of processor has it: it is left out */
    bool lacks;                /* a rank cannot read it at all, so there are no figures */
    bool usable;               /* the library can use it */
    char reason[REASON_BYTES]; /* why not */
    figure_t max[FIGURES];     /* of all ranks */
    int *group;                /* of each rank: the first rank that reads the same clock */
    int64_t doubt_ns;          /* ranks of a group may differ by so much */
} listing_t;

/* Its memory is of use until the end of the program. */
typedef struct list_run {
    world_t world;
    list_settings_t settings;
    world_t kernel;  /* the ranks under this one's kernel */
    double tick_ns;  /* of the counter */
    int64_t *values; /* for a number per reading */
    listing_t listings[MACHINE_CLOCKS];
    int chosen;                     /* the clock that auto takes */
    char choice[66 + REASON_BYTES]; /* its name, and why */
} list_run_t;

#define FIELD(field) offsetof(list_settings_t, field)

static const option_spec_t options[] = {
    {0, "reads", "N", OPTION_INTEGER, FIELD(reads), .min = BLOCK_READS, .max = 1e8, .default_text = "100000",
     .doc = "readings of each clock"},
    RESULTS_OPTIONS(FIELD(results), RAW_DOC),
};

static const char notes[] = "--help-columns says what the columns are.\n"
                            "\n"
                            "Exit status: 0 if all is well, 1 if a call failed, 2 for a bad option.\n";

static const column_t raw_columns[] = {
    {"clock", "", ROLE_KEY, TYPE_TEXT, "the clock", NULL, 0, 0, 0},
    {"reading", "", ROLE_KEY, TYPE_INTEGER, "the number of the reading that ends the interval, from 0", NULL, 0, 0, 0},
    {"interval_ns", "ns", ROLE_FIGURE, TYPE_NUMBER, "the interval between two readings", NULL, 0, 1, 0},
};
static const schema_t schema,
    raw_schema =
        SCHEMA("mpix-clock-list-raw",
               "Written by `mpix_clock list --raw`: a row for each interval between two readings.", raw_columns);
static const program_spec_t program =
    PROGRAM_SPEC("mpix_clock list", "Lists the base clocks of this machine, and which one the library uses.",
                 .schemas = SCHEMAS(&schema, &raw_schema));

/* ---- What the library says */

/*
 * Synchronizes the clocks of a fresh communicator by the base clock named. Returns what the library returned, and the
 * call that did.
 */
static int try_clock(const list_run_t *run, const char *name, world_t *fresh, const char **call)
{
    *fresh = world_duplicate(&run->world);
    *call = "MPIX_Harmonize_set_info";
    int code = world_set(fresh, "mpix_harmonize_clock", name);
    /* The cheapest way: only the choice of the clock is of interest. */
    if (code == MPI_SUCCESS)
        code = world_set(fresh, "mpix_harmonize_sync", "none");
    if (code != MPI_SUCCESS)
        return code;
    *call = "MPIX_Clock_sync";
    return MPIX_Clock_sync(fresh->comm);
}

/* Asks whether it can use a clock. Of its message "setting NAME: CLOCK cannot be used on RANK: REASON; allowed: ...",
 * the middle is kept. Collective. */
static void ask_about(const list_run_t *run, int clock, listing_t *listing)
{
    char message[REASON_BYTES], *end;
    const char *call, *begin;
    world_t fresh;
    listing->usable = try_clock(run, machine_clocks[clock].name, &fresh, &call) == MPI_SUCCESS;
    if (!listing->usable) {
        world_statistic(&fresh, "mpix_harmonize_last_error", message, sizeof message);
        if ((end = strstr(message, "; allowed")) != NULL)
            *end = '\0';
        begin = strstr(message, "cannot be used");
        snprintf(listing->reason, sizeof listing->reason, "%s", begin ? begin : message);
    }
    MPI_Comm_free(&fresh.comm);
}

/* Asks which clock it takes by itself. Collective. Returns false after a line if it fails. */
static bool ask_for_choice(list_run_t *run)
{
    world_t fresh;
    const char *call;
    char name[64], reason[REASON_BYTES];
    int code = try_clock(run, "auto", &fresh, &call);
    bool good = world_agree(&run->world, code, call);
    if (good) {
        world_statistic(&fresh, "mpix_harmonize_clock_used", name, sizeof name);
        world_statistic(&fresh, "mpix_harmonize_clock_reason", reason, sizeof reason);
        run->chosen = names_find(NAMES(machine_clocks), name);
        snprintf(run->choice, sizeof run->choice, "%s: %s", name, reason);
    }
    MPI_Comm_free(&fresh.comm);
    return good;
}

/* ---- What the ranks see */

/*
 * Reads wtime for the first time, on one rank under a kernel after the other: some MPI libraries count from the first
 * reading in each process, and clocks that began together would look like one. Collective.
 */
static void begin_wtime(const list_run_t *run)
{
    enum { TAG = 2, APART_NS = 20000 };
    const world_t *kernel = &run->kernel;
    if (kernel->rank > 0)
        MPI_Recv(NULL, 0, MPI_BYTE, kernel->rank - 1, TAG, kernel->comm, MPI_STATUS_IGNORE);
    MPI_Wtime();
    int64_t begin_ns = system_time_ns();
    while (system_time_ns() - begin_ns < APART_NS) {
    }
    if (kernel->rank + 1 < kernel->ranks)
        MPI_Send(NULL, 0, MPI_BYTE, kernel->rank + 1, TAG, kernel->comm);
}

static double tick_ns_of(const list_run_t *run, int clock)
{
    return machine_clock_is_counter(clock) ? run->tick_ns : 1;
}

static int64_t time_block_ns(int clock)
{
    int64_t begin_ns = system_time_ns();
    for (int i = 0; i < BLOCK_READS; i++)
        machine_clock_ticks(clock);
    return system_time_ns() - begin_ns;
}

static double median_read_ns(const list_run_t *run, int clock)
{
    int blocks = (int)(run->settings.reads / BLOCK_READS);
    for (int i = 0; i < blocks; i++)
        run->values[i] = time_block_ns(clock);
    return (double)mh_median(run->values, blocks) / BLOCK_READS;
}

/* Leaves the intervals between successive readings in the values, in ascending order, and writes them as they came. */
static void measure_intervals(const list_run_t *run, int clock)
{
    const table_t raw = TABLE(raw_schema, &run->settings.results.raw);
    int64_t before_ticks = machine_clock_ticks(clock);
    for (int64_t i = 0; i < run->settings.reads; i++) {
        int64_t now_ticks = machine_clock_ticks(clock);
        run->values[i] = now_ticks - before_ticks;
        before_ticks = now_ticks;
    }
    for (int64_t i = 0; raw.output->file && i < run->settings.reads; i++)
        table_row(&raw, (cell_t[]){{machine_clocks[clock].name, 0},
                                   {NULL, (double)i},
                                   {NULL, (double)run->values[i] * tick_ns_of(run, clock)}});
    mh_sort(run->values, run->settings.reads);
}

/* The smallest of the intervals in the values that is not 0; 0 if the clock did not move. */
static int64_t min_step_ticks(const list_run_t *run)
{
    int64_t i = 0;
    while (i < run->settings.reads - 1 && run->values[i] <= 0)
        i++;
    return run->values[i] > 0 ? run->values[i] : 0;
}

/* Measures what the ranks see of a clock; leaves the largest figures on rank 0. Collective. */
static void look_at(list_run_t *run, int clock)
{
    listing_t *listing = &run->listings[clock];
    double tick_ns = tick_ns_of(run, clock);
    int rank = run->world.rank;
    figure_t own[FIGURES] = {
        [READ] = {median_read_ns(run, clock), rank}, [STATED] = {machine_clock_stated_ns(clock), rank}};
    measure_intervals(run, clock);
    own[STEP] = (figure_t){(double)min_step_ticks(run) * tick_ns, rank};
    MPI_Reduce(own, listing->max, FIGURES, MPI_DOUBLE_INT, MPI_MAXLOC, 0, run->world.comm);
}

/* ---- Who shares a clock */

/* Enough to distinguish clocks that differ by more than the time of a message. */
enum { SHARING_EXCHANGES = 20 };

/* The windows of all ranks' clocks against the kernel's first rank, on that rank; its own is zero. Collective over the
 * kernel's ranks. */
static void measure_windows(const list_run_t *run, int clock, mh_window *windows)
{
    const burst_t burst = {&run->world, run->kernel.comm, INT64_C(1) << clock, SHARING_EXCHANGES, NULL};
    exchange_t exchanges[SHARING_EXCHANGES];
    double tick_ns = tick_ns_of(run, clock);
    if (run->kernel.rank > 0)
        burst_serve(&burst, 0);
    for (int peer = 1; peer < run->kernel.ranks && run->kernel.rank == 0; peer++) {
        burst_measure(&burst, peer, exchanges);
        windows[peer] = burst_window(exchanges, SHARING_EXCHANGES, tick_ns, tick_ns).limits;
    }
}

/* Puts each rank into the first group whose first rank may have the same offset. Returns the largest doubt. */
static int64_t form_groups(const mh_window *windows, int ranks, int *group)
{
    int64_t doubt_ns = 0;
    for (int rank = 0; rank < ranks; rank++) {
        const mh_window *own = &windows[rank], *other = windows;
        int first = 0;
        while (first < rank && (group[first] != first || other->min_ns > own->max_ns || own->min_ns > other->max_ns))
            other = &windows[++first];
        group[rank] = first;
        if (first == rank)
            continue;
        int64_t above_ns = own->max_ns - other->min_ns, below_ns = other->max_ns - own->min_ns;
        doubt_ns = greater(doubt_ns, greater(above_ns, below_ns));
    }
    return doubt_ns;
}

/*
 * Finds the groups of ranks that read the same clock, under each kernel by itself: two kernels' clocks are two. The
 * first rank of each kernel forms them, all ranks gather them on rank 0. Collective.
 */
static void find_groups(list_run_t *run, int clock)
{
    listing_t *listing = &run->listings[clock];
    const world_t *kernel = &run->kernel;
    int64_t doubt_ns = 0;
    int first;
    mh_window *windows = world_allocate(&run->world, kernel->ranks, sizeof windows[0], "");
    int *group = world_allocate(&run->world, kernel->ranks, sizeof group[0], "");
    int *world_rank = world_allocate(&run->world, kernel->ranks, sizeof world_rank[0], "");
    MPI_Gather(&run->world.rank, 1, MPI_INT, world_rank, 1, MPI_INT, 0, kernel->comm);
    measure_windows(run, clock, windows);
    if (kernel->rank == 0) {
        doubt_ns = form_groups(windows, kernel->ranks, group);
        for (int i = 0; i < kernel->ranks; i++)
            group[i] = world_rank[group[i]];
    }
    MPI_Scatter(group, 1, MPI_INT, &first, 1, MPI_INT, 0, kernel->comm);
    MPI_Gather(&first, 1, MPI_INT, listing->group, 1, MPI_INT, 0, run->world.comm);
    MPI_Reduce(&doubt_ns, &listing->doubt_ns, 1, MPI_INT64_T, MPI_MAX, 0, run->world.comm);
    free(windows);
    free(group);
    free(world_rank);
}

/* ---- The list */

/* The system reads its clocks without a system call in a tenth of this. */
#define SLOW_READ_NS 500

/* Characters of groups in the table for people. */
enum { SHOWN_GROUPS_BYTES = 40 };

static const column_t columns[] = {
    {"clock", "", ROLE_KEY, TYPE_TEXT,
     "the clock: tsc (the time stamp counter of x86), cntvct (the generic timer of 64-bit ARM), monotonic_raw, "
     "monotonic, realtime (those of clock_gettime(2)), or wtime (MPI_Wtime)",
     "clock", 14, 0, 0},
    {"read_ns", "ns", ROLE_FIGURE, TYPE_NUMBER,
     "the time of one reading: the median over blocks of 100 readings; the maximum over all ranks", "read(ns)", 11, 1,
     0},
    {"slowest_rank", "", ROLE_FIGURE, TYPE_INTEGER, "the rank with this maximum", "slowest", 9, 0, 0},
    {"step_ns", "ns", ROLE_FIGURE, TYPE_NUMBER,
     "the minimum difference between two successive readings that differ; the maximum over all ranks. This is the "
     "resolution of a clock that can be read twice within a step. If a reading takes longer, the resolution may be "
     "finer",
     "step(ns)", 11, 1, 0},
    {"stated_ns", "ns", ROLE_FIGURE, TYPE_NUMBER,
     "the resolution that the system states, by clock_getres(2) or MPI_Wtick(3); not known for tsc and cntvct",
     "stated(ns)", 13, 1, 0},
    {"usable", "", ROLE_FIGURE, TYPE_INTEGER, "1 if the library can use the clock on all ranks, else 0", "usable", 8, 0,
     0},
    {"auto", "", ROLE_FIGURE, TYPE_INTEGER,
     "1 for the clock that the library uses if mpix_harmonize_clock is auto, else 0", "auto", 6, 0, 0},
    {"groups", "", ROLE_FIGURE, TYPE_INTEGER,
     "the number of groups of ranks that share a clock; with 1, all ranks share it", "groups", 8, 0, 0},
    {"doubt_ns", "ns", ROLE_FIGURE, TYPE_INTEGER,
     "the maximum difference between the clocks of two ranks of a group; a larger one would have been detected. 0 if "
     "each rank is alone",
     "doubt(ns)", 11, 0, 0},
    {"members", "", ROLE_FIGURE, TYPE_TEXT,
     "the ranks of each group, such as 0-3|4+6: | separates groups, + separates ranks of a group that are not "
     "successive, and 0-3 is 0 to 3. The table shows the first 40 characters; the other formats show all",
     "members", 12, 0, 0},
};
static const schema_t schema = SCHEMA("mpix-clock-list", "A row for each clock.", columns);

/* Begins a remark beside the table: a comment in it, or on stderr if that has to be read by programs. */
static FILE *remark(const list_run_t *run)
{
    bool is_table = run->settings.results.output.format == FORMAT_TABLE;
    FILE *file = is_table ? run->settings.results.output.file : stderr;
    fprintf(file, "%s%s", is_table ? "#" : run->world.program, is_table ? " " : ": ");
    return file;
}

static int count_groups(const listing_t *listing, int ranks)
{
    int groups = 0;
    for (int rank = 0; rank < ranks; rank++)
        groups += listing->group[rank] == rank;
    return groups;
}

/* Returns the members of all groups; the caller frees it. */
static char *describe_groups(const list_run_t *run, const listing_t *listing)
{
    enum { RANK_CHARACTERS = 12 };
    int ranks = run->world.ranks;
    char *text = world_allocate(&run->world, ranks + 1, RANK_CHARACTERS, ""), *end = text;
    for (int group = 0; group < ranks; group++) {
        if (listing->group[group] != group)
            continue;
        for (int first = group, last; first < ranks; first = last + 1) {
            last = first;
            if (listing->group[first] != group)
                continue;
            while (last + 1 < ranks && listing->group[last + 1] == group)
                last++;
            const char *separator = end == text ? "" : first == group ? "|" : "+";
            end += sprintf(end, last > first ? "%s%d-%d" : "%s%d", separator, first, last);
        }
    }
    return text;
}

static void print_row(const list_run_t *run, const table_t *table, int clock)
{
    const listing_t *listing = &run->listings[clock];
    const figure_t *max = listing->max;
    const char *no_figure = listing->lacks ? "" : NULL;
    char *members = describe_groups(run, listing);
    if (table->output->format == FORMAT_TABLE && strlen(members) > SHOWN_GROUPS_BYTES)
        strcpy(members + SHOWN_GROUPS_BYTES - 3, "...");
    table_row(table, (cell_t[]){{machine_clocks[clock].name, 0},
                                {no_figure, max[READ].ns},
                                {no_figure, max[READ].rank},
                                {max[STEP].ns > 0 ? no_figure : "", max[STEP].ns},
                                {max[STATED].ns > 0 ? no_figure : "", max[STATED].ns},
                                {NULL, listing->usable},
                                {NULL, clock == run->chosen},
                                {no_figure, count_groups(listing, run->world.ranks)},
                                {no_figure, (double)listing->doubt_ns},
                                {listing->lacks ? "" : members, 0}});
    free(members);
}

/* Says what is wrong with the clocks of each kernel that has a complaint. Collective. */
static void tell_warnings(const list_run_t *run)
{
    char text[KERNEL_WARNING_BYTES] = "",
         *all = world_allocate(&run->world, run->world.ranks, KERNEL_WARNING_BYTES, "");
    if (run->kernel.rank == 0)
        kernel_clock_warning(text);
    MPI_Gather(text, KERNEL_WARNING_BYTES, MPI_CHAR, all, KERNEL_WARNING_BYTES, MPI_CHAR, 0, run->world.comm);
    for (int rank = 0; rank < run->world.ranks && run->world.rank == 0; rank++) {
        const char *warning = all + (size_t)rank * KERNEL_WARNING_BYTES;
        if (warning[0] != '\0')
            fprintf(remark(run), "Warning: rank %d: %s\n", rank, warning);
    }
    free(all);
}

/* Prints remarks and the list on rank 0. Collective. */
static void report(list_run_t *run)
{
    const table_t table = TABLE(schema, &run->settings.results.output);
    if (table.output->format == FORMAT_TABLE)
        world_describe(&run->world, table.output->file, "base clocks, as the library can take them");
    tell_warnings(run);
    if (run->world.rank > 0)
        return;
    fprintf(remark(run), "auto takes %s\n", run->choice);
    for (int clock = 0; clock < MACHINE_CLOCKS; clock++) {
        const listing_t *listing = &run->listings[clock];
        if (listing->is_foreign)
            continue;
        if (!listing->usable)
            fprintf(remark(run), "%s %s\n", machine_clocks[clock].name, listing->reason);
        if (!listing->lacks && listing->max[READ].ns > SLOW_READ_NS)
            fprintf(remark(run), "Warning: rank %d: a reading of %s takes %.0f ns, more than %d ns\n",
                    listing->max[READ].rank, machine_clocks[clock].name, listing->max[READ].ns, SLOW_READ_NS);
    }
    table_head(&table, NULL, 0);
    for (int clock = 0; clock < MACHINE_CLOCKS; clock++)
        if (!run->listings[clock].is_foreign)
            print_row(run, &table, clock);
}

/* ---- The program */

/* Finds out all about one clock. Collective. */
static void examine(list_run_t *run, int clock)
{
    listing_t *listing = &run->listings[clock];
    listing->is_foreign = world_all(&run->world, machine_clock_is_counter(clock) && clock != (int)MACHINE_KIND_COUNTER);
    if (listing->is_foreign)
        return;
    listing->lacks = !world_all(&run->world, !machine_clock_lack(clock));
    ask_about(run, clock, listing);
    listing->group = world_allocate(&run->world, run->world.ranks, sizeof listing->group[0], "");
    if (!listing->lacks) {
        look_at(run, clock);
        find_groups(run, clock);
    }
}

static int list_clocks(list_run_t *run)
{
    counter_rate_t rate;
    begin_wtime(run);
    if (!ask_for_choice(run))
        return STATUS_FAILED;
    counter_rate_begin(&rate);
    run->tick_ns = kernel_tick_ns(&rate, run->kernel.comm);
    const table_t raw = TABLE(raw_schema, &run->settings.results.raw);
    if (raw.output->file)
        table_head(&raw, NULL, 0);
    for (int clock = 0; clock < MACHINE_CLOCKS; clock++)
        examine(run, clock);
    report(run);
    return STATUS_GOOD;
}

static int run_program(void *state, char **argv)
{
    (void)argv;
    list_run_t *run = state;
    int status = results_open(&run->settings.results, &run->world);
    if (status == STATUS_GOOD) {
        run->values =
            world_allocate(&run->world, run->settings.reads, sizeof run->values[0], ": give less for --reads");
        run->kernel = kernel_split(&run->world);
        status = list_clocks(run);
        MPI_Comm_free(&run->kernel.comm);
    }
    return results_close(&run->settings.results, &run->world, status);
}

static list_run_t the_run; /* its memory is of use until the end */

const clock_command_t clock_list = CLOCK_COMMAND("list", list_run_t, the_run, run_program);
