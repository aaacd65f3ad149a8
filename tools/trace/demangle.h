/* SPDX-License-Identifier: BSD-3-Clause */
/* demangle.h - functions of C++ by the names that the source has. By the C++ runtime library, where there is one. */
#ifndef TRACE_DEMANGLE_H
#define TRACE_DEMANGLE_H

#include "trace/trace.h"

/*
 * demangle_sites - write halo::exchange(int) in the place of _ZN4halo8exchangeEi in the symbols of all sites. Does
 * nothing without the C++ runtime library.
 */
void demangle_sites(trace *of);

#endif
