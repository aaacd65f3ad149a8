/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpix_clock_list - the base clocks of a machine: what a reading costs, what they resolve, which ranks share them, and
 * which one the library takes.
 *
 * Cost, resolution and sharing are measured here. Whether the library can use a clock, and which one it takes by itself,
 * it is asked for, on a communicator of its own each time.
 */
#include "common/burst.h"
#include "common/exit_clock.h"
#include "common/kernel.h"
#include "common/machine_clock.h"
#include "common/options.h"
#include "common/plot.h"
#include "common/statistics.h"
#include "common/table.h"
#include "common/world.h"

#include <mpix_harmonize.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Readings that are timed together, so that the cost of timing does not count. */
enum { BLOCK_READS = 100 };

/* Enough to tell clocks that differ by more than a message takes. */
enum { SHARING_EXCHANGES = 20 };

/* The system reads its clocks without a system call in a tenth of this. */
#define SLOW_READ_NS 500

enum { REASON_BYTES = 256, SHOWN_GROUPS_BYTES = 40 };

enum { CURVE_POINTS = 200 };
/* The rarest intervals between readings, interruptions, would fill most of a chart. */
#define CURVE_END 0.999

struct list_settings {
    int64_t reads;
    struct output output;
    const char *plot_path; /* rank 0 only */
};

/* A clock as one rank sees it. */
struct sight {
    double read_ns;
    double step_ns;
    double stated_ns;
};

/* How the intervals between successive readings are distributed. */
struct curve {
    double interval_ns[CURVE_POINTS];
    double share[CURVE_POINTS]; /* of intervals that are not longer */
};

/* A clock as all ranks see it, on rank 0. */
struct listing {
    bool lacks;                /* a rank cannot read it at all, so there are no figures */
    bool usable;               /* the library can use it */
    char reason[REASON_BYTES]; /* why not */
    struct sight most;         /* the greatest figures of all ranks */
    int slowest;               /* the rank whose readings cost most */
    int *group;                /* of each rank: the first rank that reads the same clock */
    int64_t doubt_ns;          /* ranks of a group may differ by so much */
    struct curve curve;        /* of rank 0 */
};

struct list_run {
    struct world world;
    struct list_settings settings;
    MPI_Comm kernel; /* the ranks under this one's kernel */
    double tick_ns;  /* of tsc */
    int64_t *room;   /* for a number per reading */
    struct plot_file plot;
    struct listing listings[MACHINE_CLOCKS];
    int chosen; /* the clock that auto takes */
    char chosen_reason[REASON_BYTES];
};

#define PLACE(field) offsetof(struct list_settings, field)

static const struct option_spec options[] = {
    {'n', "reads", "N", OPTION_INTEGER, PLACE(reads), BLOCK_READS, 1e8, NULL, "readings of each clock"},
    OUTPUT_OPTIONS(PLACE(output)),
    PLOT_OPTION(PLACE(plot_path)),
};

static const char notes[] =
    "  read     time of one reading, by the rank where it is greatest: the median over blocks of 100 readings\n"
    "  slowest  that rank\n"
    "  step     the least difference seen between two successive readings that differ\n"
    "  stated   the resolution that the system states; none for tsc\n"
    "  usable   whether the library can use the clock on all ranks\n"
    "  auto     1 for the clock that the library takes where it is left the choice\n"
    "  groups   number of groups of ranks that read the same clock\n"
    "  doubt    ranks of a group might be so far apart: more would have shown in the exchanges\n"
    "  members  the ranks of each group: a-b from a to b, + between others of a group, | between groups\n"
    "The chart of --plot shows how long successive readings of each clock are apart on rank 0.\n"
    "\n"
    "Exit status: 0 if all is well, 1 if a call failed, 2 for a bad option.\n";

static const struct program_spec program = {"mpix_clock_list",
                                            "Lists the base clocks of this machine, and which one the library takes.",
                                            options, sizeof(options) / sizeof(options[0]), notes, NULL, false};

