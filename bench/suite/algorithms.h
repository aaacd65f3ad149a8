/* SPDX-License-Identifier: BSD-3-Clause */
/* algorithms.h - by which settings an MPI library chooses algorithms of collective operations. */
#ifndef ALGORITHMS_H
#define ALGORITHMS_H

#include "common/results/table.h"

/*
 * algorithms_list - what decides instead of the MPI library's own rules: variables of MPI_T that choose algorithms,
 * tune the choice, or name files of rules, as NAME=VALUE, separated by blanks; or "default". Empty if MPI_T shows no
 * variables. Values are those of this process. Local, after MPI_Init.
 *
 * Some variables have other defaults in other releases, and MPI_T does not tell them. They are in the list if somebody
 * set them, even to the default: in the environment or, for Open MPI, in its files.
 */
void algorithms_list(char list[HEAD_BYTES]);

/*
 * algorithms_offered - all values of the variables of MPI_T whose names match a pattern and whose values have names:
 * the algorithms that they choose from. Local, after MPI_Init.
 */
typedef void algorithms_take_t(void *context, const char *variable, int value, const char *name);
void algorithms_offered(const char *pattern, algorithms_take_t *take, void *context);

#endif
