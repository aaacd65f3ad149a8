! SPDX-License-Identifier: BSD-3-Clause
! What check_preload.c prints, and messages for check_trace.sh, in the three forms of Fortran: FORM is 1 for mpif.h, 2
! for mpi, 3 for mpi_f08.
program check_preload
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
    integer :: i, ierror, rank, ranks, provided, older, sum, gathered(16), from(4), to(4)
    integer(kind=MPI_ADDRESS_KIND) :: is_global, greatest_tag
    logical :: found
    double precision :: before, latest

    if (FORM == 2) then
        call MPI_INIT_THREAD(MPI_THREAD_SINGLE, provided, ierror)
    else
        call MPI_INIT(ierror)
    end if
    call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierror)
    call MPI_COMM_GET_ATTR(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, is_global, found, ierror)
    if (rank == 0) print '(a,i0,a,l1,a,es7.1)', 'global ', is_global, ' found ', found, ' tick ', MPI_WTICK()
#if FORM == 1
    call MPI_ATTR_GET(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, older, found, ierror)
    if (.not. found .or. older /= is_global) print '(a)', 'wrong: MPI_ATTR_GET'
#endif
    call MPI_COMM_GET_ATTR(MPI_COMM_WORLD, MPI_TAG_UB, greatest_tag, found, ierror)
    if (greatest_tag < 32767) print '(a)', 'wrong: MPI_TAG_UB'
    do i = 1, 300
        before = MPI_WTIME()
#if FORM == 3
        call MPI_BARRIER(MPI_COMM_WORLD)
#else
        call MPI_BARRIER(MPI_COMM_WORLD, ierror)
        if (ierror /= MPI_SUCCESS) print '(a)', 'wrong: ierror'
#endif
    end do
    call MPI_ALLREDUCE(before, latest, 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierror)
    call MPI_COMM_SIZE(MPI_COMM_WORLD, ranks, ierror)
    call MPI_REDUCE(1, sum, 1, MPI_INTEGER, MPI_SUM, ranks - 1, MPI_COMM_WORLD, ierror)
    call MPI_BCAST(sum, 1, MPI_INTEGER, ranks - 1, MPI_COMM_WORLD, ierror)
    call MPI_ALLGATHER(sum, 1, MPI_INTEGER, gathered, 1, MPI_INTEGER, MPI_COMM_WORLD, ierror)
    if (any(gathered(1:ranks) /= ranks)) print '(a)', 'wrong: MPI_REDUCE, MPI_BCAST or MPI_ALLGATHER'
    call MPI_COMM_DUP(MPI_COMM_WORLD, twin, ierror)
    to = rank
    do i = 1, 3
        if (rank == 0) then
            call MPI_SEND(to, 4, MPI_INTEGER, 1, 5, twin, ierror)
        else
            call MPI_RECV(from, 4, MPI_INTEGER, 0, 5, twin, MPI_STATUS_IGNORE, ierror)
        end if
    end do
    call MPI_IRECV(from, 4, MPI_INTEGER, MPI_ANY_SOURCE, 6, MPI_COMM_WORLD, requests(1), ierror)
    call MPI_ISEND(to, 4, MPI_INTEGER, 1 - rank, 6, MPI_COMM_WORLD, requests(2), ierror)
    call MPI_WAITALL(2, requests, MPI_STATUSES_IGNORE, ierror)
    if (from(4) /= 1 - rank) print '(a)', 'wrong: message'
    call MPI_COMM_FREE(twin, ierror)
    if (is_global /= 0 .and. MPI_WTIME() < latest - 1d-4) print '(a)', 'wrong: MPI_WTIME'
    call MPI_FINALIZE(ierror)
    print '(a)', 'done'
end program
