/* SPDX-License-Identifier: BSD-3-Clause */
/* symbols.h - names of functions in the files of objects. Under the lock of the flush. */
#ifndef RECORD_SYMBOLS_H
#define RECORD_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * address: in the object's own numbers; becomes the offset from the function's start. Longer names are cut. Files stay
 * open until they are forgotten. Returns false if the address has no name.
 */
enum { TRACE_NAME_SIZE = 512 };
bool mh_trace_find_symbol(const void *base, const char *path, uintptr_t *address, char name[TRACE_NAME_SIZE]);
void mh_trace_forget_symbols(void);

#endif
