/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * provenance.h - where figures come from: what a reader needs to judge them or to measure them again.
 */
#ifndef PROVENANCE_H
#define PROVENANCE_H

#include "common/world.h"
#include "suite/report.h"

enum { MOST_PROVENANCE = 48, PROVENANCE_TEXT_BYTES = 8192 };

struct provenance {
    int count;
    struct provenance_item items[MOST_PROVENANCE];
    char text[PROVENANCE_TEXT_BYTES]; /* what values point to */
};

/*
 * provenance_collect - program and version, command line, date, MPI library and version, its choices of collective
 * algorithms that MPI_T shows and that are not default, ranks and nodes, topology, host, kernel, processor, clock
 * (base clock, synchronisation label, bound), seed. Collective; the library's clock has been synchronised. The result
 * is of use on rank 0 only.
 */
void provenance_collect(struct provenance *provenance, const struct world *world, int argc, char **argv, int64_t seed);

#endif /* PROVENANCE_H */
