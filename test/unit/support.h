/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * support.h - what the unit tests share: the list of suites, chance that can be repeated, and limits on errors.
 *
 * Chance comes from a small generator whose seed is the environment variable MH_SEED, else a constant; never the clock.
 * EXPECT_SEEDED says with every failure which seed repeats it. MH_ROUNDS=100 makes the tests with chance in them a
 * hundred times as long, and MH_ROUNDS=0.1 those of test_past and test_compare a tenth, for emulated processors.
 */
#ifndef MH_TEST_SUPPORT_H
#define MH_TEST_SUPPORT_H

#include "common/random.h"

#include <check.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof *(array)))

static inline uint64_t base_seed(void)
{
    const char *text = getenv("MH_SEED");
    return text ? strtoull(text, NULL, 0) : UINT64_C(20230911);
}

/* By which MH_ROUNDS multiplies rounds. */
static inline double rounds_factor(void)
{
    const char *text = getenv("MH_ROUNDS");
    double factor = text ? strtod(text, NULL) : 1;
    return factor > 0 ? factor : 1;
}

/* How many rounds to make where usual ones suffice for a quick check. */
static inline int rounds_of(int usual)
{
    double rounds = usual * rounds_factor();
    return rounds < 1 ? 1 : (int)lround(rounds);
}

/* Fails with a message of its own, and how to repeat it where chance was involved. */
#define EXPECT(condition, ...) ck_assert_msg(condition, __VA_ARGS__)
#define EXPECT_SEEDED(condition, format, ...) \
    ck_assert_msg(condition, format " (repeat with MH_SEED=%" PRIu64 ")", __VA_ARGS__, base_seed())

/* The state of the generator of common/random.h. */
typedef struct chance {
    uint64_t state;
} chance;

static inline uint64_t chance_bits(chance *source)
{
    return random_next(&source->state);
}

/* The stream of one round of a test. */
static inline chance chance_of_round(int round)
{
    chance mixer = {base_seed() ^ (UINT64_C(0xd1342543de82ef95) * (uint64_t)(round + 1))};
    return (chance){chance_bits(&mixer)};
}

/* In (0, 1). */
static inline double chance_unit(chance *source)
{
    return ((double)(chance_bits(source) >> 11) + 0.5) * 0x1p-53;
}

static inline int64_t chance_between(chance *source, int64_t least, int64_t most)
{
    return least + (int64_t)(chance_bits(source) % ((uint64_t)(most - least) + 1));
}

static inline double chance_exponential(chance *source, double mean)
{
    return -mean * log(chance_unit(source));
}

static inline double chance_lognormal(chance *source, double median, double sigma)
{
    double normal = sqrt(-2 * log(chance_unit(source))) * cos(2 * 3.14159265358979 * chance_unit(source));
    return median * exp(sigma * normal);
}

/* A tail so heavy that the variance is infinite: no value below least. */
static inline double chance_pareto(chance *source, double least)
{
    return least * pow(chance_unit(source), -1 / 1.3);
}

static inline int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static inline void sort_numbers(double *numbers, int count)
{
    qsort(numbers, (size_t)count, sizeof *numbers, compare_numbers);
}

/* The tests of a file, in the list that unit_tests.c runs. */
typedef struct unit_suite {
    const char *name;
    void (*add)(TCase *tests);
    struct unit_suite *next;
} unit_suite;

void unit_suite_register(unit_suite *suite);

/* At the end of a file: its suite, which needs no other entry in a list than the file in test.am. */
#define SUITE(name, add)                                                 \
    __attribute__((constructor)) static void register_suite_##name(void) \
    {                                                                    \
        static unit_suite suite = {#name, add, NULL};                    \
        unit_suite_register(&suite);                                     \
    }

#endif
