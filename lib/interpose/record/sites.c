/* SPDX-License-Identifier: BSD-3-Clause */
/* sites.c - the places from which the program calls MPI, by name. Addresses are looked up when events are flushed. */
#define _GNU_SOURCE
#include "interpose/record/sites.h"

#include "interpose/interposer.h"
#include "interpose/record/file.h"
#include "interpose/record/recording.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* More places than these have no name. */
enum { TABLE_BITS = 14, TABLE_SIZE = 1 << TABLE_BITS, MAX_SITES = TABLE_SIZE / 2, TEXT_SIZE = 1024 };
/* Longer names of functions are cut. */
enum { NAME_SIZE = 512 };

static uint64_t table[TABLE_SIZE];
static uint64_t sites[MAX_SITES];
static size_t site_count, written_count;

/*
 * ---- Names of functions from the symbol table in an object's file. It has all functions, unless the file was
 * stripped; dladdr knows those that other objects can call, and in an ordinary program there are none.
 *
 * The file is read, not mapped: a mapped one that becomes shorter would end the program. A failure leaves no name.
 * Files stay open until they are forgotten.
 */

/* So much of a file is in memory too, and is compared: headers, and where linkers put it, what identifies the build. */
enum { HEAD_BYTES = 1024 };

typedef ElfW(Ehdr) elf_head;
typedef ElfW(Shdr) elf_section;
typedef ElfW(Sym) elf_symbol;

/* The last one, as most calls are in the same. */
static struct {
    const void *base; /* NULL: there is none */
    int file;
    elf_symbol *symbols; /* NULL: it has no table */
    elf_section table, names;
} object = {.file = -1};

static bool read_at(uint64_t offset, void *into, size_t bytes)
{
    return pread(object.file, into, bytes, (off_t)offset) == (ssize_t)bytes;
}

static void close_file(void)
{
    if (object.file != -1)
        close(object.file);
    object.file = -1;
}

/* Returns whether it is the file at base: a path may be relative to another folder, or have become another file's. */
static bool open_file(const char *path, const void *base)
{
    static char head[HEAD_BYTES];
    object.file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool is_same = object.file != -1 && read_at(0, head, sizeof head) && memcmp(head, base, sizeof head) == 0;
    if (!is_same)
        close_file();
    return is_same;
}

static bool read_section(const elf_head *head, size_t number, elf_section *section)
{
    return number < head->e_shnum && head->e_shentsize == sizeof *section &&
           read_at(head->e_shoff + (uint64_t)number * sizeof *section, section, sizeof *section);
}

static void read_table(const elf_head *head)
{
    elf_section *its = &object.table;
    size_t number = 0;
    do {
        if (!read_section(head, number++, its))
            return;
    } while (its->sh_type != SHT_SYMTAB);
    if (!read_section(head, its->sh_link, &object.names) || its->sh_entsize != sizeof *object.symbols)
        return;
    object.symbols = mh_trace_map(its->sh_size);
    if (object.symbols && !read_at(its->sh_offset, object.symbols, its->sh_size)) {
        munmap(object.symbols, its->sh_size);
        object.symbols = NULL;
    }
}

static void forget_symbols(void)
{
    if (object.symbols)
        munmap(object.symbols, object.table.sh_size);
    object.symbols = NULL;
    object.base = NULL;
    close_file();
}

static bool read_name(const elf_symbol *symbol, char name[NAME_SIZE])
{
    const elf_section *names = &object.names;
    if (symbol->st_name >= names->sh_size)
        return false;
    size_t bytes = names->sh_size - symbol->st_name;
    if (bytes > NAME_SIZE - 1)
        bytes = NAME_SIZE - 1;
    name[bytes] = '\0';
    return read_at((uint64_t)names->sh_offset + symbol->st_name, name, bytes) && name[0] != '\0';
}

/* address: in the object's own numbers; becomes the offset from the function's start. Returns false without a name. */
static bool find_symbol(const void *base, const char *path, uintptr_t *address, char name[NAME_SIZE])
{
    if (object.base != base) {
        forget_symbols();
        object.base = base;
        if (open_file("/proc/self/exe", base) || open_file(path, base))
            read_table(base);
    }
    const size_t count = object.symbols ? object.table.sh_size / sizeof *object.symbols : 0;
    for (size_t i = 0; i < count; i++) {
        const elf_symbol *symbol = &object.symbols[i];
        /* The type is in the same bits in both classes. */
        if (ELF32_ST_TYPE(symbol->st_info) == STT_FUNC && symbol->st_shndx != SHN_UNDEF &&
            *address >= symbol->st_value && *address - symbol->st_value < symbol->st_size && read_name(symbol, name)) {
            *address -= symbol->st_value;
            return true;
        }
    }
    return false;
}

/* ---- Sites */

static void note(uint64_t address)
{
    size_t place = trace_hash(address, TABLE_BITS);
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
    char own[NAME_SIZE];
    const char *name = found.dli_sname;
    const uintptr_t in_object = call - base_of(&found); /* addr2line takes it */
    uintptr_t offset = name ? call - (uintptr_t)found.dli_saddr : in_object;
    if (!name && find_symbol(found.dli_fbase, found.dli_fname, &offset, own))
        name = own;
    if (name)
        snprintf(text, TEXT_SIZE, "%.*s+0x%jx (0x%jx) in %s", NAME_SIZE - 1, name, (uintmax_t)offset,
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
    forget_symbols();
}
