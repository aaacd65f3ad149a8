/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * otf2_functions.c - what OTF2 calls the functions of MPI. One row stands for a function's nonblocking and persistent
 * forms and those with large counts too: Ibcast, Bcast_init and Bcast_c are Bcast.
 */
#include "trace/convert/otf2_private.h"

#include <ctype.h>
#include <string.h>

typedef struct {
    const char *name; /* without MPI_; all that begin with what is before an asterisk */
    OTF2_RegionRole role;
    int operation;
} row;

enum { NO_OPERATION = -1 };

#define POINT_TO_POINT(name)                             \
    {                                                    \
        name, OTF2_REGION_ROLE_POINT2POINT, NO_OPERATION \
    }
#define COLLECTIVE(name, role, operation)                             \
    {                                                                 \
        name, OTF2_REGION_ROLE_##role, OTF2_COLLECTIVE_OP_##operation \
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
    COLLECTIVE("Comm_dup*", COLL_OTHER, CREATE_HANDLE),
    COLLECTIVE("Comm_idup*", COLL_OTHER, CREATE_HANDLE),
    COLLECTIVE("Comm_split*", COLL_OTHER, CREATE_HANDLE),
    COLLECTIVE("Comm_create", COLL_OTHER, CREATE_HANDLE),
    COLLECTIVE("Comm_create_group", COLL_OTHER, CREATE_HANDLE),
    COLLECTIVE("Comm_create_from_group", COLL_OTHER, CREATE_HANDLE),
    COLLECTIVE("Cart_create", COLL_OTHER, CREATE_HANDLE),
    COLLECTIVE("Cart_sub", COLL_OTHER, CREATE_HANDLE),
    COLLECTIVE("Graph_create", COLL_OTHER, CREATE_HANDLE),
    COLLECTIVE("Dist_graph_create*", COLL_OTHER, CREATE_HANDLE),
    COLLECTIVE("Intercomm_create*", COLL_OTHER, CREATE_HANDLE),
    COLLECTIVE("Intercomm_merge", COLL_OTHER, CREATE_HANDLE),
    /* Of all processes of a communicator, but not with all of them, so none of OTF2's operations. */
    {"Neighbor_*", OTF2_REGION_ROLE_COLL_OTHER, NO_OPERATION},
    {"Win_*", OTF2_REGION_ROLE_RMA, NO_OPERATION},
    {"File_*", OTF2_REGION_ROLE_FILE_IO, NO_OPERATION},
    {"Put", OTF2_REGION_ROLE_RMA, NO_OPERATION},
    {"Get", OTF2_REGION_ROLE_RMA, NO_OPERATION},
    {"Accumulate", OTF2_REGION_ROLE_RMA, NO_OPERATION},
    {"Get_accumulate", OTF2_REGION_ROLE_RMA, NO_OPERATION},
    {"Fetch_and_op", OTF2_REGION_ROLE_RMA, NO_OPERATION},
    {"Compare_and_swap", OTF2_REGION_ROLE_RMA, NO_OPERATION},
    POINT_TO_POINT("Send"),
    POINT_TO_POINT("Bsend"),
    POINT_TO_POINT("Rsend"),
    POINT_TO_POINT("Ssend"),
    POINT_TO_POINT("Recv"),
    POINT_TO_POINT("Mrecv"),
    POINT_TO_POINT("Sendrecv*"),
    POINT_TO_POINT("Probe"),
    POINT_TO_POINT("Mprobe"),
    POINT_TO_POINT("Wait*"),
    POINT_TO_POINT("Test"),
    POINT_TO_POINT("Testall"),
    POINT_TO_POINT("Testany"),
    POINT_TO_POINT("Testsome"),
    POINT_TO_POINT("Start*"),
    POINT_TO_POINT("Cancel"),
    POINT_TO_POINT("Request_free"),
};

static const row *find_row(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t row_length = strlen(rows[i].name);
        bool is_pattern = rows[i].name[row_length - 1] == '*';
        if (is_pattern ? length >= row_length - 1 && strncmp(name, rows[i].name, row_length - 1) == 0
                       : length == row_length && strncmp(name, rows[i].name, length) == 0)
            return &rows[i];
    }
    return NULL;
}

/* name: without MPI_ */
static const row *find_function(const char *name)
{
    char blocking[128];
    size_t length = call_name_length(name);
    const row *found = find_row(name, length);
    /* Immediate, or of RMA with a request: Irecv, Rput. */
    if (found || (name[0] != 'I' && name[0] != 'R') || length < 2 || length >= sizeof blocking)
        return found;
    memcpy(blocking, name + 1, length - 1);
    blocking[0] = (char)toupper((unsigned char)blocking[0]);
    return find_row(blocking, length - 1);
}

otf2_function otf2_function_of(const char *name)
{
    if (strcmp(name, "clock") == 0 || strcmp(name, "flush") == 0)
        return (otf2_function){.role = OTF2_REGION_ROLE_ARTIFICIAL, .paradigm = OTF2_PARADIGM_MEASUREMENT_SYSTEM};
    if (strncmp(name, "MPI", 3) != 0)
        return (otf2_function){.role = OTF2_REGION_ROLE_CODE, .paradigm = OTF2_PARADIGM_USER};
    otf2_function function = {.role = OTF2_REGION_ROLE_FUNCTION, .paradigm = OTF2_PARADIGM_MPI};
    const row *found = strncmp(name, "MPI_", 4) == 0 ? find_function(name + 4) : NULL;
    if (found)
        function.role = found->role;
    if (found && found->operation != NO_OPERATION) {
        function.has_operation = true;
        function.operation = (OTF2_CollectiveOp)found->operation;
    }
    return function;
}
