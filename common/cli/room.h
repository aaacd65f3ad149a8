/* SPDX-License-Identifier: BSD-3-Clause */
/* room.h - memory: sizes of it, on processors with 32-bit addresses too, and the end of a program without it. */
#ifndef ROOM_H
#define ROOM_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* need - the same pointer; ends the program if there is no memory, and says so, with the hint. */
void *need(void *pointer);
extern const char *memory_hint;

/* room_bytes - the size of count items; PTRDIFF_MAX, which no memory has, if addresses cannot count them. */
static inline size_t room_bytes(int64_t count, size_t item_bytes)
{
    return (uint64_t)count <= SIZE_MAX / 2 / item_bytes ? (size_t)count * item_bytes : PTRDIFF_MAX;
}

/*
 * room_for_another - room for one item more than count, which may move those that are there. It doubles each time that
 * it is full, so count is to grow by one only. Returns NULL without memory: the items stay.
 */
static inline void *room_for_another(void *items, int64_t count, size_t item_bytes)
{
    if ((count & (count - 1)) != 0)
        return items;
    return realloc(items, room_bytes(count > 0 ? 2 * count : 1, item_bytes));
}

/* need_array, need_zeros - room for count items, of which nothing is known, or all bits are 0; ends as need does. */
static inline void *need_array(size_t count, size_t item_bytes)
{
    return need(malloc(room_bytes(count > 0 ? (int64_t)count : 1, item_bytes)));
}

static inline void *need_zeros(size_t count, size_t item_bytes)
{
    return need(calloc(count > 0 ? count : 1, item_bytes));
}

/* need_for_another - likewise room for an item more than count. */
static inline void *need_for_another(void *items, size_t count, size_t item_bytes)
{
    return need(room_for_another(items, (int64_t)count, item_bytes));
}

#endif
