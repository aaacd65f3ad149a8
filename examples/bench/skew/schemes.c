/* SPDX-License-Identifier: BSD-3-Clause */
/* schemes.c - what releases processes: MPI_Barrier, MPIX_Harmonize by each of its barriers, another library's. */
#define _GNU_SOURCE
#include "skew/skew.h"

#include <mpix_harmonize.h>

#include <dlfcn.h>
#include <string.h>

#define FORCED_SETTING "mpix_harmonize_barrier"
#define FORCED_STATISTIC "mpix_harmonize_barrier_used"

const char *const skew_schemes[] = {"barrier", "harmonize", "shm", "dissemination", "tree", "collective", NULL};

bool skew_is_chosen(const skew_run_t *run, int index)
{
    return (run->settings.schemes >> index & 1) != 0;
}

static int release_by_barrier(MPI_Comm comm, int *valid)
{
    *valid = 1;
    return MPI_Barrier(comm);
}

/* A communicator whose processes use one barrier of the library. Leaves the scheme out where that is impossible here.
 */
static void force_barrier(skew_run_t *run, int index)
{
    scheme_t *scheme = &run->schemes[index];
    world_t own = world_duplicate(&run->world);
    int valid;
    char used[64];
    scheme->comm = own.comm;
    world_require_code(&own, world_set(&own, FORCED_SETTING, scheme->name), "MPIX_Harmonize_set_info");
    world_require_code(&own, scheme->release(scheme->comm, &valid), scheme->call);
    if (!world_statistic(&own, FORCED_STATISTIC, used, sizeof(used)) || strcmp(used, scheme->name) == 0)
        return;
    run->settings.schemes &= ~(INT64_C(1) << index);
    if (run->world.rank == 0)
        fprintf(stderr, "%s: %s is left out: the library takes %s in its place here\n", run->world.program,
                scheme->name, used);
}

/* Returns STATUS_BAD_OPTION, after a line, where a process finds no such function. */
static int open_other(skew_run_t *run)
{
    scheme_t *scheme = &run->schemes[SCHEME_OTHER];
    char path[512] = "";
    if (run->world.rank == 0 && run->settings.other_path != NULL)
        snprintf(path, sizeof(path), "%s", run->settings.other_path);
    MPI_Bcast(path, sizeof(path), MPI_CHAR, 0, run->world.comm);
    if (path[0] == '\0')
        return STATUS_GOOD;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    void *function = library != NULL ? dlsym(library, "MPIX_Harmonize") : NULL;
    if (!world_all(&run->world, function != NULL))
        /* cppcheck-suppress resourceLeak */
        return world_refuse(&run->world, "option --other: \"%.200s\" is no library with an MPIX_Harmonize", path);
    *(void **)&scheme->release = function;
    scheme->comm = world_duplicate(&run->world).comm;
    run->settings.schemes |= INT64_C(1) << SCHEME_OTHER;
    /* cppcheck-suppress resourceLeak ; the library stays until the end */
    return STATUS_GOOD;
}

/* The first call of a scheme: a bad setting of the library makes it fail on all ranks. */
static bool call_first(const skew_run_t *run, const scheme_t *scheme)
{
    int valid;
    return world_agree(&run->world, scheme->release(scheme->comm, &valid), scheme->call);
}

int skew_open_schemes(skew_run_t *run)
{
    for (int i = 0; i < SCHEMES; i++)
        run->schemes[i] = (scheme_t){skew_schemes[i], "MPIX_Harmonize", MPIX_Harmonize, MPI_COMM_NULL};
    run->schemes[SCHEME_OTHER].name = "other";
    run->schemes[SCHEME_BARRIER].call = "MPI_Barrier";
    run->schemes[SCHEME_BARRIER].release = release_by_barrier;
    run->schemes[SCHEME_BARRIER].comm = run->schemes[SCHEME_HARMONIZE].comm = run->world.comm;
    int status = open_other(run);
    if (status != STATUS_GOOD)
        return status;
    for (int i = 0; i <= SCHEME_HARMONIZE; i++)
        if (skew_is_chosen(run, i) && !call_first(run, &run->schemes[i]))
            return STATUS_FAILED;
    for (int i = SCHEME_FIRST_FORCED; i < SCHEME_OTHER; i++)
        if (skew_is_chosen(run, i))
            force_barrier(run, i);
    return !skew_is_chosen(run, SCHEME_OTHER) || call_first(run, &run->schemes[SCHEME_OTHER]) ? STATUS_GOOD
                                                                                              : STATUS_FAILED;
}

void skew_close_schemes(skew_run_t *run)
{
    for (int i = SCHEME_FIRST_FORCED; i < SCHEMES; i++)
        if (run->schemes[i].name != NULL && run->schemes[i].comm != MPI_COMM_NULL)
            MPI_Comm_free(&run->schemes[i].comm);
}
