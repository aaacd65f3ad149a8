/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * otf2_functions.c - what OTF2 calls the functions of MPI. One row stands for a function's nonblocking and persistent
 * forms and those with large counts too: Ibcast, Bcast_init and Bcast_c are Bcast.
 */
#include "trace/convert/otf2_private.h"

#include <string.h>
#include <strings.h>

typedef struct {
    const char *names; /* without MPI_, with blanks between them; all that begin with what is before an asterisk */
    OTF2_RegionRole role;
    int operation;
} row;

enum { NO_OPERATION = -1 };

#define COLLECTIVE(names, role, operation)                             \
    {                                                                  \
        names, OTF2_REGION_ROLE_##role, OTF2_COLLECTIVE_OP_##operation \
    }

static const row rows[] = {
    COLLECTIVE("Barrier", BARRIER, BARRIER),
    COLLECTIVE("Bcast", COLL_ONE2ALL, BCAST),
    COLLECTIVE("Scatter", COLL_ONE2ALL, SCATTER),
    COLLECTIVE("Scatterv", COLL_ONE2ALL, SCATTERV),
    COLLECTIVE("Gather", COLL_ALL2ONE, GATHER),
    COLLECTIVE("Gatherv", COLL_ALL2ONE, GATHERV),
    COLLECTIVE("Reduce", COLL_ALL2ONE, REDUCE),
    COLLECTIVE("Allgather", COLL_ALL2ALL, ALLGATHER),
    COLLECTIVE("Allgatherv", COLL_ALL2ALL, ALLGATHERV),
    COLLECTIVE("Alltoall", COLL_ALL2ALL, ALLTOALL),
    COLLECTIVE("Alltoallv", COLL_ALL2ALL, ALLTOALLV),
    COLLECTIVE("Alltoallw", COLL_ALL2ALL, ALLTOALLW),
    COLLECTIVE("Allreduce", COLL_ALL2ALL, ALLREDUCE),
    COLLECTIVE("Reduce_scatter", COLL_ALL2ALL, REDUCE_SCATTER),
    COLLECTIVE("Reduce_scatter_block", COLL_ALL2ALL, REDUCE_SCATTER_BLOCK),
    COLLECTIVE("Scan", COLL_OTHER, SCAN),
    COLLECTIVE("Exscan", COLL_OTHER, EXSCAN),
    COLLECTIVE("Comm_free", COLL_OTHER, DESTROY_HANDLE),
    COLLECTIVE(
        "Comm_dup* Comm_idup* Comm_split* Comm_create Comm_create_group Comm_create_from_group Cart_create Cart_sub "
        "Graph_create Dist_graph_create* Intercomm_create* Intercomm_merge",
        COLL_OTHER, CREATE_HANDLE),
    /* Of all processes of a communicator, but not with all of them, so none of OTF2's operations. */
    {"Neighbor_*", OTF2_REGION_ROLE_COLL_OTHER, NO_OPERATION},
    {"Win_* Put Get Accumulate Get_accumulate Fetch_and_op Compare_and_swap", OTF2_REGION_ROLE_RMA, NO_OPERATION},
    {"File_*", OTF2_REGION_ROLE_FILE_IO, NO_OPERATION},
    {"Send Bsend Rsend Ssend Recv Mrecv Sendrecv* Probe Mprobe Wait* Test Testall Testany Testsome Start* Cancel "
     "Request_free",
     OTF2_REGION_ROLE_POINT2POINT, NO_OPERATION},
};

static bool is_among(const char *names, const char *name, size_t length)
{
    for (; *names != '\0'; names += strspn(names, " ")) {
        const size_t bytes = strcspn(names, " *");
        const bool is_pattern = names[bytes] == '*';
        if ((is_pattern ? length >= bytes : length == bytes) && strncasecmp(name, names, bytes) == 0)
            return true;
        names += bytes + is_pattern;
    }
    return false;
}

static const row *find_row(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (is_among(rows[i].names, name, length))
            return &rows[i];
    return NULL;
}

/* name: without MPI_. Immediate forms, and of RMA with a request, have another letter before it: Irecv, Rput. */
static const row *find_function(const char *name)
{
    const size_t length = call_name_length(name);
    const row *found = find_row(name, length);
    return found || (name[0] != 'I' && name[0] != 'R') ? found : find_row(name + 1, length - 1);
}

otf2_function otf2_function_of(const char *name)
{
    if (trace_is_recorder(name))
        return (otf2_function){.role = OTF2_REGION_ROLE_ARTIFICIAL, .paradigm = OTF2_PARADIGM_MEASUREMENT_SYSTEM};
    if (strncmp(name, "MPI", 3) != 0)
        return (otf2_function){.role = OTF2_REGION_ROLE_CODE, .paradigm = OTF2_PARADIGM_USER};
    otf2_function function = {.role = OTF2_REGION_ROLE_FUNCTION, .paradigm = OTF2_PARADIGM_MPI};
    const row *found = strncmp(name, "MPI_", 4) == 0 ? find_function(name + 4) : NULL;
    function.is_fence = strcmp(name, "MPI_Win_fence") == 0;
    if (found)
        function.role = found->role;
    if (found && found->operation != NO_OPERATION) {
        function.has_operation = true;
        function.operation = (OTF2_CollectiveOp)found->operation;
    }
    return function;
}
