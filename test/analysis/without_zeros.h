/* SPDX-License-Identifier: BSD-3-Clause */
/* without_zeros.h - compiled in before anything else, leaves memory uninitialized: what valgrind has to find. */
#include <stdlib.h>

#define calloc(count, size) malloc((count) * (size))
