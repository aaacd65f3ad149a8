/*
 * The latency of MPI_Reduce after harmonized starts. Samples of which any process started late are measured again, so
 * that each row has as many valid samples as asked for.
 *
 *     mpiexec --bind-to core -n 4 osu_reduce [LARGEST_MESSAGE [SAMPLES]]
 */
#include <math.h>
#include <mpix_harmonize.h>
#include <stdio.h>
#include <stdlib.h>

#define BATCH 50   /* calls between two looks at the flags: the look itself must not disturb the samples */
#define PATIENCE 4 /* calls for each sample: enough if a quarter of the starts is good */

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Measures a batch of calls, and appends the valid ones to the samples; returns the number of samples. */
static int measure_batch(MPI_Comm comm, const float *in, float *out, int elements, double *sample_us, int count)
{
    double duration_us[BATCH];
    int flag;

    for (int i = 0; i < BATCH; i++) {
        MPIX_Harmonize(comm, &flag);
        double begin_s = MPI_Wtime();
        MPI_Reduce(in, out, elements, MPI_FLOAT, MPI_SUM, 0, comm);
        duration_us[i] = flag ? (MPI_Wtime() - begin_s) * 1e6 : INFINITY;
    }
    /* All processes get the same, so all agree on when to stop. */
    MPI_Allreduce(MPI_IN_PLACE, duration_us, BATCH, MPI_DOUBLE, MPI_MAX, comm);
    for (int i = 0; i < BATCH; i++) {
        if (duration_us[i] < INFINITY) {
            sample_us[count++] = duration_us[i];
        }
    }
    return count;
}

int main(int argc, char **argv)
{
    MPI_Comm comm = MPI_COMM_WORLD;
    int rank, ranks, samples = argc > 2 ? atoi(argv[2]) : 1000;
    size_t size, largest = argc > 1 ? strtoul(argv[1], NULL, 10) : 1 << 20;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    float *in = calloc(largest / sizeof(float) + 1, sizeof(float)), *out = malloc(largest + sizeof(float));
    double *sample_us = malloc((size_t)(samples + BATCH) * sizeof(double));
    if (!in || !out || !sample_us) {
        fprintf(stderr, "osu_reduce: out of memory\n");
        MPI_Abort(comm, 1);
        exit(1);
    }

    if (rank == 0) {
        printf("# MPI_Reduce on %d processes, float, sum, root 0\n# %10s %12s %12s %12s %10s %10s\n", ranks, "Size",
               "Median(us)", "Min(us)", "Max(us)", "Valid", "Discarded");
    }
    for (size = sizeof(float); size <= largest; size *= 2) {
        int elements = (int)(size / sizeof(float)), count, calls = 0;
        int limit = (samples / BATCH + 1) * PATIENCE * BATCH;

        measure_batch(comm, in, out, elements, sample_us, 0); /* to warm up */
        for (count = 0; count < samples && calls < limit; calls += BATCH) {
            count = measure_batch(comm, in, out, elements, sample_us, count);
        }
        qsort(sample_us, count, sizeof(double), compare);
        if (rank == 0 && count > 0) {
            printf("%12zu %12.2f %12.2f %12.2f %10d %10d\n", size, sample_us[count / 2], sample_us[0],
                   sample_us[count - 1], count, calls - count);
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
