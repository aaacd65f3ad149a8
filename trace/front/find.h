/* SPDX-License-Identifier: BSD-3-Clause */
/* find.h - where a name is defined next after the front. No MPI library is needed for it. */
#ifndef INTERPOSE_FIND_H
#define INTERPOSE_FIND_H

#include <stdint.h>

/* Where a name is defined next, after the front; remembered in a static variable. Ends the program if nowhere. */
typedef struct {
    const char *symbol;
    void *address;
} interpose_next;
void *mh_interpose_search(interpose_next *next);

/* The same, but NULL if nowhere. */
void *mh_interpose_find_if_any(interpose_next *next);

/* dlsym without that of the front, for the handle of a library. */
typedef void *find_by_handle(void *handle, const char *name);
find_by_handle *mh_interpose_dlsym(void);

static inline void *mh_interpose_find(interpose_next *next)
{
    void *address = __atomic_load_n(&next->address, __ATOMIC_ACQUIRE);
    return address ? address : mh_interpose_search(next);
}

#endif
