/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * planted.c - a program in which one rank is late, at a place, for a time and in iterations that are known. There is a
 * kind of program for each way in which ranks may wait for the late one, in the files planted_FAMILY.c.
 *
 * Usage: planted                                   prints all kinds, how others wait, and what this MPI library lacks
 *                                                  for the kind: KIND|STATE|FUNCTIONS, with STATE as mpix_trace_report
 *                                                  names it, if it does, and no FUNCTIONS if it can run
 *        planted KIND RANK MS SEED HOW [without]   HOW ranks compute and are late: compute, or sleep; without: nobody
 *                                                  is late
 *
 * Each rank prints when its program began, when MPI was initialized, when the last call before MPI_Finalize returned,
 * and when MPI_Finalize returned, in nanoseconds of CLOCK_MONOTONIC. The late rank prints its number, by how many
 * nanoseconds it was late, and the calls between which it was, with their files and lines. Files are made in the
 * working directory.
 */
#include "planted.h"

#include "pure/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ITERATIONS = 8 };

static struct {
    int is_planted, iterations[2];
    int64_t ns, was_ns; /* each time; all in all */
    int is_open;        /* the rank was late, and has called nothing since */
} late;

typedef struct {
    const char *function, *file;
    int line;
} place;

int rank, ranks, left, right, root, late_rank, status;
int in[BIG], out[BIG];
MPI_Comm world;
MPI_Request request, requests[2];
MPI_Status statuses[2];
static int iteration, sleeps;
static place last_call, late_from = {"-", "-", 0}, late_to = {"-", "-", 0};
static const family *const families[] = {&messages, &collectives, &windows, &communicators, &files};
enum { FAMILY_COUNT = sizeof families / sizeof families[0] };

void note(const char *function, const char *file, int line)
{
    if (late.is_open) {
        late_from = last_call;
        late_to = (place){function, file, line};
    }
    late.is_open = 0;
    last_call = (place){function, file, line};
}

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

void spend(int64_t ns)
{
    const struct timespec time = {ns / 1000000000, ns % 1000000000};
    const int64_t end_ns = now_ns() + ns;
    if (sleeps)
        nanosleep(&time, NULL);
    else
        while (now_ns() < end_ns)
            ;
}

static void be_late(void)
{
    if (!late.is_planted || rank != late_rank)
        return;
    const int64_t begin_ns = now_ns();
    spend(late.ns);
    late.was_ns += now_ns() - begin_ns;
    late.is_open = 1;
}

void be_late_in_turn(void)
{
    if (iteration == late.iterations[0] || iteration == late.iterations[1])
        be_late();
}

void work(void)
{
    spend(WORK_NS);
    be_late_in_turn();
}

void complete(void)
{
    CALL(Wait, &request, MPI_STATUS_IGNORE);
}

/* Before MPI is initialized, the launcher tells the rank. */
static int told_rank(void)
{
    const char *text = getenv("PMI_RANK");
    text = text ? text : getenv("OMPI_COMM_WORLD_RANK");
    return text ? atoi(text) : -1;
}

/* NULL: there is none, or MPI does not have it. */
static const kind *find(const char *name, const family **in_family)
{
    for (int i = 0; i < FAMILY_COUNT; i++)
        for (const kind *of = families[i]->kinds; of < families[i]->kinds + families[i]->count; of++)
            if (strcmp(of->name, name) == 0 && of->iterate) {
                *in_family = families[i];
                return of;
            }
    return NULL;
}

static void print_kinds(void)
{
    for (int i = 0; i < FAMILY_COUNT; i++)
        for (const kind *of = families[i]->kinds; of < families[i]->kinds + families[i]->count; of++)
            printf("%s|%s|%s\n", of->name, of->state, of->lacks ? of->lacks : "");
}

int main(int argc, char **argv)
{
    const int64_t begin_ns = now_ns();
    const family *its;
    if (argc < 6) {
        print_kinds();
        return 0;
    }
    const kind *of = find(argv[1], &its);
    if (!of)
        return 2;
    uint64_t seed = strtoull(argv[4], NULL, 10);
    late_rank = (of->traits & FIRST_LATE) != 0 ? 0 : atoi(argv[2]);
    late.ns = INT64_C(1000000) * atoi(argv[3]) * ((of->traits & AT_BEGIN) != 0 ? 4 : 1); /* MPI_Init takes long */
    late.is_planted = argc == 6;
    sleeps = strcmp(argv[5], "sleep") == 0;
    /* Two that are apart, and neither the first iteration nor the last one. */
    late.iterations[0] = (of->traits & (AT_BEGIN | AT_FIRST | AT_END)) != 0 ? -1 : 1 + (int)(random_next(&seed) % 2);
    late.iterations[1] = late.iterations[0] < 0 ? -1 : 4 + (int)(random_next(&seed) % 3);
    rank = told_rank();
    if (of->traits & AT_BEGIN)
        be_late();
    late.is_open = 0;
    last_call = (place){"MPI_Init", __FILE__, __LINE__ + 1};
    MPI_Init(&argc, &argv);
    const int64_t initialized_ns = now_ns();
    world = MPI_COMM_WORLD;
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &ranks);
    root = (of->traits & ROOT_LATE) != 0 ? late_rank : (late_rank + 1) % ranks;
    left = (rank + ranks - 1) % ranks;
    right = (rank + 1) % ranks;
    if (its->set_up)
        its->set_up(of->traits);
    CALL(Barrier, world);
    if (of->traits & AT_FIRST)
        be_late();
    for (; iteration < ITERATIONS; iteration++)
        of->iterate();
    if (its->clean_up)
        its->clean_up(of->traits);
    CALL(Barrier, world);
    if (of->traits & AT_END)
        be_late();
    const int64_t ended_ns = now_ns();
    CALL(Finalize);
    printf("ran %lld %lld %lld %lld\n", (long long)begin_ns, (long long)initialized_ns, (long long)ended_ns,
           (long long)now_ns());
    if (late.was_ns > 0)
        printf("late %d %lld %s %s %d %s %s %d\n", rank, (long long)late.was_ns, late_from.function, late_from.file,
               late_from.line, late_to.function, late_to.file, late_to.line);
    return status != MPI_SUCCESS;
}
