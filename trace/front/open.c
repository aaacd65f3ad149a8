/* SPDX-License-Identifier: BSD-3-Clause */
/* open.c - what the front does in a program beside its wrappers: it notes the start of MPI, and opens the back. */
#define _GNU_SOURCE
#include "trace/front/open.h"

#include "trace/front/find.h"
#include "trace/front/meet.h"
#include "trace/shared/choices.h"
#include "trace/shared/descriptors.h"
#include "trace/shared/interposer.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

enum { VERSION_SIZE = 8193 };

static bool is_seen; /* MPI_Init or MPI_Session_init was called here */
static pid_t own_pid;

__attribute__((constructor)) static void begin(void)
{
    own_pid = getpid();
    if (!mh_choices_import())
        memset(&mh_choices, 0, sizeof mh_choices);
    mh_standard_error = mh_file_of(STDERR_FILENO);
    mh_is_first_process();
}

void mh_interpose_note_start(void)
{
    is_seen = true;
    if (mh_choices.watcher != 0)
        mh_send_to_socket(mh_choices.watcher);
    mh_choices.watcher = 0;
}

void mh_interpose_note_session(void)
{
    mh_interpose_note_start();
    if ((mh_choices.harmonizes || mh_choices.records) && mh_is_first_process())
        mh_interpose_print(
            "%s: it works from MPI_Init to MPI_Finalize; MPI sessions before, after or without them run %s\n",
            mh_choices_name(), mh_choices_without());
}

/* The runtime of the address sanitizer asks for it, and would refuse a program with a library before it. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "verify_asan_link_order=0";
}

/* A library may have called the MPI library directly. A child that was forked has nothing to say. */
__attribute__((destructor)) static void end(void)
{
    static interpose_next initialized = {.symbol = "PMPI_Initialized"};
    int (*is_initialized)(int *) = is_seen ? NULL : mh_interpose_find_if_any(&initialized);
    int is_past = 0;
    if ((!mh_choices.harmonizes && !mh_choices.records) || own_pid != getpid())
        return;
    if (is_initialized && is_initialized(&is_past) == 0 && is_past) {
        mh_interpose_note_start();
        if (mh_is_first_process())
            mh_interpose_print(
                "%s: the program started MPI, but not through %s: it has the functions of MPI directly from the MPI "
                "library, as by dlopen with RTLD_DEEPBIND; it ran %s\n",
                mh_choices_name(), mh_choices_name(), mh_choices_without());
    }
    if (is_seen && mh_choices.records)
        rmdir(mh_choices.folder); /* if it is empty */
}

/* The MPI libraries in the program: of any binary interface, and of the standard one. */
typedef struct {
    int all, standard;
} mpi_count;

static int count_library(struct dl_phdr_info *object, size_t size, void *its)
{
    static const char *const stems[] = {"libmpi_abi.so", "libmpi.so", "libmpich.so", NULL};
    const int stem = mh_stem_of(object->dlpi_name, stems);
    mpi_count *count = its;
    (void)size;
    count->all += stem >= 0;
    count->standard += stem == 0;
    return 0;
}

static mpi_count count_mpi_libraries(void)
{
    mpi_count count = {0};
    dl_iterate_phdr(count_library, &count);
    return count;
}

/* Whether the program's MPI library is of the flavor that the front was compiled for; the same on all processes. */
static bool is_of_flavor(char *version)
{
    static interpose_next next = {.symbol = "PMPI_Get_library_version"};
    int (*get_version)(char *, int *) = mh_interpose_find_if_any(&next);
    const char *stem = strcmp(FLAVOR, "mpich") == 0 ? "MPICH" : "Open MPI";
    int length = 0;
    if (!get_version || get_version(version, &length) != 0)
        strcpy(version, "a library that does not state its version");
    version[strcspn(version, "\n,")] = '\0';
    if (count_mpi_libraries().standard > 0 || strcmp(FLAVOR, "abi") == 0)
        return count_mpi_libraries().standard > 0 && strcmp(FLAVOR, "abi") == 0;
    const char *found = strstr(version, stem); /* Cray's MPICH states its version behind other words */
    return found == version || (found && strcmp(FLAVOR, "mpich") == 0);
}

/* NULL, and a line has said why not. */
static const void *open_back(const char *version)
{
    const char *path = mh_choices.back;
    if (access(path, R_OK) != 0) {
        mh_choices_warn(
            "this program uses %s, and there is no %s: install libmpix_harmonize built for this MPI library", version,
            path);
        return NULL;
    }
    int count = count_mpi_libraries().all;
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        mh_choices_warn(
            "%s cannot be loaded: %s: install what it needs, or libmpix_harmonize built for this MPI library", path,
            dlerror());
        return NULL;
    }
    /* The loader found what the back needs in the program, or it brought a second MPI library. */
    if (count_mpi_libraries().all != count) {
        mh_choices_warn("this program uses another MPI library (%s) than %s was built with: "
                        "install libmpix_harmonize built for this MPI library",
                        version, path);
        dlclose(handle);
        return NULL;
    }
    const void *back = dlsym(handle, INTERPOSE_BACK_NAME);
    if (!back)
        mh_choices_warn("%s is not part of it: %s", path, dlerror());
    return back;
}

const void *mh_interpose_open(void)
{
    static char version[VERSION_SIZE];
    if (!mh_choices.harmonizes && !mh_choices.records)
        return NULL;
    if (!is_of_flavor(version)) {
        mh_choices_warn("this program uses %.60s, and " INTERPOSE_FRONT_FILE " is for another MPI library: "
                        "use the launcher of the program's MPI library, and the %s that was installed for it",
                        version, FLAVOR, mh_choices_name());
        return NULL;
    }
    mh_interpose_meet();
    const void *back = open_back(version);
    if (mh_interpose_is_on_all(back != NULL))
        return back;
    if (back)
        mh_choices_warn(INTERPOSE_BACK_FILE ", or what it needs, is missing on another process", FLAVOR);
    return NULL;
}
