/* SPDX-License-Identifier: BSD-3-Clause */
/* report.h - what is written at MPI_Finalize. */
#ifndef PRELOAD_REPORT_H
#define PRELOAD_REPORT_H

/* Collective over the world. */
void mh_preload_report(void);

#endif
