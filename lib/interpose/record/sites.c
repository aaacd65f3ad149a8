/* SPDX-License-Identifier: BSD-3-Clause */
/* sites.c - the places from which the program calls MPI, by name. Addresses are looked up when events are flushed. */
#define _GNU_SOURCE
#include "interpose/record/sites.h"

#include "interpose/record/file.h"
#include "interpose/record/symbols.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

/* More places than these have no name. */
enum { TABLE_BITS = 14, TABLE_SIZE = 1 << TABLE_BITS, MAX_SITES = TABLE_SIZE / 2, TEXT_SIZE = 1024 };

static uint64_t table[TABLE_SIZE];
static uint64_t sites[MAX_SITES];
static size_t site_count, written_count;

static void note(uint64_t address)
{
    size_t place = (size_t)(address * UINT64_C(0x9e3779b97f4a7c15) >> (64 - TABLE_BITS));
    while (table[place] != 0 && table[place] != address)
        place = (place + 1) % TABLE_SIZE;
    if (table[place] == address || site_count == MAX_SITES)
        return;
    table[place] = sites[site_count++] = address;
}

void mh_trace_note_sites(const trace_event *events, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (events[i].kind == TRACE_ENTER && events[i].value != 0)
            note(events[i].value);
}

/* Where the object's own addresses begin: an executable that is loaded where it was linked has absolute ones. */
static uintptr_t base_of(const Dl_info *object)
{
    const ElfW(Ehdr) *head = object->dli_fbase;
    return head->e_type == ET_EXEC ? 0 : (uintptr_t)head;
}

/* An address is where the program continues after the call; the address before it belongs to the call. */
static void describe(uint64_t address, char text[TEXT_SIZE])
{
    Dl_info found;
    const uintptr_t call = (uintptr_t)address - 1;
    text[0] = '\0';
    if (!dladdr((void *)call, &found) || !found.dli_fname)
        return;
    char own[TRACE_NAME_SIZE];
    const char *name = found.dli_sname;
    const uintptr_t in_object = call - base_of(&found); /* addr2line takes it */
    uintptr_t offset = name ? call - (uintptr_t)found.dli_saddr : in_object;
    if (!name && mh_trace_find_symbol(found.dli_fbase, found.dli_fname, &offset, own))
        name = own;
    if (name)
        snprintf(text, TEXT_SIZE, "%.*s+0x%jx (0x%jx) in %s", TRACE_NAME_SIZE - 1, name, (uintmax_t)offset,
                 (uintmax_t)in_object, found.dli_fname);
    else
        snprintf(text, TEXT_SIZE, "+0x%jx in %s", (uintmax_t)in_object, found.dli_fname);
}

void mh_trace_write_sites(void)
{
    static const char zeros[8] = {0};
    for (; written_count < site_count; written_count++) {
        struct {
            uint64_t address;
            uint32_t length, zero;
        } head = {.address = sites[written_count]};
        char text[TEXT_SIZE];
        describe(head.address, text);
        head.length = (uint32_t)strlen(text);
        struct iovec parts[] = {{&head, sizeof head}, {text, head.length}, {(void *)zeros, (8 - head.length % 8) % 8}};
        mh_trace_write(TRACE_BLOCK_SITES, 0, parts, 3);
    }
    mh_trace_forget_symbols();
}
