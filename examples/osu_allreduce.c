/*
 * The latency of MPI_Allreduce, as OSU's benchmark measures it, but with harmonized starts: MPIX_Harmonize in the place
 * of MPI_Barrier. Samples of which any process started late are discarded.
 *
 *     mpiexec --bind-to core -n 4 osu_allreduce [LARGEST_MESSAGE [ITERATIONS]]
 */
#include <math.h>
#include <mpix_harmonize.h>
#include <stdio.h>
#include <stdlib.h>

#define WARM_UP 20

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    MPI_Comm comm = MPI_COMM_WORLD;
    int rank, ranks, iterations = argc > 2 ? atoi(argv[2]) : 1000;
    size_t size, largest = argc > 1 ? strtoul(argv[1], NULL, 10) : 1 << 20;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    float *in = calloc(largest / sizeof(float) + 1, sizeof(float)), *out = malloc(largest + sizeof(float));
    double *sample_us = malloc((size_t)iterations * sizeof(double));
    if (!in || !out || !sample_us) {
        fprintf(stderr, "osu_allreduce: out of memory\n");
        MPI_Abort(comm, 1);
        exit(1);
    }

    if (rank == 0) {
        printf("# MPI_Allreduce on %d processes, float, sum\n# %10s %12s %12s %12s %10s\n", ranks, "Size", "Median(us)",
               "Min(us)", "Max(us)", "Discarded");
    }
    for (size = sizeof(float); size <= largest; size *= 2) {
        int elements = (int)(size / sizeof(float)), flag, valid = 0;

        for (int i = 0; i < WARM_UP; i++) {
            MPI_Allreduce(in, out, elements, MPI_FLOAT, MPI_SUM, comm);
        }
        for (int i = 0; i < iterations; i++) {
            MPIX_Harmonize(comm, &flag);
            double begin_s = MPI_Wtime();
            MPI_Allreduce(in, out, elements, MPI_FLOAT, MPI_SUM, comm);
            sample_us[i] = flag ? (MPI_Wtime() - begin_s) * 1e6 : INFINITY;
        }

        /* A sample takes as long as on the slowest process; infinite if any process started late. */
        MPI_Allreduce(MPI_IN_PLACE, sample_us, iterations, MPI_DOUBLE, MPI_MAX, comm);
        qsort(sample_us, iterations, sizeof(double), compare);
        while (valid < iterations && sample_us[valid] < INFINITY) {
            valid++;
        }
        if (rank == 0 && valid > 0) {
            printf("%12zu %12.2f %12.2f %12.2f %10d\n", size, sample_us[valid / 2], sample_us[0], sample_us[valid - 1],
                   iterations - valid);
        } else if (rank == 0) {
            printf("%12zu no valid sample: has each process a core of its own?\n", size);
        }
    }

    free(in);
    free(out);
    free(sample_us);
    MPI_Finalize();
    return 0;
}
