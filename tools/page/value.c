/* SPDX-License-Identifier: BSD-3-Clause */
/* value.c - units by the names of columns, and axes with round numbers. */
#include "page/value.h"

#include "common/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Units */

static const struct {
    const char *ending; /* of a column */
    const char *name;
} units[] = {
    [UNIT_NONE] = {"", ""},
    [UNIT_TIME] = {"_ns", "ns"},
    [UNIT_BYTES] = {"_bytes", "bytes"},
    [UNIT_PPB] = {"_ppb", "ppb"},
    [UNIT_MB_PER_S] = {"mb_per_s", "MB/s"},
    [UNIT_PERCENT] = {"_percent", "%"},
};
enum { UNITS = sizeof units / sizeof units[0] };

unit_t value_unit(const char *column)
{
    for (int unit = UNIT_NONE + 1; unit < UNITS; unit++)
        if (text_ends_in(column, units[unit].ending))
            return (unit_t)unit;
    return UNIT_NONE;
}

void value_title(const char *column, char title[VALUE_BYTES])
{
    const char *ending = units[value_unit(column)].ending;
    size_t length = strlen(column) - strlen(ending);
    snprintf(title, VALUE_BYTES, "%.*s", (int)length, column);
    for (char *next = title; *next != '\0'; next++)
        if (*next == '_')
            *next = ' ';
    while (title[0] != '\0' && title[strlen(title) - 1] == ' ')
        title[strlen(title) - 1] = '\0';
    if (title[0] == '\0')
        strcpy(title, "rate");
}

const char *value_unit_name(unit_t unit)
{
    return units[unit].name;
}

double value_time_unit(double time_ns, const char **name)
{
    static const struct {
        double ns;
        const char *name;
    } steps[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}, {1, "ns"}};
    enum { STEPS = sizeof steps / sizeof steps[0] };
    int step = 0;
    while (step < STEPS - 1 && fabs(time_ns) < steps[step].ns * 0.9995)
        step++;
    *name = steps[step].name;
    return steps[step].ns;
}

/* Four digits, without an exponent as long as it is short. */
static void number_text(double value, const char *unit, char text[VALUE_BYTES])
{
    bool is_long = fabs(value) >= 999.95 && fabs(value) < 1e15;
    snprintf(text, VALUE_BYTES, is_long ? "%.0f%s%s" : "%.4g%s%s", value, unit[0] != '\0' ? " " : "", unit);
}

