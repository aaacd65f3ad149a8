/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sites.c - the paths of callers to calls of MPI, and the places in these by name. Names are looked up when events are
 * flushed.
 */
#define _GNU_SOURCE
#include "trace/record/sites.h"

#include "base/host.h"
#include "trace/record/file.h"
#include "trace/record/recording.h"
#include "trace/record/table.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* More places than these have no name. Longer names of functions are cut. */
enum { BUCKET_BITS = 10, MAX_SITES = TRACE_SLOTS(BUCKET_BITS) / 2, TEXT_SIZE = 1024, MAX_NAME = 511 };

static trace_lock noting = TRACE_LOCK;
static trace_table known = TRACE_TABLE(BUCKET_BITS), known_paths = TRACE_TABLE(BUCKET_BITS);
static trace_table lines = TRACE_TABLE(BUCKET_BITS); /* of scripts, by their numbers */
static char *line_texts[TRACE_SLOTS(BUCKET_BITS)];
static uint64_t sites[MAX_SITES]; /* return addresses */
static struct {
    trace_path_head head;
    uint64_t frames[CHOICES_FRAMES];
} call_paths[RECORD_PATHS];
static atomic_size_t site_count, path_count;
static atomic_bool lacks_paths, lacks_places;
static size_t written_count, written_paths;

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

/* The last ones, as paths lead through the same few again and again. */
enum { OBJECTS = 8 };
typedef struct {
    const void *base;    /* NULL: there is none */
    elf_symbol *symbols; /* NULL, and likewise the names: it has no table */
    char *names;
    size_t symbol_bytes, name_bytes;
} object;
static object objects[OBJECTS];
static unsigned opened_count;

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

static void forget_symbols(object *its)
{
    free_part(its->symbols, its->symbol_bytes);
    free_part(its->names, its->name_bytes);
    *its = (object){.base = NULL};
}

static void read_symbols(object *into, int file, const elf_head *head)
{
    const size_t bytes = head->e_shnum * sizeof(elf_section);
    elf_section *sections = head->e_shentsize == sizeof *sections ? read_part(file, head->e_shoff, bytes) : NULL;
    for (const elf_section *its = sections; sections && its < sections + head->e_shnum; its++) {
        if (its->sh_type != SHT_SYMTAB || its->sh_entsize != sizeof *into->symbols || its->sh_link >= head->e_shnum)
            continue;
        const elf_section *names = &sections[its->sh_link];
        into->symbol_bytes = its->sh_size;
        into->symbols = read_part(file, its->sh_offset, its->sh_size);
        into->name_bytes = names->sh_size;
        into->names = read_part(file, names->sh_offset, names->sh_size);
        break;
    }
    free_part(sections, bytes);
}

