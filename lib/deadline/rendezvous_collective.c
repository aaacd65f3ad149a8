/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rendezvous_collective.c - MPI_Reduce of the reports and MPI_Bcast of the order: whatever the MPI library does best on
 * this machine, as in Schuchart, Hunold and Bosilca, EuroMPI 2023. Two operations rather than one MPI_Allreduce, so
 * that the deadline is decided when all have arrived.
 */
#include "deadline/rendezvous_private.h"

enum { REPORT_FIELDS = 7 };

_Static_assert(sizeof(mh_report) == REPORT_FIELDS * sizeof(int64_t), "a report is reduced as an array of int64_t");

static int report(mh_rendezvous *rendezvous, const mh_report *mine, mh_report *greatest, mh_error *error)
{
    return mh_reduce_max(rendezvous->channel, &mine->request, &greatest->request, REPORT_FIELDS, error);
}

static int order(mh_rendezvous *rendezvous, mh_order *order, mh_error *error)
{
    return mh_bcast(rendezvous->channel, order, sizeof *order, 0, error);
}

const mh_rendezvous_kind mh_rendezvous_collective = {
    .name = "collective",
    .doc = "MPI_Reduce and MPI_Bcast",
    .report = report,
    .order = order,
};
