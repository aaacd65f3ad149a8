/* SPDX-License-Identifier: BSD-3-Clause */
/* svg.c - draw points, intervals, bars and axes as SVG. */
#include "page/svg.h"

#include "page/html.h"

#include <math.h>
#include <string.h>

/* Of the picture, in units that become pixels. */
enum { HEIGHT = 400, TOP = 14, BOTTOM_MARGIN = 54, LEFT_MARGIN = 84, RIGHT_MARGIN = 32 };
enum { STRIP_HEIGHT = 34, LETTER_SVG_WIDTH = 7, MAX_LETTERS = 40 };
enum { COLORS = 10, MARKS = 5, DASHES = 4 };

static const char *const marks[MARKS] = {"M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0Z", "M-3.5-3.5h7v7h-7Z",
                                         "M0-4.8L4.5 3.4H-4.5Z", "M0-5L5 0L0 5L-5 0Z", "M0 4.8L4.5-3.4H-4.5Z"};

/* ---- Places */

static int letters(const char *text)
{
    int count = 0;
    for (; *text != '\0'; text++)
        count += ((unsigned char)*text & 0xc0) != 0x80;
    return count;
}

static frame_t make_frame(const picture_t *picture)
{
    frame_t frame = {LEFT_MARGIN, SVG_WIDTH - RIGHT_MARGIN, TOP, HEIGHT - BOTTOM_MARGIN, HEIGHT};
    int longest = 0;
    if (!picture->strips)
        return frame;
    for (int i = 0; i < picture->strip_count; i++)
        longest = (int)fmax(longest, letters(picture->strips[i]));
    frame.left = fmax(40, 20 + LETTER_SVG_WIDTH * fmin(longest, MAX_LETTERS));
    frame.bottom = TOP + STRIP_HEIGHT * picture->strip_count;
    frame.height = (int)frame.bottom + BOTTOM_MARGIN;
    return frame;
}

static double across(const frame_t *frame, const axis_t *axis, double value)
{
    return frame->left + axis_place(axis, value) * (frame->right - frame->left);
}

static double upward(const frame_t *frame, const axis_t *axis, double value)
{
    return frame->bottom - axis_place(axis, value) * (frame->bottom - frame->top);
}

static double x_of(const picture_t *picture, const frame_t *frame, const point_t *point, double value)
{
    return picture->strips ? across(frame, &picture->value_axis, value)
                           : across(frame, &picture->place_axis, point->place);
}

static double y_of(const picture_t *picture, const frame_t *frame, const point_t *point, double value)
{
    return picture->strips ? frame->top + STRIP_HEIGHT * (point->place + 0.5)
                           : upward(frame, &picture->value_axis, value);
}

/* ---- Ranges */

typedef struct range {
    double min, max, min_positive; /* NAN: none */
} range_t;

static void widen(range_t *range, double value)
{
    if (!isfinite(value))
        return;
    range->min = fmin(range->min, value);
    range->max = fmax(range->max, value);
    if (value > 0)
        range->min_positive = fmin(range->min_positive, value);
}

static void fit(axis_t *axis, const range_t *range)
{
    bool any = isfinite(range->min);
    axis_fit(axis, any ? range->min : 0, any ? range->max : 1, any ? fmax(range->min_positive, 0) : 0);
}

static void fit_axes(picture_t *picture)
{
    range_t places = {NAN, NAN, NAN}, values = {NAN, NAN, NAN};
    if (picture->reference != 0)
        widen(&values, picture->reference);
    for (int i = 0; i < picture->series_count; i++)
        for (int k = 0; k < picture->series[i].count; k++) {
            const point_t *point = &picture->series[i].points[k];
            widen(&places, point->place);
            widen(&values, point->value);
            widen(&values, point->low);
            widen(&values, point->high);
        }
    fit(&picture->place_axis, &places);
    fit(&picture->value_axis, &values);
}

/* ---- Axes */

static void print_axis_data(FILE *file, const axis_t *axis)
{
    static const char *const scales[] = {[SCALE_LINEAR] = "linear", [SCALE_LOG] = "log", [SCALE_LOG_2] = "log2"};
    fprintf(file, " data-min=\"%.15g\" data-max=\"%.15g\" data-scale=\"%s\" data-unit=\"%s\"", axis->min, axis->max,
            scales[axis->scale], value_unit_name(axis->unit));
}

static void tick_text(const axis_t *axis, double value, char text[VALUE_BYTES])
{
    bool has_unit = axis->unit == UNIT_TIME || axis->unit == UNIT_BYTES || axis->unit == UNIT_PERCENT;
    if (value == 0)
        strcpy(text, "0");
    else
        value_text(value, has_unit ? axis->unit : UNIT_NONE, text);
}

