/* SPDX-License-Identifier: BSD-3-Clause */
/* variables.h - environment variables that look like settings of the library and are none. */
#ifndef VARIABLES_H
#define VARIABLES_H

/* variables_check - say on stderr which variables were misspelled. One process of a job is to call it. */
void variables_check(const char *program);

/* variables_check_one - likewise of one variable, as NAME or NAME=VALUE. */
void variables_check_one(const char *program, const char *variable);

#endif
