/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpix_osu_reduce - latency of MPI_Reduce.
 */
#include "common/osu_main.h"

static int call_reduce(const struct osu_call *call)
{
    return MPI_Reduce(call->send, call->receive, call->count, MPI_FLOAT, MPI_SUM, 0, call->comm);
}

static const struct osu_operation reduce = {
    .program = "mpix_osu_reduce",
    .purpose = "Measures the latency of MPI_Reduce (MPI_SUM of MPI_FLOAT to rank 0).",
    .name = "MPI_Reduce",
    .short_name = "reduce",
    .element_bytes = sizeof(float),
    .send_blocks = 1,
    .receive_blocks = 1,
    .call = call_reduce,
};

int main(int argc, char **argv)
{
    return osu_main(argc, argv, &reduce);
}