static const struct column columns[] = {
    {"clock", "clock", 14, 0, 0},         {"read(ns)", "read_ns", 11, 1, 0},  {"slowest", "slowest_rank", 9, 0, 0},
    {"step(ns)", "step_ns", 11, 1, 0},    {"stated(ns)", "stated_ns", 13, 1, 0}, {"usable", "usable", 8, 0, 0},
    {"auto", "auto", 6, 0, 0},            {"groups", "groups", 8, 0, 0},      {"doubt(ns)", "doubt_ns", 11, 0, 0},
    {"members", "members", 12, 0, 0},
};
enum { COLUMNS = sizeof(columns) / sizeof(columns[0]) };

/* A remark beside the table: a comment in it, or on stderr where that has to be read by programs. */
__attribute__((format(printf, 2, 3))) static void remark(const struct list_run *run, const char *format, ...)
{
    bool is_table = run->settings.output.format == FORMAT_TABLE;
    FILE *file = is_table ? run->settings.output.file : stderr;
    va_list arguments;

    va_start(arguments, format);
    if (is_table)
        fputs("# ", file);
    else
        fprintf(file, "%s: ", program.name);
    vfprintf(file, format, arguments);
    fputc('\n', file);
    va_end(arguments);
}

/* ---- What a rank sees by itself */

static double time_block_ns(int64_t (*read_ticks)(void))
{
    int64_t begin_ns = system_time_ns();

    for (int i = 0; i < BLOCK_READS; i++)
        read_ticks();
    return (double)(system_time_ns() - begin_ns) / BLOCK_READS;
}

static double median_read_ns(const struct list_run *run, int clock)
{
    int64_t blocks = run->settings.reads / BLOCK_READS;

    for (int64_t i = 0; i < blocks; i++)
        run->room[i] = (int64_t)(time_block_ns(machine_clocks[clock].read_ticks) * 1000);
    sort_ascending(run->room, blocks);
    return (double)quantile(run->room, blocks, 0.5) / 1000;
}

/* Leaves the intervals between successive readings in the room, in ascending order. */
static void measure_intervals(const struct list_run *run, int clock)
{
    int64_t (*read_ticks)(void) = machine_clocks[clock].read_ticks;
    int64_t before_ticks = read_ticks();

    for (int64_t i = 0; i < run->settings.reads; i++) {
        int64_t now_ticks = read_ticks();

        run->room[i] = now_ticks - before_ticks;
        before_ticks = now_ticks;
    }
    sort_ascending(run->room, run->settings.reads);
}

/* The least of the intervals in the room that is not 0; 0 where the clock did not move. */
static int64_t least_step_ticks(const struct list_run *run)
{
    for (int64_t i = 0; i < run->settings.reads; i++) {
        if (run->room[i] > 0)
            return run->room[i];
    }
    return 0;
}

static void trace_curve(const struct list_run *run, double tick_ns, struct curve *curve)
{
    for (int i = 0; i < CURVE_POINTS; i++) {
        curve->share[i] = CURVE_END * (i + 1) / CURVE_POINTS;
        curve->interval_ns[i] = (double)quantile(run->room, run->settings.reads, curve->share[i]) * tick_ns;
    }
}

static double tick_ns_of(const struct list_run *run, int clock)
{
    return clock == MACHINE_CLOCK_TSC ? run->tick_ns : 1;
}

static struct sight look_at(const struct list_run *run, int clock, struct curve *curve)
{
    struct sight sight;

    sight.read_ns = median_read_ns(run, clock);
    measure_intervals(run, clock);
    sight.step_ns = (double)least_step_ticks(run) * tick_ns_of(run, clock);
    sight.stated_ns = machine_clocks[clock].stated_ns();
    trace_curve(run, tick_ns_of(run, clock), curve);
    return sight;
}

/* Leaves the greatest figures of all ranks on rank 0. Collective. */
static void combine_sights(const struct list_run *run, struct sight sight, struct listing *listing)
{
    struct {
        double read_ns;
        int rank;
    } own = {sight.read_ns, run->world.rank}, slowest = {0, 0};

    MPI_Reduce(&own, &slowest, 1, MPI_DOUBLE_INT, MPI_MAXLOC, 0, run->world.comm);
    MPI_Reduce(&sight, &listing->most, sizeof(sight) / sizeof(double), MPI_DOUBLE, MPI_MAX, 0, run->world.comm);
    listing->slowest = slowest.rank;
}

