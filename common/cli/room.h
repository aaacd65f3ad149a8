/* SPDX-License-Identifier: BSD-3-Clause */
/* room.h - memory: sizes of it, on processors with 32-bit addresses too, and the end of a program without it. */
#ifndef ROOM_H
#define ROOM_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* need - the same pointer; ends the program if there is no memory. */
void *need(void *pointer);

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

#endif
