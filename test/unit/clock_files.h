/* SPDX-License-Identifier: BSD-3-Clause */
/* clock_files.h - short files of clock records for tests. */
#ifndef MH_TEST_CLOCK_FILES_H
#define MH_TEST_CLOCK_FILES_H

#include "mpix_clock_reader.h"
#include "support.h"

#include <unistd.h>

#define HEAD "{\"mpix_clock_records\": 1, \"unix_ns\": 0, \"rate_limit_ppb\": 500000, \"wander_ppb_per_s\": 100}\n"
#define HOST "{\"host\": \"h1\", \"boot\": \"a\", \"look_ns\": 50000000}\n"

static inline void write_text(const char *path, const char *text)
{
    FILE *to = fopen(path, "w");
    ck_assert_ptr_nonnull(to);
    fputs(text, to);
    ck_assert_int_eq(fclose(to), 0);
}

static inline mpix_clock_file *open_records(const char *path)
{
    char why[MPIX_CLOCK_WHY_BYTES] = "";
    mpix_clock_file *file = mpix_clock_open(path, why);
    EXPECT(file, "%s", why);
    return file;
}

#endif /* MH_TEST_CLOCK_FILES_H */
