/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * value.h - what a column's name says of its values, values as people read them, and axes to draw them on.
 */
#ifndef VALUE_H
#define VALUE_H

#include <stdbool.h>

/* The unit that a column's name ends in. */
typedef enum unit { UNIT_NONE, UNIT_TIME, UNIT_BYTES, UNIT_PPB, UNIT_MB_PER_S, UNIT_PERCENT } unit_t;

enum { VALUE_BYTES = 64 };

/* value_unit - of a column. */
unit_t value_unit(const char *column);

/* value_title - the name without its unit: "p99.9" for p99.9_ns. */
void value_title(const char *column, char title[VALUE_BYTES]);

/* value_unit_name - as it stands behind a number, "" for none. For times "ns", for sizes "bytes". */
const char *value_unit_name(unit_t unit);

/* value_time_unit - the largest unit of which a time has at least one. Returns its nanoseconds. */
double value_time_unit(double time_ns, const char **name);

/* value_text - a value with its unit: "3.21 µs", "4 KiB". */
void value_text(double value, unit_t unit, char text[VALUE_BYTES]);

/* value_name - the same with all digits that it takes: different values have different names. */
void value_name(double value, unit_t unit, char text[VALUE_BYTES]);

/* value_drawn - the value, or NAN if it is not finite, or so great or small that no chart can have it. */
double value_drawn(double value);

typedef enum scale { SCALE_LINEAR, SCALE_LOG, SCALE_LOG_2 } scale_t;

typedef struct axis {
    scale_t scale; /* in: asked for; axis_fit changes it where the values are too close together, or not above 0 */
    unit_t unit;
    double min, max; /* of what is drawn */
    double zero;     /* on a logarithmic axis, where it stands for 0, which has no place; 0: nowhere */
} axis_t;

/* axis_fit - set the range by the smallest and largest values drawn, and the smallest above 0 (0 if there is none). */
void axis_fit(axis_t *axis, double min, double max, double min_positive);

/* axis_place - from 0 at the beginning of an axis to 1 at its end. */
double axis_place(const axis_t *axis, double value);

enum { MAX_TICKS = 64 };
typedef struct tick {
    double value;
    bool has_label;
} tick_t;

/* axis_ticks - where lines and labels are. Returns how many. */
int axis_ticks(const axis_t *axis, tick_t ticks[MAX_TICKS]);

#endif
