/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * random.h - numbers that look random and are the same on all machines for the same seed.
 */
#ifndef RANDOM_H
#define RANDOM_H

#include <stddef.h>
#include <stdint.h>

/*
 * random_next - the next of a sequence: splitmix64, after Steele, Lea and Flood, "Fast Splittable Pseudorandom Number
 * Generators", 2014.
 *
 * state   the state of the sequence; at first the seed, which may be any number
 */
static inline uint64_t random_next(uint64_t *state)
{
    uint64_t mixed = *state += UINT64_C(0x9e3779b97f4a7c15);
    mixed = (mixed ^ mixed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94d049bb133111eb);
    return mixed ^ mixed >> 31;
}

/* random_fraction - likewise a number from 0 to less than 1. */
static inline double random_fraction(uint64_t *state)
{
    return (double)(random_next(state) >> 11) * 0x1p-53;
}

/* random_fraction_of - such a number that depends on a seed and two numbers alone. */
static inline double random_fraction_of(int64_t seed, int64_t first, int64_t second)
{
    uint64_t state = (uint64_t)seed;
    state = random_next(&state) + (uint64_t)first;
    state = random_next(&state) + (uint64_t)second;
    return random_fraction(&state);
}

/* random_shuffle - bring items into an order that looks random. */
static inline void random_shuffle(void *items, int64_t count, size_t item_bytes, uint64_t *state)
{
    for (int64_t i = count - 1; i > 0; i--) {
        char *one = (char *)items + (size_t)i * item_bytes;
        char *other = (char *)items + (size_t)(random_next(state) % (uint64_t)(i + 1)) * item_bytes;
        for (size_t byte = 0; byte < item_bytes; byte++) {
            char kept = one[byte];
            one[byte] = other[byte];
            other[byte] = kept;
        }
    }
}

#endif
