/* SPDX-License-Identifier: BSD-3-Clause */
/* Steps from a function to its caller: they find the same places as the compiler's library, for stacks of all kinds. */
#define _GNU_SOURCE /* pthread_getattr_np */
#include "trace/front/frames.h"

#include "unit/support.h"

#include <pthread.h>
#include <sys/resource.h>
#include <unwind.h>

/* Where FRAMES_CALLER has a frame. */
#if defined __x86_64__ || defined __i386__ || (defined __aarch64__ && !defined __clang__)

enum { MOST = 32, KEPT = 3 };
typedef struct {
    uintptr_t places[MOST];
    int count;
} walk;

static walk by_tables, by_library, before;
static frames_trail trail_before;
static int fewest; /* as many functions as this file has called */
static int known_count;

static _Unwind_Reason_Code add_place(struct _Unwind_Context *frame, void *its)
{
    walk *to = its;
    to->places[to->count++] = _Unwind_GetIP(frame);
    return to->count == MOST ? _URC_NORMAL_STOP : _URC_NO_REASON;
}

/* From the caller on. */
static __attribute__((noinline)) void compare(void)
{
    const frames_stack stack = mh_frames_stack();
    const frames_place from = *FRAMES_CALLER;
    frames_walk up = frames_begin(&from);
    const bool is_known = trail_before.from.pc != 0 && frames_is_same(&trail_before, &from);
    by_tables.count = by_library.count = 0;
    do
        by_tables.places[by_tables.count++] = up.now.pc;
    while (by_tables.count < MOST && mh_frames_go_up(&stack, &up));
    _Unwind_Backtrace(add_place, &by_library);
    int first = 0; /* the library begins with this function */
    while (first < by_library.count && by_library.places[first] != by_tables.places[0])
        first++;
    EXPECT(first < by_library.count, "the library does not find the caller");
    for (int i = 0; i < by_tables.count && first + i < by_library.count; i++)
        EXPECT(by_tables.places[i] == by_library.places[first + i], "frame %d is another one", i);
    EXPECT(by_tables.count >= fewest, "%d frames, not %d", by_tables.count, fewest);
    /* The frame pointer may have anything where nobody needs it. */
    static const uintptr_t wrong[] = {0, 1, 8, UINTPTR_MAX, UINTPTR_MAX - 7, UINTPTR_MAX / 16 * 8};
    for (int i = 0; i < COUNT_OF(wrong); i++) {
        up = frames_begin(&(const frames_place){from.pc, from.sp, wrong[i]});
        while (mh_frames_go_up(&stack, &up))
            ;
    }
    /* What is the same as before leads to the same callers. */
    up = frames_begin(&from);
    for (int i = 1; i < KEPT && mh_frames_go_up(&stack, &up); i++)
        ;
    EXPECT(frames_is_same(&up.trail, &from), "the callers are not known again: %d words", up.trail.word_count);
    for (int i = 0; i < KEPT && is_known; i++)
        EXPECT(by_tables.places[i] == before.places[i], "frame %d is not the one of before", i);
    known_count += is_known;
    trail_before = up.trail;
    before = by_tables;
    __asm__ volatile(""); /* so that the last call is no jump; likewise below */
}

/* ---- Functions whose stacks differ */

typedef void stack_form(int size);

static __attribute__((noinline)) void plain(int size)
{
    (void)size;
    compare();
    __asm__ volatile("");
}

/* Its size is known when it runs only. */
static __attribute__((noinline)) void with_array(int size)
{
    char array[size];
    __asm__ volatile("" : : "r"(array) : "memory");
    plain(size);
    __asm__ volatile("" : : "r"(array) : "memory");
}

static __attribute__((noinline)) void aligned(int size)
{
    _Alignas(128) char array[256];
    __asm__ volatile("" : : "r"(array) : "memory");
    plain(size);
    __asm__ volatile("" : : "r"(array) : "memory");
}

/* More than offsets of a byte or two reach. */
static __attribute__((noinline)) void large(int size)
{
    char array[100000];
    __asm__ volatile("" : : "r"(array) : "memory");
    with_array(size);
    __asm__ volatile("" : : "r"(array) : "memory");
}

static __attribute__((noinline)) void aligned_with_array(int size)
{
    _Alignas(64) char array[size];
    __asm__ volatile("" : : "r"(array) : "memory");
    aligned(size);
    __asm__ volatile("" : : "r"(array) : "memory");
}

static __attribute__((noinline)) void recursive(int size)
{
    if (size > 1)
        recursive(size / 2);
    else
        large(100);
    __asm__ volatile("");
}

