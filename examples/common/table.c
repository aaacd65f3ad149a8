/* SPDX-License-Identifier: BSD-3-Clause */
/* table.c - rows for people, aligned, or for programs: comma-separated values, or lines of JSON. */
#include "table.h"

#include "quote.h"

void table_head(const table_t *table)
{
    FILE *file = table->output->file;
    if (table->output->format == FORMAT_JSON)
        return;
    for (int i = 0; i < table->column_count; i++) {
        const column_t *column = &table->columns[i];
        if (table->output->format == FORMAT_CSV)
            fprintf(file, "%s%s", i > 0 ? "," : "", column->name);
        else
            fprintf(file, "%c%*s", i == 0 ? '#' : ' ', column->width - 1, column->title);
    }
    fputc('\n', file);
    fflush(file);
}

static void print_aligned(FILE *file, const column_t *column, const cell_t *cell)
{
    if (cell->text != NULL)
        fprintf(file, "%*s", column->width - 1, cell->text[0] == '\0' ? "-" : cell->text);
    else
        fprintf(file, "%*.*f", column->width - 1, column->decimals,
                cell->number / (column->unit > 0 ? column->unit : 1));
}

static void print_plain(FILE *file, bool json, const column_t *column, const cell_t *cell)
{
    if (json)
        fprintf(file, "\"%s\":", column->name);
    if (cell->text == NULL)
        fprintf(file, "%.*f", column->unit > 0 ? 0 : column->decimals, cell->number);
    else if (!json)
        quote_csv(file, cell->text);
    else if (cell->text[0] == '\0')
        fputs("null", file);
    else
        quote_json(file, cell->text);
}

void table_row(const table_t *table, const cell_t *cells)
{
    FILE *file = table->output->file;
    bool aligned = table->output->format == FORMAT_TABLE, json = table->output->format == FORMAT_JSON;
    fputs(json ? "{" : "", file);
    for (int i = 0; i < table->column_count; i++) {
        if (i > 0 || aligned)
            fputc(aligned ? ' ' : ',', file);
        if (aligned)
            print_aligned(file, &table->columns[i], &cells[i]);
        else
            print_plain(file, json, &table->columns[i], &cells[i]);
    }
    fputs(json ? "}\n" : "\n", file);
    fflush(file);
}
