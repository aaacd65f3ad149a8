/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * osu_main.h - a latency benchmark of one collective operation, in the manner of the OSU micro-benchmarks.
 *
 * A program is a description of its operation, and a main that hands it to osu_main.
 */
#ifndef OSU_MAIN_H
#define OSU_MAIN_H

#include <mpi.h>

/* What one call of the operation works on. */
struct osu_call {
    void *send;
    void *receive; /* NULL where the operation has none */
    int count;     /* elements */
    MPI_Comm comm;
};

struct osu_operation {
    const char *program;
    const char *purpose;    /* one line for the help */
    const char *name;       /* the MPI function */
    const char *short_name; /* for comma-separated values */
    int element_bytes;      /* sizes are multiples of it */
    int send_blocks;        /* length of the buffers in messages; 0 for no buffer */
    int receive_blocks;
    int (*call)(const struct osu_call *call); /* returns an MPI error code */
};

/*
 * osu_main - the whole program.
 *
 * Returns the exit status: 0; 1 where the MPI library failed or a size has no valid sample; 2 for a bad option.
 */
int osu_main(int argc, char **argv, const struct osu_operation *operation);

#endif /* OSU_MAIN_H */
