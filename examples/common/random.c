/* SPDX-License-Identifier: BSD-3-Clause */
#include "random.h"

uint64_t random_next(uint64_t *state)
{
    uint64_t mixed = *state += UINT64_C(0x9e3779b97f4a7c15);
    mixed = (mixed ^ mixed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94d049bb133111eb);
    return mixed ^ mixed >> 31;
}

double random_fraction(uint64_t *state)
{
    return (double)(random_next(state) >> 11) * 0x1p-53;
}
