/* SPDX-License-Identifier: BSD-3-Clause */
/* mpix_bench.c - how long MPI operations take, with a choice of how processes start together. */
#include "bench/suite/driver.h"

int main(int argc, char **argv)
{
    return bench_main("mpix_bench", false, argc, argv);
}
