/* SPDX-License-Identifier: BSD-3-Clause */
/* memory.h - sizes of arrays, on processors with 32-bit addresses too, and the end of a program without memory. */
#ifndef CLI_MEMORY_H
#define CLI_MEMORY_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* or_exit - the same pointer. If it is NULL, there is no memory: says so, with the hint, and ends the program. */
void *or_exit(void *pointer);
extern const char *memory_hint;

/* array_bytes - the size of count items; PTRDIFF_MAX, which no memory has, if addresses cannot count them. */
static inline size_t array_bytes(int64_t count, size_t item_bytes)
{
    return (uint64_t)count <= SIZE_MAX / 2 / item_bytes ? (size_t)count * item_bytes : PTRDIFF_MAX;
}

/*
 * array_grow - the array with memory for one item more than count; it may move. The memory doubles each time that it is
 * full, so count is to grow by one only. Returns NULL without memory: the items stay.
 */
static inline void *array_grow(void *items, int64_t count, size_t item_bytes)
{
    if ((count & (count - 1)) != 0)
        return items;
    return realloc(items, array_bytes(count > 0 ? 2 * count : 1, item_bytes));
}

/* array_or_exit, zeros_or_exit - an array of count items, of which nothing is known, or all bits are 0. */
static inline void *array_or_exit(size_t count, size_t item_bytes)
{
    return or_exit(malloc(array_bytes(count > 0 ? (int64_t)count : 1, item_bytes)));
}

static inline void *zeros_or_exit(size_t count, size_t item_bytes)
{
    return or_exit(calloc(count > 0 ? count : 1, item_bytes));
}

/* grow_or_exit - array_grow, or the end of the program. */
static inline void *grow_or_exit(void *items, size_t count, size_t item_bytes)
{
    return or_exit(array_grow(items, (int64_t)count, item_bytes));
}

#endif
