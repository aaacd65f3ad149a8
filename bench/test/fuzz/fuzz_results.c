/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fuzz_results.c - files of results and manifests of campaigns: what is read is as promised, what is refused is
 * explained in one line.
 */
#include "bench/compare/rows.h"
#include "fuzz/fuzz.h"
#include "common/results/source.h"

#include <math.h>
#include <string.h>

static void check_complaint(const char *complaint)
{
    FUZZ_REQUIRE(complaint[0] != '\0' && strlen(complaint) < COMPLAINT_BYTES);
    for (; *complaint != '\0'; complaint++)
        FUZZ_REQUIRE((unsigned char)*complaint >= ' ');
}

static void check_cell(const column_t *column, const cell_t *cell)
{
    char text[CELL_BYTES];
    FUZZ_REQUIRE(cell->text ? column->type == TYPE_TEXT || cell_lacks(cell) : isfinite(cell->number));
    FUZZ_REQUIRE(cell->text || column->type != TYPE_TEXT);
    cell_write(cell, text);
    FUZZ_REQUIRE(strlen(text) < sizeof text);
}

/* As mpix_compare takes them: the file is the one launch of a variant. */
static void check_rows(const result_file_t *file)
{
    char complaint[COMPLAINT_BYTES] = "";
    measured_t launch = {.path = "input", .file = *file};
    const variant_t variant = {"input", &launch, 1};
    rows_t rows;
    if (rows_collect(&variant, "median_ns", &rows, complaint)) {
        FUZZ_REQUIRE(rows.count >= 1 && rows.count <= file->sheet.row_count);
        for (int i = 0; i < rows.count; i++) {
            FUZZ_REQUIRE(rows_find(&rows, &rows, &rows.list[i]) == &rows.list[i]);
            FUZZ_REQUIRE(isnan(rows.list[i].logs[0]) || isfinite(rows.list[i].mean_log));
        }
    } else {
        check_complaint(complaint);
    }
    rows_free(&rows);
}

static void check_results(char *text)
{
    char complaint[COMPLAINT_BYTES] = "";
    result_file_t file;
    if (result_text_read(text, "input", &file, complaint)) {
        const sheet_t *sheet = &file.sheet;
        FUZZ_REQUIRE(json_is_object(file.provenance) && sheet->schema && sheet->row_count > 0);
        for (int64_t row = 0; row < sheet->row_count; row++)
            for (int i = 0; i < sheet->column_count; i++)
                check_cell(&sheet->columns[i], sheet_at(sheet, row, i));
        check_rows(&file);
    } else {
        check_complaint(complaint);
    }
    result_file_free(&file);
    FUZZ_REQUIRE(!file.provenance && !file.sheet.columns);
}

/* No run of a manifest leads out of its folder. */
static void check_manifest(const char *text)
{
    char complaint[COMPLAINT_BYTES] = "";
    json_error_t error;
    json_t *manifest = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    if (!manifest_check(manifest, "input", complaint))
        check_complaint(complaint);
    const json_t *runs = json_object_get(manifest, "runs");
    for (size_t i = 0; i < json_array_size(runs); i++) {
        const json_t *run = json_array_get(runs, i);
        run_is_done(run);
        char *path = run_path("folder", run, complaint);
        if (!path)
            check_complaint(complaint);
        else
            FUZZ_REQUIRE(strncmp(path, "folder/", 7) == 0 && path[7] != '/' && !strstr(path, ".."));
        free(path);
    }
    json_decref(manifest);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);
    check_manifest(text);
    check_results(text);
    free(text);
    return 0;
}
