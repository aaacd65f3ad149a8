/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sync_label.h - the text form of a hierarchy of sync algorithms, as the papers write it: "hca3/100/skampi/10+prop".
 *
 * One part for each level, outermost first, joined by "+". A part is
 *
 *     ALGORITHM[/recompute][/FIT POINTS][/ESTIMATOR[/EXCHANGES]]
 *
 * Algorithms that fit no line have neither recompute nor fit points; none and prop have no fields. Case, hyphens,
 * underscores and a final "offset" of the estimator's name do not matter.
 */
#ifndef MH_SYNC_LABEL_H
#define MH_SYNC_LABEL_H

#include "sync/sync.h"

#include <stddef.h>

/* Parse text. Returns 0; or -1 and, in why, what is allowed, as one clause. */
int mh_label_parse(const char *text, mh_label *label, char *why, size_t why_size);

/* Whether all its algorithms synchronize clocks, which none does not. */
bool mh_label_synchronizes(const mh_label *label);

/* The check of the setting "sync": 0 if text can be parsed, else -1 and why as above. */
int mh_label_check(const char *text, char *why, size_t why_size);

#endif
