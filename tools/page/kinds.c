/* SPDX-License-Identifier: BSD-3-Clause */
/* kinds.c - the table of results: their titles, charts and measures. */
#include "page/kinds.h"

#include <stdio.h>
#include <string.h>

/* A measure without an interval. */
#define MEASURE(column, title)    \
    {                             \
        column, title, NULL, NULL \
    }

/* Horizontal axes. */
#define OVER_MESSAGES .panel = "operation", .x = "size_bytes", .x_title = "message size", .x_scale = SCALE_LOG_2
#define OVER_FITS .panel = "clock", .x = "window_ns", .x_title = "length of the fit", .x_scale = SCALE_LOG

#define CHART_OF_RATIOS(chart_title)                                                                   \
    {                                                                                                  \
        .title = chart_title, OVER_MESSAGES, .value_title = "ratio", .scale = SCALE_LOG,               \
        .measures = {{"ratio", "ratio", "ratio_low", "ratio_high"}}, .reference = 1, .note = "verdict" \
    }

static const kind_t kinds[] = {
    {.tool = "mpix_compare",
     .title = "Guidelines",
     .text = "The time of an operation in relation to that of others by which it could be done, with confidence "
             "intervals. Above 1, the guideline is violated. Hollow points are undecided.",
     .tells = {"ratio", "bound_operation", "verdict"},
     .results = {"verdict"},
     .charts = {CHART_OF_RATIOS("Time in relation to the bound")}},
    {.tool = "mpix_compare",
     .title = "Comparison",
     .text = "Run times of B in relation to A, with confidence intervals. Above 1, B is slower. Hollow points are "
             "undecided.",
     .tells = {"ratio", "verdict"},
     .results = {"verdict"},
     .charts = {CHART_OF_RATIOS("Ratio of run times B / A")}},
    {.tool = "mpix_bench",
     .title = "Run times of MPI operations",
     .text = "The median run time of each operation over message sizes. Bands are 95 % confidence intervals of the "
             "median within one launch; launches differ by more.",
     .tells = {"operation", "size_bytes", "median_ns", "run_time"},
     .first = {"variant",        "launch",       "file",        "operation",   "release",   "arrival",
               "size_bytes",     "avg_ns",       "max_mean_ns", "makespan_ns", "median_ns", "median_low_ns",
               "median_high_ns", "latency_ns",   "mb_per_s",    "pure_ns",     "total_ns",  "overlap_percent",
               "from_first_ns",  "from_last_ns", "in_call_ns",  "robustness",  "valid"},
     .charts = {{.title = "Median run time",
                 OVER_MESSAGES,
                 .value_title = "median run time",
                 .scale = SCALE_LOG,
                 .measures = {{"median_ns", "median", "median_low_ns", "median_high_ns"}}},
                {.title = "Time from the last arrival to the last exit",
                 OVER_MESSAGES,
                 .value_title = "time from the last arrival",
                 .scale = SCALE_LOG,
                 .measures = {MEASURE("from_last_ns", "from the last arrival")}},
                {.title = "Robustness to arrivals",
                 OVER_MESSAGES,
                 .value_title = "ratio to arriving together",
                 .scale = SCALE_LOG,
                 .measures = {MEASURE("robustness", "ratio")},
                 .reference = 1}}},
    {.tool = "mpix_skew",
     .title = "Exit skew",
     .text = "The time from the first to the last rank to leave a call, over all valid calls, and what a call takes.",
     .tells = {"release", "p50_ns", "call_ns"},
     .charts = {{.title = "Exit skew",
                 .value_title = "exit skew",
                 .scale = SCALE_LOG,
                 .measures = {MEASURE("p50_ns", "p50"), MEASURE("p90_ns", "p90"), MEASURE("p99_ns", "p99"),
                              MEASURE("p99.9_ns", "p99.9"), MEASURE("max_ns", "maximum")}},
                {.title = "Time of a call",
                 .value_title = "time of a call",
                 .scale = SCALE_LOG,
                 .measures = {MEASURE("call_ns", "call")}}}},
    {.tool = "mpix_skew",
     .title = "Slack over time",
     .text = "How far ahead the library sets its deadlines, and what a call takes, since the start.",
     .tells = {"time_ns", "slack_ns", "call_ns"},
     .charts = {{.title = "Slack and time of a call",
                 .x = "time_ns",
                 .x_title = "time since the start",
                 .value_title = "time",
                 .scale = SCALE_LOG,
                 .measures = {MEASURE("slack_ns", "slack"), MEASURE("call_ns", "call")}}}},
    {.tool = "mpix_clock check",
     .title = "Error of the global clock",
     .text = "The error of the global clock against that of rank 0, without its sign, beside the bound that the "
             "library states.",
     .tells = {"sync", "age_ns", "half_width_ns", "p50_ns"},
     .charts = {{.title = "Error since the synchronization",
                 .panel = "sync",
                 .x = "age_ns",
                 .x_title = "time since the synchronization",
                 .value_title = "error, without its sign",
                 .scale = SCALE_LOG,
                 .measures = {MEASURE("p50_ns", "p50"), MEASURE("p99_ns", "p99"), MEASURE("max_ns", "maximum"),
                              MEASURE("half_width_ns", "half width of exchanges"),
                              MEASURE("bound_ns", "stated bound")}},
                {.title = "Time of a synchronization",
                 .value_title = "time of a synchronization",
                 .scale = SCALE_LOG,
                 .measures = {MEASURE("took_ns", "synchronization"), MEASURE("call_ns", "call")},
                 .ignored = "age_ns"}}},
    {.tool = "mpix_clock drift",
     .title = "Drift of clocks",
     .text = "The slope of each rank's clock against that of rank 0, fitted by lines over the whole run and over its "
             "parts, and how far the clock was from the line.",
     .tells = {"clock", "window_ns", "slope_ppb"},
     .charts = {{.title = "Slope by the length of the fit",
                 OVER_FITS,
                 .value_title = "slope (ppb)",
                 .measures = {{"slope_ppb", "slope", "slope_min_ppb", "slope_max_ppb"}}},
                {.title = "Distance from the line",
                 OVER_FITS,
                 .value_title = "residual",
                 .scale = SCALE_LOG,
                 .measures = {MEASURE("residual_rms_ns", "rms"), MEASURE("residual_max_ns", "maximum")}}}},
    {.tool = "mpix_clock list",
     .title = "Base clocks",
     .text = "What a reading of each clock costs and resolves, which ranks share it, and which one the library takes.",
     .tells = {"clock", "read_ns", "usable"},
     .results = {"members"},
     .charts = {{.title = "Cost and resolution of readings",
                 .value_title = "time",
                 .scale = SCALE_LOG,
                 .measures = {MEASURE("read_ns", "reading"), MEASURE("step_ns", "step"),
                              MEASURE("stated_ns", "stated resolution")}}}},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

const kind_t *kind_of(const json_t *row)
{
    for (int i = 0; i < KINDS; i++) {
        int found = 0, names = sizeof kinds[i].tells / sizeof kinds[i].tells[0];
        while (found < names && kinds[i].tells[found] && json_object_get(row, kinds[i].tells[found]))
            found++;
        if (found == names || !kinds[i].tells[found])
            return &kinds[i];
    }
    return NULL;
}

const char *kind_tools(void)
{
    static char text[256];
    text[0] = '\0';
    for (int i = 0; i < KINDS; i++) {
        const char *separator = i == 0 ? "" : i < KINDS - 1 ? ", " : " or ";
        if (!strstr(text, kinds[i].tool))
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", separator, kinds[i].tool);
    }
    return text;
}

bool kind_is_key(const json_t *rows, const char *column, const void *kind)
{
    static const char *const numbers[] = {"launch", "ranks", "rank", "root", "size_bytes", "age_ns", "window_ns"};
    enum { NUMBERS = sizeof numbers / sizeof numbers[0] };
    const char *const *results = ((const kind_t *)kind)->results;
    for (int i = 0; i < NUMBERS; i++)
        if (strcmp(column, numbers[i]) == 0)
            return true;
    for (int i = 0; results[i]; i++)
        if (strcmp(column, results[i]) == 0)
            return false;
    for (size_t i = 0; i < json_array_size(rows); i++)
        if (json_is_string(json_object_get(json_array_get(rows, i), column)))
            return true;
    return false;
}
