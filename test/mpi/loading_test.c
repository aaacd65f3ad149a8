/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * loading_test.c - a program that is not linked with the library: it loads it, uses it, and closes it again while MPI
 * still has communicators that the library has worked on. Sub-test loaded of mpix_test runs this program.
 */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

typedef int harmonize_function(MPI_Comm, int *);
typedef int read_function(MPI_Comm, double *);

static void *find(void *library, const char *name)
{
    void *function = dlsym(library, name);
    if (!function) {
        printf("no %s: %s\n", name, dlerror());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return function;
}

/* Returns the number of failures. */
static int use(void *library, MPI_Comm comm)
{
    int flag, failures = 0;
    double time;
    harmonize_function *harmonize = (harmonize_function *)find(library, "MPIX_Harmonize");
    read_function *read = (read_function *)find(library, "MPIX_Global_time");
    for (int i = 0; i < 100; i++)
        failures += harmonize(comm, &flag) != MPI_SUCCESS || read(comm, &time) != MPI_SUCCESS;
    return failures;
}

static int load_use_close(MPI_Comm comm)
{
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        printf("%s\n", dlerror());
        return 1;
    }
    int failures = use(library, comm);
    if (failures)
        printf("%d calls failed\n", failures);
    dlclose(library);
    return failures;
}

int main(int argc, char **argv)
{
    MPI_Comm comm, freed;
    MPI_Init(&argc, &argv);
    FILE *file = fopen(LIBRARY, "r");
    if (!file) {
        printf("skip: no shared library is built\n");
        MPI_Finalize();
        return 0;
    }
    fclose(file);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_dup(MPI_COMM_WORLD, &freed);
    int failures = load_use_close(MPI_COMM_WORLD) + load_use_close(freed) + load_use_close(comm);
    MPI_Comm_free(&freed);
    MPI_Finalize();
    return failures > 0;
}
