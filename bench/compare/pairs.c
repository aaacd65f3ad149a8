/* SPDX-License-Identifier: BSD-3-Clause */
/* pairs.c - match the rows of two variants by their keys, or rows of one by the guidelines. */
#include "bench/compare/pairs.h"

#include "common/cli/memory.h"
#include "common/cli/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void add_pair(pairs_t *pairs, const series_t *base, const series_t *judged)
{
    const pair_t pair = {.judged = judged, .base = base};
    const double shorter_ns = fmin(base->span_ns, judged->span_ns), longer_ns = fmax(base->span_ns, judged->span_ns);
    if (isnan(base->mean_log + judged->mean_log)) {
        pairs->left_out[NO_VALUE]++;
    } else if (longer_ns > (1 + ARRIVAL_PERCENT / 100) * shorter_ns) {
        if (pairs->left_out[OTHER_ARRIVAL]++ == 0)
            pairs->unlike = pair;
    } else {
        pairs->list = or_exit(array_grow(pairs->list, pairs->count, sizeof(pair_t)));
        pairs->list[pairs->count++] = pair;
    }
}

bool pairs_explain(const pairs_t *pairs, reason_t reason, char text[COMPLAINT_BYTES])
{
    const pair_t *unlike = &pairs->unlike;
    char operation[CELL_BYTES], size[CELL_BYTES];
    if (pairs->left_out[reason] == 0)
        return false;
    if (reason == NO_VALUE)
        complain(text, "rows left out, as a launch has no value above 0: %d", pairs->left_out[reason]);
    else if (reason != OTHER_ARRIVAL)
        complain(text, "rows left out, as only %.400s has them: %d",
                 pairs->rows[reason == ONLY_VARIANT_HAS]->variant->name, pairs->left_out[reason]);
    else {
        cell_write(rows_key(pairs->rows[0], unlike->base, "operation"), operation);
        cell_write(rows_key(pairs->rows[0], unlike->base, "size_bytes"), size);
        complain(text,
                 "rows left out, as the longest delays of their arrivals differ by more than %g %%: %d, such as %.60s "
                 "of %.30s bytes by %.0f ns and %.0f ns",
                 ARRIVAL_PERCENT, pairs->left_out[reason], operation, size, unlike->base->span_ns,
                 unlike->judged->span_ns);
    }
    return true;
}

static void copy_logs(pairs_t *pairs)
{
    for (int side = 0; side < 2; side++) {
        int launches = pairs->rows[side]->variant->count;
        pairs->logs[side] = or_exit(malloc(array_bytes((int64_t)pairs->count * launches, sizeof(double))));
        for (int i = 0; i < pairs->count; i++)
            memcpy(pairs->logs[side] + (int64_t)i * launches,
                   side == 0 ? pairs->list[i].base->logs : pairs->list[i].judged->logs,
                   (size_t)launches * sizeof(double));
    }
}

/* What no row is, in words, for the complaint that there is none. */
static bool finish(pairs_t *pairs, const char *what, char *complaint)
{
    char reason[COMPLAINT_BYTES] = "";
    if (pairs->count > 0) {
        copy_logs(pairs);
        return true;
    }
    if (!pairs_explain(pairs, OTHER_ARRIVAL, reason))
        pairs_explain(pairs, NO_VALUE, reason);
    return complain(complaint, "%.200s has no rows %s%s%.600s", pairs->rows[1]->variant->name, what,
                    reason[0] != '\0' ? ": " : "", reason);
}

sides_t pairs_sides(const pairs_t *pairs)
{
    return (sides_t){.rows = pairs->count,
                     .launches = {pairs->rows[0]->variant->count, pairs->rows[1]->variant->count},
                     .in_blocks = pairs->in_blocks,
                     .logs = {pairs->logs[0], pairs->logs[1]}};
}

void pairs_free(pairs_t *pairs)
{
    free(pairs->list);
    free(pairs->logs[0]);
    free(pairs->logs[1]);
    *pairs = (pairs_t){.count = 0};
}

/* ---- The same of two variants */

static bool equal_at(const rows_t rows[2], const series_t *a, const series_t *b, int key)
{
    return cells_equal(&a->keys[key], rows_key(&rows[1], b, rows[0].keys[key]->name));
}

/* How many keys two rows have in common. The operation says most of what a row is. */
static int likeness(const rows_t rows[2], const series_t *a, const series_t *b)
{
    int count = 0;
    for (int i = 0; i < rows[0].key_count; i++)
        count += equal_at(rows, a, b, i) ? strcmp(rows[0].keys[i]->name, "operation") == 0 ? 100 : 1 : 0;
    return count;
}

/* Says what is different in the two rows that are most alike. */
static bool complain_of_differences(const rows_t rows[2], char *complaint)
{
    const series_t *a = NULL, *b = NULL;
    const char *separator = " ";
    int best = -1;
    for (int i = 0; i < rows[0].count; i++)
        for (int j = 0; j < rows[1].count; j++) {
            int alike = likeness(rows, &rows[0].list[i], &rows[1].list[j]);
            if (alike > best) {
                best = alike;
                a = &rows[0].list[i];
                b = &rows[1].list[j];
            }
        }
    complain(complaint, "%.200s and %.200s cannot be compared, no row is of the same:", rows[0].variant->name,
             rows[1].variant->name);
    for (int i = 0; a && b && i < rows[0].key_count; i++) {
        const char *name = rows[0].keys[i]->name;
        char texts[2][CELL_BYTES];
        if (equal_at(rows, a, b, i))
            continue;
        cell_write(&a->keys[i], texts[0]);
        cell_write(rows_key(&rows[1], b, name), texts[1]);
        text_append(complaint, COMPLAINT_BYTES, "%s%s %s and %s", separator, name,
                    texts[0][0] != '\0' ? texts[0] : "(none)", texts[1][0] != '\0' ? texts[1] : "(none)");
        separator = ", ";
    }
    return false;
}

