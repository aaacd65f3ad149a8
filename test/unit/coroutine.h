/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * coroutine.h - functions with stacks of their own, in one thread: each runs until it switches to another one.
 *
 * A switch takes some nanoseconds and no system call. The sanitizers and valgrind are told of the stacks.
 */
#ifndef MH_TEST_COROUTINE_H
#define MH_TEST_COROUTINE_H

#include <setjmp.h>
#include <stddef.h>

#if defined __has_feature
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#include <ucontext.h>
typedef ucontext_t coroutine_place;
#else
typedef jmp_buf coroutine_place;
#endif

typedef struct coroutine {
    void (*body)(void *argument); /* NULL: the thread itself, with its own stack */
    void *argument;
    void *stack;
    size_t stack_bytes;
    struct coroutine *next; /* where to go when the body returns */
    int has_begun;
    coroutine_place place;
#ifdef __SANITIZE_ADDRESS__
    void *shadow; /* what the sanitizer keeps of a stack that is not in use */
#endif
#ifdef __SANITIZE_THREAD__
    void *fiber;
#endif
    unsigned valgrind_id;
} coroutine;

/* Memory for the stacks of count coroutines, which is taken page by page as they use it. NULL: there is none. */
void *coroutine_stacks(size_t count, size_t stack_bytes);
void coroutine_free_stacks(void *stacks, size_t count, size_t stack_bytes);

/*
 * Get ready; all zero before. The thread itself has no body and no stack. A body sets `next` before it returns.
 * coroutine_forget is for one that has returned.
 */
void coroutine_prepare(coroutine *one, void (*body)(void *), void *argument, void *stack, size_t stack_bytes);
void coroutine_forget(coroutine *one);

/* Suspend the coroutine that runs, from, and go on with another one. Returns when some coroutine switches back. */
void coroutine_switch(coroutine *from, coroutine *to);

#endif
