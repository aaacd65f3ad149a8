/* SPDX-License-Identifier: BSD-3-Clause */
/* skew_report.c - from the calls of all repetitions to the table and the raw file. */
#include "bench/suite/skew.h"

#include "pure/statistics.h"

#include <string.h>

static const column_t columns[] = {
    {"release", "", ROLE_KEY, TYPE_TEXT, "one of those of --release, or other", "release", 26, 0, 0},
    {"p50_ns", "ns", ROLE_FIGURE, TYPE_NUMBER,
     "the median exit skew of the valid calls: the minimum measured value that at least half of the calls do not "
     "exceed (nearest rank)",
     "p50(ns)", 12, 1, 0},
    {"p90_ns", "ns", ROLE_FIGURE, TYPE_NUMBER, "the same for 90 % of the valid calls", "p90(ns)", 12, 1, 0},
    {"p99_ns", "ns", ROLE_FIGURE, TYPE_NUMBER, "the same for 99 % of the valid calls", "p99(ns)", 12, 1, 0},
    {"p99.9_ns", "ns", ROLE_FIGURE, TYPE_NUMBER, "the same for 99.9 % of the valid calls", "p99.9(ns)", 12, 1, 0},
    {"max_ns", "ns", ROLE_FIGURE, TYPE_NUMBER, "the maximum exit skew of the valid calls", "max(ns)", 14, 1, 0},
    {"call_ns", "ns", ROLE_FIGURE, TYPE_NUMBER,
     "the time for each call, reading the clock after it included: the duration of the loop of timed calls on the "
     "slowest rank of each block, divided by the number of calls, invalid ones included",
     "call(ns)", 14, 1, 0},
    {"calls", "", ROLE_FIGURE, TYPE_INTEGER, "all timed calls", "calls", 10, 0, 0},
    {"valid", "", ROLE_FIGURE, TYPE_INTEGER, "the valid ones", "valid", 10, 0, 0},
    {"valid_per_s", "1/s", ROLE_FIGURE, TYPE_NUMBER, "valid calls per second in the loop", "valid/s", 12, 0, 0},
};
const schema_t skew_schema = SCHEMA("mpix-skew", "A row for each way in which calls were released.", columns);

static const column_t raw_columns[] = {
    {"release", "", ROLE_KEY, TYPE_TEXT, "one of those of --release, or other", NULL, 0, 0, 0},
    {"call", "", ROLE_KEY, TYPE_INTEGER, "the number of the call within its scheme, from 0", NULL, 0, 0, 0},
    {"skew_ns", "ns", ROLE_FIGURE, TYPE_NUMBER, "its exit skew", NULL, 0, 1, 0},
    {"valid", "", ROLE_FIGURE, TYPE_INTEGER, "1 if it was valid, else 0", NULL, 0, 0, 0},
};
const schema_t skew_raw_schema =
    SCHEMA("mpix-skew-raw", "Written by `mpix_skew --raw`: a row for each call.", raw_columns);

/* ---- One repetition */

static void take_in_skews(const tally_t *tally, double tick_ns, result_t *result)
{
    static const double fractions[] = {
        [P50_NS] = 0.5, [P90_NS] = 0.9, [P99_NS] = 0.99, [P999_NS] = 0.999, [MAX_NS] = 1};
    const int64_t *valid_ticks = tally->skew_ticks + tally->calls - tally->valid; /* behind the negative ones */
    mh_sort(tally->skew_ticks, tally->calls);
    for (int i = P50_NS; i <= MAX_NS; i++)
        result->figures[i][result->valid_repeats] = (double)quantile(valid_ticks, tally->valid, fractions[i]) * tick_ns;
    result->valid_repeats++;
}

static void write_raw(const skew_run_t *run, const skew_scheme_t *scheme, double tick_ns)
{
    const tally_t *tally = &scheme->tally;
    const table_t table = TABLE(skew_raw_schema, &run->settings.results.raw);
    for (int64_t i = 0; i < tally->calls; i++) {
        int64_t ticks = tally->skew_ticks[i];
        table_row(&table, (cell_t[]){{scheme->name, 0},
                                     {NULL, (double)(scheme->result.calls + i)},
                                     {NULL, (double)(ticks >= 0 ? ticks : -1 - ticks) * tick_ns},
                                     {NULL, ticks >= 0}});
    }
    output_flush(table.output->file);
}

void skew_take_in(skew_run_t *run, double tick_ns)
{
    for (int i = 0; i < MAX_SCHEMES; i++) {
        const tally_t *tally = &run->schemes[i].tally;
        result_t *result = &run->schemes[i].result;
        if (!skew_is_chosen(run, i))
            continue;
        if (run->settings.results.raw.file)
            write_raw(run, &run->schemes[i], tick_ns);
        if (tally->valid > 0)
            take_in_skews(tally, tick_ns, result);
        result->figures[CALL_NS][result->repeats] = (double)tally->loop_ns / (double)tally->calls;
        result->figures[VALID_PER_S][result->repeats++] = (double)tally->valid / (double)tally->loop_ns * 1e9;
        result->calls += tally->calls;
        result->valid += tally->valid;
    }
}

