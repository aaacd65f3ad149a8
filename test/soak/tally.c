/* SPDX-License-Identifier: BSD-3-Clause */
/* tally.c - what has been counted, the tables at the end, and the resources of this process. */
#include "simulation/simulated.h"
#include "soak.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct tally {
    _Atomic int64_t checked, violated,
        worst; /* worst: greatest value, in percent of what is allowed if that is above 0 */
} tally;

static tally tallies[SOAK_CHECKS];
static _Atomic int64_t counts[SOAK_COUNTS];

/* Interruptions by length: below 1 us, 10 us, ... */
enum { DECADES = 7, LONG_NS = 1000 };
static int64_t interruptions[DECADES], longest_interruption_ns;

bool soak_judge(soak_check check, int64_t value, int64_t most)
{
    tally *one = &tallies[check];
    int64_t worst = one->worst, reached = most > 0 ? (int64_t)(100 * (double)value / (double)most) : value;
    one->checked++;
    one->violated += value > most;
    while (reached > worst && !atomic_compare_exchange_weak(&one->worst, &worst, reached))
        ;
    return value <= most;
}

void soak_add(soak_count count, int64_t number)
{
    counts[count] += number;
}

void soak_time_plain_code(void)
{
    enum { READINGS = 8 };
    int64_t last_ns = mh_simulated_true_ns(), longest_ns = 0;
    for (int i = 1; i < READINGS; i++) {
        int64_t now_ns = mh_simulated_true_ns();
        if (now_ns - last_ns > longest_ns)
            longest_ns = now_ns - last_ns;
        last_ns = now_ns;
    }
    soak_add(SOAK_PLAIN, 1);
    soak_add(SOAK_PLAIN_LONG, longest_ns > LONG_NS);
}

void soak_note_interruption(int64_t excess_ns)
{
    int decade = 0;
    for (int64_t limit_ns = 1000; decade < DECADES - 1 && excess_ns >= limit_ns; limit_ns *= 10)
        decade++;
    interruptions[decade]++;
    soak_add(SOAK_INTERRUPTED, 1);
    soak_add(SOAK_LONG, excess_ns > LONG_NS);
    if (excess_ns > longest_interruption_ns)
        longest_interruption_ns = excess_ns;
}

static void combine(int64_t *values, int count, MPI_Op op)
{
    SOAK_TRY(MPI_Allreduce(MPI_IN_PLACE, values, count, MPI_INT64_T, op, MPI_COMM_WORLD));
}

static const struct {
    const char *name, *unit; /* of the worst */
} descriptions[SOAK_CHECKS] = {
    [SOAK_RELEASE] = {"no return before all have arrived", ""},
    [SOAK_FLAG] = {"no valid process leaves before the latest arrival", "ns early"},
    [SOAK_DEADLINE] = {"no valid process leaves before the deadline, within the bounds", "%"},
    [SOAK_TOGETHER] = {"valid processes are interrupted after the last reading no more often than plain code", "%"},
    [SOAK_MONOTONE] = {"readings never decrease", "ns back"},
    [SOAK_BOUND] = {"global time is right within its bound after a call", "%"},
    [SOAK_PASSING] = {"global time goes on after a step and a call", "%"},
    [SOAK_FIRST_DURATION] = {"no first call takes over 5 s", "%"},
    [SOAK_DURATION] = {"no call takes over 0.5 s more than the longest first one", "%"},
    [SOAK_MEMORY] = {"memory stays", "%"},
    [SOAK_DESCRIPTORS] = {"open descriptors stay", "more"},
    [SOAK_MAPPINGS] = {"mappings stay", "%"},
    [SOAK_SHARED_MEMORY] = {"no name is left in /dev/shm", "more"},
};

static void print_checks(const int64_t *checked, const int64_t *violated, const int64_t *worst)
{
    printf("\n| invariant | checked | violated | worst (in %% of what is allowed) |\n|---|---:|---:|---:|\n");
    for (int i = 0; i < SOAK_CHECKS; i++)
        printf("| %s | %ld | %ld | %ld %s |\n", descriptions[i].name, (long)checked[i], (long)violated[i],
               (long)worst[i], descriptions[i].unit);
}

static void print_counts(const int64_t *all)
{
    static const char *const names[SOAK_COUNTS] = {
        [SOAK_CALLS] = "calls of MPIX_Harmonize",
        [SOAK_VALID_CALLS] = "of these valid on all processes",
        [SOAK_SYNCS] = "calls of MPIX_Clock_sync",
        [SOAK_COMMUNICATORS] = "communicators",
        [SOAK_STEPS] = "steps of clocks",
        [SOAK_STOPS] = "stops of processes",
        [SOAK_READINGS] = "readings of threads",
        [SOAK_NOT_JUDGED] = "calls during which a clock was stepped",
        [SOAK_PAIRED] = "calls whose exits could be compared",
        [SOAK_INTERRUPTED] = "of these interrupted after the last reading",
        [SOAK_LONG] = "of these by more than 1 us",
        [SOAK_SWITCHED] = "of these descheduled",
        [SOAK_PLAIN] = "control: pieces of plain code of that length",
        [SOAK_PLAIN_LONG] = "of these interrupted for more than 1 us",
    };
    printf("\n| what happened | how often |\n|---|---:|\n");
    for (int i = 0; i < SOAK_COUNTS; i++)
        printf("| %s | %ld |\n", names[i], (long)all[i]);
}

