/* SPDX-License-Identifier: BSD-3-Clause */
/* ended.h - where the ranks of a program were that was ended before MPI_Finalize. */
#ifndef TRACE_ENDED_H
#define TRACE_ENDED_H

#include "trace/read/trace.h"

/*
 * ended_say - a line for each group of ranks that were in the same call at the same place for the same others, those
 * that were there longest first. "" if all ranks called
 * MPI_Finalize, or none was seen. The caller frees the text.
 */
char *ended_say(const trace *of);

#endif
