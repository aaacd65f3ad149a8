/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * triad.c - memory bandwidth of all processes together, timed with and without synchronized clocks.
 *
 * The work is the triad of the STREAM benchmark, a = b + 3 c, over arrays of each process's own. How long it takes all
 * processes, from the first start to the last end, is asked of mpix_bracket.h.
 *
 *     mpiexec --bind-to core -n 4 ./triad [BYTES OF EACH ARRAY [REPETITIONS]]
 */
#include <mpix_bracket.h>

#include <stdio.h>
#include <stdlib.h>

static void triad(double *restrict a, const double *restrict b, const double *restrict c, long elements)
{
    for (long i = 0; i < elements; i++)
        a[i] = b[i] + 3.0 * c[i];
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);

    long elements = (argc > 1 ? atol(argv[1]) : 1L << 24) / (long)sizeof(double);
    int repetitions = argc > 2 ? atoi(argv[2]) : 20;
    if (elements < 1 || repetitions < 1) {
        if (rank == 0)
            fprintf(stderr, "triad: give the bytes of an array, at least 8, and how often to repeat, at least once\n");
        MPI_Finalize();
        return 2;
    }
    double *a = malloc((size_t)elements * sizeof *a), *b = malloc((size_t)elements * sizeof *b);
    double *c = malloc((size_t)elements * sizeof *c);
    if (!a || !b || !c) {
        MPI_Abort(MPI_COMM_WORLD, 1);
        exit(1);
    }
    for (long i = 0; i < elements; i++) {
        a[i] = 0;
        b[i] = (double)(i % 1000);
        c[i] = (double)(i % 77);
    }

    /* The best of all repetitions, each figure by itself; low and high belong to global. */
    struct mpix_bracket_times best = {INT64_MAX, INT64_MAX, 0, INT64_MAX, INT64_MAX};
    MPIX_Clock_sync(MPI_COMM_WORLD);
    for (int i = -1; i < repetitions; i++) { /* the first one warms up */
        struct mpix_bracket bracket;
        struct mpix_bracket_times times = {0};
        mpix_bracket_begin(MPI_COMM_WORLD, &bracket);
        triad(a, b, c, elements);
        mpix_bracket_end(MPI_COMM_WORLD, &bracket);
        mpix_bracket_combine(MPI_COMM_WORLD, &bracket, &times);
        if (i < 0)
            continue;
        if (times.longest_ns < best.longest_ns)
            best.longest_ns = times.longest_ns;
        if (times.barrier_ns < best.barrier_ns)
            best.barrier_ns = times.barrier_ns;
        if (times.global_ns < best.global_ns) {
            best.global_ns = times.global_ns;
            best.low_ns = times.low_ns;
            best.high_ns = times.high_ns;
        }
    }

    long wrong = 0;
    for (long i = 0; i < elements; i++)
        wrong += a[i] != b[i] + 3.0 * c[i];
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) {
        double bytes = 3.0 * sizeof(double) * (double)elements * ranks; /* bytes / ns are GB/s */
        printf("%d processes, three arrays of %.0f bytes each, the best of %d triads\n", ranks, bytes / 3 / ranks,
               repetitions);
        printf("  the slowest process alone      %10.2f us, a lower bound\n", (double)best.longest_ns / 1e3);
        printf("  first start to last end        %10.2f us, from %.2f to %.2f by the bounds of the clock\n",
               (double)best.global_ns / 1e3, (double)best.low_ns / 1e3, (double)best.high_ns / 1e3);
        printf("  between barriers               %10.2f us, an upper bound\n", (double)best.barrier_ns / 1e3);
        printf("  bandwidth                      %10.2f GB/s by the global clock, %.2f GB/s between barriers\n",
               bytes / (double)best.global_ns, bytes / (double)best.barrier_ns);
        if (wrong > 0)
            fprintf(stderr, "triad: %ld elements are wrong\n", wrong);
    }
    free(a);
    free(b);
    free(c);
    MPI_Finalize();
    return wrong > 0;
}
