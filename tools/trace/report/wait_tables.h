/* SPDX-License-Identifier: BSD-3-Clause */
/* wait_tables.h - the tables of waits, and of what caused them. */
#ifndef TRACE_WAIT_TABLES_H
#define TRACE_WAIT_TABLES_H

#include "results/table.h"
#include "trace/waits/analysis.h"

extern const schema_t wait_schema, cause_schema;

/* wait_tables_waits - a row for each state and call site, into a sheet if it is not NULL. */
void wait_tables_waits(const output_t *output, const wait_analysis *of, sheet_t *sheet);

/*
 * wait_tables_causes - a row for each cause of waits, and for what else is on the critical path. is_short: only a few
 * rows, those that matter.
 */
void wait_tables_causes(const output_t *output, const wait_analysis *of, bool is_short, sheet_t *sheet);

#endif
