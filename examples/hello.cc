// A user's program in C++: harmonizes, reads the global clock in nanoseconds, and prints ok.
#include <mpix_harmonize.h>
#include <cstdint>
#include <iostream>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);

    bool ok = MPIX_Clock_sync(MPI_COMM_WORLD) == MPI_SUCCESS;
    int flag = -1;
    ok = ok && MPIX_Harmonize(MPI_COMM_WORLD, &flag) == MPI_SUCCESS && (flag == 0 || flag == 1);
    std::int64_t time_ns, bound_ns;
    ok = ok && MPIX_Global_time_ns(MPI_COMM_WORLD, &time_ns, &bound_ns) == MPI_SUCCESS && bound_ns >= 0;

    int mine = ok, all;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (rank == 0) {
        std::cout << (all ? "ok" : "failed") << std::endl;
    }
    MPI_Finalize();
    return !all;
}
