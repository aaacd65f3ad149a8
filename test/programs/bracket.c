/* A user's timing of parallel work, valid in C99 and C++11: prints ok where the bounds contain one another. */
#include <mpix_bracket.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    struct mpix_bracket bracket;
    struct mpix_bracket_times times;
    int rank, flag, ok, all_ok;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    ok = MPIX_Clock_sync(MPI_COMM_WORLD) == MPI_SUCCESS;
    ok = ok && mpix_bracket_begin(MPI_COMM_WORLD, &bracket) == MPI_SUCCESS;
    ok = ok && mpix_bracket_end(MPI_COMM_WORLD, &bracket) == MPI_SUCCESS;
    ok = ok && mpix_bracket_combine(MPI_COMM_WORLD, &bracket, &times) == MPI_SUCCESS;
    ok = ok && times.longest_ns >= 0 && times.low_ns >= 0 && times.barrier_ns >= 0;
    ok = ok && times.low_ns <= times.global_ns && times.global_ns <= times.high_ns;
    ok = ok && mpix_bracket_begin_harmonized(MPI_COMM_WORLD, &bracket, &flag) == MPI_SUCCESS;
    ok = ok && mpix_bracket_end(MPI_COMM_WORLD, &bracket) == MPI_SUCCESS;

    MPI_Allreduce(&ok, &all_ok, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (rank == 0) {
        puts(all_ok ? "ok" : "failed");
    }
    MPI_Finalize();
    return !all_ok;
}
