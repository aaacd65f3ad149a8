/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fuzz_plan.c - the command lines of mpix_bench and mpix_osu, and a file of jobs. The first line of the input has the
 * words of the command line, the others are the file.
 */
#define _GNU_SOURCE /* memfd_create */
#include "fuzz/fuzz.h"
#include "bench/suite/plan.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MAX_WORDS = 64, RANKS = 4 };

static char jobs_path[64];

/* Makes the file of jobs, in memory. */
static void write_jobs(const char *text)
{
    static int file = -1;
    if (file < 0)
        file = memfd_create("jobs", 0);
    size_t length = strlen(text);
    FUZZ_REQUIRE(file >= 0 && ftruncate(file, 0) == 0);
    FUZZ_REQUIRE(pwrite(file, text, length, 0) == (ssize_t)length);
    snprintf(jobs_path, sizeof jobs_path, "/proc/self/fd/%d", file);
}

/* Files that the input names are not opened: some of them never end. */
static int cut(char *line, char *words[MAX_WORDS])
{
    int count = 0;
    words[count++] = "mpix_bench";
    for (char *word = strtok(line, " "); word && count < MAX_WORDS - 2; word = strtok(NULL, " "))
        if (strncmp(word, "--jobs", 6) != 0)
            words[count++] = word;
    return count;
}

static void check(const plan_t *plan)
{
    FUZZ_REQUIRE(plan->job_count > 0);
    for (int i = 0; i < plan->job_count; i++) {
        const job_t *job = &plan->jobs[i];
        FUZZ_REQUIRE(job->settings.sizes.count >= 1 && job->settings.sizes.count <= MAX_SIZES);
        FUZZ_REQUIRE(operation_at(job->operation));
        for (int size = 0; size < job->settings.sizes.count; size++) {
            int64_t bytes = job->settings.sizes.bytes[size];
            FUZZ_REQUIRE(bytes >= 0 && job_wanted(job, bytes) >= 1 && job_warmup(job, bytes) >= 0);
        }
        FUZZ_REQUIRE(job_time_slice_s(job) >= 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *words[MAX_WORDS], *text = fuzz_text(data, size), *jobs = strchr(text, '\n');
    if (jobs)
        *jobs++ = '\0';
    int count = cut(text, words);
    if (jobs) {
        write_jobs(jobs);
        words[count++] = "--jobs";
        words[count++] = jobs_path;
    }
    for (int is_osu = 0; is_osu <= 1; is_osu++) {
        plan_t plan = {0};
        options_outcome_t outcome = plan_read(&plan, "mpix_bench", is_osu, count, words, RANKS);
        if (outcome == OPTIONS_RUN && !plan.settings.list)
            check(&plan);
        plan_free(&plan);
    }
    free(text);
    return 0;
}
