/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bulk.h - arrays that may be larger than memory together. Those that are made beyond a limit lie in files without a
 * name in the folder TMPDIR, or in /var/tmp. These are mapped: the system keeps in memory what is in use. If a file
 * has no room, the array is in memory, too; without memory, the program ends. One thread calls these functions.
 */
#ifndef TRACE_BULK_H
#define TRACE_BULK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* bulk_limit - set how many bytes may be in memory. The usual limit is half of the machine's memory. */
void bulk_limit(size_t bytes);

/* bulk_array - room for count items, of which nothing is known. To be freed by bulk_free. */
void *bulk_array(size_t count, size_t item_bytes);

/* bulk_zeros - room for count items that are all zeros; else as bulk_array. */
void *bulk_zeros(size_t count, size_t item_bytes);

/* bulk_resize - another size for an array, as by realloc; for NULL a new one. */
void *bulk_resize(void *array, size_t count, size_t item_bytes);

/* bulk_for_another - room for one item more than count; see room_for_another in common/room.h. */
static inline void *bulk_for_another(void *array, size_t count, size_t item_bytes)
{
    if ((count & (count - 1)) != 0)
        return array;
    return bulk_resize(array, count > 0 ? 2 * count : 1, item_bytes);
}

/* bulk_bytes - how many bytes an array has room for; NULL has none. */
size_t bulk_bytes(const void *array);

void bulk_free(void *array);

/* bulk_sort - sort as qsort does, but read and write memory in order. */
void bulk_sort(void *array, size_t count, size_t item_bytes, int (*compare)(const void *, const void *));

#endif
