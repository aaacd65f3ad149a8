/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpix_osu_bcast - latency of MPI_Bcast.
 */
#include "common/osu_main.h"

static int call_bcast(const struct osu_call *call)
{
    return MPI_Bcast(call->send, call->count, MPI_CHAR, 0, call->comm);
}

static const struct osu_operation bcast = {
    .program = "mpix_osu_bcast",
    .purpose = "Measures the latency of MPI_Bcast (MPI_CHAR from rank 0).",
    .name = "MPI_Bcast",
    .short_name = "bcast",
    .element_bytes = 1,
    .send_blocks = 1,
    .receive_blocks = 0,
    .call = call_bcast,
};

int main(int argc, char **argv)
{
    return osu_main(argc, argv, &bcast);
}
