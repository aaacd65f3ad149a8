! A user's benchmark in Fortran: times a reduction after harmonized starts, and prints ok.
program hello
    use mpi_f08
    use mpix_harmonize_f08
    implicit none
    integer, parameter :: iterations = 20
    logical :: flag(iterations)
    double precision :: sample_s(iterations), begin_s
    real :: in(4) = 1, out(4)
    integer :: i, rank, ranks

    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    do i = 1, iterations
        call MPIX_Harmonize(MPI_COMM_WORLD, flag(i))
        begin_s = MPI_Wtime()
        call MPI_Allreduce(in, out, 4, MPI_REAL, MPI_SUM, MPI_COMM_WORLD)
        sample_s(i) = MPI_Wtime() - begin_s
    end do
    ! Only samples whose start was in time on all processes are valid.
    call MPI_Allreduce(MPI_IN_PLACE, flag, iterations, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD)
    if (rank == 0) then
        print '(i0, a, i0, a)', count(flag), " of ", iterations, " samples are valid"
        if (any(flag)) print '(a, f8.2, a)', "mean:", sum(sample_s, flag) / count(flag) * 1e6, " us"
        if (all(nint(out) == ranks)) print '(a)', "ok"
    end if
    call MPI_Finalize()
end program
