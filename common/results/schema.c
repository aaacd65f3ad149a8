/* SPDX-License-Identifier: BSD-3-Clause */
/* schema.c - columns in words. Apart from table.c, so that programs without results do not need Jansson. */
#include "common/results/table.h"

#include <stdio.h>

const char *const column_roles[] = {[ROLE_KEY] = "key", [ROLE_FIGURE] = "figure", NULL};
const char *const column_types[] = {[TYPE_TEXT] = "text", [TYPE_INTEGER] = "integer", [TYPE_NUMBER] = "number", NULL};

void schema_describe(const schema_t *schema)
{
    printf("## `%s` %d\n\n%s\n\n", schema->name, SCHEMA_VERSION, schema->doc);
    const char *place = (const char *)schema->columns;
    for (int i = 0; i < schema->column_count; i++, place += schema->column_bytes) {
        const column_t *column = (const column_t *)(const void *)place;
        const bool has_title = column->title && (!column->name || strcmp(column->title, column->name) != 0);
        fputs("- ", stdout);
        if (column->name)
            printf("%s`%s`%s", column->role == ROLE_KEY ? "key " : "", column->name, has_title ? " " : "");
        if (has_title)
            printf("(%s)", column->title);
        printf(": %s\n", column->doc);
    }
}
