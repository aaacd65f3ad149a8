/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * harmonize.c - from MPI_Init to MPI_Finalize, where rank 0 writes how many barriers were valid, and what they cost.
 */
#include "trace/harmonize/clock.h"
#include "trace/harmonize/engaged.h"
#include "trace/shared/interposer.h"
#include "trace/back/twin.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A few calls show whether many would take too long, as they do if processes share a processor. */
enum { FEW_CALLS = 8, MANY_CALLS = 200, MAX_ROWS = 20 };
static const double few_s = 0.001;
static const double us_per_ns = 1e-3;

/* The same on all processes but for what only rank 0 needs. */
typedef struct {
    int rank, ranks;
    int64_t passed_others, passed; /* the most on a process */
    double bound_us;               /* of the global clock, the largest; infinite if unknown */
    int64_t syncs;                 /* of its clocks */
    double plain_us, harmonized_us;
    int count;
    preload_summary *summaries;
} findings;

/* NAN if a call fails. All are called in any case, because other processes wait for them. */
static double time_calls_s(bool harmonized, int calls)
{
    int flag;
    bool failed = PMPI_Barrier(mh_twin_of_world) != MPI_SUCCESS;
    double begin_s = PMPI_Wtime();
    for (int i = 0; i < calls; i++) {
        int code = harmonized ? PMPIX_Harmonize(mh_twin_of_world, &flag) : PMPI_Barrier(mh_twin_of_world);
        failed |= code != MPI_SUCCESS;
    }
    return failed ? NAN : PMPI_Wtime() - begin_s;
}

/* While a program runs, a barrier takes the time that its processes wait for each other. Here they wait for nothing. */
static void measure_cost(findings *found)
{
    int calls = time_calls_s(false, FEW_CALLS) + time_calls_s(true, FEW_CALLS) < few_s ? MANY_CALLS : FEW_CALLS;
    PMPI_Bcast(&calls, 1, MPI_INT, 0, mh_twin_of_world);
    found->plain_us = time_calls_s(false, calls) / calls * 1e6;
    found->harmonized_us = time_calls_s(true, calls) / calls * 1e6;
}

static void find_clock(findings *found)
{
    int64_t time_ns, bound_ns = INT64_MAX, max_ns = INT64_MAX;
    PMPIX_Global_time_ns(mh_twin_of_world, &time_ns, &bound_ns);
    PMPI_Allreduce(&bound_ns, &max_ns, 1, MPI_INT64_T, MPI_MAX, mh_twin_of_world);
    found->bound_us = max_ns == INT64_MAX ? INFINITY : (double)max_ns * us_per_ns;
    mh_preload_statistic(mh_twin_of_world, "mpix_harmonize_syncs", &found->syncs);
}

/* Whether rank 0 has memory, the same on all processes. */
static bool first_has(const void *memory)
{
    int has = memory != NULL;
    PMPI_Bcast(&has, 1, MPI_INT, 0, mh_twin_of_world);
    return has;
}

/* Rank 0 gets the summaries of all processes, in the order of their ranks. Only there is room for what all have. */
static void gather_summaries(findings *found)
{
    const preload_summary *mine = mh_preload_closed.summaries;
    int bytes = mh_preload_closed.count * (int)sizeof *mine, total = 0;
    int *counts = found->rank == 0 ? calloc((size_t)found->ranks * 2, sizeof *counts) : NULL;
    int *starts = counts ? counts + found->ranks : NULL;
    if (first_has(counts)) {
        PMPI_Gather(&bytes, 1, MPI_INT, counts, 1, MPI_INT, 0, mh_twin_of_world);
        for (int i = 0; counts && i < found->ranks; i++) {
            starts[i] = total;
            total += counts[i];
        }
        found->summaries = counts ? calloc((size_t)total + 1, 1) : NULL;
        if (first_has(found->summaries))
            PMPI_Gatherv(mine, bytes, MPI_BYTE, found->summaries, counts, starts, MPI_BYTE, 0, mh_twin_of_world);
        if (found->summaries)
            found->count = total / (int)sizeof *mine;
    }
    free(counts);
}

static void write_row(FILE *file, const preload_summary *row)
{
    fprintf(file, "%-24.24s %6" PRId64 " %10" PRId64 " %10" PRId64 " %10" PRId64, row->name, row->ranks, row->barriers,
            row->harmonized, row->valid);
    if (row->judged > 0)
        fprintf(file, " %6.2f%%", 100.0 * (double)row->valid / (double)row->judged);
    else
        fprintf(file, " %7s", "-");
    if (row->late[0] > 0)
        fprintf(file, " %9.1f %9.1f\n", (double)row->late[1] / (double)row->late[0] * us_per_ns,
                (double)row->late[2] * us_per_ns);
    else
        fprintf(file, " %9s %9s\n", "-", "-");
}

static void write_passed(FILE *file, int64_t passed, const char *of)
{
    if (passed > 0)
        fprintf(file, "barriers left to MPI: up to %" PRId64 " on a process%s\n", passed, of);
}

