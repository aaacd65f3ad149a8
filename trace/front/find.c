/* SPDX-License-Identifier: BSD-3-Clause */
/* find.c - the front's search for the next definition of a name. */
#define _GNU_SOURCE
#include "trace/front/find.h"

#include "trace/shared/choices.h"
#include "trace/shared/descriptors.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

enum { STATUS_NO_SYMBOL = 127 };

/* That of the C library for which this is compiled: a search in vain allocates memory, and a tool's malloc may ask. */
#if __GLIBC_PREREQ(2, 34)
#define LIKELY_VERSION "GLIBC_2.34"
#elif defined __x86_64__
#define LIKELY_VERSION "GLIBC_2.2.5"
#else
#define LIKELY_VERSION "GLIBC_2.17"
#endif

/* That of the C library, or of another tool after the front. All versions that there are do the same. */
find_by_handle *mh_interpose_dlsym(void)
{
    static const char *const versions[] = {LIKELY_VERSION, "GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.0", "GLIBC_2.2",
                                           "GLIBC_2.3",    "GLIBC_2.17", "GLIBC_2.27",  "GLIBC_2.36"};
    static find_by_handle *next;
    find_by_handle *found = __atomic_load_n(&next, __ATOMIC_ACQUIRE);
    for (size_t i = 0; !found && i < sizeof versions / sizeof *versions; i++)
        found = (find_by_handle *)dlvsym(RTLD_NEXT, "dlsym", versions[i]);
    __atomic_store_n(&next, found, __ATOMIC_RELEASE);
    return found;
}

/* The loader's lists are read in its own walks, as other threads may load and unload libraries. */
typedef struct {
    int left; /* libraries before the one that is wanted */
    char path[PATH_MAX];
} library_search;

static int pass_library(struct dl_phdr_info *object, size_t size, void *its)
{
    static const char *const stems[] = {"libmpix", "libmpi", NULL};
    library_search *wanted = its;
    (void)size;
    if (mh_stem_of(object->dlpi_name, stems) != 1 || strlen(object->dlpi_name) >= PATH_MAX || wanted->left-- > 0)
        return 0;
    strcpy(wanted->path, object->dlpi_name);
    return 1;
}

/* An interpreter may have loaded the MPI library for one of its modules alone: RTLD_NEXT does not see it then. */
static void *find_in_private_libraries(const char *name)
{
    void *address = NULL;
    for (int i = 0; !address; i++) {
        library_search wanted = {.left = i};
        if (!dl_iterate_phdr(pass_library, &wanted))
            break;
        void *handle = dlopen(wanted.path, RTLD_LAZY | RTLD_NOLOAD);
        if (handle) {
            address = mh_interpose_dlsym()(handle, name);
            dlclose(handle);
        }
    }
    return address;
}

/* NULL if nobody defines it. */
static void *search(const char *name)
{
    void *address = dlsym(RTLD_NEXT, name);
    return address ? address : find_in_private_libraries(name);
}

/* Two threads may come here at once: both find the same. */
void *mh_interpose_find_if_any(interpose_next *next)
{
    void *address = __atomic_load_n(&next->address, __ATOMIC_ACQUIRE);
    if (!address) {
        address = search(next->symbol);
        __atomic_store_n(&next->address, address, __ATOMIC_RELEASE);
    }
    return address;
}

void *mh_interpose_search(interpose_next *next)
{
    void *address = mh_interpose_find_if_any(next);
    if (!address) {
        /* As the dynamic linker does with a name that nobody defines. */
        mh_interpose_print("%s: the program calls %s, which no MPI library in it defines\n", mh_choices_name(),
                           next->symbol);
        _exit(STATUS_NO_SYMBOL);
    }
    return address;
}