static void print_interruptions(int64_t longest_ns)
{
    static const char *const names[DECADES] = {"below 1 us", "1 to 10 us",   "10 to 100 us", "0.1 to 1 ms",
                                               "1 to 10 ms", "10 to 100 ms", "longer"};
    printf("\n| interruption of a valid process after its last reading | how often |\n|---|---:|\n");
    for (int i = 0; i < DECADES; i++)
        printf("| %s | %ld |\n", names[i], (long)interruptions[i]);
    printf("| longest | %ld us |\n", (long)(longest_ns / 1000));
}

/*
 * Rank 0, on behalf of all. Calls have two exits each, and a call is a longer piece than the control on some machines,
 * so its rate may be some times that of plain code. Of all interruptions of both, those of calls are then a part that
 * the binomial distribution limits; beyond five standard deviations there is another cause.
 */
static void judge_interruptions(const int64_t *all)
{
    const double times = 4, deviations = 5;
    double exits = 2 * (double)all[SOAK_PAIRED], pieces = (double)all[SOAK_PLAIN];
    double part = times * exits / (times * exits + pieces + 1), both = (double)(all[SOAK_LONG] + all[SOAK_PLAIN_LONG]);
    int64_t most = (int64_t)ceil(both * part + deviations * sqrt(both * part * (1 - part)));
    if (!soak_judge(SOAK_TOGETHER, all[SOAK_LONG], most))
        soak_complain("%ld of %ld pairs of valid exits are late, %ld of %ld pieces of plain code", (long)all[SOAK_LONG],
                      (long)all[SOAK_PAIRED], (long)all[SOAK_PLAIN_LONG], (long)all[SOAK_PLAIN]);
}

bool soak_report(const char *title)
{
    int64_t checked[SOAK_CHECKS], violated[SOAK_CHECKS], worst[SOAK_CHECKS], all[SOAK_COUNTS], violations = 0;
    for (int i = 0; i < SOAK_COUNTS; i++)
        all[i] = counts[i];
    combine(all, SOAK_COUNTS, MPI_SUM);
    if (soak_rank == 0)
        judge_interruptions(all);
    for (int i = 0; i < SOAK_CHECKS; i++) {
        checked[i] = tallies[i].checked;
        violated[i] = tallies[i].violated;
        worst[i] = tallies[i].worst;
    }
    combine(checked, SOAK_CHECKS, MPI_SUM);
    combine(violated, SOAK_CHECKS, MPI_SUM);
    combine(worst, SOAK_CHECKS, MPI_MAX);
    combine(interruptions, DECADES, MPI_SUM);
    combine(&longest_interruption_ns, 1, MPI_MAX);
    for (int i = 0; i < SOAK_CHECKS; i++)
        violations += violated[i];
    if (soak_rank == 0) {
        printf("%s\n", title);
        print_checks(checked, violated, worst);
        print_counts(all);
        print_interruptions(longest_interruption_ns);
        fflush(stdout);
    }
    return violations == 0;
}

/* ---- Resources */

static int64_t entries(const char *folder, const char *prefix)
{
    int64_t count = 0;
    DIR *directory = opendir(folder);
    for (struct dirent *entry; directory && (entry = readdir(directory));)
        count += strncmp(entry->d_name, prefix, strlen(prefix)) == 0;
    if (directory)
        closedir(directory);
    return count;
}

static int64_t lines(const char *path)
{
    int64_t count = 0;
    FILE *file = fopen(path, "r");
    for (int c; file && (c = getc(file)) != EOF;)
        count += c == '\n';
    if (file)
        fclose(file);
    return count;
}

static int64_t resident_kib(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file && fscanf(file, "%*d %ld", &pages) != 1)
        pages = 0;
    if (file)
        fclose(file);
    return (int64_t)pages * sysconf(_SC_PAGESIZE) / 1024;
}

soak_resources soak_resources_now(void)
{
    return (soak_resources){resident_kib(), entries("/proc/self/fd", ""), lines("/proc/self/maps"),
                            entries("/dev/shm", "mpix_harmonize.")};
}

void soak_judge_resources(const soak_resources *before, const soak_resources *after)
{
    enum { MOST_MEMORY_KIB = 4096, MOST_MAPPINGS = 8 };
    soak_judge(SOAK_MEMORY, after->memory_kib - before->memory_kib, MOST_MEMORY_KIB);
    soak_judge(SOAK_DESCRIPTORS, after->descriptors - before->descriptors, 0);
    soak_judge(SOAK_MAPPINGS, after->mappings - before->mappings, MOST_MAPPINGS);
    soak_judge(SOAK_SHARED_MEMORY, after->shared_memory - before->shared_memory, 0);
}