static void write_barriers(FILE *file, const findings *found)
{
    if (!mh_choices.barrier) {
        fprintf(file, "MPI_Barrier was not replaced\n");
        return;
    }
    if (!found->summaries) {
        fprintf(file, "no memory for the numbers of all processes\n");
        return;
    }
    fprintf(file, "%-24s %6s %10s %10s %10s %7s %9s %9s\n", "communicator", "ranks", "barriers", "harmonized", "valid",
            "share", "late(us)", "max(us)");
    for (int i = 0; i < found->count && i < MAX_ROWS; i++)
        write_row(file, &found->summaries[i]);
    if (found->count > MAX_ROWS)
        fprintf(file, "%d more communicators\n", found->count - MAX_ROWS);
    for (int i = 0; i < found->count; i++)
        if (found->summaries[i].error[0])
            fprintf(file, "%s: after %" PRId64 " harmonized barriers, the library reported an error: %s\n",
                    found->summaries[i].name, found->summaries[i].harmonized, found->summaries[i].error);
    write_passed(file, found->passed, "");
    write_passed(file, found->passed_others, mh_choices.all ? "" : ", of other communicators (see --barriers-of all)");
    if (found->harmonized_us > 0 && found->plain_us > 0)
        fprintf(file, "back to back: a harmonized barrier takes %.2f us, a plain one %.2f us (ratio %.2f)\n",
                found->harmonized_us, found->plain_us, found->harmonized_us / found->plain_us);
}

static void write_clock(FILE *file, const findings *found)
{
    if (!mh_choices.wtime) {
        fprintf(file, "MPI_Wtime was not replaced\n");
        return;
    }
    fprintf(file, "MPI_Wtime was the global clock, synchronized %" PRId64 " time%s, ", found->syncs,
            found->syncs == 1 ? "" : "s");
    if (isfinite(found->bound_us))
        fprintf(file, "in the end within %.3f us on all ranks\n", found->bound_us);
    else
        fprintf(file, "its bound is not known\n");
    if (mh_preload_care.calls > 0)
        fprintf(file, "the clocks were checked in %" PRId64 " of %" PRId64 " collective calls of all processes\n",
                mh_preload_care.looks, mh_preload_care.calls);
    else
        fprintf(file, "no collective call of all processes: the clock was synchronized in MPI_Init only\n");
}

/* Written at once, so that no launcher mixes it with output of other processes. NULL if there is no memory. */
static char *compose_report(const findings *found)
{
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    if (!file)
        return NULL;
    fprintf(file, "mpix_preload: %d rank%s\n", found->ranks, found->ranks == 1 ? "" : "s");
    write_barriers(file, found);
    write_clock(file, found);
    fclose(file);
    return text;
}

static void write_report(const char *text)
{
    const char *path = mh_choices.report;
    if (path[0]) {
        const int file = mh_open_file(path, O_WRONLY | O_APPEND | O_CREAT);
        int reason = file < 0 ? errno : mh_interpose_write(file, text);
        if (file >= 0 && close(file) != 0 && reason == 0)
            reason = errno;
        if (reason == 0)
            return;
        mh_interpose_print("mpix_preload: cannot write %s: %s; this is the report\n", path, strerror(reason));
    }
    mh_interpose_print_text(text);
}

static void report(void)
{
    findings found = {0};
    int has_harmonized = 0;
    PMPI_Comm_rank(mh_twin_of_world, &found.rank);
    PMPI_Comm_size(mh_twin_of_world, &found.ranks);
    const int64_t others = mh_preload_closed.passed_others, passed = mh_preload_closed.passed;
    PMPI_Allreduce(&others, &found.passed_others, 1, MPI_INT64_T, MPI_MAX, mh_twin_of_world);
    PMPI_Allreduce(&passed, &found.passed, 1, MPI_INT64_T, MPI_MAX, mh_twin_of_world);
    find_clock(&found);
    gather_summaries(&found);
    for (int i = 0; found.summaries && i < found.count; i++)
        has_harmonized |= found.summaries[i].harmonized > 0;
    PMPI_Bcast(&has_harmonized, 1, MPI_INT, 0, mh_twin_of_world);
    if (has_harmonized)
        measure_cost(&found);
    char *text = found.rank == 0 ? compose_report(&found) : NULL;
    if (text)
        write_report(text);
    free(text);
    free(found.summaries);
}

/* ---- From MPI_Init to MPI_Finalize */

const char *mh_preload_begin(void)
{
    static char reason[MPI_MAX_ERROR_STRING];
    int code = mh_preload_start_clock();
    if (code == MPI_SUCCESS) {
        mh_preload_open_communicators();
        return NULL;
    }
    mh_preload_describe(mh_twin_of_world, code, reason, sizeof reason);
    return reason;
}

void mh_preload_end(void)
{
    mh_preload_close_communicators();
    if (!mh_choices.quiet)
        report();
    mh_preload_end_clock();
    mh_preload_free_communicators();
}