/* ---- Who shares a clock */

/* The windows of all ranks' clocks against the kernel's first rank, on that rank. Collective over the kernel's ranks. */
static void measure_windows(const struct list_run *run, int clock, struct offset_window *windows)
{
    const struct burst burst = {&run->world, run->kernel, INT64_C(1) << clock, SHARING_EXCHANGES};
    struct exchange exchanges[SHARING_EXCHANGES];
    double tick_ns = tick_ns_of(run, clock);
    int rank, ranks;

    MPI_Comm_rank(run->kernel, &rank);
    MPI_Comm_size(run->kernel, &ranks);
    if (rank > 0) {
        burst_serve(&burst, 0);
        return;
    }
    windows[0] = (struct offset_window){0, 0, 0};
    for (int peer = 1; peer < ranks; peer++) {
        burst_measure(&burst, peer, exchanges);
        windows[peer] = burst_window(exchanges, SHARING_EXCHANGES, tick_ns, tick_ns);
    }
}

static bool overlap(struct offset_window a, struct offset_window b)
{
    return a.low_ns <= b.high_ns && b.low_ns <= a.high_ns;
}

/* Puts each rank into the first group whose first rank may have the same offset. Returns the greatest doubt. */
static int64_t form_groups(const struct offset_window *windows, int ranks, int *group)
{
    int64_t doubt_ns = 0;

    for (int rank = 0; rank < ranks; rank++) {
        int first = 0;

        while (first < rank && (group[first] != first || !overlap(windows[first], windows[rank])))
            first++;
        group[rank] = first;
        if (first < rank) {
            int64_t above_ns = windows[rank].high_ns - windows[first].low_ns;
            int64_t below_ns = windows[first].high_ns - windows[rank].low_ns;
            int64_t most_ns = above_ns > below_ns ? above_ns : below_ns;

            doubt_ns = most_ns > doubt_ns ? most_ns : doubt_ns;
        }
    }
    return doubt_ns;
}

/*
 * Finds the groups of ranks that read the same clock, under each kernel by itself: two kernels' clocks are two. The first
 * rank of each kernel forms them, all ranks gather them on rank 0. Collective. Returns false if out of memory.
 */
static bool find_groups(const struct list_run *run, int clock, struct listing *listing)
{
    struct offset_window *windows;
    int64_t doubt_ns = 0;
    int *group, *world_rank;
    int rank, ranks, own, first;
    bool good;

    MPI_Comm_rank(run->kernel, &rank);
    MPI_Comm_size(run->kernel, &ranks);
    windows = malloc((size_t)ranks * sizeof(windows[0]));
    group = malloc((size_t)ranks * sizeof(group[0]));
    world_rank = malloc((size_t)ranks * sizeof(world_rank[0]));
    good = world_all(&run->world, windows != NULL && group != NULL && world_rank != NULL);
    if (good) {
        own = run->world.rank;
        MPI_Gather(&own, 1, MPI_INT, world_rank, 1, MPI_INT, 0, run->kernel);
        measure_windows(run, clock, windows);
        if (rank == 0) {
            doubt_ns = form_groups(windows, ranks, group);
            for (int i = 0; i < ranks; i++)
                group[i] = world_rank[group[i]];
        }
        MPI_Scatter(group, 1, MPI_INT, &first, 1, MPI_INT, 0, run->kernel);
        MPI_Gather(&first, 1, MPI_INT, listing->group, 1, MPI_INT, 0, run->world.comm);
        MPI_Reduce(&doubt_ns, &listing->doubt_ns, 1, MPI_INT64_T, MPI_MAX, 0, run->world.comm);
    }
    free(windows);
    free(group);
    free(world_rank);
    return good;
}

/* ---- What the library says */

/* Synchronises the clocks of a fresh communicator by the base clock named. Returns what the library returned, and the
 * call that did. */
