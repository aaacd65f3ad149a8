! SPDX-License-Identifier: BSD-3-Clause
! What check_trace.sh records, in the three forms of Fortran: FORM is 1 for mpif.h, 2 for mpi, 3 for mpi_f08.
program check_trace
#if FORM == 3
    use mpi_f08
    implicit none
    type(MPI_Comm) :: twin
    type(MPI_Request) :: requests(2)
#else
#if FORM == 2
    use mpi
    implicit none
#else
    implicit none
    include 'mpif.h'
#endif
    integer :: twin, requests(2)
#endif
    integer :: rank, peer, ierror, i, from(4), to(4)

    call MPI_INIT(ierror)
    call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierror)
    peer = 1 - rank
    to = rank
    call MPI_COMM_DUP(MPI_COMM_WORLD, twin, ierror)
    do i = 1, 3
        if (rank == 0) then
            call MPI_SEND(to, 4, MPI_INTEGER, peer, 5, twin, ierror)
        else
            call MPI_RECV(from, 4, MPI_INTEGER, peer, 5, twin, MPI_STATUS_IGNORE, ierror)
        end if
    end do
    call MPI_IRECV(from, 4, MPI_INTEGER, MPI_ANY_SOURCE, 6, MPI_COMM_WORLD, requests(1), ierror)
    call MPI_ISEND(to, 4, MPI_INTEGER, peer, 6, MPI_COMM_WORLD, requests(2), ierror)
    call MPI_WAITALL(2, requests, MPI_STATUSES_IGNORE, ierror)
    if (from(4) /= peer) print '(a)', 'wrong: message'
    call MPI_ALLREDUCE(to, from, 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
    if (from(1) /= 1) print '(a)', 'wrong: sum'
    call MPI_BARRIER(twin, ierror)
    call MPI_COMM_FREE(twin, ierror)
    call MPI_FINALIZE(ierror)
    print '(a)', 'done'
end program