/* From the file at base: a path may be relative to another folder, or have become another file's. */
static object *open_object(const char *path, const void *base)
{
    static char head[HEAD_BYTES];
    const char *const paths[] = {"/proc/self/exe", path};
    object *its = &objects[opened_count++ % OBJECTS];
    forget_symbols(its);
    its->base = base;
    for (int i = 0; i < 2 && !its->symbols; i++) {
        const int file = open(paths[i], O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        if (file < 0)
            continue;
        if (pread(file, head, sizeof head, 0) == sizeof head && memcmp(head, base, sizeof head) == 0)
            read_symbols(its, file, base);
        close(file);
    }
    return its;
}

static const object *find_object(const char *path, const void *base)
{
    for (int i = 0; i < OBJECTS; i++)
        if (objects[i].base == base)
            return &objects[i];
    return open_object(path, base);
}

/* address: in the object's own numbers; becomes the offset from the function's start. NULL if there is no name. */
static const char *find_symbol(const void *base, const char *path, uintptr_t *address)
{
    const object *its = find_object(path, base);
    const size_t count = its->symbols && its->names ? its->symbol_bytes / sizeof *its->symbols : 0;
    for (const elf_symbol *symbol = its->symbols; symbol < its->symbols + count; symbol++)
        /* The type is in the same bits in both classes. */
        if (ELF32_ST_TYPE(symbol->st_info) == STT_FUNC && symbol->st_shndx != SHN_UNDEF &&
            *address >= symbol->st_value && *address - symbol->st_value < symbol->st_size &&
            symbol->st_name < its->name_bytes && its->names[symbol->st_name] != '\0') {
            *address -= symbol->st_value;
            return its->names + symbol->st_name;
        }
    return NULL;
}

/* ---- Sites */

static void note_address(uint64_t address)
{
    const size_t count = atomic_load(&site_count);
    const int64_t slot = count < MAX_SITES ? mh_trace_reserve(&known, address) : TRACE_ABSENT;
    if (slot == TRACE_ABSENT && mh_trace_find(&known, address) < 0)
        atomic_store(&lacks_places, true);
    if (slot < 0)
        return;
    mh_trace_publish(&known, slot, address);
    sites[count] = address;
    atomic_store(&site_count, count + 1);
}

void mh_trace_note_path(uint64_t path, int function, const uintptr_t *addresses, int count)
{
    if (mh_trace_find(&known_paths, path) >= 0)
        return;
    mh_trace_lock(&noting, TRACE_AT_ANY_TIME);
    const size_t number = atomic_load(&path_count);
    const int64_t slot = number < RECORD_PATHS ? mh_trace_reserve(&known_paths, path) : TRACE_ABSENT;
    if (slot >= 0) {
        call_paths[number].head = (trace_path_head){path, (uint32_t)function, (uint32_t)count};
        for (int i = 0; i < count; i++) {
            call_paths[number].frames[i] = addresses[i];
            note_address(addresses[i]);
        }
        mh_trace_publish(&known_paths, slot, path);
        atomic_store(&path_count, number + 1);
    } else if (slot == TRACE_ABSENT) {
        atomic_store(&lacks_paths, true);
    }
    mh_trace_unlock(&noting);
}

/* The number has a bit that addresses of programs with 64 bits have not. */
uint64_t mh_trace_define_line(const char *text)
{
    const uint64_t number = (uintptr_t)(mh_hash_text(text) | UINT64_C(1) << 63);
    if (mh_trace_find(&lines, number) >= 0)
        return number;
    char *copy = strdup(text);
    mh_trace_lock(&noting, TRACE_AT_ANY_TIME);
    const int64_t slot = copy ? mh_trace_reserve(&lines, number) : TRACE_ABSENT;
    if (slot >= 0) {
        line_texts[slot] = copy;
        mh_trace_publish(&lines, slot, number);
    }
    mh_trace_unlock(&noting);
    if (slot < 0)
        free(copy);
    if (copy && slot == TRACE_ABSENT)
        atomic_store(&lacks_places, true);
    return slot != TRACE_ABSENT ? number : 0;
}

bool mh_trace_lacks_paths(void)
{
    return atomic_load(&lacks_paths);
}

bool mh_trace_lacks_places(void)
{
    return atomic_load(&lacks_places);
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
    const int64_t line = mh_trace_find(&lines, address);
    text[0] = '\0';
    if (line >= 0)
        snprintf(text, TEXT_SIZE, "%s", line_texts[line]);
    if (line >= 0 || !dladdr((void *)call, &found) || !found.dli_fname)
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
    const size_t path_end = atomic_load(&path_count), site_end = atomic_load(&site_count);
    for (; written_count < site_end; written_count++) {
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
    for (; written_paths < path_end; written_paths++) {
        const trace_path_head *head = &call_paths[written_paths].head;
        struct iovec parts[] = {{(void *)head, sizeof *head},
                                {call_paths[written_paths].frames, head->count * sizeof call_paths->frames[0]}};
        mh_trace_write(TRACE_BLOCK_PATHS, 0, parts, 2);
    }
    for (int i = 0; i < OBJECTS; i++)
        forget_symbols(&objects[i]);
}
