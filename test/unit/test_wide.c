/* SPDX-License-Identifier: BSD-3-Clause */
/* test_wide.c - products of 128 bits: the form in use and the portable one, against a product bit by bit. */
#include "pure/wide.h"
#include "support.h"

/* The low 64 bits of a * b >> shift. */
static uint64_t by_bits(uint64_t a, uint64_t b, int shift)
{
    uint64_t high = 0, low = 0;
    for (int bit = 63; bit >= 0; bit--) {
        high = high << 1 | low >> 63;
        low <<= 1;
        if (b >> bit & 1) {
            low += a;
            high += low < a;
        }
    }
    return low >> shift | high << (64 - shift);
}

/* Rounds down, as a shift does: so does the product of magnitudes if all bits that fall off are 0. */
static int64_t signed_by_bits(int64_t a, int64_t b, int shift)
{
    uint64_t size_a = a < 0 ? -(uint64_t)a : (uint64_t)a, size_b = b < 0 ? -(uint64_t)b : (uint64_t)b;
    bool is_negative = (a < 0) != (b < 0), is_whole = (size_a * size_b << (64 - shift)) == 0;
    uint64_t size = by_bits(size_a, size_b, shift);
    return (int64_t)(!is_negative ? size : is_whole ? -size : -size - 1);
}

/* Of any length and either sign, so that small numbers, carries and extremes are met. */
static uint64_t any_number(chance *source)
{
    static const uint64_t ends[] = {0, 1, UINT64_MAX, INT64_MAX, UINT64_C(1) << 63, UINT32_MAX};
    uint64_t bits = chance_bits(source) >> chance_between(source, 0, 63);
    return chance_unit(source) < 0.1   ? ends[chance_between(source, 0, COUNT_OF(ends) - 1)]
           : chance_unit(source) < 0.5 ? -bits
                                       : bits;
}

TEST(both_forms_are_right)
{
    chance source = chance_of_round(0);
    for (int i = 0; i < 100000; i++) {
        uint64_t a = any_number(&source), b = any_number(&source), expected;
        int64_t expected_signed;
        int shift = (int)chance_between(&source, 1, 63);
        expected = by_bits(a, b, shift);
        expected_signed = signed_by_bits((int64_t)a, (int64_t)b, shift);
        EXPECT(mh_multiply_shift(a, b, shift) == expected && mh_multiply_shift_portable(a, b, shift) == expected,
               "%" PRIu64 " * %" PRIu64 " >> %d is not %" PRIu64, a, b, shift, expected);
        EXPECT(mh_multiply_shift_signed((int64_t)a, (int64_t)b, shift) == expected_signed &&
                   mh_multiply_shift_signed_portable((int64_t)a, (int64_t)b, shift) == expected_signed,
               "%" PRId64 " * %" PRId64 " >> %d is not %" PRId64, (int64_t)a, (int64_t)b, shift, expected_signed);
    }
}
