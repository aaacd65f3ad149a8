/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dlsym.c - dlsym in front of that of the C library, for programs that take functions of MPI from the handle of a
 * library, as interpreters do: they get the entries of the front.
 *
 * The C library looks at who calls dlsym: RTLD_NEXT and RTLD_DEFAULT depend on it. So all that is not asked for here
 * goes on by a jump, which leaves the caller on the stack.
 */
#define _GNU_SOURCE
#include "trace/front/find.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#define JUMPS
#ifdef __has_attribute
#if __has_attribute(musttail)
#undef JUMPS
#define JUMPS __attribute__((musttail))
#endif
#endif
#ifdef __clang__
#define CAN_JUMP
#else
#define CAN_JUMP \
    __attribute__((optimize("O2", "optimize-sibling-calls"), no_profile_instrument_function, no_sanitize("thread")))
#endif

/* NULL if the front has none of this name. */
static void *find_entry(const char *name)
{
    static void *front;
    Dl_info self;
    if (!__atomic_load_n(&front, __ATOMIC_ACQUIRE) && dladdr((void *)find_entry, &self) != 0)
        __atomic_store_n(&front, dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD), __ATOMIC_RELEASE);
    return front ? mh_interpose_dlsym()(front, name) : NULL;
}

static bool is_of_mpi(const char *name)
{
    return strncasecmp(name, "MPI_", strlen("MPI_")) == 0 || strncmp(name, "PMPI_", strlen("PMPI_")) == 0;
}

static char elsewhere; /* its address: let the C library find it */

/* The last search is that of the program, for whose sake dlerror is. */
static __attribute__((noinline)) void *find_for_program(void *handle, const char *name)
{
    interpose_next next = {.symbol = name};
    void *entry = is_of_mpi(name) ? find_entry(name) : NULL;
    const void *behind = entry ? mh_interpose_find_if_any(&next) : NULL;
    if (!entry || (handle == RTLD_DEFAULT && behind))
        return &elsewhere;
    void *found = handle == RTLD_DEFAULT ? entry : mh_interpose_dlsym()(handle, name);
    if (found == entry && !behind) /* the program has no MPI library */
        found = mh_interpose_dlsym()(RTLD_NEXT, name);
    __asm__ volatile("" : "+r"(found)); /* so no jump, and the front is who calls */
    return found && found == behind ? entry : found;
}

__attribute__((visibility("default"))) CAN_JUMP void *dlsym(void *restrict handle, const char *restrict name)
{
    find_by_handle *go_on = mh_interpose_dlsym();
    void *found = handle == RTLD_NEXT ? &elsewhere : find_for_program(handle, name);
    if (found != &elsewhere)
        return found;
    JUMPS return go_on(handle, name);
}
