/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * label.h - the text form of a hierarchy of sync algorithms, as the papers write it: "hca3/100/skampi/10+prop".
 *
 * One part for each level, outermost first, joined by "+". A part is
 * ALGORITHM[/recompute][/FIT POINTS][/ESTIMATOR[/EXCHANGES]]; algorithms that take no fit points have neither of the
 * first two fields, and none and prop stand alone. Upper or lower case, hyphens, underscores and a final "offset" of
 * the estimator's name do not matter.
 */
#ifndef MH_LABEL_H
#define MH_LABEL_H

#include "topology/topology.h"

#include <stddef.h>

enum { MH_MAX_FIT_POINTS = 10000, MH_MAX_EXCHANGES = 10000 };

typedef struct mh_label_part {
    int algorithm;  /* place in the family of sync algorithms */
    int fit_points; /* of those that fit a line, else 1 */
    int recompute;  /* whether the offset is measured once more after the fit */
    int estimator;  /* place in the family of offset estimators */
    int exchanges;  /* in a burst */
} mh_label_part;

typedef struct mh_label {
    int levels;
    mh_label_part parts[MH_MAX_LEVELS];
} mh_label;

/* Parse text. Returns 0; or -1 and, in why, what is allowed, as one clause. */
int mh_label_parse(const char *text, mh_label *label, char *why, size_t why_size);

/* Whether each of its algorithms makes clocks agree: none does not. */
bool mh_label_synchronises(const mh_label *label);

/* The check of the setting "sync": 0 when text parses, else -1 and why as above. */
int mh_label_check(const char *text, char *why, size_t why_size);

#endif
