/* SPDX-License-Identifier: BSD-3-Clause */
/* provenance.h - what is known about the machine, the MPI library and the clock. */
#ifndef PROVENANCE_H
#define PROVENANCE_H

#include "common/mpi/world.h"
#include "common/results/table.h"

#include <stdint.h>

/*
 * provenance_collect - program and version, command line, date, seed; MPI library, and what algorithms_list says of its
 * collective algorithms; ranks and nodes; host, kernel, processor and clocksource of rank 0's node; what the library
 * states about its clock and barrier on rank 0, and the largest bound of all ranks. What cannot be found out is
 * "unknown". Collective over world->comm, whose clock has been synchronized.
 *
 * head         out; of use on rank 0 only
 * argc, argv   main's, of use on rank 0 only
 */
void provenance_collect(head_t *head, const world_t *world, int argc, char **argv, int64_t seed);

#endif
