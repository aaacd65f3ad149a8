/*
 * The time of MPI_Bcast from the common start until the last process has the message, and the bandwidth. The root may
 * leave long before that, so durations of single processes do not show it; times on the global clock do.
 *
 *     mpiexec --bind-to core -n 4 osu_bcast [LARGEST_MESSAGE [ITERATIONS]]
 */
#include <mpix_harmonize.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define WARM_UP 20

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

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
    char *message = calloc(largest + 1, 1);
    int64_t *sample_ns = malloc((size_t)iterations * sizeof(int64_t)), start_ns, end_ns, bound_ns;
    if (!message || !sample_ns) {
        fprintf(stderr, "osu_bcast: out of memory\n");
        MPI_Abort(comm, 1);
        exit(1);
    }

    if (rank == 0) {
        printf("# MPI_Bcast on %d processes, root 0\n# %10s %12s %12s %12s %12s %10s %10s\n", ranks, "Size",
               "Median(us)", "Min(us)", "Max(us)", "MB/s", "Bound(us)", "Discarded");
    }
    for (size = 1; size <= largest; size *= 2) {
        int64_t widest_ns = 0;
        int flag, valid = 0;

        for (int i = 0; i < WARM_UP; i++) {
            MPI_Bcast(message, (int)size, MPI_CHAR, 0, comm);
        }
        for (int i = 0; i < iterations; i++) {
            MPIX_Harmonize(comm, &flag);
            MPI_Bcast(message, (int)size, MPI_CHAR, 0, comm);
            MPIX_Global_time_ns(comm, &end_ns, &bound_ns);
            MPIX_Harmonize_instant(comm, &start_ns);
            sample_ns[i] = flag ? end_ns - start_ns : INT64_MAX;
            widest_ns = bound_ns > widest_ns ? bound_ns : widest_ns;
        }

        /* The instant of the start is the same on all processes, so the maximum is that of the last end, or the one
         * that stands for a process that started late. */
        MPI_Allreduce(MPI_IN_PLACE, sample_ns, iterations, MPI_INT64_T, MPI_MAX, comm);
        MPI_Allreduce(MPI_IN_PLACE, &widest_ns, 1, MPI_INT64_T, MPI_MAX, comm);
        qsort(sample_ns, iterations, sizeof(int64_t), compare);
        while (valid < iterations && sample_ns[valid] < INT64_MAX) {
            valid++;
        }
        if (rank == 0 && valid > 0) {
            int64_t median_ns = sample_ns[valid / 2];

            printf("%12zu %12.2f %12.2f %12.2f %12.1f %10.2f %10d\n", size, (double)median_ns / 1e3,
                   (double)sample_ns[0] / 1e3, (double)sample_ns[valid - 1] / 1e3,
                   1e3 * (double)size / (double)median_ns, (double)widest_ns / 1e3, iterations - valid);
        } else if (rank == 0) {
            printf("%12zu no valid sample: has each process a core of its own?\n", size);
        }
    }

    free(message);
    free(sample_ns);
    MPI_Finalize();
    return 0;
}
