/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * probe.h - what mpix_tune does as an MPI program, started by the launcher: it lists what the MPI library offers, and
 * calls an operation.
 *
 *     probe list                     print what the library is and offers, as JSON
 *     probe use OPERATION BYTES [F]  one call; with F, the loader writes to F.PID which functions are called first
 *     probe check OPERATION SEED N in-place|separate
 *                                    N random calls, compared with what the standard demands, some with MPI_IN_PLACE if
 *                                    it is named; prints JSON
 */
#ifndef TUNE_PROBE_H
#define TUNE_PROBE_H

/* probe_main - argv[1] is "probe". Returns the exit status. */
int probe_main(int argc, char **argv);

/* What "use" prints after the call: a launcher may return 0 for a program that was ended. */
extern const char probe_used[];

#endif
