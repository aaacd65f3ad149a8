/* SPDX-License-Identifier: BSD-3-Clause */
/* schema.c - columns in words. Apart from table.c, so that programs without results do not need Jansson. */
#include "results/table.h"

#include <stdio.h>

const char *const column_roles[] = {[ROLE_KEY] = "key", [ROLE_FIGURE] = "figure", NULL};
const char *const column_types[] = {[TYPE_TEXT] = "text", [TYPE_INTEGER] = "integer", [TYPE_NUMBER] = "number", NULL};

void schema_describe(const schema_t *schema)
{
    printf("## `%s` %d\n\n%s\n\n| column | type | unit | role | meaning |\n|---|---|---|---|---|\n", schema->name,
           SCHEMA_VERSION, schema->doc);
    for (const column_t *column = schema->columns; column < schema->columns + schema->column_count; column++) {
        if (!column->name)
            continue;
        printf("| `%s` | %s | %s | %s | ", column->name, column_types[column->type], column->unit,
               column_roles[column->role]);
        for (const char *next = column->doc; *next != '\0'; next++)
            printf(*next == '|' ? "\\%c" : "%c", *next);
        puts(" |");
    }
}
