/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * random.h - numbers that look random and are the same on all machines for the same seed.
 */
#ifndef RANDOM_H
#define RANDOM_H

#include <stdint.h>

/*
 * random_next - the next of a sequence: splitmix64, after Steele, Lea and Flood, "Fast Splittable Pseudorandom Number
 * Generators", 2014.
 *
 * state   where the sequence is; at first the seed, of which any will do
 */
uint64_t random_next(uint64_t *state);

/* random_fraction - likewise a number from 0 to less than 1. */
double random_fraction(uint64_t *state);

#endif /* RANDOM_H */
