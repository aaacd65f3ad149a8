/* SPDX-License-Identifier: BSD-3-Clause */
/* symbols.h - call sites by what people know them by: lines of the program's source, and the names that C++ has. */
#ifndef TRACE_SYMBOLS_H
#define TRACE_SYMBOLS_H

#include "trace/read/trace.h"

/*
 * symbols_improve - in the symbols of all sites, write "FILE:LINE FUNCTION (ADDRESS) in OBJECT" in the place of
 * "FUNCTION+OFFSET (ADDRESS) in OBJECT", where the object is still there as it was and has debugging information; and
 * halo::exchange(int) in the place of _ZN4halo8exchangeEi. By libdw of elfutils and the C++ runtime library; without
 * one of these, what it does is left out.
 *
 * folder   of the trace: an object that is younger is another one
 */
void symbols_improve(trace *of, const char *folder);

#endif
