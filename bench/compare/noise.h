/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * noise.h - whether the machine was busy while two variants were measured, how far launches are apart, whatever the
 * reason is, and in which value they are less so.
 *
 * It looks at how launches of one variant differ, never at how the variants differ. A verdict by the value that is
 * chosen so, on the same launches, exceeds its level by about a percent at most.
 */
#ifndef NOISE_H
#define NOISE_H

#include "bench/compare/pairs.h"

typedef struct noise {
    /* Of all launches the most; 0 if no file says. */
    double others_percent, steal_percent;
    /* The deviation of a row between launches of one variant, of the lower half of rows the most; 0: not known. */
    double spread_percent;
    /* Of another value, or NULL: there is none. */
    const char *other_column;
    double other_spread_percent;
} noise_t;

/* noise_find - of two variants, whose rows were matched by the values of a column. */
noise_t noise_find(const pairs_t *pairs, const char *column);

/* noise_tell - a sentence of that, without its end. Returns false, and an empty text, if there is nothing to tell. */
bool noise_tell(const noise_t *noise, const char *column, char text[COMPLAINT_BYTES]);

#endif
