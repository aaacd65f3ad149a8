/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * find.h - what every front that LD_PRELOAD names needs: where a name is defined next, and its back for the MPI library
 * of the program. No MPI here.
 */
#ifndef PRELOAD_FIND_H
#define PRELOAD_FIND_H

/* What a front calls itself, and where its back is; each front defines its own. */
typedef struct {
    const char *program;   /* at the beginning of messages */
    const char *without;   /* how the program runs if there is no back: "without the preload" */
    const char *file;      /* the front */
    const char *back_stem; /* the back is STEM-FLAVOR.so, beside the front */
    const char *symbol;    /* what the back exports */
    const char *flavor;    /* the only one that the front is for; NULL: any */
} preload_names;
extern const preload_names mh_preload_names;

/* Where a name is defined next, after the front; remembered in a static variable. Ends the program if nowhere. */
typedef struct {
    const char *symbol;
    void *address;
} preload_next;
void *mh_preload_search(preload_next *next);

/* The same, but NULL if nowhere. */
void *mh_preload_find_if_any(preload_next *next);

static inline void *mh_preload_find(preload_next *next)
{
    void *address = __atomic_load_n(&next->address, __ATOMIC_ACQUIRE);
    return address ? address : mh_preload_search(next);
}

/* A line of the first process. */
void mh_preload_say(const char *text);

/* Open the back for the MPI library of this program, collectively. NULL: a line has said why not. */
const void *mh_preload_open(void);

#endif