bool pairs_match(const rows_t rows[2], bool in_blocks, pairs_t *pairs, char complaint[COMPLAINT_BYTES])
{
    int common = 0;
    *pairs = (pairs_t){.rows = {&rows[0], &rows[1]}, .in_blocks = in_blocks};
    for (int i = 0; i < rows[0].count; i++) {
        const series_t *judged = rows_find(&rows[1], &rows[0], &rows[0].list[i]);
        common += judged != NULL;
        if (judged)
            add_pair(pairs, &rows[0].list[i], judged);
    }
    if (common == 0)
        return complain_of_differences(rows, complaint);
    pairs->left_out[ONLY_BASE_HAS] = rows[0].count - common;
    pairs->left_out[ONLY_VARIANT_HAS] = rows[1].count - common;
    return finish(pairs, "that can be compared", complaint);
}

/* ---- Guidelines */

/*
 * An operation, and others that do the same or more, in one call or two, with messages of the same size: no library
 * needs to be slower than these. After Traeff, Gropp and Thakur, "Self-Consistent MPI Performance Guidelines", 2010.
 */
static const struct {
    const char *judged, *bound;
} guidelines[] = {
    {"allgather", "gather+bcast"},
    {"allgather", "alltoall"},
    {"allgather", "allgatherv"},
    {"allgatherv", "gatherv+bcast"},
    {"allreduce", "reduce+bcast"},
    {"allreduce", "reduce_scatter_block+allgather"},
    {"alltoall", "alltoallv"},
    {"alltoallv", "alltoallw"},
    {"bcast", "scatter+allgather"},
    {"gather", "allgather"},
    {"gather", "gatherv"},
    {"reduce", "allreduce"},
    {"reduce", "reduce_scatter_block+gather"},
    {"reduce_scatter", "reduce+scatterv"},
    {"reduce_scatter_block", "reduce+scatter"},
    {"reduce_scatter_block", "reduce_scatter"},
    {"scan", "exscan+reduce_local"},
    {"scatter", "scatterv"},
};
enum { GUIDELINES = sizeof guidelines / sizeof guidelines[0] };

/* Whether rows were measured alike but for operation and size. A key that only one has, such as a root, is ignored. */
static bool are_alike(const rows_t *rows, const series_t *a, const series_t *b)
{
    for (int i = 0; i < rows->key_count; i++) {
        const char *name = rows->keys[i]->name;
        if (strcmp(name, "operation") != 0 && strcmp(name, "size_bytes") != 0 &&
            !cell_lacks(&a->keys[i]) && /* NOLINT(clang-analyzer-core.NullDereference) */
            !cell_lacks(&b->keys[i]) && !cells_equal(&a->keys[i], &b->keys[i]))
            return false;
    }
    return true;
}

static bool has_operation(const rows_t *rows, const series_t *row, const char *operation)
{
    return cells_equal(rows_key(rows, row, "operation"), &(cell_t){operation, 0});
}

static bool is_owed(const rows_t *rows, const series_t *judged, const series_t *bound)
{
    if (!cells_equal(rows_key(rows, judged, "size_bytes"), rows_key(rows, bound, "size_bytes")))
        return false;
    for (int i = 0; i < GUIDELINES; i++)
        if (has_operation(rows, judged, guidelines[i].judged) && has_operation(rows, bound, guidelines[i].bound))
            return are_alike(rows, judged, bound);
    return false;
}

static double size_of(const rows_t *rows, const series_t *row)
{
    return rows_key(rows, row, "size_bytes")->number;
}

/* The same operation with the next greater message, or NULL. */
static const series_t *find_next_size(const rows_t *rows, const series_t *row)
{
    const series_t *next = NULL;
    for (int i = 0; i < rows->count; i++) {
        const series_t *other = &rows->list[i];
        if (size_of(rows, other) > size_of(rows, row) && (!next || size_of(rows, other) < size_of(rows, next)) &&
            cells_equal(rows_key(rows, row, "operation"), rows_key(rows, other, "operation")) &&
            are_alike(rows, row, other))
            next = other;
    }
    return next;
}

bool pairs_by_guidelines(const rows_t *rows, pairs_t *pairs, char complaint[COMPLAINT_BYTES])
{
    *pairs = (pairs_t){.rows = {rows, rows}, .in_blocks = true};
    for (int i = 0; i < rows->count; i++) {
        const series_t *next = find_next_size(rows, &rows->list[i]);
        for (int j = 0; j < rows->count; j++)
            if (is_owed(rows, &rows->list[i], &rows->list[j]))
                add_pair(pairs, &rows->list[j], &rows->list[i]);
        if (next)
            add_pair(pairs, next, &rows->list[i]);
    }
    return finish(pairs, "that a guideline compares, such as allreduce and reduce+bcast", complaint);
}
