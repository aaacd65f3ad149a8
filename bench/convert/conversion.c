/* SPDX-License-Identifier: BSD-3-Clause */
/* conversion.c - one time of an input on the global clock, and decimal numbers that are never rounded. */
#include "bench/convert/conversion.h"

#include "pure/text.h"
#include "pure/units.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

/* Nobody records for so long: the clock is another one. */
#define FAR_NS (INT64_C(86400) * 30 * MH_NS_PER_S)

bool convert_fail(conversion_t *conversion, const char *format, ...)
{
    va_list arguments;
    const int length = snprintf(conversion->why, sizeof conversion->why, "%.150s: ", conversion->path);
    va_start(arguments, format);
    vsnprintf(conversion->why + length, sizeof conversion->why - (size_t)length, format, arguments);
    va_end(arguments);
    return false;
}

/* ---- Decimal numbers */

bool decimal_parse(const char *text, int64_t unit_ns, const char **end, int64_t *ns)
{
    const bool is_negative = *text == '-';
    const char *at = text + (*text == '-' || *text == '+');
    int decimals = 0, digits = 0, places = 0, exponent = 0;
    int64_t number = 0;
    for (; mh_is_digit(*at) || (*at == '.' && places == 0); at++) {
        if (*at == '.') {
            places = 1;
            continue;
        }
        digits++;
        /* Digits behind the point that an int64_t cannot hold are below a nanosecond in all units. */
        if (places == 1 && number > (INT64_MAX - 9) / 10)
            continue;
        if (number > (INT64_MAX - 9) / 10)
            return false;
        number = 10 * number + (*at - '0');
        decimals += places;
    }
    if (digits == 0)
        return false;
    if ((*at == 'e' || *at == 'E') && (mh_is_digit(at[1]) || ((at[1] == '+' || at[1] == '-') && mh_is_digit(at[2])))) {
        const bool is_small = at[1] == '-';
        for (at += 1 + (at[1] == '+' || at[1] == '-'); mh_is_digit(*at); at++)
            exponent = exponent < 1000 ? 10 * exponent + (*at - '0') : exponent;
        exponent = is_small ? -exponent : exponent;
    }
    for (; unit_ns > 1; unit_ns /= 10)
        exponent++;
    for (exponent -= decimals; exponent > 0 && number != 0; exponent--)
        if (__builtin_mul_overflow(number, 10, &number))
            return false;
    for (; exponent < 0 && number != 0; exponent++)
        number /= 10;
    *ns = is_negative ? -number : number;
    if (end)
        *end = at;
    return true;
}

/* snprintf would take half the time of a conversion. */
void decimal_print(int64_t ns, int64_t unit_ns, char text[TIME_TEXT_BYTES])
{
    uint64_t rest = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;
    char reversed[TIME_TEXT_BYTES];
    int length = 0;
    for (int64_t left = unit_ns; left > 1; left /= 10, rest /= 10)
        reversed[length++] = (char)('0' + rest % 10);
    if (length > 0)
        reversed[length++] = '.';
    do
        reversed[length++] = (char)('0' + rest % 10);
    while ((rest /= 10) > 0);
    if (ns < 0)
        reversed[length++] = '-';
    while (length > 0)
        *text++ = reversed[--length];
    *text = '\0';
}

/* ---- Times */

const char *how_text(int how)
{
    static const char *const texts[] = {"", "extrapolated", "ambiguous", "extrapolated+ambiguous"};
    return texts[how & 3];
}

/* Within the records, or as near as they are long, or an hour. */
static bool is_near(double reading, int64_t first, int64_t last)
{
    const double margin_ns = (double)(last - first) > 3600e9 ? (double)(last - first) : 3600e9;
    return reading > (double)first - margin_ns && reading < (double)last + margin_ns;
}

