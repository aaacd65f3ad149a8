/* SPDX-License-Identifier: BSD-3-Clause */
#include "table.h"

#include <stdio.h>

void table_head(const struct table *table)
{
    for (int i = 0; i < table->column_count; i++) {
        const struct column *column = &table->columns[i];

        if (table->csv)
            printf("%s%s", i > 0 ? "," : "", column->csv_name);
        else
            printf("%c%*s", i == 0 ? '#' : ' ', column->width - 1, column->title);
    }
    putchar('\n');
    fflush(stdout);
}

static void print_cell(const struct table *table, const struct column *column, const struct cell *cell)
{
    int width = table->csv ? 0 : column->width - 1;

    if (cell->text == NULL)
        printf("%*.*f", width, column->decimals, cell->number);
    else
        printf("%*s", width, cell->text[0] == '\0' && !table->csv ? "-" : cell->text);
}

void table_row(const struct table *table, const struct cell *cells)
{
    for (int i = 0; i < table->column_count; i++) {
        if (i > 0 || !table->csv)
            putchar(table->csv ? ',' : ' ');
        print_cell(table, &table->columns[i], &cells[i]);
    }
    putchar('\n');
    fflush(stdout);
}
