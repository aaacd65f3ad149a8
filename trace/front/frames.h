/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * frames.h - from a function to its caller, and to the caller of that one.
 *
 * Compilers leave tables for exceptions, which tell for each place in a program where the caller's frame is. What they
 * say of a place is kept, so a step takes a few loads. Whatever they say, only the thread's stack is read.
 */
#ifndef INTERPOSE_FRAMES_H
#define INTERPOSE_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

/* Where a function goes on after a call, and its stack pointer and frame pointer then. */
typedef struct {
    uintptr_t pc, sp, fp;
} frames_place;

/*
 * The caller of the function that this is in. Its frame is not known, and sp is 0, where compilers do not tell, or the
 * frame pointer is saved elsewhere.
 */
#if defined __x86_64__ || defined __i386__ || (defined __aarch64__ && !defined __clang__)
#define FRAMES_CALLER                                                                                \
    (&(const frames_place){(uintptr_t)__builtin_return_address(0), (uintptr_t)__builtin_dwarf_cfa(), \
                           *(const uintptr_t *)__builtin_frame_address(0)})
#else
#define FRAMES_CALLER (&(const frames_place){(uintptr_t)__builtin_return_address(0), 0, 0})
#endif

/* Addresses of the stack on which this thread began. Coroutines have others. */
typedef struct {
    uintptr_t begin, end;
} frames_stack;

/* Takes microseconds, and may allocate memory. If it is not known, nothing is within it. */
frames_stack mh_frames_stack(void);

/*
 * From a place to its callers. What was read from the stack on the way is kept: as long as these words are the same,
 * the callers are.
 */
enum { FRAMES_WORDS = 6 };
typedef struct {
    uintptr_t at, value;
} frames_word;
typedef struct {
    frames_place from;
    bool takes_fp;      /* the frame pointer of from has led to a caller */
    uint8_t word_count; /* FRAMES_WORDS + 1: there were more */
    frames_word words[FRAMES_WORDS];
} frames_trail;
typedef struct {
    frames_place now;
    frames_word fp; /* where the frame pointer was read; 0: it is still that of from */
    frames_trail trail;
} frames_walk;

static inline frames_walk frames_begin(const frames_place *from)
{
    return (frames_walk){.now = *from, .trail.from = *from};
}

/*
 * Goes up to the caller. Returns false if the caller is not known: at the end of the stack, on another stack, in code
 * without tables, and on processors whose tables are not read here.
 */
bool mh_frames_go_up(const frames_stack *stack, frames_walk *walk);

/* Whether the callers are those to which a walk has led on the same thread. */
__attribute__((no_sanitize("address"))) static inline bool frames_is_same(const frames_trail *trail,
                                                                          const frames_place *from)
{
    if (trail->from.pc != from->pc || trail->from.sp != from->sp || trail->word_count > FRAMES_WORDS ||
        (trail->takes_fp && trail->from.fp != from->fp))
        return false;
    for (int i = 0; i < trail->word_count; i++)
        if (*(const uintptr_t *)trail->words[i].at != trail->words[i].value)
            return false;
    return true;
}

#endif