static int try_clock(const struct list_run *run, const char *name, struct world *fresh, const char **call)
{
    MPI_Info info;
    int code;

    *fresh = run->world;
    MPI_Comm_dup(run->world.comm, &fresh->comm);
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpix_harmonize_clock", name);
    /* The cheapest way: only the choice of the clock is of interest. */
    MPI_Info_set(info, "mpix_harmonize_sync", "none");
    code = MPIX_Harmonize_set_info(fresh->comm, info);
    MPI_Info_free(&info);
    *call = "MPIX_Harmonize_set_info";
    if (code != MPI_SUCCESS)
        return code;
    *call = "MPIX_Clock_sync";
    return MPIX_Clock_sync(fresh->comm);
}

/* Of the library's message, "setting NAME: CLOCK cannot be used on RANK: REASON; allowed: ...", the middle. */
static void extract_reason(const char *message, char *reason, size_t reason_bytes)
{
    const char *begin = strstr(message, "cannot be used");
    const char *end = strstr(message, "; allowed");

    if (begin == NULL)
        begin = message;
    snprintf(reason, reason_bytes, "%.*s", (int)(end != NULL && end > begin ? end - begin : (long)strlen(begin)), begin);
}

static void ask_about(const struct list_run *run, int clock, struct listing *listing)
{
    struct world fresh;
    char message[REASON_BYTES];
    const char *call;

    listing->usable = try_clock(run, machine_clocks[clock].name, &fresh, &call) == MPI_SUCCESS;
    if (!listing->usable) {
        world_statistic(&fresh, "mpix_harmonize_last_error", message, sizeof(message));
        extract_reason(message, listing->reason, sizeof(listing->reason));
    }
    MPI_Comm_free(&fresh.comm);
}

/* Returns false where the library fails, of which it has told. */
static bool ask_for_choice(struct list_run *run)
{
    struct world fresh;
    const char *call;
    char name[64];
    int code = try_clock(run, "auto", &fresh, &call);
    bool good = world_agree(&run->world, code, call);

    if (good) {
        world_statistic(&fresh, "mpix_harmonize_base_clock", name, sizeof(name));
        world_statistic(&fresh, "mpix_harmonize_base_clock_reason", run->chosen_reason, sizeof(run->chosen_reason));
        for (run->chosen = 0; run->chosen < MACHINE_CLOCKS; run->chosen++) {
            if (strcmp(machine_clocks[run->chosen].name, name) == 0)
                break;
        }
    }
    MPI_Comm_free(&fresh.comm);
    return good;
}

/* ---- The list */

static int count_groups(const struct listing *listing, int ranks)
{
    int groups = 0;

    for (int rank = 0; rank < ranks; rank++)
        groups += listing->group[rank] == rank;
    return groups;
}

/* Appends the ranks of a group, from its first one. Returns the end of the text. */
static char *write_group(const struct listing *listing, int ranks, int first, char *end)
{
    for (int rank = first; rank < ranks;) {
        int last = rank;

        if (listing->group[rank] != first) {
            rank++;
            continue;
        }
        while (last + 1 < ranks && listing->group[last + 1] == first)
            last++;
        end += sprintf(end, last > rank ? "%s%d-%d" : "%s%d", rank > first ? "+" : "", rank, last);
        rank = last + 1;
    }
    return end;
}

/* Returns the members of all groups; the caller frees it. */
static char *describe_groups(const struct listing *listing, int ranks)
{
    enum { RANK_CHARACTERS = 12 };
    char *text = malloc((size_t)ranks * RANK_CHARACTERS + 1);
    char *end = text;

    if (text == NULL)
        return NULL;
    for (int rank = 0; rank < ranks; rank++) {
        if (listing->group[rank] != rank)
            continue;
        if (end > text)
            *end++ = '|';
        end = write_group(listing, ranks, rank, end);
    }
    return text;
}