/* Both have the same stack. */
static __attribute__((noinline)) void left(int size)
{
    plain(size);
    __asm__ volatile("# left");
}

static __attribute__((noinline)) void right(int size)
{
    plain(size);
    __asm__ volatile("# right");
}

static const struct {
    stack_form *form;
    int depth;
} forms[] = {{plain, 1},     {with_array, 2}, {aligned, 2}, {large, 3}, {aligned_with_array, 3},
             {recursive, 5}, {left, 2},       {right, 2}};

static void *run_all(void *unused)
{
    for (int i = 0; i < COUNT_OF(forms); i++)
        for (int size = 8; size <= 4096; size *= 8) {
            fewest = forms[i].depth + 1;
            forms[i].form(size);
        }
    return unused;
}

TEST(callers_are_those_of_the_library)
{
    pthread_t thread;
    run_all(NULL);
    run_all(NULL); /* by what is kept */
    EXPECT(known_count > 0, "no callers are those of the call before");
    ck_assert_int_eq(pthread_create(&thread, NULL, run_all, NULL), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
}

static void *run_with_much(void *unused)
{
    fewest = 3;
    with_array(100 << 20);
    return unused;
}

/* As of a thread of OpenMP whose function has large arrays. */
TEST(callers_are_found_on_a_large_stack)
{
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    ck_assert_int_eq(pthread_attr_setstacksize(&attributes, (size_t)128 << 20), 0);
    ck_assert_int_eq(pthread_create(&thread, &attributes, run_with_much, NULL), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    pthread_attr_destroy(&attributes);
}

/* Whatever the tables say: where the stack ends, or is another one, there is no caller. */
TEST(no_place_outside_of_the_stack_is_read)
{
    const frames_stack none = {1, 1}, stack = mh_frames_stack();
    const frames_place caller = *FRAMES_CALLER;
    frames_walk walk = frames_begin(&caller);
    ck_assert(mh_frames_go_up(&stack, &walk));
    walk = frames_begin(&caller);
    ck_assert(!mh_frames_go_up(&none, &walk));
    for (uintptr_t end = caller.sp + 1; end <= caller.sp + sizeof(uintptr_t); end++) {
        const frames_stack cut = {caller.sp, end};
        walk = frames_begin(&caller);
        ck_assert(!mh_frames_go_up(&cut, &walk));
    }
}

#endif

/* The stack that has no limit is that of the first thread. */
TEST(a_stack_without_limit_has_an_end)
{
    enum { MOST_BYTES = 64 << 20 };
    struct rlimit limit;
    const char here = 0;
    ck_assert_int_eq(getrlimit(RLIMIT_STACK, &limit), 0);
    if (limit.rlim_max != RLIM_INFINITY)
        return;
    ck_assert_int_eq(setrlimit(RLIMIT_STACK, &(struct rlimit){RLIM_INFINITY, RLIM_INFINITY}), 0);
    const frames_stack stack = mh_frames_stack();
    setrlimit(RLIMIT_STACK, &limit);
    EXPECT(stack.end - stack.begin <= MOST_BYTES, "the stack has %zu bytes", (size_t)(stack.end - stack.begin));
    EXPECT(stack.begin <= (uintptr_t)&here && (uintptr_t)&here < stack.end, "this is not on the stack");
}

/* As far as it may grow before it meets what is mapped below it. */
TEST(a_stack_with_a_limit_reaches_to_the_limit)
{
    enum { LIMIT_BYTES = 1 << 30 };
    struct rlimit limit;
    pthread_attr_t attributes;
    void *begin;
    size_t bytes;
    ck_assert_int_eq(getrlimit(RLIMIT_STACK, &limit), 0);
    if (limit.rlim_max < LIMIT_BYTES)
        return;
    ck_assert_int_eq(setrlimit(RLIMIT_STACK, &(struct rlimit){LIMIT_BYTES, limit.rlim_max}), 0);
    const frames_stack stack = mh_frames_stack();
    ck_assert_int_eq(pthread_getattr_np(pthread_self(), &attributes), 0);
    setrlimit(RLIMIT_STACK, &limit);
    ck_assert_int_eq(pthread_attr_getstack(&attributes, &begin, &bytes), 0);
    pthread_attr_destroy(&attributes);
    EXPECT(stack.begin == (uintptr_t)begin && stack.end - stack.begin == bytes, "the stack has %zu bytes, not %zu",
           (size_t)(stack.end - stack.begin), bytes);
}
