/* SPDX-License-Identifier: BSD-3-Clause */
/* twin.c - communicators of the back's own, invisible to the program, and what both of its parts ask of MPI. */
#define _GNU_SOURCE
#include "trace/back/twin.h"

#include "mpix_harmonize.h"

#include <stdlib.h>
#include <string.h>

/*
 * For a call on a communicator of the program, so that the program's handler does not see its errors. In MPICH, the
 * handler of the world is that of all communicators that never got one, and one that is set, even the same, ends this.
 */
static MPI_Errhandler hold_errors(MPI_Comm comm)
{
    MPI_Errhandler handler;
    PMPI_Comm_get_errhandler(comm, &handler);
    if (comm != MPI_COMM_WORLD || handler != MPI_ERRORS_ARE_FATAL)
        PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    return handler;
}

static void restore_errors(MPI_Comm comm, MPI_Errhandler handler)
{
    if (comm != MPI_COMM_WORLD || handler != MPI_ERRORS_ARE_FATAL)
        PMPI_Comm_set_errhandler(comm, handler);
    PMPI_Errhandler_free(&handler);
}

bool mh_interpose_agree(int mine, MPI_Comm comm)
{
    int all = 0;
    MPI_Errhandler handler = hold_errors(comm);
    int code = PMPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, comm);
    restore_errors(comm, handler);
    return code == MPI_SUCCESS && all;
}

/* MPI_Comm_dup would call the copy callbacks of the program's attributes. */
MPI_Comm mh_interpose_twin(MPI_Comm comm)
{
    MPI_Comm twin = MPI_COMM_NULL;
    MPI_Errhandler handler = hold_errors(comm);
    int code = PMPI_Comm_split(comm, 0, 0, &twin);
    restore_errors(comm, handler);
    bool all_have_it = mh_interpose_agree(code == MPI_SUCCESS, comm);
    if (all_have_it)
        PMPI_Comm_set_errhandler(twin, MPI_ERRORS_RETURN);
    else if (code == MPI_SUCCESS)
        PMPI_Comm_free(&twin); /* which needs no other process */
    return all_have_it ? twin : MPI_COMM_NULL;
}

/* MPICH says MPI_ERR_OTHER where a buffer must not be MPI_IN_PLACE; in other errors the words differ. */
static bool is_wrongly_in_place(int result)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;
    PMPI_Error_string(result, text, &length);
    return strstr(text, "cannot be MPI_IN_PLACE");
}

bool mh_interpose_was_refused(int result)
{
    static const int refusals[] = {MPI_ERR_BUFFER, MPI_ERR_COUNT,    MPI_ERR_TYPE,    MPI_ERR_TAG,
                                   MPI_ERR_COMM,   MPI_ERR_RANK,     MPI_ERR_ROOT,    MPI_ERR_OP,
                                   MPI_ERR_ARG,    MPI_ERR_GROUP,    MPI_ERR_REQUEST, MPI_ERR_DIMS,
                                   MPI_ERR_INFO,   MPI_ERR_TOPOLOGY, MPI_ERR_WIN,     MPI_ERR_ASSERT};
    int class = result;
    if (result == MPI_SUCCESS)
        return false;
    PMPI_Error_class(result, &class);
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        if (class == refusals[i])
            return true;
    return class == MPI_ERR_OTHER && is_wrongly_in_place(result);
}

int *mh_interpose_ranks(MPI_Group of, MPI_Group in, int *count)
{
    *count = 0;
    PMPI_Group_size(of, count);
    int *ranks = malloc((size_t)*count * 2 * sizeof *ranks + 1);
    for (int i = 0; ranks && i < *count; i++) {
        ranks[i] = MPI_UNDEFINED; /* MPI may refuse groups of a session */
        ranks[*count + i] = i;
    }
    if (ranks)
        PMPI_Group_translate_ranks(of, *count, ranks + *count, in, ranks);
    return ranks;
}

static bool has_foreign(MPI_Group group, MPI_Group world)
{
    int size, theirs = 0;
    PMPI_Group_size(group, &size);
    for (int i = 0; i < size && theirs != MPI_UNDEFINED; i++)
        PMPI_Group_translate_ranks(group, 1, &i, world, &theirs);
    return theirs == MPI_UNDEFINED;
}

bool mh_interpose_is_foreign(MPI_Comm comm)
{
    MPI_Group world, groups[2];
    int is_inter = 0;
    bool found = false;
    PMPI_Comm_test_inter(comm, &is_inter);
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    PMPI_Comm_group(comm, &groups[0]);
    if (is_inter)
        PMPI_Comm_remote_group(comm, &groups[1]);
    for (int i = 0; i < (is_inter ? 2 : 1); i++) {
        found = found || has_foreign(groups[i], world);
        PMPI_Group_free(&groups[i]);
    }
    PMPI_Group_free(&world);
    return found;
}

/* MPI may refuse to compare it with the world, as it may be of a session. */
static bool has_processes_of_world(MPI_Comm comm)
{
    int is_inter = 0, size = 0, world_size = 0;
    PMPI_Comm_test_inter(comm, &is_inter);
    PMPI_Comm_size(comm, &size);
    PMPI_Comm_size(MPI_COMM_WORLD, &world_size);
    return !is_inter && size == world_size && !mh_interpose_is_foreign(comm);
}

/* In an attribute of the communicator. */
bool mh_interpose_has_all(MPI_Comm comm)
{
    static int key = MPI_KEYVAL_INVALID;
    static bool yes = true, no = false;
    bool *known = &no;
    int found = 0;
    if (comm == MPI_COMM_WORLD || mh_has_threads || comm == MPI_COMM_NULL)
        return comm == MPI_COMM_WORLD;
    if (key == MPI_KEYVAL_INVALID &&
        PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL) != MPI_SUCCESS)
        return has_processes_of_world(comm);
    if (PMPI_Comm_get_attr(comm, key, &known, &found) == MPI_SUCCESS && !found) {
        known = has_processes_of_world(comm) ? &yes : &no;
        PMPI_Comm_set_attr(comm, key, known);
    }
    return *known;
}

bool mh_interpose_is_of_all(MPI_Comm comm, int result)
{
    return !mh_interpose_was_refused(result) && mh_interpose_has_all(comm);
}

bool mh_interpose_statistic(MPI_Comm comm, const char *key, char *text, int size)
{
    int found = 0;
    MPI_Info info;
    if (PMPIX_Harmonize_get_info(comm, &info) != MPI_SUCCESS)
        return false;
    PMPI_Info_get(info, key, size - 1, text, &found);
    PMPI_Info_free(&info);
    return found;
}

void mh_interpose_leave_state(interpose_thread_state *its)
{
    static locale_t of_c; /* which takes no memory */
    if (!of_c)
        of_c = newlocale(LC_ALL_MASK, "C", NULL);
    its->locale = uselocale(of_c);
    fegetenv(&its->arithmetic);
    fesetenv(FE_DFL_ENV);
}

void mh_interpose_restore_state(const interpose_thread_state *its)
{
    uselocale(its->locale);
    fesetenv(&its->arithmetic);
}
