/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpix_osu_allreduce - latency of MPI_Allreduce.
 */
#include "common/osu_main.h"

static int call_allreduce(const struct osu_call *call)
{
    return MPI_Allreduce(call->send, call->receive, call->count, MPI_FLOAT, MPI_SUM, call->comm);
}

static const struct osu_operation allreduce = {
    .program = "mpix_osu_allreduce",
    .purpose = "Measures the latency of MPI_Allreduce (MPI_SUM of MPI_FLOAT).",
    .name = "MPI_Allreduce",
    .short_name = "allreduce",
    .element_bytes = sizeof(float),
    .send_blocks = 1,
    .receive_blocks = 1,
    .call = call_allreduce,
};

int main(int argc, char **argv)
{
    return osu_main(argc, argv, &allreduce);
}
