/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * clock_wtime.c - MPI_Wtime as a base clock. Some MPI libraries start it at zero in each process, and
 * MPI_WTIME_IS_GLOBAL has been wrong in practice, so only an exchange of messages decides whether processes share it.
 */
#include "pure/units.h"
#include "clock/base_clock_private.h"

static int wtime_probe(char *why, size_t why_size)
{
    (void)why;
    (void)why_size;
    return 0;
}

static inline int64_t read_ns(void)
{
    return (int64_t)(PMPI_Wtime() * (double)MH_NS_PER_S);
}

static int64_t wtime_now_ns(const mh_base_clock *clock)
{
    (void)clock;
    return read_ns();
}

const mh_clock_kind mh_clock_wtime = {
    .name = "wtime",
    .doc = "MPI_Wtime",
    .may_be_set = true, /* in MPI libraries that read CLOCK_REALTIME */
    .probe = wtime_probe,
    .now_ns = wtime_now_ns,
};
