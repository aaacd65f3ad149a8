/* SPDX-License-Identifier: BSD-3-Clause */
/* find.h - where a name is defined next after the front, and the back. No MPI library is needed for it. */
#ifndef INTERPOSE_FIND_H
#define INTERPOSE_FIND_H

#include <stdbool.h>
#include <stdint.h>

/* Where a name is defined next, after the front; remembered in a static variable. Ends the program if nowhere. */
typedef struct {
    const char *symbol;
    void *address;
} interpose_next;
void *mh_interpose_search(interpose_next *next);

/* The same, but NULL if nowhere. */
void *mh_interpose_find_if_any(interpose_next *next);

/* dlsym without the front in it, for the handle of a library. */
typedef void *find_by_handle(void *handle, const char *name);
find_by_handle *mh_interpose_dlsym(void);

static inline void *mh_interpose_find(interpose_next *next)
{
    void *address = __atomic_load_n(&next->address, __ATOMIC_ACQUIRE);
    return address ? address : mh_interpose_search(next);
}

/* MPI_Init begins, or a session, of which the first process says a line. */
void mh_interpose_note_start(void);
void mh_interpose_note_session(void);

/* MPI_Comm_spawn begins: the root says that nothing is loaded into the processes. */
void mh_interpose_note_spawn(int root, intptr_t comm);

/* Open the back, collectively. NULL: nobody wants it, or a line has said why not. */
const void *mh_interpose_open(void);

/* Of meet.c: the job is ended, with a line, if a process has no front; and whether something is on all processes. */
void mh_interpose_meet(void);
bool mh_interpose_is_on_all(bool is_here);

#endif
