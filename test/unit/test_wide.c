/* SPDX-License-Identifier: BSD-3-Clause */
/* test_wide.c - products of 128 bits: the form in use and the portable one agree, and are right. */
#include "pure/wide.h"
#include "support.h"

static const struct {
    uint64_t a, b;
    int shift;
    uint64_t result;
} known[] = {
    {0, UINT64_MAX, 1, 0},
    {1, 1, 1, 0},
    {3, 5, 1, 7},
    {UINT64_MAX, UINT64_MAX, 63, UINT64_MAX - 3},
    {UINT64_MAX, UINT64_MAX, 1, 0},
    {UINT64_C(1) << 63, UINT64_C(1) << 63, 63, UINT64_C(0x8000000000000000)},
    {UINT64_C(1) << 63, 2, 1, UINT64_C(1) << 63},
    {UINT64_C(0xffffffff), UINT64_C(0xffffffff), 32, UINT64_C(0xfffffffe)},
    {UINT64_C(123456789012345678), UINT64_C(987654321098765432), 60, UINT64_C(105759698860506153)},
};

START_TEST(known_product_is_right)
{
    uint64_t used = mh_multiply_shift(known[_i].a, known[_i].b, known[_i].shift);
    uint64_t portable = mh_multiply_shift_portable(known[_i].a, known[_i].b, known[_i].shift);
    EXPECT(used == known[_i].result, "case %d is %" PRIu64, _i, used);
    EXPECT(portable == known[_i].result, "case %d is %" PRIu64 " in the portable form", _i, portable);
}
END_TEST

static const struct {
    int64_t a, b;
    int shift;
    int64_t result;
} known_signed[] = {
    {-1, 1, 1, -1},
    {-1, -1, 1, 0},
    {-2, 1, 1, -1},
    {3, -5, 1, -8},
    {-3, 5, 62, -1},
    {-3, -5, 1, 7},
    {INT64_MIN, 1, 63, -1},
    {INT64_MIN, -1, 63, 1},
    {INT64_MAX, INT64_MIN, 63, -INT64_MAX},
    {INT64_MIN, INT64_MAX, 63, -INT64_MAX},
};

START_TEST(known_signed_product_is_right)
{
    int64_t a = known_signed[_i].a, b = known_signed[_i].b;
    int64_t used = mh_multiply_shift_signed(a, b, known_signed[_i].shift);
    int64_t portable = mh_multiply_shift_signed_portable(a, b, known_signed[_i].shift);
    EXPECT(used == known_signed[_i].result, "case %d is %" PRId64, _i, used);
    EXPECT(portable == known_signed[_i].result, "case %d is %" PRId64 " in the portable form", _i, portable);
}
END_TEST

/* Of any length, so that small numbers and carries are met. */
static uint64_t any_number(chance *source)
{
    uint64_t bits = chance_bits(source);
    return bits >> chance_between(source, 0, 63);
}

START_TEST(both_forms_agree)
{
    chance source = chance_of_round(0);
    for (int i = 0; i < 100000; i++) {
        uint64_t a = any_number(&source), b = any_number(&source);
        int shift = (int)chance_between(&source, 1, 63);
        a = chance_between(&source, 0, 1) ? a : -a;
        b = chance_between(&source, 0, 1) ? b : -b;
        EXPECT(mh_multiply_shift(a, b, shift) == mh_multiply_shift_portable(a, b, shift),
               "%" PRIu64 " * %" PRIu64 " >> %d", a, b, shift);
        EXPECT(mh_multiply_shift_signed((int64_t)a, (int64_t)b, shift) ==
                   mh_multiply_shift_signed_portable((int64_t)a, (int64_t)b, shift),
               "%" PRId64 " * %" PRId64 " >> %d", (int64_t)a, (int64_t)b, shift);
    }
}
END_TEST

static void add(TCase *tests)
{
    tcase_add_loop_test(tests, known_product_is_right, 0, COUNT_OF(known));
    tcase_add_loop_test(tests, known_signed_product_is_right, 0, COUNT_OF(known_signed));
    tcase_add_test(tests, both_forms_agree);
}

SUITE(wide, add)
