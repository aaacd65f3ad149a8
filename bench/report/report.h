/* SPDX-License-Identifier: BSD-3-Clause */
/* report.h - files of results, folders and campaigns as a page: which results there are, and what it shows of each. */
#ifndef PAGE_REPORT_H
#define PAGE_REPORT_H

#include "common/results/source.h"

#include <stdio.h>

/* The file kinds.json: what the page shows of each schema. make writes the file that defines it. */
extern const char report_kinds[];

/*
 * report_print - print the page: verdicts first, then a section for each kind of results. title: NULL for what all
 * results have in common.
 */
void report_print(FILE *file, const source_t *sources, int count, const char *title);

/* report_wants - whether files of a schema can be reported. */
bool report_wants(const char *schema);

#endif
