/* SPDX-License-Identifier: BSD-3-Clause */
/* room.h - sizes of memory, on processors with 32-bit addresses too. */
#ifndef ROOM_H
#define ROOM_H

#include <stddef.h>
#include <stdint.h>

/* room_bytes - the size of count items; SIZE_MAX, which no memory has, if addresses cannot count them. */
static inline size_t room_bytes(int64_t count, size_t item_bytes)
{
    return (uint64_t)count <= SIZE_MAX / 2 / item_bytes ? (size_t)count * item_bytes : SIZE_MAX;
}

#endif
