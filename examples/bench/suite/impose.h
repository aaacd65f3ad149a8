/* SPDX-License-Identifier: BSD-3-Clause */
/* impose.h - the arrival patterns of a job, imposed on its calls one after the other. */
#ifndef IMPOSE_H
#define IMPOSE_H

#include "suite/communicator.h"
#include "suite/measure.h"

#include <stdbool.h>
#include <stdint.h>

/* impose_check - whether the ranks of all groups suit the patterns; rank 0 tells if not. Collective over world. */
bool impose_check(const world_t *world, const communicator_t *communicator, const arrival_list_t *list);

/* impose_open - read the file of delays on rank 0, if there is one, and give it to all. Collective over the span. */
void impose_open(measure_t *measure, const communicator_t *communicator);
void impose_close(measure_t *measure);

/*
 * impose - calls from now on have the arrivals of a pattern. Collective over the span.
 *
 * together_ns   rank 0: the median run time without delays, of which magnitudes may be multiples; 0: not known
 *
 * Returns false if the magnitude is not known, or too long; rank 0 has told so.
 */
bool impose(measure_t *measure, const arrival_t *arrival, double together_ns, int64_t size_bytes);

/* impose_bound_ns - rank 0: the greatest bound of the global clock now; NaN: not known. Collective over the span. */
double impose_bound_ns(const measure_t *measure);

#endif /* IMPOSE_H */
