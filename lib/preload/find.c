/* SPDX-License-Identifier: BSD-3-Clause */
/* find.c - a front's search: for the next definition of a name, for the MPI library, and for the back. */
#define _GNU_SOURCE
#include "preload/find.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_LIBRARIES = 16, STATUS_NO_SYMBOL = 127, VERSION_SIZE = 8193 };

typedef struct {
    int count;
    char path[MAX_LIBRARIES][PATH_MAX];
} mpi_libraries;

/* Launchers pass each process its rank. One line for all processes is enough. */
static bool is_first_process(void)
{
    static const char *const variables[] = {"PMI_RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "SLURM_PROCID"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *rank = getenv(variables[i]);
        if (rank)
            return strcmp(rank, "0") == 0;
    }
    return true;
}

/* Written at once, so that no launcher mixes it with output of other processes. */
static void tell(const char *format, ...)
{
    char text[2 * PATH_MAX];
    va_list arguments;
    if (!is_first_process())
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(stderr, "%s: %s; the program runs %s\n", mh_preload_names.program, text, mh_preload_names.without);
}

void mh_preload_say(const char *text)
{
    if (is_first_process())
        fprintf(stderr, "%s: %s\n", mh_preload_names.program, text);
}

/* ---- Programs that may call MPI or not, such as shells. start_program.sh made the file of such a program */

enum { HIGH_DESCRIPTOR = 200 }; /* which no program counts on */
static struct {
    long pid; /* of the program */
    char file[PATH_MAX];
    int errors; /* some programs close their own stderr at the end */
} unused;

__attribute__((constructor)) static void begin(void)
{
    const char *noted = getenv("MPIX_PRELOAD_UNUSED");
    char *file;
    if (!noted)
        return;
    unused.pid = strtol(noted, &file, 10);
    if (*file != ':')
        return;
    snprintf(unused.file, sizeof unused.file, "%s", file + 1);
    if (unused.pid == getpid())
        unused.errors = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, HIGH_DESCRIPTOR);
}

__attribute__((destructor)) static void end(void)
{
    if (unused.file[0] && unused.pid == getpid() && unlink(unused.file) == 0)
        dprintf(unused.errors < 0 ? STDERR_FILENO : unused.errors, "%s: nothing called MPI_Init; the program ran %s\n",
                mh_preload_names.program, mh_preload_names.without);
}

/* Some shells end by this, without destructors. */
__attribute__((visibility("default"), noreturn)) void _exit(int status)
{
    end();
    _Exit(status);
}

static int note_library(struct dl_phdr_info *object, size_t size, void *data)
{
    mpi_libraries *found = data;
    const char *slash = strrchr(object->dlpi_name, '/');
    const char *name = slash ? slash + 1 : object->dlpi_name;
    (void)size;
    if (strncmp(name, "libmpi", strlen("libmpi")) == 0 && strncmp(name, "libmpix", strlen("libmpix")) != 0 &&
        strlen(object->dlpi_name) < PATH_MAX && found->count < MAX_LIBRARIES)
        strcpy(found->path[found->count++], object->dlpi_name);
    return 0;
}

/* An interpreter may have loaded the MPI library for one of its modules alone: RTLD_NEXT does not see it then. */
static void *find_in_private_libraries(const char *name)
{
    /* Too large for the stacks of some threads. */
    mpi_libraries *libraries = calloc(1, sizeof *libraries);
    void *address = NULL;
    if (!libraries)
        return NULL;
    dl_iterate_phdr(note_library, libraries);
    for (int i = 0; i < libraries->count && !address; i++) {
        void *handle = dlopen(libraries->path[i], RTLD_LAZY | RTLD_NOLOAD);
        if (handle) {
            address = dlsym(handle, name);
            dlclose(handle);
        }
    }
    free(libraries);
    return address;
}

/* NULL if nobody defines it. */
static void *search(const char *name)
{
    void *address = dlsym(RTLD_NEXT, name);
    return address ? address : find_in_private_libraries(name);
}

/* Two threads may come here at once: both find the same. */
void *mh_preload_find_if_any(preload_next *next)
{
    void *address = search(next->symbol);
    __atomic_store_n(&next->address, address, __ATOMIC_RELEASE);
    return address;
}

void *mh_preload_search(preload_next *next)
{
    void *address = mh_preload_find_if_any(next);
    if (!address) {
        /* As the dynamic linker does with a name that nobody defines. */
        fprintf(stderr, "%s: the program calls %s, which no MPI library in it defines\n", mh_preload_names.program,
                next->symbol);
        _exit(STATUS_NO_SYMBOL);
    }
    return address;
}

/* The MPI libraries in the program: of any binary interface, and of the standard one. */
typedef struct {
    int all, standard;
} mpi_count;

static int count_library(struct dl_phdr_info *object, size_t size, void *data)
{
    static const char *const names[] = {"libmpi_abi.so", "libmpi.so", "libmpich.so"};
    const char *slash = strrchr(object->dlpi_name, '/');
    const char *name = slash ? slash + 1 : object->dlpi_name;
    mpi_count *count = data;
    (void)size;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0) {
            count->all++;
            count->standard += i == 0;
        }
    return 0;
}

