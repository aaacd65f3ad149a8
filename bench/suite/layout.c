/* SPDX-License-Identifier: BSD-3-Clause */
/* layout.c - parse layouts, list their blocks, and make their datatypes. */
#include "bench/suite/layout.h"

#include "common/cli/memory.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Says what is wrong. Is false. */
#define refuse(why, ...) (snprintf((why), PAIR_LIST_WHY_BYTES, __VA_ARGS__), false)

static bool parse_vector(layout_t *layout, const char *text, char *why)
{
    const char *at = text;
    int64_t stride = number_read(&at, INT_MAX), block = -1;
    if (*at == ':') {
        at++;
        block = number_read(&at, INT_MAX);
    }
    if (block < 1 || stride < block || *at != '\0')
        return refuse(why, "\"vect:%.40s\" is not allowed, give vect:STRIDE:BLOCK, a block from 1 to the stride", text);
    *layout = (layout_t){.kind = LAYOUT_VECTOR, .stride = (int)stride, .block = (int)block};
    return true;
}

/* A block must end before the next one begins: MPI forbids to receive into one place twice. */
static bool parse_indexed(layout_t *layout, pair_lists_t *lists, const char *path, char *why)
{
    *layout = (layout_t){.kind = LAYOUT_INDEXED};
    if (!pair_lists_read(lists, &layout->list, path, "DISPLACEMENT, LENGTH", why))
        return false;
    const pair_list_t *list = &lists->items[layout->list];
    for (int64_t i = 0, end = 0; i < list->count; i++) {
        if (list->pairs[i].first < end)
            return refuse(why, "block %d of \"%.100s\" begins before the one before ends, give blocks in their order",
                          (int)i + 1, path);
        end = (int64_t)list->pairs[i].first + list->pairs[i].second;
    }
    return true;
}

static bool parse(layout_t *layout, pair_lists_t *lists, const char *text, char *why)
{
    static const char vector[] = "vect:", indexed[] = "indx:";
    if (strncasecmp(text, vector, strlen(vector)) == 0)
        return parse_vector(layout, text + strlen(vector), why);
    if (strncasecmp(text, indexed, strlen(indexed)) == 0)
        return parse_indexed(layout, lists, text + strlen(indexed), why);
    *layout = (layout_t){.kind = LAYOUT_CONTIGUOUS};
    return strcasecmp(text, "cont") == 0 ||
           refuse(why, "\"%.60s\" is not allowed, give cont, vect:STRIDE:BLOCK or indx:FILE", text);
}

bool layout_parse(layout_t *layout, pair_lists_t *lists, const char *text, char why[PAIR_LIST_WHY_BYTES])
{
    if (strlen(text) >= sizeof layout->text)
        return refuse(why, "\"%.60s\"... is too long", text);
    if (!parse(layout, lists, text, why))
        return false;
    strcpy(layout->text, text);
    return true;
}

bool layout_block(const layout_t *layout, const pair_list_t *list, int elements, int64_t *number, number_pair_t *block)
{
    int64_t place = (*number)++;
    switch (layout->kind) {
    case LAYOUT_VECTOR:
        *block = (number_pair_t){(int)(place * layout->stride), layout->block};
        return place < elements / layout->stride;
    case LAYOUT_INDEXED:
        if (place >= list->count)
            return false;
        *block = list->pairs[place];
        return (int64_t)block->first + block->second <= elements;
    default:
        *block = (number_pair_t){0, elements};
        return place == 0;
    }
}

int64_t layout_data(const layout_t *layout, const pair_list_t *list, int elements)
{
    number_pair_t block;
    int64_t data = 0, number = 0;
    while (layout_block(layout, list, elements, &number, &block))
        data += block.second;
    return data;
}

static int indexed_type(const layout_t *layout, const pair_list_t *list, int elements, MPI_Datatype element,
                        MPI_Datatype *type)
{
    int *lengths = array_or_exit((size_t)list->count, sizeof lengths[0]);
    int *displacements = array_or_exit((size_t)list->count, sizeof displacements[0]);
    number_pair_t block;
    int64_t number = 0;
    int count = 0;
    for (; layout_block(layout, list, elements, &number, &block); count++) {
        displacements[count] = block.first;
        lengths[count] = block.second;
    }
    int code = MPI_Type_indexed(count, lengths, displacements, element, type);
    free(lengths);
    free(displacements);
    return code;
}

int layout_type(const layout_t *layout, const pair_list_t *list, int elements, MPI_Datatype element, int bytes,
                MPI_Datatype *type)
{
    MPI_Datatype tight;
    int code;
    if (layout->kind == LAYOUT_VECTOR)
        code = MPI_Type_vector(elements / layout->stride, layout->block, layout->stride, element, &tight);
    else if (layout->kind == LAYOUT_INDEXED)
        code = indexed_type(layout, list, elements, element, &tight);
    else
        code = MPI_Type_contiguous(elements, element, &tight);
    if (code != MPI_SUCCESS)
        return code;
    code = MPI_Type_create_resized(tight, 0, (MPI_Aint)elements * bytes, type);
    if (code == MPI_SUCCESS)
        code = MPI_Type_commit(type);
    MPI_Type_free(&tight);
    return code;
}
