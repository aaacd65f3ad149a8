/* SPDX-License-Identifier: BSD-3-Clause */
/* terminal.h - the terminal that shows what this process says on standard error. */
#ifndef TERMINAL_H
#define TERMINAL_H

/*
 * terminal_columns - how wide the terminal is; 0: nobody looks. A launcher of MPI programs on this host, which passes
 * on what processes say, is asked for its own standard error.
 *
 * usual   if the terminal does not say
 */
int terminal_columns(int usual);

#endif