void svg_axis(FILE *file, const frame_t *frame, const axis_t *axis, bool is_horizontal)
{
    tick_t ticks[MAX_TICKS];
    char text[VALUE_BYTES];
    int count = axis_ticks(axis, ticks);
    fprintf(file, "<g class=\"axis %s\"", is_horizontal ? "horizontal" : "vertical");
    print_axis_data(file, axis);
    fputs(">\n", file);
    for (int i = 0; i < count; i++) {
        double x = across(frame, axis, ticks[i].value), y = upward(frame, axis, ticks[i].value);
        if (is_horizontal)
            fprintf(file, "<path class=\"%s\" d=\"M%.1f %gV%g\"/>", ticks[i].has_label ? "tick" : "tick minor", x,
                    frame->top, frame->bottom);
        else
            fprintf(file, "<path class=\"%s\" d=\"M%g %.1fH%g\"/>", ticks[i].has_label ? "tick" : "tick minor",
                    frame->left, y, frame->right);
        if (!ticks[i].has_label)
            continue;
        tick_text(axis, ticks[i].value, text);
        if (is_horizontal)
            fprintf(file, "<text x=\"%.1f\" y=\"%g\" text-anchor=\"middle\">%s</text>\n", x, frame->bottom + 18, text);
        else
            fprintf(file, "<text x=\"%g\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n", frame->left - 8, y + 4, text);
    }
    fputs("</g>\n", file);
}

/* Prints the first characters of a text that is too long. */
static void print_short(FILE *file, const char *text)
{
    char part[4 * MAX_LETTERS + 8];
    const char *end = text;
    for (int left = MAX_LETTERS; *end != '\0' && left > 0; left--)
        for (end++; ((unsigned char)*end & 0xc0) == 0x80;)
            end++;
    snprintf(part, sizeof part, "%.*s%s", (int)(end - text), text, *end != '\0' ? "…" : "");
    html_text(file, part);
}

static void print_strip_names(FILE *file, const picture_t *picture, const frame_t *frame)
{
    fputs("<g class=\"names\">\n", file);
    for (int i = 0; i < picture->strip_count; i++) {
        double y = frame->top + STRIP_HEIGHT * (i + 0.5);
        fprintf(file, "<path class=\"tick\" d=\"M%g %gH%g\"/>", frame->left, y, frame->right);
        fprintf(file, "<text x=\"%g\" y=\"%g\" text-anchor=\"end\">", frame->left - 8, y + 4);
        print_short(file, picture->strips[i]);
        fputs("</text>\n", file);
    }
    fputs("</g>\n", file);
}

static void print_axes(FILE *file, const picture_t *picture, const frame_t *frame)
{
    const char *below = picture->strips ? picture->value_title : picture->place_title;
    svg_axis(file, frame, picture->strips ? &picture->value_axis : &picture->place_axis, true);
    if (picture->strips)
        print_strip_names(file, picture, frame);
    else
        svg_axis(file, frame, &picture->value_axis, false);
    fprintf(file, "<path class=\"frame\" d=\"M%g %gV%gH%g\"/>\n", frame->left, frame->top, frame->bottom, frame->right);
    fprintf(file, "<text class=\"title\" x=\"%g\" y=\"%d\" text-anchor=\"middle\">", (frame->left + frame->right) / 2,
            frame->height - 10);
    html_text(file, below);
    fputs("</text>\n", file);
    if (picture->strips)
        return;
    fprintf(file, "<text class=\"title\" transform=\"translate(16 %g) rotate(-90)\" text-anchor=\"middle\">",
            (frame->top + frame->bottom) / 2);
    html_text(file, picture->value_title);
    fputs("</text>\n", file);
}

/* ---- Curves and points */

/* A line through all points, broken where a value is missing; along the low or high ends of the intervals, too. */
static void print_band(FILE *file, const picture_t *picture, const frame_t *frame, const series_t *series)
{
    int from = 0;
    while (from < series->count) {
        int to = from;
        while (to < series->count && isfinite(series->points[to].low) && isfinite(series->points[to].high))
            to++;
        if (to - from > 1) {
            fputs("<path class=\"band\" d=\"", file);
            for (int i = from; i < to; i++)
                fprintf(file, "%c%.2f %.2f", i == from ? 'M' : 'L',
                        x_of(picture, frame, &series->points[i], series->points[i].high),
                        y_of(picture, frame, &series->points[i], series->points[i].high));
            for (int i = to - 1; i >= from; i--)
                fprintf(file, "L%.2f %.2f", x_of(picture, frame, &series->points[i], series->points[i].low),
                        y_of(picture, frame, &series->points[i], series->points[i].low));
            fputs("Z\"/>\n", file);
        }
        from = to + 1;
    }
}

