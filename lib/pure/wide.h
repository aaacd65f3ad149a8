/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wide.h - (a * b) >> shift, with the whole product of 128 bits in between. shift is from 1 to 63, and the result is
 * cut to 64 bits. Pure.
 *
 * Compilers for 32-bit processors have no integer of 128 bits; the portable form is always compiled, for the tests.
 */
#ifndef MH_WIDE_H
#define MH_WIDE_H

#include <stdint.h>

static inline uint64_t mh_shift_wide(uint64_t high, uint64_t low, int shift)
{
    return high << (64 - shift) | low >> shift;
}

static inline uint64_t mh_multiply_wide(uint64_t a, uint64_t b, uint64_t *high)
{
    uint64_t a_low = (uint32_t)a, a_high = a >> 32, b_low = (uint32_t)b, b_high = b >> 32;
    uint64_t low = a_low * b_low;
    uint64_t middle = a_high * b_low + (low >> 32);
    uint64_t other = a_low * b_high + (uint32_t)middle;
    *high = a_high * b_high + (middle >> 32) + (other >> 32);
    return other << 32 | (uint32_t)low;
}

static inline uint64_t mh_multiply_shift_portable(uint64_t a, uint64_t b, int shift)
{
    uint64_t high, low = mh_multiply_wide(a, b, &high);
    return mh_shift_wide(high, low, shift);
}

/* In two's complement, a factor below 0 makes the unsigned product too large by 2^64 times the other factor. */
static inline int64_t mh_multiply_shift_signed_portable(int64_t a, int64_t b, int shift)
{
    uint64_t high, low = mh_multiply_wide((uint64_t)a, (uint64_t)b, &high);
    high -= (a < 0 ? (uint64_t)b : 0) + (b < 0 ? (uint64_t)a : 0);
    return (int64_t)mh_shift_wide(high, low, shift);
}

static inline uint64_t mh_multiply_shift(uint64_t a, uint64_t b, int shift)
{
#ifdef __SIZEOF_INT128__
    return (uint64_t)(((unsigned __int128)a * b) >> shift);
#else
    return mh_multiply_shift_portable(a, b, shift);
#endif
}

/* Rounds down, below 0 too. */
static inline int64_t mh_multiply_shift_signed(int64_t a, int64_t b, int shift)
{
#ifdef __SIZEOF_INT128__
    return (int64_t)(((__int128)a * b) >> shift);
#else
    return mh_multiply_shift_signed_portable(a, b, shift);
#endif
}

#endif
