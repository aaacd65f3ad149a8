/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tables.h - the tables of a trace, of its waits and what caused them, and a call site's arrivals as a file of delays.
 */
#ifndef TRACE_TABLES_H
#define TRACE_TABLES_H

#include "common/results/table.h"
#include "trace/report/profile.h"
#include "trace/report/sites.h"
#include "trace/waits/analysis.h"

/* A trace, and what was found in it. */
typedef struct findings {
    trace of;
    trace_matches matches;
    profile_t profile;
    sites_t sites;
    wait_analysis waits;
} findings_t;

/* The columns of each table. */
extern const schema_t answer_schema, wait_schema, cause_schema, function_schema, rank_schema, site_schema, call_schema;

/*
 * Tables, into a sheet if it is not NULL. A row
 *
 * tables_answer          for each sentence of the answer
 * tables_causes          for each cause of waits, and for what else is on the critical path
 * tables_short_causes    of these only for a few, those that matter
 * tables_waits           for each state and call site
 * tables_functions       for each function
 * tables_ranks           for each function and rank that called it
 * tables_sites           for each call site
 * tables_calls           for each call of each site and rank
 */
typedef void table_printer_t(const output_t *output, const findings_t *found, sheet_t *sheet);
table_printer_t tables_answer, tables_causes, tables_short_causes, tables_waits, tables_functions, tables_ranks,
    tables_sites, tables_calls;

/*
 * tables_pattern - write the delays of a call site's calls in the form that mpix_bench --arrival file:FILE reads: of
 * each rank in the communicator, after the first one to arrive.
 *
 * Returns how many of its calls were written. Those with a delay that mpix_bench does not allow are left out, and those
 * from where it allows no more delays on.
 */
int64_t tables_pattern(FILE *file, const site_t *site);

#endif