static void print_curve(FILE *file, const picture_t *picture, const frame_t *frame, const series_t *series)
{
    char command = 'M';
    fputs("<path class=\"curve\" d=\"", file);
    for (int i = 0; i < series->count; i++) {
        const point_t *point = &series->points[i];
        if (isfinite(point->value))
            fprintf(file, "%c%.2f %.2f", command, x_of(picture, frame, point, point->value),
                    y_of(picture, frame, point, point->value));
        command = isfinite(point->value) ? 'L' : 'M';
    }
    fputs("\"/>\n", file);
}

static void print_bars(FILE *file, const picture_t *picture, const frame_t *frame, const series_t *series)
{
    for (int i = 0; i < series->count; i++) {
        const point_t *point = &series->points[i];
        if (isfinite(point->low) && isfinite(point->high))
            fprintf(file, "<path class=\"bar\" d=\"M%.2f %.2fL%.2f %.2f\"/>\n", x_of(picture, frame, point, point->low),
                    y_of(picture, frame, point, point->low), x_of(picture, frame, point, point->high),
                    y_of(picture, frame, point, point->high));
    }
}

/* What is read at a point, by people. */
static void print_point_title(FILE *file, const picture_t *picture, const series_t *series, const point_t *point)
{
    char text[VALUE_BYTES];
    unit_t unit = picture->value_axis.unit;
    fputs("<title>", file);
    html_text(file, series->name);
    fputs(series->name[0] != '\0' ? "\n" : "", file);
    value_text(point->place, picture->place_axis.unit, text);
    if (!picture->strips)
        fprintf(file, "%s: ", picture->place_title);
    html_text(file, picture->strips ? picture->strips[(int)point->place] : text);
    value_text(point->value, unit, text);
    fprintf(file, "\n%s: %s", picture->value_title, text);
    if (isfinite(point->low) && isfinite(point->high)) {
        value_text(point->low, unit, text);
        fprintf(file, " (%s to ", text);
        value_text(point->high, unit, text);
        fprintf(file, "%s)", text);
    }
    fputs(point->note[0] != '\0' ? "\n" : "", file);
    html_text(file, point->note);
    fputs("</title>", file);
}

static void print_point(FILE *file, const picture_t *picture, const frame_t *frame, const series_t *series,
                        const point_t *point, int mark)
{
    fprintf(file, "<path class=\"point\" d=\"%s\" transform=\"translate(%.2f %.2f)\" data-place=\"", marks[mark],
            x_of(picture, frame, point, point->value), y_of(picture, frame, point, point->value));
    if (picture->strips)
        html_text(file, picture->strips[(int)point->place]);
    else
        fprintf(file, "%.15g", point->place);
    fprintf(file, "\" data-value=\"%.15g\"", point->value);
    if (isfinite(point->low) && isfinite(point->high))
        fprintf(file, " data-low=\"%.15g\" data-high=\"%.15g\"", point->low, point->high);
    if (point->note[0] != '\0') {
        fputs(" data-note=\"", file);
        html_text(file, point->note);
        fputc('"', file);
    }
    fputc('>', file);
    print_point_title(file, picture, series, point);
    fputs("</path>\n", file);
}

/* The numbers that a value stands for, small. */
static void print_singles(FILE *file, const picture_t *picture, const frame_t *frame, const point_t *point)
{
    json_t *single;
    size_t i;
    json_array_foreach(point->single, i, single)
    {
        double value = json_number_value(single);
        fprintf(file,
                "<path class=\"single\" d=\"M-2 0a2 2 0 1 0 4 0a2 2 0 1 0-4 0Z\" transform=\"translate(%.2f %.2f)\" "
                "data-single=\"%.15g\"/>\n",
                x_of(picture, frame, point, value), y_of(picture, frame, point, value), value);
    }
}

