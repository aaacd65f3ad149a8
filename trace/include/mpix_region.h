/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpix_region.h - name a part of a program in the traces that mpix_trace records:
 *
 *     mpix_region_enter("solve");
 *     solve();
 *     mpix_region_leave("solve");
 *
 * Regions of a thread are within each other: what was entered last is left first. There may be some thousands of
 * names, of which 200 bytes are recorded. A program needs no library for this: where mpix_trace does not record it, and
 * outside of MPI_Init to MPI_Finalize, nothing is done.
 *
 * For C99 and C++11, and compilers that have GCC's built-in functions. Before version 2.34 of glibc, link with -ldl.
 */
#ifndef MPIX_REGION_H
#define MPIX_REGION_H

#include <dlfcn.h>
#include <string.h>

/* As dlfcn.h has it with _GNU_SOURCE only. */
#ifdef RTLD_DEFAULT
#define MPIX_REGION_EVERYWHERE RTLD_DEFAULT
#else
#define MPIX_REGION_EVERYWHERE ((void *)0)
#endif

typedef void mpix_region_function(const char *name);

static inline void mpix_region_nothing(const char *name)
{
    (void)name;
}

/* The function of mpix_trace is looked for once in each file that uses it. Two threads may do so at once. */
static inline void mpix_region_call(mpix_region_function **known, const char *symbol, const char *name)
{
    mpix_region_function *function = __atomic_load_n(known, __ATOMIC_ACQUIRE);
    if (!function) {
        void *const object = dlsym(MPIX_REGION_EVERYWHERE, symbol);
        function = mpix_region_nothing;
        if (object)
            memcpy(&function, &object, sizeof function);
        else
            dlerror(); /* or the next caller of it would get the message */
        __atomic_store_n(known, function, __ATOMIC_RELEASE);
    }
    function(name);
}

static inline void mpix_region_enter(const char *name)
{
    static mpix_region_function *known;
    mpix_region_call(&known, "mpix_trace_enter_region", name);
}

static inline void mpix_region_leave(const char *name)
{
    static mpix_region_function *known;
    mpix_region_call(&known, "mpix_trace_leave_region", name);
}

#endif
