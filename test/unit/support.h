/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * support.h - what the unit tests share: the list of suites, chance that can be repeated, and limits on errors.
 *
 * Chance comes from a small generator whose seed is the environment variable MH_SEED, else a constant; never the clock.
 * MH_ROUNDS=100 makes the tests with chance in them a hundred times as long, and MH_ROUNDS=0.1 those of test_past and
 * test_compare a tenth, for emulated processors.
 */
#ifndef MH_TEST_SUPPORT_H
#define MH_TEST_SUPPORT_H

#include "pure/random.h"

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

/*
 * Fails with a message of its own. unit_tests.c prints the seed that repeats it. Unlike ck_assert, it notes nothing
 * where the condition holds: the note takes longer than most of what is tested.
 */
#define EXPECT(condition, ...) ((condition) ? (void)0 : ck_abort_msg(__VA_ARGS__))

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
    const uint64_t bits = chance_bits(source), last = (uint64_t)most - (uint64_t)least;
    return (int64_t)((uint64_t)least + (last < UINT64_MAX ? bits % (last + 1) : bits));
}

static inline double chance_exponential(chance *source, double mean)
{
    return -mean * log(chance_unit(source));
}

/* Of standard deviation 1. */
static inline double chance_normal(chance *source)
{
    return sqrt(-2 * log(chance_unit(source))) * cos(2 * 3.14159265358979 * chance_unit(source));
}

static inline double chance_lognormal(chance *source, double median, double sigma)
{
    return median * exp(sigma * chance_normal(source));
}

/* A tail so heavy that the variance is infinite: no value below least. */
static inline double chance_pareto(chance *source, double least)
{
    return least * pow(chance_unit(source), -1 / 1.3);
}

enum { UNIT_NAME_SIZE = 64 };

/* Something that a file adds to its suite, in the order in which it stands there. */
typedef struct unit_part {
    char suite[UNIT_NAME_SIZE];
    void (*add)(TCase *tests);
    struct unit_part *next;
} unit_part;

void unit_part_register(unit_part *part, const char *path);

#define SUITE(name, function)                                           \
    __attribute__((constructor)) static void register_part_##name(void) \
    {                                                                   \
        static unit_part part = {.add = function};                      \
        unit_part_register(&part, __FILE__);                            \
    }

#define UNIT_TEST(name, addition)                                    \
    static void name(int _i);                                        \
    static void add_##name(TCase *tests)                             \
    {                                                                \
        static const TTest test = {#name, name, __FILE__, __LINE__}; \
        addition;                                                    \
    }                                                                \
    SUITE(name, add_##name)                                          \
    static void name(__attribute__((unused)) int _i)

/*
 * Before the body of a test, which needs no other entry in a list than its file in test.am: run once, or for each _i
 * from 0, or until it ends the program with this status.
 */
#define TEST(name) UNIT_TEST(name, tcase_add_test(tests, &test))
#define LOOP_TEST(name, times) UNIT_TEST(name, tcase_add_loop_test(tests, &test, 0, times))
#define EXIT_TEST(name, status) UNIT_TEST(name, tcase_add_exit_test(tests, &test, status))

/* What runs before and after each test of the file. */
#define FIXTURE(begin, end)                           \
    static void add_fixture(TCase *tests)             \
    {                                                 \
        tcase_add_checked_fixture(tests, begin, end); \
    }                                                 \
    SUITE(fixture, add_fixture)

#endif