/* What a value is divided by to be read, and the name of the unit then. */
static double readable_unit(double value, unit_t unit, const char **name)
{
    static const char *const prefixes[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    double divisor = 1;
    int power = 0;
    if (unit == UNIT_TIME)
        return value_time_unit(value, name);
    for (; unit == UNIT_BYTES && power < 4 && value / divisor >= 1024 && fmod(value / divisor, 128) == 0; power++)
        divisor *= 1024;
    *name = unit == UNIT_BYTES ? prefixes[power] : units[unit].name;
    return divisor;
}

void value_text(double value, unit_t unit, char text[VALUE_BYTES])
{
    const char *name;
    double divisor = readable_unit(value, unit, &name);
    number_text(value / divisor, name, text);
}

void value_name(double value, unit_t unit, char text[VALUE_BYTES])
{
    const char *name;
    double divisor = readable_unit(value, unit, &name);
    number_text(value / divisor, name, text);
    if (strtod(text, NULL) * divisor != value)
        snprintf(text, VALUE_BYTES, "%.17g%s%s", value, units[unit].name[0] != '\0' ? " " : "", units[unit].name);
}

/* Far beyond whatever is measured, and far from where squares and quotients overflow. */
#define MIN_DRAWN 1e-100
#define MAX_DRAWN 1e100

double value_drawn(double value)
{
    double size = fabs(value);
    return size == 0 || (size >= MIN_DRAWN && size <= MAX_DRAWN) ? value : NAN;
}

/* ---- Axes */

static double log_of(const axis_t *axis, double value)
{
    return axis->scale == SCALE_LOG_2 ? log2(value) : log10(value);
}

/* The distance between ticks, of 1, 2 or 5 times a power of ten, so that there are at most so many. */
static double nice_step(double span, int ticks)
{
    double power = pow(10, floor(log10(span / ticks)));
    double ratio = span / ticks / power;
    return power * (ratio <= 1.0001 ? 1 : ratio <= 2.0001 ? 2 : ratio <= 5.0001 ? 5 : 10);
}

enum { LINEAR_TICKS = 6 };

static void fit_linear(axis_t *axis, double min, double max)
{
    bool from_zero = min >= 0 && min < max / 2;
    double span = max - (from_zero ? 0 : min);
    if (!(span > 0))
        span = fabs(max) > 0 ? fabs(max) / 5 : 1;
    double step = nice_step(span * 1.1, LINEAR_TICKS);
    axis->scale = SCALE_LINEAR;
    axis->zero = 0;
    axis->min = from_zero ? 0 : floor((min - span * 0.05) / step) * step;
    axis->max = ceil((max + span * 0.05) / step) * step;
}

void axis_fit(axis_t *axis, double min, double max, double min_positive)
{
    enum { MIN_RATIO = 3 }; /* with less, a logarithmic axis has hardly a tick */
    bool has_log = axis->scale != SCALE_LINEAR && min >= 0 && max >= MIN_RATIO * min_positive && min_positive > 0;
    if (!has_log && !(axis->scale == SCALE_LOG_2 && min >= 0 && min_positive > 0)) {
        fit_linear(axis, min, max);
        return;
    }
    double factor = axis->scale == SCALE_LOG_2 ? 1.3 : pow(max / min_positive, 0.04);
    axis->zero = min > 0 ? 0 : axis->scale == SCALE_LOG_2 ? min_positive / 2 : min_positive / 3;
    axis->min = (axis->zero > 0 ? axis->zero : min_positive) / factor;
    axis->max = max * factor;
}

double axis_place(const axis_t *axis, double value)
{
    if (axis->scale == SCALE_LINEAR)
        return (value - axis->min) / (axis->max - axis->min);
    double min = log_of(axis, axis->min);
    return (log_of(axis, value > 0 ? value : axis->zero) - min) / (log_of(axis, axis->max) - min);
}

static int add_tick(const axis_t *axis, tick_t ticks[MAX_TICKS], int count, double value, bool has_label)
{
    double place = axis_place(axis, value), slack = 1e-9;
    /* Nothing is between the place of 0 and the smallest value. */
    bool is_amid = axis->zero > 0 && value > 0 && value < axis->zero * 1.5;
    if (count == MAX_TICKS || place < -slack || place > 1 + slack || is_amid)
        return count;
    ticks[count] = (tick_t){value, has_label};
    return count + 1;
}

static int linear_ticks(const axis_t *axis, tick_t ticks[MAX_TICKS])
{
    double step = nice_step(axis->max - axis->min, LINEAR_TICKS + 1), first = ceil(axis->min / step - 1e-9);
    int count = 0;
    /* By a count of its own: if values are close together, 1 more may be the same number. */
    for (int i = 0; i < MAX_TICKS && (first + i) * step <= axis->max + step * 1e-9; i++)
        count = add_tick(axis, ticks, count, (first + i) * step, true);
    return count;
}

static int log_2_ticks(const axis_t *axis, tick_t ticks[MAX_TICKS])
{
    enum { TICKS = 8 };
    double first = ceil(log2(axis->min)), last = floor(log2(axis->max));
    int step = (int)ceil((last - first + 1) / TICKS), count = 0;
    if (axis->zero > 0)
        count = add_tick(axis, ticks, count, 0, true);
    else
        first = ceil(first / step) * step;
    for (double i = first + (axis->zero > 0 ? 1 : 0); count < MAX_TICKS && i <= last; i += step)
        count = add_tick(axis, ticks, count, exp2(i), true);
    return count;
}

/* With fewer, there are too few powers of ten and their multiples by 2 and 5. */
#define MIN_DECADES 0.8

static int log_ticks(const axis_t *axis, tick_t ticks[MAX_TICKS])
{
    double decades = log10(axis->max / axis->min);
    int step = decades > 12 ? (int)ceil(decades / 4) : decades > 9 ? 3 : decades > 7 ? 2 : 1, count = 0;
    if (decades < MIN_DECADES)
        return linear_ticks(axis, ticks);
    if (axis->zero > 0)
        count = add_tick(axis, ticks, count, 0, true);
    for (int power = (int)floor(log10(axis->min)); power <= log10(axis->max); power++)
        for (int digit = 1; digit < 10; digit++) {
            bool is_round = digit == 1 && power % step == 0;
            bool has_label = is_round || (decades < 2.5 && (digit == 2 || digit == 5)) || (decades < 1 && digit == 3);
            if (has_label || (decades < 4 && count < MAX_TICKS - 1))
                count = add_tick(axis, ticks, count, digit * pow(10, power), has_label);
        }
    return count;
}

int axis_ticks(const axis_t *axis, tick_t ticks[MAX_TICKS])
{
    if (axis->scale == SCALE_LINEAR)
        return linear_ticks(axis, ticks);
    int count = axis->scale == SCALE_LOG_2 ? log_2_ticks(axis, ticks) : log_ticks(axis, ticks);
    return count > 1 ? count : linear_ticks(axis, ticks);
}
