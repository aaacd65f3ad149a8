/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * symbols.c - names of functions from the symbol table in an object's file. It has all functions, unless the file was
 * stripped; dladdr knows those that other objects can call, and in an ordinary program there are none.
 *
 * The file is read, not mapped: a mapped one that becomes shorter would end the program. A failure leaves no name.
 */
#define _GNU_SOURCE
#include "interpose/record/symbols.h"

#include "interpose/record/recording.h"

#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

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
    elf_section *table = &object.table;
    size_t number = 0;
    do {
        if (!read_section(head, number++, table))
            return;
    } while (table->sh_type != SHT_SYMTAB);
    if (!read_section(head, table->sh_link, &object.names) || table->sh_entsize != sizeof *object.symbols)
        return;
    object.symbols = mh_trace_map(table->sh_size);
    if (object.symbols && !read_at(table->sh_offset, object.symbols, table->sh_size)) {
        munmap(object.symbols, table->sh_size);
        object.symbols = NULL;
    }
}

void mh_trace_forget_symbols(void)
{
    if (object.symbols)
        munmap(object.symbols, object.table.sh_size);
    object.symbols = NULL;
    object.base = NULL;
    close_file();
}

static bool read_name(const elf_symbol *symbol, char name[TRACE_NAME_SIZE])
{
    const elf_section *names = &object.names;
    if (symbol->st_name >= names->sh_size)
        return false;
    size_t bytes = names->sh_size - symbol->st_name;
    if (bytes > TRACE_NAME_SIZE - 1)
        bytes = TRACE_NAME_SIZE - 1;
    name[bytes] = '\0';
    return read_at((uint64_t)names->sh_offset + symbol->st_name, name, bytes) && name[0] != '\0';
}

bool mh_trace_find_symbol(const void *base, const char *path, uintptr_t *address, char name[TRACE_NAME_SIZE])
{
    if (object.base != base) {
        mh_trace_forget_symbols();
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
