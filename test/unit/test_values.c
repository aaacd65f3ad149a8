/* SPDX-License-Identifier: BSD-3-Clause */
/* test_values.c - how mpix_report names values and divides axes, where values are extreme too. */
#include "page/value.h"
#include "support.h"

/* ---- Names */

/* One name for two sizes would make one curve of two. */
START_TEST(different_values_have_different_names)
{
    static const double sizes[] = {1023,    1024,    1152,    10368,   10369, 1024128,
                                   1024256, 1048575, 1048576, 1048704, 1e9,   3e12};
    static const double times[] = {1, 1.5, 999.96, 1234567, 1234568, 1234567.5, 2e9, 2000000001, 1e-320, 1e308};
    char name[VALUE_BYTES], other[VALUE_BYTES];

    for (int i = 0; i < COUNT_OF(sizes); i++)
        for (int j = 0; j < i; j++) {
            value_name(sizes[i], UNIT_BYTES, name);
            value_name(sizes[j], UNIT_BYTES, other);
            EXPECT(strcmp(name, other) != 0, "%g and %g bytes are both %s", sizes[i], sizes[j], name);
        }
    for (int i = 0; i < COUNT_OF(times); i++)
        for (int j = 0; j < i; j++) {
            value_name(times[i], UNIT_TIME, name);
            value_name(times[j], UNIT_TIME, other);
            EXPECT(strcmp(name, other) != 0, "%.17g and %.17g ns are both %s", times[i], times[j], name);
        }
}
END_TEST

START_TEST(round_values_have_short_names)
{
    char name[VALUE_BYTES];

    value_name(4096, UNIT_BYTES, name);
    ck_assert_str_eq(name, "4 KiB");
    value_name(1024128, UNIT_BYTES, name);
    ck_assert_str_eq(name, "1024128 bytes");
    value_name(2500, UNIT_TIME, name);
    ck_assert_str_eq(name, "2.5 µs");
    value_name(8, UNIT_NONE, name);
    ck_assert_str_eq(name, "8");
}
END_TEST

/* ---- Axes */

static const double ends[] = {
    -1e100, -1e16, -3, -1e-100, 0, 1e-100, 1e-9, 1, 1.0000000000000002, 3, 12345678.125, 1e16, 10000000000000002.0,
    1e100};

START_TEST(axes_have_ticks_whatever_the_values)
{
    for (int low = 0; low < COUNT_OF(ends); low++)
        for (int high = low; high < COUNT_OF(ends); high++) {
            axis_t axis = {.scale = (scale_t)_i};
            tick_t ticks[MAX_TICKS];
            axis_fit(&axis, ends[low], ends[high], ends[low] > 0 ? ends[low] : ends[high] > 0 ? ends[high] : 0);
            int count = axis_ticks(&axis, ticks);
            EXPECT(isfinite(axis.min) && isfinite(axis.max) && axis.min < axis.max, "%g to %g", axis.min, axis.max);
            EXPECT(count <= MAX_TICKS, "%g to %g: %d ticks", ends[low], ends[high], count);
            EXPECT(count > 0, "%g to %g: no tick from %.17g to %.17g", ends[low], ends[high], axis.min, axis.max);
            for (int i = 0; i < count; i++) {
                double place = axis_place(&axis, ticks[i].value);
                EXPECT(place > -1e-6 && place < 1 + 1e-6, "%g to %g: %g is at %g", ends[low], ends[high],
                       ticks[i].value, place);
            }
            for (int end = 0; end < 2; end++) {
                double place = axis_place(&axis, end == 0 ? ends[low] : ends[high]);
                EXPECT(place >= 0 && place <= 1, "%g to %g: an end is at %g", ends[low], ends[high], place);
            }
        }
}
END_TEST

START_TEST(what_no_chart_can_have_is_not_drawn)
{
    static const double wild[] = {1e308, -1e308, 1e-320, -1e-320, INFINITY, -INFINITY, NAN};
    static const double tame[] = {0, 1, -1, 1e-9, 1e18, -1e30};

    for (int i = 0; i < COUNT_OF(wild); i++)
        EXPECT(isnan(value_drawn(wild[i])), "%g is drawn", wild[i]);
    for (int i = 0; i < COUNT_OF(tame); i++)
        EXPECT(value_drawn(tame[i]) == tame[i], "%g is not drawn", tame[i]);
}
END_TEST

static void add(TCase *tests)
{
    tcase_add_test(tests, different_values_have_different_names);
    tcase_add_test(tests, round_values_have_short_names);
    tcase_add_loop_test(tests, axes_have_ticks_whatever_the_values, SCALE_LINEAR, SCALE_LOG_2 + 1);
    tcase_add_test(tests, what_no_chart_can_have_is_not_drawn);
}

SUITE(values, add)
