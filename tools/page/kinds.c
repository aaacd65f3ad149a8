/* SPDX-License-Identifier: BSD-3-Clause */
/* kinds.c - the table of results: their titles, charts and measures. */
#include "page/report.h"

#include <string.h>

/* A measure without an interval. */
#define MEASURE(column, title)    \
    {                             \
        column, title, NULL, NULL \
    }

/* Horizontal axes. */
#define OVER_MESSAGES .panel = "operation", .x = "size_bytes", .x_title = "message size", .x_scale = "log2"
#define OVER_FITS .panel = "clock", .x = "window_ns", .x_title = "length of the fit", .x_scale = "log"

static const kind_t kinds[] = {
    {.schema = "mpix-compare",
     .title = "Comparison",
     .text =
         "Times in relation to what they are compared with, and confidence intervals: above 1, the variant that the "
         "verdict names is slower, or a guideline is violated. Hollow points are undecided.",
     .charts = {{.title = "Ratio of times",
                 OVER_MESSAGES,
                 .value_title = "ratio",
                 .scale = "log",
                 .measures = {{"ratio", "ratio", "ratio_low", "ratio_high"}},
                 .reference = 1,
                 .note = "verdict"}}},
    {.schema = "mpix-bench",
     .title = "Run times of MPI operations",
     .text = "The median run time of each operation over message sizes. Bands are 95 % confidence intervals of the "
             "median within one launch; launches differ by more.",
     .first = {"variant",       "launch",       "file",          "operation",      "release",  "arrival",
               "size_bytes",    "median_ns",    "median_low_ns", "median_high_ns", "avg_ns",   "max_mean_ns",
               "makespan_ns",   "latency_ns",   "mb_per_s",      "pure_ns",        "total_ns", "overlap_percent",
               "from_first_ns", "from_last_ns", "in_call_ns",    "robustness",     "valid"},
     .charts = {{.title = "Median run time",
                 OVER_MESSAGES,
                 .value_title = "median run time",
                 .scale = "log",
                 .measures = {{"median_ns", "median", "median_low_ns", "median_high_ns"}}},
                {.title = "Time from the last arrival to the last exit",
                 OVER_MESSAGES,
                 .value_title = "time from the last arrival",
                 .scale = "log",
                 .measures = {MEASURE("from_last_ns", "from the last arrival")}},
                {.title = "Robustness to arrivals",
                 OVER_MESSAGES,
                 .value_title = "ratio to arriving together",
                 .scale = "log",
                 .measures = {MEASURE("robustness", "ratio")},
                 .reference = 1}}},
    {.schema = "mpix-tune",
     .title = "Rules of tuning files",
     .text = "Ranges of sizes for which another algorithm than the MPI library's own choice was chosen: its time in "
             "relation to the library's choice when it was chosen, with a confidence interval, and in fresh launches "
             "with the file.",
     .charts = {{.title = "Ratio to the library's own choice",
                 .value_title = "ratio",
                 .scale = "log",
                 .measures = {{"ratio", "when it was chosen", "ratio_low", "ratio_high"},
                              MEASURE("confirmed_ratio", "with the file")},
                 .reference = 1,
                 .note = "verdict"}}},
    {.schema = "mpix-skew",
     .title = "Exit skew",
     .text = "The time from the first to the last rank to leave a call, over all valid calls, and what a call takes.",
     .charts = {{.title = "Exit skew",
                 .value_title = "exit skew",
                 .scale = "log",
                 .measures = {MEASURE("p50_ns", "p50"), MEASURE("p90_ns", "p90"), MEASURE("p99_ns", "p99"),
                              MEASURE("p99.9_ns", "p99.9"), MEASURE("max_ns", "maximum")}},
                {.title = "Time of a call",
                 .value_title = "time of a call",
                 .scale = "log",
                 .measures = {MEASURE("call_ns", "call")}}}},
    {.schema = "mpix-skew-watch",
     .title = "Slack over time",
     .text = "How far ahead the library sets its deadlines, and what a call takes, since the start.",
     .charts = {{.title = "Slack and time of a call",
                 .x = "time_ns",
                 .x_title = "time since the start",
                 .value_title = "time",
                 .scale = "log",
                 .measures = {MEASURE("slack_ns", "slack"), MEASURE("call_ns", "call")}}}},
    {.schema = "mpix-clock-check",
     .title = "Error of the global clock",
     .text = "The error of the global clock against that of rank 0, without its sign, beside the bound that the "
             "library states.",
     .charts = {{.title = "Error since the synchronization",
                 .panel = "sync",
                 .x = "age_ns",
                 .x_title = "time since the synchronization",
                 .value_title = "error, without its sign",
                 .scale = "log",
                 .measures = {MEASURE("p50_ns", "p50"), MEASURE("p99_ns", "p99"), MEASURE("max_ns", "maximum"),
                              MEASURE("half_width_ns", "half width of exchanges"),
                              MEASURE("bound_ns", "stated bound")}},
                {.title = "Time of a synchronization",
                 .value_title = "time of a synchronization",
                 .scale = "log",
                 .measures = {MEASURE("took_ns", "synchronization"), MEASURE("call_ns", "call")},
                 .ignored = "age_ns"}}},
    {.schema = "mpix-clock-drift",
     .title = "Drift of clocks",
     .text = "The slope of each rank's clock against that of rank 0, fitted by lines over the whole run and over its "
             "parts, and how far the clock was from the line.",
     .charts = {{.title = "Slope by the length of the fit",
                 OVER_FITS,
                 .value_title = "slope (ppb)",
                 .measures = {{"slope_ppb", "slope", "slope_min_ppb", "slope_max_ppb"}}},
                {.title = "Distance from the line",
                 OVER_FITS,
                 .value_title = "residual",
                 .scale = "log",
                 .measures = {MEASURE("residual_rms_ns", "rms"), MEASURE("residual_max_ns", "maximum")}}}},
    {.schema = "mpix-clock-list",
     .title = "Base clocks",
     .text = "What a reading of each clock costs and resolves, which ranks share it, and which one the library takes.",
     .charts = {{.title = "Cost and resolution of readings",
                 .value_title = "time",
                 .scale = "log",
                 .measures = {MEASURE("read_ns", "reading"), MEASURE("step_ns", "step"),
                              MEASURE("stated_ns", "stated resolution")}}}},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

const kind_t *kind_of(const char *schema)
{
    for (int i = 0; i < KINDS; i++)
        if (strcmp(kinds[i].schema, schema) == 0)
            return &kinds[i];
    return NULL;
}
