/* SPDX-License-Identifier: BSD-3-Clause */
/* watch.c - MPIX_Harmonize as it goes: what it needs and reaches in each quarter of a second. */
#include "common/output.h"
#include "skew/skew.h"

#include <stdlib.h>

#define WATCH_INTERVAL_NS INT64_C(250000000)
/* Short, so that rows come in time although calls may become much slower within a block. */
#define MAX_WATCH_BLOCK_NS 5e6

static const column_t watch_columns[] = {
    {"time(s)", "time_ns", 12, 2, 1e9}, {"slack(ns)", "slack_ns", 14, 0, 0}, {"calls", "calls", 10, 0, 0},
    {"valid", "valid", 10, 0, 0},       {"call(ns)", "call_ns", 14, 1, 0},
};
enum { WATCH_COLUMNS = sizeof(watch_columns) / sizeof(watch_columns[0]) };

static void print_watch_row(const skew_run_t *run, const table_t *table, double time_ns, const tally_t *tally)
{
    char slack[64];
    world_statistic(&run->world, "mpix_harmonize_slack_used_ns", slack, sizeof(slack));
    table_row(table, (cell_t[]){{NULL, time_ns},
                                {slack[0] != '\0' ? NULL : "", strtod(slack, NULL)},
                                {NULL, (double)tally->calls},
                                {NULL, (double)tally->valid},
                                {NULL, (double)tally->loop_ns / (double)tally->calls}});
}

static void add_tally(tally_t *sum, const tally_t *part)
{
    sum->calls += part->calls;
    sum->valid += part->valid;
    sum->loop_ns += part->loop_ns;
}

void skew_watch(skew_run_t *run)
{
    const table_t table = {watch_columns, WATCH_COLUMNS, &run->settings.results.output, "mpix-skew-watch"};
    const scheme_t *scheme = &run->schemes[SCHEME_HARMONIZE];
    bool root = run->world.rank == 0;
    tally_t tally = {0};
    int64_t calls = 1; /* the first row shows the start, too: no warming up */
    int64_t begin_ns = system_time_ns();
    int64_t next_row_ns = WATCH_INTERVAL_NS;
    if (root && table.output->format == FORMAT_TABLE)
        world_describe(&run->world, table.output->file, "MPIX_Harmonize, as it goes");
    if (root)
        table_head(&table);
    while (calls > 0) {
        tally_t block_tally = {0};
        skew_run_block(run, scheme, calls, &block_tally);
        add_tally(&tally, &block_tally);
        int64_t now_ns = system_time_ns() - begin_ns;
        bool last = (double)now_ns >= run->settings.watch_s * 1e9;
        if (root && (last || now_ns >= next_row_ns)) {
            print_watch_row(run, &table, (double)now_ns, &tally);
            tally = (tally_t){0};
            next_row_ns += WATCH_INTERVAL_NS * (1 + (now_ns - next_row_ns) / WATCH_INTERVAL_NS);
        }
        calls = skew_follow_rank_0(run, last ? 0 : skew_fitting_calls(run, &block_tally, MAX_WATCH_BLOCK_NS));
    }
}
