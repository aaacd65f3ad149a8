/* SPDX-License-Identifier: BSD-3-Clause */
/* sites.c - the places from which the program calls MPI, by name. Addresses are looked up when events are flushed. */
#define _GNU_SOURCE
#include "interpose/record/sites.h"

#include "interpose/choices.h"
#include "interpose/record/file.h"
#include "interpose/record/symbols.h"

#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unwind.h>

/* More places than these have no name. */
enum { TABLE_BITS = 14, TABLE_SIZE = 1 << TABLE_BITS, MAX_SITES = TABLE_SIZE / 2, TEXT_SIZE = 1024 };

static uint64_t table[TABLE_SIZE];
static uint64_t sites[MAX_SITES];
static size_t site_count, written_count;

static size_t place_of(uint64_t address, int bits)
{
    return (size_t)(address * UINT64_C(0x9e3779b97f4a7c15) >> (64 - bits));
}

/* ---- Fortran: the interface of the MPI library calls the functions of C, and the program calls the interface */

enum { KNOWN_BITS = 8, FRAMES = 16 };
typedef struct {
    uint64_t site;
    int frames;
    bool is_past_interface;
} program_search;

static bool is_name_of_interface(const char *path)
{
    static const char *const stems[] = {"libmpichfort.", "libmpifort.", "libmpi_mpifh", "libmpi_usempi", NULL};
    return mh_stem_of(path, stems) >= 0;
}

/* dladdr is slow, so its last answers are kept: twice the address, and 1 if it is in an interface. */
static bool is_in_interface(uint64_t address)
{
    static _Atomic uint64_t known[1 << KNOWN_BITS];
    _Atomic uint64_t *place = &known[place_of(address, KNOWN_BITS)];
    uint64_t answer = atomic_load_explicit(place, memory_order_relaxed);
    if (answer >> 1 != address) {
        Dl_info object;
        bool is_known = dladdr((void *)(uintptr_t)address, &object) && object.dli_fname;
        answer = address << 1 | (is_known && is_name_of_interface(object.dli_fname));
        atomic_store_explicit(place, answer, memory_order_relaxed);
    }
    return answer & 1;
}

static _Unwind_Reason_Code search_program(struct _Unwind_Context *frame, void *its)
{
    program_search *search = its;
    const uint64_t address = _Unwind_GetIP(frame);
    if (is_in_interface(address)) {
        search->is_past_interface = true;
    } else if (search->is_past_interface) {
        search->site = address;
        return _URC_NORMAL_STOP;
    }
    return ++search->frames == FRAMES ? _URC_NORMAL_STOP : _URC_NO_REASON;
}

uint64_t mh_trace_program_site(uint64_t site)
{
    program_search search = {.site = site};
    if (is_in_interface(site))
        _Unwind_Backtrace(search_program, &search);
    return search.site;
}

/* ---- Names */

static void note(uint64_t address)
{
    size_t place = place_of(address, TABLE_BITS);
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
