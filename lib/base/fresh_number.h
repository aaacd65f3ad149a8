/* SPDX-License-Identifier: BSD-3-Clause */
/* fresh_number.h - numbers that name something once, on any machine. */
#ifndef MH_FRESH_NUMBER_H
#define MH_FRESH_NUMBER_H

#include <stdint.h>

/* A number that is very likely different in each call of each process, and never 0. */
uint64_t mh_fresh_number(void);

#endif