static bool print_row(const struct list_run *run, const struct table *table, int clock)
{
    const struct listing *listing = &run->listings[clock];
    const char *no_figure = listing->lacks ? "" : NULL;
    char *members = describe_groups(listing, run->world.ranks);

    if (members == NULL) {
        fprintf(stderr, "%s: out of memory\n", program.name);
        return false;
    }
    if (table->output->format == FORMAT_TABLE && strlen(members) > SHOWN_GROUPS_BYTES)
        strcpy(members + SHOWN_GROUPS_BYTES - 3, "...");
    table_row(table, (struct cell[]){{machine_clocks[clock].name, 0},
                                     {no_figure, listing->most.read_ns},
                                     {no_figure, listing->slowest},
                                     {listing->most.step_ns > 0 ? no_figure : "", listing->most.step_ns},
                                     {listing->most.stated_ns > 0 ? no_figure : "", listing->most.stated_ns},
                                     {NULL, listing->usable},
                                     {NULL, clock == run->chosen},
                                     {no_figure, count_groups(listing, run->world.ranks)},
                                     {no_figure, (double)listing->doubt_ns},
                                     {listing->lacks ? "" : members, 0}});
    free(members);
    return true;
}

/* Tells what is wrong with the clocks of each kernel that has a complaint. Collective. */
static void tell_kernel_warnings(const struct list_run *run)
{
    char text[KERNEL_WARNING_BYTES] = "";
    int kernel_rank;

    MPI_Comm_rank(run->kernel, &kernel_rank);
    if (kernel_rank == 0)
        kernel_clock_warning(text);
    if (run->world.rank > 0) {
        MPI_Gather(text, KERNEL_WARNING_BYTES, MPI_CHAR, NULL, 0, MPI_CHAR, 0, run->world.comm);
        return;
    }
    char *all = malloc((size_t)run->world.ranks * KERNEL_WARNING_BYTES);
    MPI_Gather(text, KERNEL_WARNING_BYTES, MPI_CHAR, all, KERNEL_WARNING_BYTES, MPI_CHAR, 0, run->world.comm);
    for (int rank = 0; rank < run->world.ranks; rank++) {
        const char *warning = all + (size_t)rank * KERNEL_WARNING_BYTES;

        if (warning[0] != '\0')
            remark(run, "Warning: rank %d: %s", rank, warning);
    }
    free(all);
}

static void tell_slow_clocks(const struct list_run *run)
{
    for (int clock = 0; clock < MACHINE_CLOCKS; clock++) {
        const struct listing *listing = &run->listings[clock];

        if (!listing->lacks && listing->most.read_ns > SLOW_READ_NS)
            remark(run, "Warning: rank %d: a reading of %s takes %.0f ns, more than %d ns", listing->slowest,
                   machine_clocks[clock].name, listing->most.read_ns, SLOW_READ_NS);
    }
}

static int print_list(const struct list_run *run)
{
    const struct table table = {columns, COLUMNS, &run->settings.output};

    remark(run, "auto takes %s: %s", machine_clocks[run->chosen].name, run->chosen_reason);
    for (int clock = 0; clock < MACHINE_CLOCKS; clock++) {
        if (!run->listings[clock].usable)
            remark(run, "%s %s", machine_clocks[clock].name, run->listings[clock].reason);
    }
    tell_slow_clocks(run);
    table_head(&table);
    for (int clock = 0; clock < MACHINE_CLOCKS; clock++) {
        if (!print_row(run, &table, clock))
            return STATUS_FAILED;
    }
    return STATUS_GOOD;
}

/* How the intervals between readings are distributed, on rank 0: steps show what a clock resolves. */
static int draw_chart(struct list_run *run)
{
    struct plot_series series[MACHINE_CLOCKS];
    int drawn = 0;

    for (int clock = 0; clock < MACHINE_CLOCKS; clock++) {
        struct curve *curve = &run->listings[clock].curve;

        if (!run->listings[clock].lacks)
            series[drawn++] = (struct plot_series){.title = machine_clocks[clock].name,
                                                   .style = PLOT_LINES,
                                                   .colour = clock + 1,
                                                   .count = CURVE_POINTS,
                                                   .x = curve->interval_ns,
                                                   .y = curve->share};
    }
    const struct plot_panel panel = {
        .x = {.label = "interval between successive readings (ns)", .logarithmic = true},
        .y = {.label = "share of intervals that are not longer"},
        .series = series,
        .series_count = drawn,
    };
    const struct plot plot = {
        .title = "Base clocks of rank 0: cost and steps of readings", .panels = &panel, .panel_count = 1};

    return plot_draw(&run->plot, &run->world, &plot);
}