/* The first time tells whether clock and unit can be right. */
static bool check_first(conversion_t *conversion, int64_t reading)
{
    static const struct {
        int64_t unit_ns;
        const char *name;
    } units[] = {{1, "ns"}, {MH_NS_PER_US, "us"}, {MH_NS_PER_MS, "ms"}, {MH_NS_PER_S, "s"}};
    const char *clock = mpix_clock_id_names[conversion->clock];
    int64_t first, last;
    mpix_clock_span(conversion->records, conversion->host, conversion->clock, &first, &last);
    if (conversion->clock == MPIX_CLOCK_COUNTER || is_near((double)reading, first, last))
        return true;
    for (int i = 0; i < 4 && conversion->start_ns == 0; i++)
        if (units[i].unit_ns != conversion->unit_ns &&
            is_near((double)reading * (double)units[i].unit_ns / (double)conversion->unit_ns, first, last) &&
            (double)units[i].unit_ns / (double)conversion->unit_ns * (double)reading > 0.5 * (double)first)
            return convert_fail(conversion,
                                "the first time is far from the records of %s, but in %s it is not: give --unit %s",
                                clock, units[i].name, units[i].name);
    return fabs((double)reading - (double)first) < (double)FAR_NS ||
           convert_fail(conversion,
                        "the first time is more than 30 days from the records of %s: give the right --clock, or what "
                        "times are relative to by --start-ns",
                        clock);
}

/*
 * UTC by the host whose word is surest, which is looked for once for each stretch of about a second: times are many,
 * and hosts may be.
 */
static int find_utc(const mpix_clock_file *records, int64_t global_ns, mpix_clock_utc *utc)
{
    enum { STRETCH_BITS = 30, STRETCHES = 4096 };
    static struct {
        int64_t stretch;
        int host;
        bool is_known;
    } surest[STRETCHES];
    const int64_t stretch = global_ns >> STRETCH_BITS;
    const size_t place = (uint64_t)stretch % STRETCHES;
    if (surest[place].is_known && surest[place].stretch == stretch &&
        mpix_clock_utc_of(records, surest[place].host, global_ns, utc) == 0)
        return 0;
    const int known = mpix_clock_find_utc(records, global_ns, utc);
    surest[place].is_known = known == 0;
    if (known == 0) {
        surest[place].stretch = stretch;
        surest[place].host = utc->host;
    }
    return known;
}

static void add_utc(conversion_t *conversion, const mpix_clock_time *time)
{
    utc_distance_t *distance = &conversion->utc;
    mpix_clock_utc utc;
    const int known = find_utc(conversion->records, time->global_ns, &utc);
    if (known < 0)
        return;
    if (known > 0 || time->bound_ns == INT64_MAX) {
        distance->is_unknown = true;
        return;
    }
    const double apart_ns = fabs((double)utc.ahead_ns) + (double)utc.within_ns + (double)time->bound_ns;
    if (!distance->is_known || apart_ns > distance->worst_ns) {
        distance->worst_ns = apart_ns;
        distance->host = utc.host;
    }
    distance->is_known = true;
}

bool convert_time(conversion_t *conversion, int64_t reading, converted_t *to)
{
    mpix_clock_time time;
    const int64_t added_ns =
        conversion->is_kernels ? mpix_clock_namespace_ns(conversion->records, conversion->host, conversion->clock) : 0;
    if (__builtin_add_overflow(reading, conversion->start_ns, &reading) ||
        __builtin_add_overflow(reading, added_ns, &reading))
        return convert_fail(conversion, "a time is too large");
    if (conversion->times++ == 0 && !check_first(conversion, reading))
        return false;
    mpix_clock_convert(conversion->records, conversion->host, conversion->clock, reading, &time);
    *to = (converted_t){conversion->since_start ? time.global_ns : time.unix_ns, time.bound_ns, time.how};
    conversion->extrapolated += (time.how & MPIX_CLOCK_EXTRAPOLATED) != 0;
    conversion->ambiguous += (time.how & MPIX_CLOCK_AMBIGUOUS) != 0;
    conversion->worst_ns = time.bound_ns > conversion->worst_ns ? time.bound_ns : conversion->worst_ns;
    if (!conversion->since_start)
        add_utc(conversion, &time);
    return true;
}

bool convert_number(conversion_t *conversion, const char *text, size_t length, converted_t *to)
{
    int64_t reading;
    const char *end;
    if (decimal_parse(text, conversion->unit_ns, &end, &reading) && end == text + length)
        return convert_time(conversion, reading, to);
    const int shown = (int)(length < 40 ? length : 40);
    const bool is_digits = length > 10 && strspn(text, "0123456789") >= length;
    return convert_fail(conversion,
                        is_digits ? "\"%.*s\" is too large for a time in this unit: give the right --unit"
                                  : "\"%.*s\" is not a time",
                        shown, text);
}