static mpi_count count_mpi_libraries(void)
{
    mpi_count count = {0};
    dl_iterate_phdr(count_library, &count);
    return count;
}

/* What the binary interface of an MPI library fixes: handles are numbers, or addresses of variables. */
typedef struct {
    const char *version, *name;
    struct {
        uintptr_t number;
        const char *variable;
    } world, integer, minimum;
} mpi_flavor;
static const mpi_flavor standard_flavor = {NULL, "abi", {0x101, NULL}, {0x209, NULL}, {0x22, NULL}};
static const mpi_flavor flavors[] = {
    {"MPICH", "mpich", {0x44000000, NULL}, {0x4c000405, NULL}, {0x58000002, NULL}},
    {"Open MPI", "openmpi", {0, "ompi_mpi_comm_world"}, {0, "ompi_mpi_int"}, {0, "ompi_mpi_op_min"}},
};

/* The flavor of this program's MPI library, the same on all processes; NULL if it is another one. */
static const mpi_flavor *find_flavor(char *version)
{
    int (*get_version)(char *, int *) = (int (*)(char *, int *))search("PMPI_Get_library_version");
    int length = 0;
    if (!get_version || get_version(version, &length) != 0)
        strcpy(version, "it does not state its version");
    version[strcspn(version, "\n,")] = '\0';
    if (count_mpi_libraries().standard > 0)
        return &standard_flavor;
    for (size_t i = 0; i < sizeof flavors / sizeof *flavors; i++)
        if (strncmp(version, flavors[i].version, strlen(flavors[i].version)) == 0)
            return &flavors[i];
    return NULL;
}

static const void *open_file(const char *path, const char *version)
{
    int count = count_mpi_libraries().all;
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        tell("%s cannot be loaded: %s: install what it needs, or libmpix_harmonize built for this MPI library", path,
             dlerror());
        return NULL;
    }
    /* The loader found what the back needs in the program, or it brought a second MPI library. */
    if (count_mpi_libraries().all != count) {
        tell("this program uses another MPI library (%s) than %s was built with: "
             "install libmpix_harmonize built for this MPI library",
             version, path);
        dlclose(handle);
        return NULL;
    }
    const void *back = dlsym(handle, mh_preload_names.symbol);
    if (!back)
        tell("%s is not part of it: %s", path, dlerror());
    return back;
}

/* The back beside the front; or NULL, and a line has said why. */
static const void *open_beside(const char *front, const char *flavor, const char *version)
{
    const char *slash = strrchr(front, '/');
    char path[PATH_MAX];
    int length = !slash ? -1
                        : snprintf(path, sizeof path, "%.*s/%s-%s.so", (int)(slash - front), front,
                                   mh_preload_names.back_stem, flavor);
    if (length < 0 || (size_t)length >= sizeof path) {
        tell("LD_PRELOAD must name %s with its directory", mh_preload_names.file);
        return NULL;
    }
    if (access(path, R_OK) != 0) {
        tell("this program uses %s, and there is no %s: install libmpix_harmonize built for this MPI library", version,
             path);
        return NULL;
    }
    return open_file(path, version);
}

/* A linked program may have the MPI library's variables in itself, where RTLD_NEXT does not see them. */
static void *find_variable(const char *name)
{
    void *address = dlsym(RTLD_DEFAULT, name);
    return address ? address : find_in_private_libraries(name);
}

/* Collective over the world: a file may be missing on one node only. */
static bool is_open_on_all(bool is_open, const mpi_flavor *flavor)
{
#define HANDLE(name) (flavor->name.variable ? find_variable(flavor->name.variable) : (void *)flavor->name.number)
    typedef int allreduce_function(const void *, void *, int, void *, void *, void *);
    allreduce_function *allreduce = (allreduce_function *)search("PMPI_Allreduce");
    void *world = HANDLE(world), *integer = HANDLE(integer), *minimum = HANDLE(minimum);
    int mine = is_open, all = 0;
#undef HANDLE
    return allreduce && world && integer && minimum && allreduce(&mine, &all, 1, integer, minimum, world) == 0 && all;
}

const void *mh_preload_open(void)
{
    static char version[VERSION_SIZE];
    Dl_info self;
    if (unused.file[0])
        unlink(unused.file);
    const mpi_flavor *flavor = find_flavor(version);
    if (!flavor) {
        tell("this program uses an MPI library that is neither MPICH nor Open MPI: %.60s", version);
        return NULL;
    }
    if (mh_preload_names.flavor && strcmp(flavor->name, mh_preload_names.flavor) != 0) {
        tell("this program uses %s, and %s is for another MPI library: "
             "use the launcher of the program's MPI library, and the %s that was installed for it",
             version, mh_preload_names.file, mh_preload_names.program);
        return NULL;
    }
    const char *front = dladdr(version, &self) ? self.dli_fname : "";
    const void *back = open_beside(front, flavor->name, version);
    if (is_open_on_all(back != NULL, flavor))
        return back;
    if (back)
        tell("%s-%s.so, or what it needs, is missing on another process", mh_preload_names.back_stem, flavor->name);
    return NULL;
}
