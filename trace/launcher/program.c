/* SPDX-License-Identifier: BSD-3-Clause */
/* program.c - look into the file of a program, and at the libraries that ldd names. */
#define _GNU_SOURCE
#include "trace/launcher/program.h"

#include "trace/shared/choices.h"

#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ELF_HEAD = 64 }; /* bytes; that of 32-bit programs is shorter, but they are longer */

/* A file in memory; empty if it cannot be read. */
typedef struct {
    const char *bytes;
    size_t size;
} file_map;

static file_map map_file(const char *path)
{
    struct stat status;
    file_map map = {"", 0};
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return map;
    if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
        map.bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
        map.size = map.bytes != MAP_FAILED ? (size_t)status.st_size : 0;
    }
    close(file);
    return map;
}

static void unmap(file_map map)
{
    if (map.size > 0)
        munmap((void *)map.bytes, map.size);
}

static bool is_elf(file_map map)
{
    return map.size >= ELF_HEAD && memcmp(map.bytes, ELFMAG, SELFMAG) == 0;
}

/* A program without an interpreter is not loaded by the dynamic linker. */
static bool is_static(file_map map)
{
    const Elf64_Ehdr *head = (const void *)map.bytes;
    const Elf32_Ehdr *short_head = (const void *)map.bytes;
    if (!is_elf(map))
        return false;
    const bool is_short = head->e_ident[EI_CLASS] == ELFCLASS32;
    const uint64_t begin = is_short ? short_head->e_phoff : head->e_phoff;
    const size_t count = is_short ? short_head->e_phnum : head->e_phnum;
    const size_t size = is_short ? short_head->e_phentsize : head->e_phentsize;
    uint32_t type; /* which comes first in both */
    if (size < sizeof type || begin > map.size || count * size > map.size - begin)
        return false;
    for (size_t i = 0; i < count; i++) {
        memcpy(&type, map.bytes + begin + i * size, sizeof type);
        if (type == PT_INTERP)
            return false;
    }
    return true;
}

/* What ldd says of a file, or NULL. What is loaded into programs is not to be loaded into a shell. */
static FILE *ask_ldd(const char *path)
{
    const char *tools = getenv("LD_PRELOAD");
    unsetenv("LD_PRELOAD");
    setenv("MPIX_PROGRAM", path, 1);
    FILE *said = popen("exec ldd \"$MPIX_PROGRAM\" 2>/dev/null", "re");
    unsetenv("MPIX_PROGRAM");
    if (tools)
        setenv("LD_PRELOAD", tools, 1);
    return said;
}

/* The path of a line of ldd: NAME => PATH (ADDRESS), or PATH (ADDRESS). */
static char *path_of(char *line)
{
    char *arrow = strstr(line, " => "), *path = arrow ? arrow + strlen(" => ") : line;
    char *address = strstr(path, " (0x");
    path += strspn(path, " \t");
    if (address)
        *address = '\0';
    return path;
}

static const char *flavor_of(const char *path)
{
    static const char *const stems[] = {"libmpi_abi.so", "libmpich", "libmpi.so.12", "libmpi.so.", NULL};
    static const char *const flavors[] = {"abi", "mpich", "mpich", "openmpi"};
    const int stem = mh_stem_of(path, stems);
    return stem < 0 ? NULL : flavors[stem];
}

/* That of its MPI library, by the libraries that ldd names. One with the standard ABI may need one without. */
static const char *find_flavor(const char *program)
{
    const char *flavor = NULL;
    char *line = NULL;
    size_t size = 0;
    FILE *said = ask_ldd(program);
    while (said && getline(&line, &size, said) > 0) {
        line[strcspn(line, "\n")] = '\0';
        const char *its = flavor_of(path_of(line));
        flavor = its && (!flavor || strcmp(its, "abi") == 0) ? its : flavor;
    }
    free(line);
    if (said)
        pclose(said);
    return flavor;
}

void mh_program_judge(program_found *program)
{
    struct stat status;
    file_map map = map_file(program->path);
    const bool sets_id = stat(program->path, &status) == 0 && status.st_mode & (S_ISUID | S_ISGID);
    program->kind = is_static(map) ? PROGRAM_STATIC : sets_id ? PROGRAM_SET_ID : PROGRAM_DYNAMIC;
    program->flavor = is_elf(map) ? find_flavor(program->path) : NULL;
    unmap(map);
}

static bool is_executable(const char *path)
{
    struct stat status;
    return access(path, X_OK) == 0 && stat(path, &status) == 0 && !S_ISDIR(status.st_mode);
}

bool mh_program_find(const char *name, program_found *program)
{
    const char *path = getenv("PATH");
    if (strchr(name, '/')) {
        snprintf(program->path, sizeof program->path, "%s", access(name, F_OK) == 0 ? name : "");
        return is_executable(name);
    }
    for (size_t length; path; path = path[length] ? path + length + 1 : NULL) {
        length = strcspn(path, ":");
        snprintf(program->path, sizeof program->path, "%.*s/%s", length ? (int)length : 1, length ? path : ".", name);
        if (is_executable(program->path))
            return true;
    }
    program->path[0] = '\0';
    return false;
}
