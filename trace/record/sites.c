/* SPDX-License-Identifier: BSD-3-Clause */
/* sites.c - the places from which the program calls MPI, by name. Addresses are looked up when events are flushed. */
#define _GNU_SOURCE
#include "trace/record/sites.h"

#include "trace/record/file.h"
#include "trace/record/recording.h"
#include "trace/record/table.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* More places than these have no name. Longer names of functions are cut. */
enum { BUCKET_BITS = 10, MAX_SITES = TRACE_SLOTS(BUCKET_BITS) / 2, TEXT_SIZE = 1024, MAX_NAME = 511 };

static trace_table known = TRACE_TABLE(BUCKET_BITS);
static uint64_t sites[MAX_SITES];
static size_t site_count, written_count;

/*
 * ---- Names of functions from the symbol table in an object's file. It has all functions, unless the file was
 * stripped; dladdr knows those that other objects can call, and in an ordinary program there are none.
 *
 * The file is read, not mapped: a mapped one that becomes shorter would end the program. A failure leaves no name.
 */

/* So much of a file is in memory too, and is compared: headers, and where linkers put it, what identifies the build. */
enum { HEAD_BYTES = 1024 };

typedef ElfW(Ehdr) elf_head;
typedef ElfW(Shdr) elf_section;
typedef ElfW(Sym) elf_symbol;

/* The last one, as most calls are in the same. */
static struct {
    const void *base;    /* NULL: there is none */
    elf_symbol *symbols; /* NULL, and likewise the names: it has no table */
    char *names;
    size_t symbol_bytes, name_bytes;
} object;

/* A part of a file, with a zero after it; NULL if it cannot be read. */
static void *read_part(int file, uint64_t offset, size_t bytes)
{
    void *part = mh_trace_map(bytes + 1);
    if (!part || pread(file, part, bytes, (off_t)offset) == (ssize_t)bytes)
        return part;
    munmap(part, bytes + 1);
    return NULL;
}

static void free_part(void *part, size_t bytes)
{
    if (part)
        munmap(part, bytes + 1);
}

static void forget_symbols(void)
{
    free_part(object.symbols, object.symbol_bytes);
    free_part(object.names, object.name_bytes);
    memset(&object, 0, sizeof object);
}

static void read_symbols(int file, const elf_head *head)
{
    const size_t bytes = head->e_shnum * sizeof(elf_section);
    elf_section *sections = head->e_shentsize == sizeof *sections ? read_part(file, head->e_shoff, bytes) : NULL;
    for (const elf_section *its = sections; sections && its < sections + head->e_shnum; its++) {
        if (its->sh_type != SHT_SYMTAB || its->sh_entsize != sizeof *object.symbols || its->sh_link >= head->e_shnum)
            continue;
        const elf_section *names = &sections[its->sh_link];
        object.symbol_bytes = its->sh_size;
        object.symbols = read_part(file, its->sh_offset, its->sh_size);
        object.name_bytes = names->sh_size;
        object.names = read_part(file, names->sh_offset, names->sh_size);
        break;
    }
    free_part(sections, bytes);
}

/* From the file at base: a path may be relative to another folder, or have become another file's. */
static void open_object(const char *path, const void *base)
{
    static char head[HEAD_BYTES];
    const char *const paths[] = {"/proc/self/exe", path};
    object.base = base;
    for (int i = 0; i < 2 && !object.symbols; i++) {
        const int file = open(paths[i], O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        if (file < 0)
            continue;
        if (pread(file, head, sizeof head, 0) == sizeof head && memcmp(head, base, sizeof head) == 0)
            read_symbols(file, base);
        close(file);
    }
}

/* address: in the object's own numbers; becomes the offset from the function's start. NULL if there is no name. */
static const char *find_symbol(const void *base, const char *path, uintptr_t *address)
{
    if (object.base != base) {
        forget_symbols();
        open_object(path, base);
    }
    const size_t count = object.symbols && object.names ? object.symbol_bytes / sizeof *object.symbols : 0;
    for (const elf_symbol *symbol = object.symbols; symbol < object.symbols + count; symbol++)
        /* The type is in the same bits in both classes. */
        if (ELF32_ST_TYPE(symbol->st_info) == STT_FUNC && symbol->st_shndx != SHN_UNDEF &&
            *address >= symbol->st_value && *address - symbol->st_value < symbol->st_size &&
            symbol->st_name < object.name_bytes && object.names[symbol->st_name] != '\0') {
            *address -= symbol->st_value;
            return object.names + symbol->st_name;
        }
    return NULL;
}

/* ---- Sites */

void mh_trace_note_site(uint64_t address)
{
    const int64_t slot = site_count < MAX_SITES ? mh_trace_reserve(&known, address) : TRACE_ABSENT;
    if (slot < 0)
        return;
    mh_trace_publish(&known, slot, address);
    sites[site_count++] = address;
}

void mh_trace_note_sites(const trace_event *events, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (events[i].kind == TRACE_ENTER && events[i].value != 0)
            mh_trace_note_site(events[i].value);
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
    const char *name = found.dli_sname;
    const uintptr_t in_object = call - base_of(&found); /* addr2line takes it */
    uintptr_t offset = name ? call - (uintptr_t)found.dli_saddr : in_object;
    if (!name)
        name = find_symbol(found.dli_fbase, found.dli_fname, &offset);
    if (name)
        snprintf(text, TEXT_SIZE, "%.*s+0x%jx (0x%jx) in %s", MAX_NAME, name, (uintmax_t)offset, (uintmax_t)in_object,
                 found.dli_fname);
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
    forget_symbols();
}
