/* SPDX-License-Identifier: BSD-3-Clause */
/* harmonize.c - from MPI_Init to MPI_Finalize: the clock, barriers, and the report. */
#include "interpose/harmonize/clock.h"
#include "interpose/harmonize/communicators.h"
#include "interpose/harmonize/report.h"
#include "interpose/interposer.h"
#include "interpose/twin.h"

/* The library's own message if there is one, otherwise that of MPI. */
const char *mh_preload_begin(void)
{
    static char reason[MPI_MAX_ERROR_STRING];
    int length, code = mh_preload_start_clock();
    if (code == MPI_SUCCESS) {
        mh_preload_open_communicators();
        return NULL;
    }
    if (!mh_interpose_statistic(mh_twin_of_world, "mpix_harmonize_last_error", reason, sizeof reason))
        PMPI_Error_string(code, reason, &length);
    return reason;
}

void mh_preload_end(void)
{
    mh_preload_close_communicators();
    if (!mh_choices.quiet)
        mh_preload_report();
    mh_preload_end_clock();
    mh_preload_free_communicators();
}
