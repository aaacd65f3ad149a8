/* SPDX-License-Identifier: BSD-3-Clause */
#include "room.h"

size_t room_bytes(int64_t count, size_t item_bytes)
{
    return (uint64_t)count <= SIZE_MAX / 2 / item_bytes ? (size_t)count * item_bytes : SIZE_MAX;
}
