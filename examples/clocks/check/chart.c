/* SPDX-License-Identifier: BSD-3-Clause */
/* chart.c - the chart: bounds, half widths and errors over the age, a panel for each label. */
#include "check/check.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

typedef enum chart_line { LINE_BOUND, LINE_HALF_WIDTH, LINE_ERROR, LINE_TRUE, LINES } chart_line_t;

/* Of one label. Bounds and errors are orders of magnitude apart, so it is logarithmic. */
typedef struct chart_panel {
    plot_series_t series[LINES];
    double *numbers; /* all that series point to */
} chart_panel_t;

/* On a logarithmic axis there is no zero. */
static double at_least_1(double value)
{
    return value > 1 ? value : 1;
}

/* The greatest bound and half width at each age. */
static void fill_lines(const check_run_t *run, int label, double *x, double *bound_ns, double *half_width_ns)
{
    for (int age = 0; age < run->plan.ages; age++) {
        extremes_t most = {0};

        for (int repeat = 0; repeat < run->settings.repeat; repeat++) {
            for (int i = 0; i < run->checked; i++)
                check_take_in(&most, &check_checks_of(run, label, repeat, age)[i].error, 0);
        }
        x[age] = age;
        bound_ns[age] = most.bound_ns == INT64_MAX ? NAN : (double)most.bound_ns;
        half_width_ns[age] = (double)most.half_width_ns;
    }
}

/* Points of an age share a category: they stand side by side there. */
static double place(int age, int64_t index, int64_t count)
{
    return age + (count > 1 ? 0.5 * ((double)index / (double)(count - 1) - 0.5) : 0);
}

static void fill_points(const check_run_t *run, int label, double tick_ns, double *x, double *error_ns, double *true_ns)
{
    int64_t per_age = run->settings.repeat * run->checked;
    int64_t at = 0;

    for (int age = 0; age < run->plan.ages; age++) {
        for (int64_t i = 0; i < per_age; i++, at++) {
            const check_t *check = &check_checks_of(run, label, (int)(i / run->checked), age)[i % run->checked];

            x[at] = place(age, i, per_age);
            error_ns[at] = at_least_1((double)llabs(check->error.error_ns));
            true_ns[at] = at_least_1(fabs(clock_error_true_ns(&check->error, tick_ns)));
        }
    }
}

static bool fill_panel(const check_run_t *run, int label, double tick_ns, chart_panel_t *panel)
{
    ptrdiff_t ages = run->plan.ages;
    ptrdiff_t points = ages * run->settings.repeat * run->checked;
    double *lines = malloc(3 * (size_t)(ages + points) * sizeof(lines[0]));
    double *marks;

    panel->numbers = lines;
    if (lines == NULL)
        return false;
    marks = lines + 3 * ages;
    fill_lines(run, label, lines, lines + ages, lines + 2 * ages);
    fill_points(run, label, tick_ns, marks, marks + points, marks + 2 * points);
    panel->series[LINE_BOUND] = (plot_series_t){
        .title = "stated bound", .style = PLOT_LINES_POINTS, .count = (int)ages, .x = lines, .y = lines + ages};
    panel->series[LINE_HALF_WIDTH] = (plot_series_t){
        .title = "half width of exchanges", .style = PLOT_LINES, .count = (int)ages, .x = lines, .y = lines + 2 * ages};
    panel->series[LINE_ERROR] = (plot_series_t){
        .title = "error by exchanges", .style = PLOT_POINTS, .count = (int)points, .x = marks, .y = marks + points};
    panel->series[LINE_TRUE] = (plot_series_t){
        .title = "error by the TSC", .style = PLOT_POINTS, .count = (int)points, .x = marks, .y = marks + 2 * points};
    return true;
}

int check_draw(check_run_t *run)
{
    double tick_ns = run->has_truth ? exit_clock_tick_ns(&run->shared) : 0;
    chart_panel_t charts[LABELS_MOST] = {0};
    plot_panel_t panels[LABELS_MOST] = {0};
    char age_text[AGES_MOST][24];
    const char *age_names[AGES_MOST];
    int status = STATUS_GOOD;

    for (int age = 0; age < run->plan.ages; age++) {
        snprintf(age_text[age], sizeof(age_text[age]), "%g", run->plan.age_s[age]);
        age_names[age] = age_text[age];
    }
    for (int i = 0; i < run->plan.labels; i++) {
        if (!fill_panel(run, i, tick_ns, &charts[i]))
            status = STATUS_FAILED;
        panels[i] = (plot_panel_t){
            .title = run->plan.label[i],
            .x = {.label = "time since the synchronization (s)", .category = age_names, .categories = run->plan.ages},
            .y = {.label = "without sign, at least 1 (ns)", .logarithmic = true},
            .series = charts[i].series,
            .series_count = run->has_truth ? LINES : LINE_TRUE};
    }
    const plot_t plot = {"Error of the global clock against rank 0", panels, run->plan.labels, 0};
    if (status == STATUS_GOOD)
        status = plot_draw(&run->plot, &run->world, &plot);
    else
        fprintf(stderr, "%s: out of memory for the chart\n", run->world.program);
    for (int i = 0; i < run->plan.labels; i++)
        free(charts[i].numbers);
    return status;
}
