/* SPDX-License-Identifier: BSD-3-Clause */
/* report.c - the list, remarks on it, and the chart. */
#include "list/list.h"

#include "common/output.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The system reads its clocks without a system call in a tenth of this. */
#define SLOW_READ_NS 500

/* Characters of groups in the table for people. */
enum { SHOWN_GROUPS_BYTES = 40 };

static const column_t columns[] = {
    {"clock", "clock", 14, 0, 0},      {"read(ns)", "read_ns", 11, 1, 0},     {"slowest", "slowest_rank", 9, 0, 0},
    {"step(ns)", "step_ns", 11, 1, 0}, {"stated(ns)", "stated_ns", 13, 1, 0}, {"usable", "usable", 8, 0, 0},
    {"auto", "auto", 6, 0, 0},         {"groups", "groups", 8, 0, 0},         {"doubt(ns)", "doubt_ns", 11, 0, 0},
    {"members", "members", 12, 0, 0},
};
enum { COLUMNS = sizeof(columns) / sizeof(columns[0]) };

/* A remark beside the table: a comment in it, or on stderr where that has to be read by programs. */
__attribute__((format(printf, 2, 3))) static void remark(const list_run_t *run, const char *format, ...)
{
    bool is_table = run->settings.results.output.format == FORMAT_TABLE;
    FILE *file = is_table ? run->settings.results.output.file : stderr;
    va_list arguments;
    va_start(arguments, format);
    if (is_table)
        fputs("# ", file);
    else
        fprintf(file, "%s: ", run->world.program);
    vfprintf(file, format, arguments);
    fputc('\n', file);
    va_end(arguments);
}

/* ---- The list */

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
    char *text = world_room(&run->world, ranks + 1, RANK_CHARACTERS, ""), *end = text;
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
    const char *no_figure = listing->lacks ? "" : NULL;
    char *members = describe_groups(run, listing);
    if (table->output->format == FORMAT_TABLE && strlen(members) > SHOWN_GROUPS_BYTES)
        strcpy(members + SHOWN_GROUPS_BYTES - 3, "...");
    table_row(table, (cell_t[]){{machine_clocks[clock].name, 0},
                                {no_figure, listing->max.read_ns},
                                {no_figure, listing->slowest},
                                {listing->max.step_ns > 0 ? no_figure : "", listing->max.step_ns},
                                {listing->max.stated_ns > 0 ? no_figure : "", listing->max.stated_ns},
                                {NULL, listing->usable},
                                {NULL, clock == run->chosen},
                                {no_figure, count_groups(listing, run->world.ranks)},
                                {no_figure, (double)listing->doubt_ns},
                                {listing->lacks ? "" : members, 0}});
    free(members);
}

/* Tells what is wrong with the clocks of each kernel that has a complaint. Collective. */
static void tell_warnings(const list_run_t *run)
{
    char text[KERNEL_WARNING_BYTES] = "", *all = world_room(&run->world, run->world.ranks, KERNEL_WARNING_BYTES, "");
    int kernel_rank;
    MPI_Comm_rank(run->kernel, &kernel_rank);
    if (kernel_rank == 0)
        kernel_clock_warning(text);
    MPI_Gather(text, KERNEL_WARNING_BYTES, MPI_CHAR, all, KERNEL_WARNING_BYTES, MPI_CHAR, 0, run->world.comm);
    for (int rank = 0; rank < run->world.ranks && run->world.rank == 0; rank++) {
        const char *warning = all + (size_t)rank * KERNEL_WARNING_BYTES;
        if (warning[0] != '\0')
            remark(run, "Warning: rank %d: %s", rank, warning);
    }
    free(all);
}

static int draw(list_run_t *run)
{
    plot_series_t series[MACHINE_CLOCKS];
    int drawn = 0;
    for (int clock = 0; clock < MACHINE_CLOCKS; clock++) {
        const listing_t *listing = &run->listings[clock];
        if (!listing->is_foreign && !listing->lacks)
            series[drawn++] = (plot_series_t){.title = machine_clocks[clock].name,
                                              .style = PLOT_LINES,
                                              .color = clock + 1,
                                              .count = CURVE_POINTS,
                                              .x = listing->intervals_ns.value,
                                              .y = listing->intervals_ns.share};
    }
    const plot_panel_t panel = {
        .x = {.label = "interval between successive readings (ns)", .logarithmic = true},
        .y = {.label = "share of intervals that are not longer"},
        .series = series,
        .series_count = drawn,
    };
    const plot_t plot = {
        .title = "Base clocks of rank 0: cost and steps of readings", .panels = &panel, .panel_count = 1};
    return plot_draw(&run->settings.results.plot, &run->world, &plot);
}

int list_report(list_run_t *run)
{
    const table_t table = {columns, COLUMNS, &run->settings.results.output, "mpix-clock-list"};
    if (table.output->format == FORMAT_TABLE)
        world_describe(&run->world, table.output->file, "base clocks, as the library can take them");
    tell_warnings(run);
    if (run->world.rank > 0)
        return STATUS_GOOD;
    remark(run, "auto takes %s: %s", machine_clocks[run->chosen].name, run->chosen_reason);
    for (int clock = 0; clock < MACHINE_CLOCKS; clock++) {
        const listing_t *listing = &run->listings[clock];
        if (listing->is_foreign)
            continue;
        if (!listing->usable)
            remark(run, "%s %s", machine_clocks[clock].name, listing->reason);
        if (!listing->lacks && listing->max.read_ns > SLOW_READ_NS)
            remark(run, "Warning: rank %d: a reading of %s takes %.0f ns, more than %d ns", listing->slowest,
                   machine_clocks[clock].name, listing->max.read_ns, SLOW_READ_NS);
    }
    table_head(&table);
    for (int clock = 0; clock < MACHINE_CLOCKS; clock++)
        if (!run->listings[clock].is_foreign)
            print_row(run, &table, clock);
    return draw(run);
}
