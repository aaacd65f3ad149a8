/* SPDX-License-Identifier: BSD-3-Clause */
/* mpix_osu.c - one operation that the OSU micro-benchmarks measure, with OSU's figure in OSU's column. */
#include "bench/suite/driver.h"

int main(int argc, char **argv)
{
    return bench_main("mpix_osu", true, argc, argv);
}
