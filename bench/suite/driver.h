/* SPDX-License-Identifier: BSD-3-Clause */
/* driver.h - all that a program does which measures operations. */
#ifndef DRIVER_H
#define DRIVER_H

#include <stdbool.h>

/*
 * bench_main - from the command line to the results.
 *
 * program      its name
 * is_osu       it measures one operation, by OSU's name, as OSU does
 * argc, argv   main's
 *
 * Returns what main returns.
 */
int bench_main(const char *program, bool is_osu, int argc, char **argv);

#endif