static void print_series(FILE *file, const picture_t *picture, const frame_t *frame, const series_t *series)
{
    fprintf(file, "<g class=\"series c%d d%d\" data-series=\"", series->look % COLORS, series->look / COLORS % DASHES);
    html_text(file, series->name);
    fputs("\">\n<g class=\"shapes\">\n", file);
    if (!picture->strips && !picture->has_bars)
        print_band(file, picture, frame, series);
    if (!picture->strips)
        print_curve(file, picture, frame, series);
    if (picture->strips || picture->has_bars)
        print_bars(file, picture, frame, series);
    fputs("</g>\n", file);
    for (int i = 0; i < series->count; i++)
        print_singles(file, picture, frame, &series->points[i]);
    for (int i = 0; i < series->count; i++)
        if (isfinite(series->points[i].value))
            print_point(file, picture, frame, series, &series->points[i], series->look % MARKS);
    fputs("</g>\n", file);
}

/* A line from the smallest mark to the largest of each strip. */
static void print_spans(FILE *file, const picture_t *picture, const frame_t *frame)
{
    fputs("<g class=\"shapes\">", file);
    for (int strip = 0; strip < picture->strip_count && picture->series_count > 1; strip++) {
        range_t range = {NAN, NAN, NAN};
        for (int i = 0; i < picture->series_count; i++)
            for (int k = 0; k < picture->series[i].count; k++)
                if (picture->series[i].points[k].place == strip)
                    widen(&range, picture->series[i].points[k].value);
        if (range.min < range.max)
            fprintf(file, "<path class=\"span\" d=\"M%.2f %gH%.2f\"/>", across(frame, &picture->value_axis, range.min),
                    frame->top + STRIP_HEIGHT * (strip + 0.5), across(frame, &picture->value_axis, range.max));
    }
    fputs("</g>\n", file);
}

static void print_reference(FILE *file, const picture_t *picture, const frame_t *frame)
{
    if (picture->reference == 0)
        return;
    if (picture->strips)
        fprintf(file, "<g class=\"shapes\"><path class=\"reference\" d=\"M%.2f %gV%g\"/></g>\n",
                across(frame, &picture->value_axis, picture->reference), frame->top, frame->bottom);
    else
        fprintf(file, "<g class=\"shapes\"><path class=\"reference\" d=\"M%g %.2fH%g\"/></g>\n", frame->left,
                upward(frame, &picture->value_axis, picture->reference), frame->right);
}

static void print_legend(FILE *file, const picture_t *picture)
{
    if (picture->series_count < 2 && picture->series[0].name[0] == '\0')
        return;
    fputs("<ul class=\"legend\">\n", file);
    for (int i = 0; i < picture->series_count; i++) {
        int look = picture->series[i].look;
        fprintf(file,
                "<li class=\"c%d d%d\"><svg class=\"key\" viewBox=\"0 0 28 12\" aria-hidden=\"true\">"
                "%s<path class=\"point\" d=\"%s\" transform=\"translate(14 6)\"/></svg> <span>",
                look % COLORS, look / COLORS % DASHES, !picture->strips ? "<path class=\"curve\" d=\"M1 6H27\"/>" : "",
                marks[look % MARKS]);
        html_text(file, picture->series[i].name);
        fputs("</span></li>\n", file);
    }
    fputs("</ul>\n", file);
}

void svg_open(FILE *file, const char *title, int number, const frame_t *frame)
{
    fprintf(file, "<figure class=\"chart\">\n<figcaption id=\"chart-%d\">", number);
    html_text(file, title);
    fprintf(file,
            "</figcaption>\n<svg class=\"chart\" viewBox=\"0 0 %d %d\" role=\"img\" aria-labelledby=\"chart-%d\" "
            "data-left=\"%g\" data-right=\"%g\" data-top=\"%g\" data-bottom=\"%g\">\n",
            SVG_WIDTH, frame->height, number, frame->left, frame->right, frame->top, frame->bottom);
    fprintf(file, "<clipPath id=\"clip-%d\"><rect x=\"%g\" y=\"%g\" width=\"%g\" height=\"%g\"/></clipPath>\n", number,
            frame->left - 6, frame->top - 6, frame->right - frame->left + 12, frame->bottom - frame->top + 12);
}

void svg_figure(FILE *file, picture_t *picture, int number)
{
    frame_t frame = make_frame(picture);
    fit_axes(picture);
    svg_open(file, picture->title, number, &frame);
    print_axes(file, picture, &frame);
    fprintf(file, "<g clip-path=\"url(#clip-%d)\">\n", number);
    if (picture->strips)
        print_spans(file, picture, &frame);
    print_reference(file, picture, &frame);
    for (int i = 0; i < picture->series_count; i++)
        print_series(file, picture, &frame, &picture->series[i]);
    fputs("</g>\n</svg>\n", file);
    print_legend(file, picture);
    fputs("</figure>\n", file);
}
