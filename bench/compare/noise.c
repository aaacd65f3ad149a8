/* SPDX-License-Identifier: BSD-3-Clause */
/* noise.c - what launches say of their machine, and how far they are apart. */
#include "bench/compare/noise.h"

#include "bench/suite/busy.h"
#include "common/cli/memory.h"
#include "common/cli/text.h"
#include "pure/order_statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* By at least so much less do launches differ in a value that is better. */
#define BETTER 0.5

static double most_of(const variant_t *variant, const char *column)
{
    double most = 0;
    for (const measured_t *launch = variant->launches; launch < variant->launches + variant->count; launch++) {
        const sheet_t *sheet = &launch->file.sheet;
        int place = sheet_column(sheet, column);
        for (int64_t row = 0; place >= 0 && row < sheet->row_count; row++)
            if (!sheet_at(sheet, row, place)->text)
                most = fmax(most, sheet_at(sheet, row, place)->number);
    }
    return most;
}

static double variance_of(const double *logs, int count)
{
    double mean = 0, sum = 0;
    for (int i = 0; i < count; i++)
        mean += logs[i] / count;
    for (int i = 0; i < count; i++)
        sum += (logs[i] - mean) * (logs[i] - mean);
    return sum / (count - 1);
}

static double spread_percent(const pairs_t *pairs)
{
    const sides_t sides = pairs_sides(pairs);
    double *all = or_exit(malloc(array_bytes(pairs->count, sizeof(double)))), percent = 0;
    bool is_known = sides.launches[0] > 1 && sides.launches[1] > 1 && pairs->count > 0;
    for (int row = 0; row < pairs->count && is_known; row++) {
        double sum = 0;
        for (int side = 0; side < 2; side++)
            sum += variance_of(sides.logs[side] + (int64_t)row * sides.launches[side], sides.launches[side]);
        all[row] = 100 * expm1(sqrt(sum / 2));
    }
    if (is_known) {
        sort_reals(all, pairs->count);
        percent = all[quantile_place(pairs->count, 0.5)];
    }
    free(all);
    return percent;
}

/* Of the same rows by another column; 0 if they have none of it. */
static double spread_of(const pairs_t *pairs, const char *column)
{
    char complaint[COMPLAINT_BYTES];
    rows_t rows[2] = {{.count = 0}};
    pairs_t others = {.count = 0};
    bool good = rows_collect(pairs->rows[0]->variant, column, &rows[0], complaint) &&
                rows_collect(pairs->rows[1]->variant, column, &rows[1], complaint) &&
                pairs_match(rows, pairs->in_blocks, &others, complaint);
    double percent = good ? spread_percent(&others) : 0;
    pairs_free(&others);
    for (int i = 0; i < 2; i++)
        rows_free(&rows[i]);
    return percent;
}

noise_t noise_find(const pairs_t *pairs, const char *column)
{
    const variant_t *base = pairs->rows[0]->variant, *judged = pairs->rows[1]->variant;
    noise_t noise = {
        .others_percent = fmax(most_of(base, "others_percent"), most_of(judged, "others_percent")),
        .steal_percent = fmax(most_of(base, "steal_percent"), most_of(judged, "steal_percent")),
        .spread_percent = spread_percent(pairs),
        .other_column = strcmp(column, "min_ns") == 0 ? "median_ns" : "min_ns",
    };
    noise.other_spread_percent = spread_of(pairs, noise.other_column);
    if (noise.other_spread_percent <= 0)
        noise.other_column = NULL;
    return noise;
}

static void append_spread(char text[COMPLAINT_BYTES], const char *begin, double percent, const char *column)
{
    text_append(text, COMPLAINT_BYTES, percent < 99.5 ? "%s by %.2g %% in %.60s" : "%s by %.0f %% in %.60s", begin,
                percent, column);
}

bool noise_tell(const noise_t *noise, const char *column, char text[COMPLAINT_BYTES])
{
    bool others = noise->others_percent > BUSY_OTHERS_PERCENT, steal = noise->steal_percent > BUSY_STEAL_PERCENT;
    bool spread = noise->spread_percent > BUSY_SPREAD_PERCENT;
    text[0] = '\0';
    if (!others && !steal && !spread)
        return false;
    if (others || steal)
        text_append(text, COMPLAINT_BYTES, "The machine was busy");
    if (others)
        text_append(text, COMPLAINT_BYTES, ", other programs took up to %.0f %% of a node", noise->others_percent);
    if (steal)
        text_append(text, COMPLAINT_BYTES, ", the hypervisor up to %.0f %%", noise->steal_percent);
    if (noise->spread_percent > 0)
        append_spread(text, others || steal ? ", launches of a variant differ" : "Launches of a variant differ",
                      noise->spread_percent, column);
    if (noise->spread_percent > 0 && noise->other_column)
        append_spread(text, ",", noise->other_spread_percent, noise->other_column);
    if (noise->other_column && noise->other_spread_percent < BETTER * noise->spread_percent)
        text_append(text, COMPLAINT_BYTES, ": --column %s decides sooner", noise->other_column);
    return true;
}