/* ---- The table */

/* A figure's median over the repetitions, not rounded. */
static double typical(const result_t *result, figure_t figure)
{
    double values[MAX_REPEATS];
    int count = figure < CALL_NS ? result->valid_repeats : result->repeats;
    if (count == 0)
        return 0;
    memcpy(values, result->figures[figure], (size_t)count * sizeof values[0]);
    sort_reals(values, count);
    return middle_of(values, count);
}

static int print_scheme(const skew_run_t *run, const table_t *table, int index)
{
    const result_t *result = &run->schemes[index].result;
    const char *none = result->valid > 0 ? NULL : "";
    cell_t cells[sizeof columns / sizeof columns[0]] = {{run->schemes[index].name, 0}};
    for (int i = P50_NS; i <= CALL_NS; i++)
        cells[1 + i] = (cell_t){i < CALL_NS ? none : NULL, typical(result, (figure_t)i)};
    cells[2 + CALL_NS] = (cell_t){NULL, (double)result->calls};
    cells[3 + CALL_NS] = (cell_t){NULL, (double)result->valid};
    cells[4 + CALL_NS] = (cell_t){NULL, typical(result, VALID_PER_S)};
    table_row(table, cells);
    if (result->valid == 0)
        fprintf(stderr, "%s: error: no valid call of %s in %lld%s\n", run->world.program, run->schemes[index].call,
                (long long)result->calls, world_crowding(&run->world));
    return result->valid > 0 ? STATUS_GOOD : STATUS_FAILED;
}

/* A skew of zero is one below the step of the clock, so the ratio is a lower bound there. */
static void print_ratio(FILE *file, const char *name, double dividend, double divisor, double step_ns)
{
    if (divisor > 0)
        fprintf(file, " %s %.2f", name, dividend / divisor);
    else if (dividend > 0 && step_ns > 0)
        fprintf(file, " %s >%.2f", name, dividend / step_ns);
    else
        fprintf(file, " %s -", name);
}

static void print_ratios(const skew_run_t *run, int index, double step_ns)
{
    FILE *file = run->settings.results.output.file;
    const result_t *barrier = &run->schemes[SCHEME_BARRIER].result, *other = &run->schemes[index].result;
    fprintf(file, "# Ratio barrier / %s:", run->schemes[index].name);
    print_ratio(file, "p50", typical(barrier, P50_NS), typical(other, P50_NS), step_ns);
    print_ratio(file, "p99", typical(barrier, P99_NS), typical(other, P99_NS), step_ns);
    print_ratio(file, "call", typical(barrier, CALL_NS), typical(other, CALL_NS), 0);
    fputc('\n', file);
}

static void print_head(const skew_run_t *run, const char *clock_text)
{
    FILE *file = run->settings.results.output.file;
    if (run->settings.results.output.format != FORMAT_TABLE) {
        if (run->clock.kind == EXIT_CLOCK_GLOBAL)
            fprintf(stderr, "%s: exits measured by: %s\n", run->world.program, clock_text);
        return;
    }
    world_describe(&run->world, file, "exit skew, from the first to the last rank to leave a call");
    fprintf(file, "# Exits measured by: %s\n", clock_text);
    fprintf(file, "# Cadence: streaming, calls follow each other at once; schemes take turns after at most %lld\n",
            (long long)run->settings.block);
    if (run->settings.repeats > 1)
        fprintf(file, "# Figures: medians of %lld repetitions\n", (long long)run->settings.repeats);
}

int skew_print(const skew_run_t *run, double tick_ns, const char *clock_text)
{
    const table_t table = TABLE(skew_schema, &run->settings.results.output);
    static head_t head;
    int status = STATUS_GOOD;
    print_head(run, clock_text);
    head_add(&head, "package", "libmpix_harmonize %s", options_version());
    head_add(&head, "resolution_ns", "%.1f", (double)run->clock.step_ticks * tick_ns);
    head_add(&head, "clock", "%s", clock_text);
    table_head(&table, head.items, head.count);
    for (int i = 0; i < MAX_SCHEMES; i++)
        if (skew_is_chosen(run, i) && print_scheme(run, &table, i) != STATUS_GOOD)
            status = STATUS_FAILED;
    if (run->settings.results.output.format != FORMAT_TABLE || !skew_is_chosen(run, SCHEME_BARRIER))
        return status;
    for (int i = SCHEME_HARMONIZE; i < MAX_SCHEMES; i++)
        if (skew_is_chosen(run, i) && run->schemes[i].result.valid > 0)
            print_ratios(run, i, (double)run->clock.step_ticks * tick_ns);
    return status;
}
