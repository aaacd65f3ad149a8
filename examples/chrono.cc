// A user's timing with std::chrono: when the last process is done, after a harmonized start. Prints ok.
#include <mpix_harmonize.hpp>
#include <iostream>

static void work(int rank)
{
    volatile double sum = 0;
    for (int i = 0; i < 10000 * (rank + 1); i++) {
        sum = sum + i;
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN); // so that errors are exceptions
    int rank, failed = 0;
    MPI_Comm_rank(comm, &rank);
    try {
        mpix::global_clock clock(comm);
        bool in_time = clock.harmonize();
        mpix::global_clock::time_point begin = clock.now();
        work(rank);
        mpix::global_clock::time_point end = clock.now();

        // All processes read the same clock, so their times can be compared.
        std::int64_t first, last, begin_ns = begin.time_since_epoch().count(), end_ns = end.time_since_epoch().count();
        MPI_Allreduce(&begin_ns, &first, 1, MPI_INT64_T, MPI_MIN, comm);
        MPI_Allreduce(&end_ns, &last, 1, MPI_INT64_T, MPI_MAX, comm);
        if (rank == 0) {
            std::chrono::duration<double, std::micro> us = std::chrono::nanoseconds(last - first);
            std::cout << "all done in " << us.count() << " us; this process began " << (in_time ? "in time" : "late")
                      << "\n";
        }
    } catch (const mpix::error &error) {
        std::cerr << "rank " << rank << ": " << error.what() << "\n";
        failed = 1;
    }
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0) {
        std::cout << (failed ? "failed" : "ok") << std::endl;
    }
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return failed;
}
