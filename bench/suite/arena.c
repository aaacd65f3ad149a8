/* SPDX-License-Identifier: BSD-3-Clause */
/* arena.c - the size of the cache, and where the buffers of each call lie. */
#include "bench/suite/arena.h"

#include "common/mpi/kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PAGE_BYTES = 4096, LINE_BYTES = 64 };

/* If no size is known: larger than the share of a core on most processors. */
#define GUESSED_CACHE_BYTES (INT64_C(32) << 20)

/* The size in a file such as /sys/devices/system/cpu/cpu0/cache/index3/size, "32768K"; 0 if there is none. */
static int64_t listed_cache_bytes(int index)
{
    char path[80], text[KERNEL_WORD_BYTES], *unit;
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/size", index);
    kernel_value(path, "", text, sizeof text);
    int64_t size = strtoll(text, &unit, 10);
    return *unit == 'K' ? size << 10 : *unit == 'M' ? size << 20 : size;
}

int64_t arena_cache_bytes(void)
{
    enum { INDEXES = 8 };
    int64_t max = 0;

    for (int i = 0; i < INDEXES; i++) {
        int64_t bytes = listed_cache_bytes(i);
        max = bytes > max ? bytes : max;
    }
#ifdef _SC_LEVEL3_CACHE_SIZE
    if (max == 0)
        max = sysconf(_SC_LEVEL3_CACHE_SIZE);
#endif
    return max > 0 ? max : GUESSED_CACHE_BYTES;
}

const char *const cache_modes[] = {"warm", "rotate", "cold", NULL};

static int64_t alignment(cache_mode_t kind)
{
    return kind == CACHE_ROTATE ? LINE_BYTES : PAGE_BYTES;
}

/* bytes rounded up; -1 if that is too many. */
static int64_t round_up(int64_t bytes, int64_t unit)
{
    return bytes < 0 || bytes > INT64_MAX - unit ? -1 : (bytes + unit - 1) / unit * unit;
}

/* The sum; -1 if either is -1 or the sum is too large. */
static int64_t add(int64_t a, int64_t b)
{
    int64_t sum;
    return a < 0 || b < 0 || __builtin_add_overflow(a, b, &sum) ? -1 : sum;
}

static int64_t slot_needs(cache_mode_t kind, int64_t send_bytes, int64_t receive_bytes)
{
    return add(round_up(send_bytes, alignment(kind)), round_up(receive_bytes, alignment(kind)));
}

/* 1.5 times the cache, because a cache may keep some lines that it should have dropped. */
static int64_t more_than_cache(int64_t cache_bytes)
{
    return round_up(cache_bytes + cache_bytes / 2, PAGE_BYTES);
}

/* A ring has two slots at least. */
static int64_t ring_needs(int64_t slot_bytes, int64_t cache_bytes)
{
    int64_t wanted = more_than_cache(cache_bytes);
    if (slot_bytes <= 0)
        return slot_bytes;
    return add(slot_bytes > wanted ? slot_bytes : wanted, slot_bytes);
}

int64_t arena_needs(cache_mode_t kind, int64_t send_bytes, int64_t receive_bytes, int64_t cache_bytes)
{
    int64_t slot_bytes = slot_needs(kind, send_bytes, receive_bytes);
    if (kind == CACHE_ROTATE)
        return ring_needs(slot_bytes, cache_bytes);
    return kind == CACHE_COLD ? add(slot_bytes, more_than_cache(cache_bytes)) : slot_bytes;
}

/*
 * Writes to each page, or the first measured call would pay for it: zeros, which no number of reductions in place
 * changes.
 */
char *arena_allocate(int64_t bytes)
{
    void *memory = NULL;
    size_t size = bytes > 0 ? (size_t)bytes : LINE_BYTES;
    if (posix_memalign(&memory, PAGE_BYTES, size) != 0)
        return NULL;
    memset(memory, 0, size);
    return memory;
}

arena_t arena_open(char *memory, cache_mode_t kind, int64_t send_bytes, int64_t receive_bytes, int64_t cache_bytes)
{
    int64_t slot_bytes = slot_needs(kind, send_bytes, receive_bytes);
    arena_t arena = {.kind = kind, .memory = memory, .bytes = slot_bytes};
    if (kind == CACHE_ROTATE)
        arena.bytes = ring_needs(slot_bytes, cache_bytes);
    if (kind == CACHE_COLD)
        arena.eviction_bytes = more_than_cache(cache_bytes);
    arena_set_size(&arena, send_bytes, receive_bytes);
    return arena;
}

static int64_t greatest_common_divisor(int64_t a, int64_t b)
{
    while (b != 0) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

void arena_set_size(arena_t *arena, int64_t send_bytes, int64_t receive_bytes)
{
    arena->send_bytes = round_up(send_bytes, alignment(arena->kind));
    arena->slot_bytes = arena->send_bytes + round_up(receive_bytes, alignment(arena->kind));
    arena->slots = 1;
    arena->step = 1;
    if (arena->kind != CACHE_ROTATE || arena->slot_bytes == 0)
        return;
    arena->slots = arena->bytes / arena->slot_bytes;
    /* Near the golden section, whose multiples are far from each other. */
    arena->step = (int64_t)((double)arena->slots * 0.618) + 1;
    while (greatest_common_divisor(arena->slots, arena->step) != 1)
        arena->step++;
}

static void evict(const arena_t *arena)
{
    unsigned sum = 0;
    for (int64_t i = 0; i < arena->eviction_bytes; i += LINE_BYTES)
        sum += *(volatile const unsigned char *)(arena->memory + arena->bytes + i);
    (void)sum;
}

void arena_slot(const arena_t *arena, int64_t call, char **send, char **receive)
{
    int64_t slot = call % arena->slots * arena->step % arena->slots;
    *send = arena->memory + slot * arena->slot_bytes;
    *receive = *send + arena->send_bytes;
    evict(arena);
}