/*
 * Reads wtime for the first time, on one rank under a kernel after the other: some MPI libraries count from the first
 * reading in each process, and clocks that began together would look like one. Collective.
 */
static void begin_wtime(const struct list_run *run)
{
    enum { TAG = 2, APART_NS = 20000 };
    int64_t begin_ns;
    int rank, ranks;

    MPI_Comm_rank(run->kernel, &rank);
    MPI_Comm_size(run->kernel, &ranks);
    if (rank > 0)
        MPI_Recv(NULL, 0, MPI_BYTE, rank - 1, TAG, run->kernel, MPI_STATUS_IGNORE);
    MPI_Wtime();
    begin_ns = system_time_ns();
    while (system_time_ns() - begin_ns < APART_NS) {
    }
    if (rank + 1 < ranks)
        MPI_Send(NULL, 0, MPI_BYTE, rank + 1, TAG, run->kernel);
}

/* All ranks under one kernel take the rate that its first rank measured. Collective. */
static void measure_tick(struct list_run *run)
{
    struct tsc_rate rate;

    tsc_rate_begin(&rate);
    run->tick_ns = tsc_rate_ns(&rate);
    MPI_Bcast(&run->tick_ns, 1, MPI_DOUBLE, 0, run->kernel);
}

/* Finds out all about one clock. Collective. Returns false where that failed, of which rank 0 has told. */
static bool examine(struct list_run *run, int clock)
{
    struct listing *listing = &run->listings[clock];

    listing->lacks = !world_all(&run->world, machine_clock_lack(clock) == NULL);
    ask_about(run, clock, listing);
    listing->group = calloc((size_t)run->world.ranks, sizeof(listing->group[0]));
    if (!world_all(&run->world, listing->group != NULL))
        return false;
    if (listing->lacks)
        return true;
    combine_sights(run, look_at(run, clock, &listing->curve), listing);
    return find_groups(run, clock, listing);
}

static int list_clocks(struct list_run *run)
{
    int status = STATUS_GOOD;

    begin_wtime(run);
    if (!ask_for_choice(run))
        return STATUS_FAILED;
    measure_tick(run);
    for (int clock = 0; clock < MACHINE_CLOCKS; clock++) {
        if (!examine(run, clock)) {
            if (run->world.rank == 0)
                fprintf(stderr, "%s: out of memory\n", program.name);
            return STATUS_FAILED;
        }
    }
    if (run->settings.output.format == FORMAT_TABLE)
        world_describe(&run->world, run->settings.output.file, "base clocks, as the library can take them");
    tell_kernel_warnings(run);
    if (run->world.rank == 0) {
        status = print_list(run);
        if (draw_chart(run) != STATUS_GOOD)
            status = STATUS_FAILED;
    }
    return status;
}

static int run_program(struct list_run *run)
{
    int status = plot_open(&run->plot, &run->world, run->settings.plot_path);

    if (status == STATUS_GOOD)
        status = output_open(&run->settings.output, &run->world);
    if (status != STATUS_GOOD)
        return status;
    run->room = calloc((size_t)run->settings.reads, sizeof(run->room[0]));
    if (!world_all(&run->world, run->room != NULL)) {
        status = world_refuse(&run->world, "out of memory: give less for --reads");
    } else if (!kernel_split(&run->world, &run->kernel)) {
        status = STATUS_FAILED;
    } else {
        status = list_clocks(run);
        MPI_Comm_free(&run->kernel);
    }
    if (output_close(&run->settings.output, &run->world) != STATUS_GOOD)
        status = STATUS_FAILED;
    plot_close(&run->plot);
    free(run->room);
    for (int clock = 0; clock < MACHINE_CLOCKS; clock++)
        free(run->listings[clock].group);
    return status;
}

int main(int argc, char **argv)
{
    struct list_run run = {.settings = {.reads = 100000}};
    int status;

    world_begin(&run.world, program.name, &argc, &argv);
    if (world_options(&run.world, &program, argc, argv, &run.settings, sizeof(run.settings), &status))
        status = run_program(&run);
    return world_end(&run.world, status);
}
