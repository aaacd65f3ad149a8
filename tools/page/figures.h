/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * figures.h - from rows to charts.
 */
#ifndef FIGURES_H
#define FIGURES_H

#include "page/kinds.h"

#include <stdio.h>

/*
 * figures_print - print a chart of rows: as many figures as it has panels, none for a panel without values.
 *
 * number   of the last figure before; counted on
 */
void figures_print(FILE *file, const json_t *rows, const kind_t *kind, const chart_t *chart, int *number);

/*
 * figures_launches - from rows of several launches to a row for each thing measured.
 *
 * Its columns are those that say what was measured, the median of the chart's first measure over launches, the least
 * and largest, how far they are apart, and in "singles" all of them, which figures_print shows as small points.
 *
 * chart   out: a chart of such rows
 *
 * Returns the rows. The caller frees them.
 */
json_t *figures_launches(const json_t *rows, const kind_t *kind, chart_t *chart);

#endif
