/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tables.h - the tables of a trace, of its waits and what caused them, and a call site's arrivals as a file of delays.
 */
#ifndef TRACE_TABLES_H
#define TRACE_TABLES_H

#include "results/table.h"
#include "trace/report/profile.h"
#include "trace/report/sites.h"
#include "trace/waits/analysis.h"

/* The columns of each table. */
extern const schema_t wait_schema, cause_schema, function_schema, rank_schema, site_schema, call_schema;

/* tables_waits - a row for each state and call site, into a sheet if it is not NULL. */
void tables_waits(const output_t *output, const wait_analysis *of, sheet_t *sheet);

/*
 * tables_causes - a row for each cause of waits, and for what else is on the critical path. is_short: only a few rows,
 * those that matter.
 */
void tables_causes(const output_t *output, const wait_analysis *of, bool is_short, sheet_t *sheet);

/*
 * tables_functions - a row for each function, into a sheet if it is not NULL. tables_ranks - for each function and rank
 * that called it.
 */
void tables_functions(const output_t *output, const profile_t *profile, sheet_t *sheet);
void tables_ranks(const output_t *output, const profile_t *profile);

/* tables_sites - a row for each call site, likewise. */
void tables_sites(const output_t *output, const sites_t *sites, sheet_t *sheet);

/* tables_calls - a row for each call of each site and rank. */
void tables_calls(const output_t *output, const sites_t *sites);

/*
 * tables_pattern - write the delays of a call site's calls in the form that mpix_bench --arrival file:FILE reads: of
 * each rank in the communicator, after the first one to arrive.
 *
 * Returns how many of its calls were written. Those with a delay that mpix_bench does not allow are left out, and those
 * from where it allows no more delays on.
 */
int64_t tables_pattern(FILE *file, const site_t *site);

#endif
