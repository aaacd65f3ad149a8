/* SPDX-License-Identifier: BSD-3-Clause */
/* test_bulk.c - arrays keep what is in them, in memory and in files; they are sorted as by qsort. */
#include "unit/support.h"
#include "trace/read/bulk.h"

/* Bytes of all arrays in memory: all, some, none. */
static const size_t limits[] = {SIZE_MAX, 1 << 20, 0};

static int by_value(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;
    return a[0] != b[0] ? (a[0] > b[0]) - (a[0] < b[0]) : (a[1] > b[1]) - (a[1] < b[1]);
}

/* Whether a file without a name is mapped. */
static bool has_file(void)
{
    char line[4096];
    bool is_found = false;
    FILE *maps = fopen("/proc/self/maps", "re");
    while (maps && fgets(line, sizeof line, maps))
        is_found = is_found || (strstr(line, "/mpix-") && strstr(line, "(deleted)"));
    if (maps)
        fclose(maps);
    return is_found;
}

/* Grown by one at a time, beside another one. */
LOOP_TEST(arrays_keep_their_items, COUNT_OF(limits))
{
    enum { ITEMS = 200000 };
    uint64_t *grown[2] = {NULL, NULL}, sum = 0;
    bulk_limit(limits[_i]);
    for (size_t i = 0; i < ITEMS; i++)
        for (int k = 0; k < 2; k++) {
            grown[k] = bulk_for_another(grown[k], i, sizeof *grown[k]);
            grown[k][i] = 2 * i + (size_t)k;
        }
    for (size_t i = 0; i < ITEMS; i++)
        for (int k = 0; k < 2; k++)
            EXPECT(grown[k][i] == 2 * i + (size_t)k, "item %zu is %" PRIu64, i, grown[k][i]);
    EXPECT(has_file() == (limits[_i] < SIZE_MAX), "of %zu bytes in memory, arrays are in the wrong place", limits[_i]);
    uint64_t *zeros = bulk_zeros(ITEMS, sizeof *zeros);
    for (size_t i = 0; i < ITEMS; i++)
        sum += zeros[i];
    ck_assert_uint_eq(sum, 0);
    bulk_free(zeros);
    bulk_free(grown[0]);
    bulk_free(grown[1]);
}

/* In memory, as long as there is room: what is freed or made smaller counts no more. */
TEST(resized_arrays_count_once)
{
    char *array = NULL;
    bulk_limit(1 << 21);
    for (int i = 0; i < 100; i++) {
        array = bulk_resize(array, 1 << 20, 1);
        ck_assert(!has_file());
        array = bulk_resize(array, 1 << 10, 1);
    }
    bulk_free(array);
}

/* Few values, and more of each item that decides between equal ones; sizes around those of runs. */
LOOP_TEST(sorts_as_qsort, COUNT_OF(limits))
{
    enum { RUN = (1 << 18) / 16 + 1 };
    static const size_t counts[] = {0, 1, 2, RUN - 1, RUN, RUN + 1, (size_t)3 * RUN + 7, (size_t)65 * RUN + 3};
    chance dice = chance_of_round(_i);
    bulk_limit(limits[_i]);
    for (int n = 0; n < COUNT_OF(counts); n++) {
        uint64_t(*ours)[2] = bulk_array(counts[n], sizeof *ours), (*theirs)[2] = bulk_array(counts[n], sizeof *theirs);
        for (size_t i = 0; i < counts[n]; i++) {
            ours[i][0] = theirs[i][0] = chance_bits(&dice) % 1000;
            ours[i][1] = theirs[i][1] = chance_bits(&dice);
        }
        bulk_sort(ours, counts[n], sizeof *ours, by_value);
        qsort(theirs, counts[n], sizeof *theirs, by_value);
        for (size_t i = 0; i < counts[n]; i++)
            EXPECT(ours[i][0] == theirs[i][0] && ours[i][1] == theirs[i][1], "item %zu of %zu is another", i,
                   counts[n]);
        bulk_free(ours);
        bulk_free(theirs);
    }
}

/* A folder that cannot be written is no reason to fail. */
TEST(without_files_it_is_memory)
{
    enum { BYTES = 1 << 20 };
    setenv("TMPDIR", "/proc/no-such-folder", 1);
    bulk_limit(0);
    char *array = bulk_array(BYTES, 1);
    memset(array, 1, BYTES);
    bulk_free(array);
}

EXIT_TEST(more_than_all_memory_ends_the_program, EXIT_FAILURE)
{
    bulk_array(SIZE_MAX / 4, 8);
}
