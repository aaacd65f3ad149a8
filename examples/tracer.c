/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tracer.c - a tracer in a few lines: processes on several hosts write what they do by a clock of their own, and all
 * files end on one time line. Nothing is exchanged while the program works.
 *
 *     mpiexec -n 4 ./tracer
 *     mpix_clock_convert -c clocks.jsonl --clock monotonic_raw -o all.json \
 *         host1=trace.host1.0.json host1=trace.host1.1.json host2=trace.host2.2.json host2=trace.host2.3.json
 *
 * Perfetto (https://ui.perfetto.dev) and Chrome show all.json.
 */
#include <mpix_harmonize.h>

#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* In microseconds, as the format wants. */
static void trace(FILE *file, int rank, const char *name, int64_t begin_ns, int64_t end_ns)
{
    fprintf(file,
            ",\n{\"name\": \"%s\", \"ph\": \"X\", \"pid\": %d, \"tid\": 0, \"ts\": %" PRId64 ".%03d, "
            "\"dur\": %" PRId64 ".%03d}",
            name, rank, begin_ns / 1000, (int)(begin_ns % 1000), (end_ns - begin_ns) / 1000,
            (int)((end_ns - begin_ns) % 1000));
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    char host[65] = "", path[128];
    gethostname(host, sizeof host - 1);
    snprintf(path, sizeof path, "trace.%s.%d.json", host, rank);
    FILE *file = fopen(path, "w");
    if (!file) {
        perror(path);
        MPI_Abort(MPI_COMM_WORLD, 1);
        return 1;
    }
    fprintf(file, "[\n{\"name\": \"process_name\", \"ph\": \"M\", \"pid\": %d, \"args\": {\"name\": \"rank %d\"}}",
            rank, rank);
    MPIX_Clock_sync(MPI_COMM_WORLD);
    for (int step = 0; step < 10; step++) {
        const int64_t begin_ns = now_ns();
        nanosleep(&(struct timespec){0, 1000000L * (rank % 100 + 1)}, NULL); /* the work */
        const int64_t worked_ns = now_ns();
        MPI_Barrier(MPI_COMM_WORLD);
        const int64_t left_ns = now_ns();
        trace(file, rank, "work", begin_ns, worked_ns);
        trace(file, rank, "barrier", worked_ns, left_ns);
    }
    MPIX_Clock_sync(MPI_COMM_WORLD); /* so that all times lie between two records */
    MPIX_Clock_write(MPI_COMM_WORLD, "clocks.jsonl");
    fputs("\n]\n", file);
    fclose(file);
    MPI_Finalize();
    return 0;
}
