/* SPDX-License-Identifier: BSD-3-Clause */
/* bulk.c - arrays in memory, or in files that are mapped. */
#define _GNU_SOURCE /* mkostemp */
#include "trace/read/bulk.h"

#include "common/cli/room.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Smaller arrays are always in memory. */
enum { FILE_BYTES = 1 << 16 };

/* Before the first item of each array. */
typedef union {
    struct {
        size_t bytes; /* with this */
        bool is_in_file;
    } of;
    max_align_t alignment;
} head_t;

static size_t limit_bytes, used_bytes;
static bool has_limit;

void bulk_limit(size_t bytes)
{
    limit_bytes = bytes;
    has_limit = true;
}

/* A machine may have more memory than addresses can count. */
static size_t usual_limit(void)
{
    const uint64_t bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) / 2 * (uint64_t)sysconf(_SC_PAGESIZE);
    return bytes < SIZE_MAX ? (size_t)bytes : SIZE_MAX;
}

static bool has_room(size_t bytes)
{
    if (!has_limit)
        bulk_limit(usual_limit());
    return bytes <= limit_bytes && used_bytes <= limit_bytes - bytes;
}

static void *map_file(size_t bytes)
{
    const char *folder = getenv("TMPDIR");
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/mpix-XXXXXX", folder && folder[0] != '\0' ? folder : "/var/tmp");
    void *mapped = MAP_FAILED;
    int file = mkostemp(path, O_CLOEXEC);
    if (file < 0)
        return NULL;
    unlink(path);
    /* Without room on the disk, writing to what is mapped would end the program. */
    if (posix_fallocate(file, 0, (off_t)bytes) == 0)
        mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    return mapped != MAP_FAILED ? mapped : NULL;
}

static void *make(size_t count, size_t item_bytes, bool is_zero)
{
    const size_t whole = room_bytes((int64_t)count, item_bytes) + sizeof(head_t);
    head_t *head = whole >= FILE_BYTES && !has_room(whole) ? map_file(whole) : NULL;
    const bool is_in_file = head;
    if (!head)
        head = need(is_zero ? calloc(1, whole) : malloc(whole));
    head->of.bytes = whole;
    head->of.is_in_file = is_in_file;
    used_bytes += is_in_file ? 0 : whole;
    return head + 1;
}

void *bulk_array(size_t count, size_t item_bytes)
{
    return make(count, item_bytes, false);
}

void *bulk_zeros(size_t count, size_t item_bytes)
{
    return make(count, item_bytes, true);
}

/* In memory. Large arrays are moved, not copied, and need no room for both sizes. */
static void *resize(head_t *head, size_t whole)
{
    used_bytes -= head->of.bytes;
    head = need(realloc(head, whole));
    head->of.bytes = whole;
    used_bytes += whole;
    return head + 1;
}

void *bulk_resize(void *array, size_t count, size_t item_bytes)
{
    head_t *head = array ? (head_t *)array - 1 : NULL;
    const size_t whole = room_bytes((int64_t)count, item_bytes) + sizeof *head;
    if (head && !head->of.is_in_file && (whole <= head->of.bytes || has_room(whole - head->of.bytes)))
        return resize(head, whole);
    void *made = make(count, item_bytes, false);
    const size_t had = bulk_bytes(array), has = bulk_bytes(made);
    if (array)
        memcpy(made, array, had < has ? had : has);
    bulk_free(array);
    return made;
}

size_t bulk_bytes(const void *array)
{
    return array ? ((const head_t *)array - 1)->of.bytes - sizeof(head_t) : 0;
}

void bulk_free(void *array)
{
    if (!array)
        return;
    head_t *head = (head_t *)array - 1;
    if (head->of.is_in_file) {
        munmap(head, head->of.bytes);
    } else {
        used_bytes -= head->of.bytes;
        free(head);
    }
}

/* ---- Sorting: runs that fit into a cache, then many of them at once, as each merge may read and write files */

typedef struct {
    size_t item_bytes;
    int (*compare)(const void *, const void *);
} order_t;

/* What is left of a run. */
typedef struct {
    const char *next, *end;
} run_t;

/* Of items that are equal, the one that stands before the other. */
static bool is_before(const order_t *order, const run_t *a, const run_t *b)
{
    const int found = order->compare(a->next, b->next);
    return found < 0 || (found == 0 && a->next < b->next);
}

/* A heap: each run begins with what is before the beginnings of the two below it. */
static void sift(const order_t *order, run_t *heap, size_t count, size_t i)
{
    const run_t moved = heap[i];
    for (size_t below; (below = 2 * i + 1) < count; i = below) {
        below += below + 1 < count && is_before(order, &heap[below + 1], &heap[below]);
        if (!is_before(order, &heap[below], &moved))
            break;
        heap[i] = heap[below];
    }
    heap[i] = moved;
}

static void merge(const order_t *order, run_t *heap, size_t count, char *to)
{
    const size_t bytes = order->item_bytes;
    for (size_t i = count; i-- > 0;)
        sift(order, heap, count, i);
    while (count > 0) {
        memcpy(to, heap[0].next, bytes);
        to += bytes;
        heap[0].next += bytes;
        if (heap[0].next == heap[0].end)
            heap[0] = heap[--count];
        sift(order, heap, count, 0);
    }
}

void bulk_sort(void *array, size_t count, size_t item_bytes, int (*compare)(const void *, const void *))
{
    enum { RUN_BYTES = 1 << 18, MOST_RUNS = 64 };
    const order_t order = {item_bytes, compare};
    const size_t run = RUN_BYTES / item_bytes + 1, bytes = count * item_bytes;
    for (size_t i = 0; i < count; i += run)
        qsort((char *)array + i * item_bytes, count - i < run ? count - i : run, item_bytes, compare);
    if (count <= run)
        return;
    char *from = array, *to = bulk_array(count, item_bytes), *scratch = to;
    for (size_t width = run * item_bytes; width < bytes; width *= MOST_RUNS) {
        for (size_t i = 0, first = 0; i < bytes; first = i) {
            run_t heap[MOST_RUNS];
            size_t runs = 0;
            for (; runs < MOST_RUNS && i < bytes; i += width)
                heap[runs++] = (run_t){from + i, from + (bytes - i < width ? bytes : i + width)};
            merge(&order, heap, runs, to + first);
        }
        char *other = from;
        from = to;
        to = other;
    }
    if (from != array)
        memcpy(array, from, bytes);
    bulk_free(scratch);
}
