/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * coroutine.c - contexts begin by makecontext, which takes system calls, and are switched by _setjmp and _longjmp,
 * which take none. Sanitizers have their own ideas of jumps and of swapcontext, but none of getcontext and setcontext.
 */
/* The checks of this macro take a jump to another stack for an error. */
#undef _FORTIFY_SOURCE
#define _GNU_SOURCE
#include "coroutine.h"

#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#endif
#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#else
#define VALGRIND_STACK_REGISTER(begin, end) 0
#define VALGRIND_STACK_DEREGISTER(id) (void)(id)
#endif
enum { MAX_GUARDED = 1024 };

/* Where a coroutine comes from and where it goes, while it switches. */
static coroutine *source, *target;

void *coroutine_stacks(size_t count, size_t stack_bytes)
{
    void *memory = mmap(NULL, count * stack_bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    madvise(memory, count * stack_bytes, MADV_NOHUGEPAGE);
    size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    for (size_t i = 0; i < count && count <= MAX_GUARDED && 4 * page_bytes <= stack_bytes; i++)
        mprotect((char *)memory + i * stack_bytes, page_bytes, PROT_NONE);
    return memory;
}

void coroutine_free_stacks(void *stacks, size_t count, size_t stack_bytes)
{
#ifdef __SANITIZE_ADDRESS__
    ASAN_UNPOISON_MEMORY_REGION(stacks, count * stack_bytes);
#endif
    munmap(stacks, count * stack_bytes);
}

void coroutine_prepare(coroutine *one, void (*body)(void *), void *argument, void *stack, size_t stack_bytes)
{
    one->body = body;
    one->argument = argument;
    one->stack = stack;
    one->stack_bytes = stack_bytes;
    if (body)
        one->valgrind_id = VALGRIND_STACK_REGISTER(stack, (char *)stack + stack_bytes);
#ifdef __SANITIZE_THREAD__
    one->fiber = body ? __tsan_create_fiber(0) : __tsan_get_current_fiber();
#endif
}

void coroutine_forget(coroutine *one)
{
    if (one->body)
        VALGRIND_STACK_DEREGISTER(one->valgrind_id);
#ifdef __SANITIZE_THREAD__
    if (one->body)
        __tsan_destroy_fiber(one->fiber);
#endif
}

/* On the old stack. is_last: it is never used again. */
static void tell_of_leaving(coroutine *from, coroutine *to, int is_last)
{
    source = from;
    target = to;
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_start_switch_fiber(is_last ? NULL : &from->shadow, to->stack, to->stack_bytes);
#endif
#ifdef __SANITIZE_THREAD__
    __tsan_switch_to_fiber(to->fiber, 0);
#endif
    (void)is_last;
}

/* On the new stack. The sanitizer says where that of the thread lies, which nobody else knows. */
static void tell_of_arrival(void)
{
#ifdef __SANITIZE_ADDRESS__
    const void *stack;
    size_t stack_bytes;
    __sanitizer_finish_switch_fiber(target->shadow, &stack, &stack_bytes);
    if (!source->body) {
        source->stack = (void *)stack;
        source->stack_bytes = stack_bytes;
    }
#endif
}

static void enter(void);

static void make_context(ucontext_t *context, const coroutine *one)
{
    /* cppcheck-suppress getcontextCalled ; POSIX had them, and nothing took their place */
    getcontext(context);
    context->uc_stack.ss_sp = one->stack;
    context->uc_stack.ss_size = one->stack_bytes;
    context->uc_link = NULL;
    /* cppcheck-suppress makecontextCalled */
    makecontext(context, enter, 0);
}

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__

static void leave(coroutine *from, coroutine *to)
{
    if (!to->has_begun)
        make_context(&to->place, to);
    to->has_begun = 1;
    volatile int is_back = 0;
    getcontext(&from->place);
    if (is_back)
        return;
    is_back = 1;
    setcontext(&to->place);
}

#else

static void leave(coroutine *from, coroutine *to)
{
    if (_setjmp(from->place))
        return;
    if (to->has_begun)
        _longjmp(to->place, 1);
    static ucontext_t fresh;
    make_context(&fresh, to);
    to->has_begun = 1;
    setcontext(&fresh);
}

#endif

static void enter(void)
{
    tell_of_arrival();
    coroutine *self = target;
    self->body(self->argument);
    tell_of_leaving(self, self->next, 1);
    leave(self, self->next);
}

void coroutine_switch(coroutine *from, coroutine *to)
{
    from->has_begun = 1;
    tell_of_leaving(from, to, 0);
    leave(from, to);
    tell_of_arrival();
}
