/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * loading_test.c - a program that is not linked with the library: it loads it, uses it, and closes it again while MPI
 * still has communicators that the library has worked on. Sub-test loaded of mpix_test runs this program.
 */
#define MPIX_HARMONIZE_NO_LINK
#include "mpix_harmonize.h"

#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

/* Returns the number of failures. */
static int load_use_close(MPI_Comm comm)
{
    int flag, failures = 0;
    double time;
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        printf("%s\n", dlerror());
        return 1;
    }
    __typeof__(MPIX_Harmonize) *harmonize = (__typeof__(harmonize))dlsym(library, "MPIX_Harmonize");
    __typeof__(MPIX_Global_time) *read_time = (__typeof__(read_time))dlsym(library, "MPIX_Global_time");
    for (int i = 0; i < 100; i++)
        failures +=
            !harmonize || !read_time || harmonize(comm, &flag) != MPI_SUCCESS || read_time(comm, &time) != MPI_SUCCESS;
    if (failures)
        printf("%d calls failed\n", failures);
    dlclose(library);
    return failures;
}

int main(int argc, char **argv)
{
    MPI_Comm comm, freed;
    int failures = 0;
    MPI_Init(&argc, &argv);
    if (access(LIBRARY, R_OK) != 0) {
        printf("skip: no shared library is built\n");
    } else {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_dup(MPI_COMM_WORLD, &freed);
        failures = load_use_close(MPI_COMM_WORLD) + load_use_close(freed) + load_use_close(comm);
        MPI_Comm_free(&freed);
    }
    MPI_Finalize();
    return failures > 0;
}
