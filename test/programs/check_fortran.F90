! All functions of the Fortran modules, with good and bad arguments. Prints complaints, and ok if there are none.
!
! Compiled with -DF08: use mpi_f08; with -DMPIF_H: include mpif.h; otherwise: use mpi.
#ifdef F08
#define COMMUNICATOR type(MPI_Comm)
#define INFO_OBJECT type(MPI_Info)
#else
#define COMMUNICATOR integer
#define INFO_OBJECT integer
#endif
program check_fortran
    use, intrinsic :: iso_c_binding, only: c_int64_t, c_double
#ifdef F08
    use mpi_f08
    use mpix_harmonize_f08
#else
#ifndef MPIF_H
    use mpi
#endif
    use mpix_harmonize_mpi
#endif
    implicit none
#ifdef MPIF_H
    include 'mpif.h'
#endif
    integer, parameter :: calls = 5
    integer :: rank = 0, ierror, complaints = 0, total
    COMMUNICATOR :: comm

    call check_inactive("before MPI_Init")
    call MPI_Init(ierror)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierror)
    call MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN, ierror)
    call check_unsynchronized()
    call check_bad_setting()
    call check_settings()
    call check_release()
    call check_clock()
    call check_statistics()
    call check_no_communicator()
    call check_delays()
    call MPI_Allreduce(complaints, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
    call MPI_Finalize(ierror)
    call check_inactive("after MPI_Finalize")
    if (total == 0 .and. complaints > 0) error stop
    if (rank == 0 .and. total == 0) print '(a)', "ok"

contains

    subroutine expect(condition, what)
        logical, intent(in) :: condition
        character(*), intent(in) :: what
        if (condition) return
        complaints = complaints + 1
        print '(a, i0, 2a)', "rank ", rank, ": not so: ", what
    end subroutine

    subroutine expect_class(code, class, what)
        integer, intent(in) :: code, class
        character(*), intent(in) :: what
        integer :: found
        call MPI_Error_class(code, found, ierror)
        call expect(found == class, what)
    end subroutine

    subroutine check_inactive(when)
        character(*), intent(in) :: when
        logical :: flag
        INFO_OBJECT :: info
        call MPIX_Harmonize(MPI_COMM_WORLD, flag, ierror)
        call expect(ierror == MPI_ERR_OTHER .and. .not. flag, "MPI_COMM_WORLD cannot be used " // when)
        call MPIX_Clock_sync(MPI_COMM_NULL, ierror)
        call expect(ierror == MPI_ERR_COMM, "MPI_COMM_NULL is no communicator " // when)
        call MPIX_Harmonize_set_info(MPI_COMM_SELF, MPI_INFO_NULL, ierror)
        call expect(ierror == MPI_ERR_OTHER, "MPI_COMM_SELF cannot be used " // when)
        call MPIX_Harmonize_get_info(MPI_COMM_SELF, info, ierror)
        call expect(ierror == MPI_ERR_OTHER .and. info == MPI_INFO_NULL, "there are no statistics " // when)
        if (when == "before MPI_Init") return
        call MPIX_Clock_sync(comm, ierror)
        call expect(ierror == MPI_ERR_OTHER, "a communicator cannot be used " // when)
    end subroutine

    ! The value of a setting or statistic.
    function value_of(key) result(value)
        character(*), intent(in) :: key
        character(256) :: value
        INFO_OBJECT :: info
        logical :: found
        call MPIX_Harmonize_get_info(comm, info, ierror)
        call expect(ierror == MPI_SUCCESS, "MPIX_Harmonize_get_info succeeds")
        call MPI_Info_get(info, "mpix_harmonize_" // key, len(value), value, found, ierror)
        call expect(found, "there is a value of " // key)
        call MPI_Info_free(info, ierror)
    end function

    subroutine set(key, value, code)
        character(*), intent(in) :: key, value
        integer, intent(out) :: code
        INFO_OBJECT :: info
        call MPI_Info_create(info, ierror)
        call MPI_Info_set(info, key, value, ierror)
        call MPIX_Harmonize_set_info(comm, info, code)
        call MPI_Info_free(info, ierror)
    end subroutine

    ! Whether the last error names all of this, and is the same on all processes.
    subroutine expect_message(part, other)
        character(*), intent(in) :: part, other
        character(256) :: mine, first
        mine = value_of("last_error")
        first = mine
        call MPI_Bcast(first, len(first), MPI_CHARACTER, 0, MPI_COMM_WORLD, ierror)
        call expect(mine == first, "all processes have the message " // trim(first))
        call expect(index(mine, part) > 0 .and. index(mine, other) > 0, &
            "'" // part // "' and '" // other // "' are in: " // trim(mine))
    end subroutine

    subroutine check_unsynchronized()
        real(c_double) :: time
        call MPIX_Global_time(comm, time, ierror)
        call expect_class(ierror, MPI_ERR_OTHER, "a clock that was never synchronized is MPI_ERR_OTHER")
        call expect_message("not been synchronized", "MPIX_Clock_sync")
    end subroutine

    subroutine check_bad_setting()
        integer :: code
        call set("mpix_harmonize_tolerance_ns", "soon", code)
        call expect_class(code, MPI_ERR_INFO_VALUE, "a bad value is MPI_ERR_INFO_VALUE")
        call expect_message("mpix_harmonize_tolerance_ns", "soon")
        call set("mpix_harmonize_tolerence_ns", "1000", code)
        call expect_class(code, MPI_ERR_INFO_KEY, "an unknown key is MPI_ERR_INFO_KEY")
        call expect_message("mpix_harmonize_tolerence_ns", "mpix_harmonize_tolerence_ns")
    end subroutine

    subroutine check_settings()
        integer :: code
        call set("mpix_harmonize_tolerance_ns", "123456", code)
        call expect(code == MPI_SUCCESS, "MPIX_Harmonize_set_info succeeds")
        call expect(value_of("tolerance_ns") == "123456", "the setting is what was set")
        call MPIX_Harmonize_set_info(comm, MPI_INFO_NULL)
    end subroutine

    subroutine check_release()
        logical :: flag
        integer :: i, in_time
        character(256) :: late
        call MPIX_Clock_sync(comm, ierror)
        call expect(ierror == MPI_SUCCESS, "MPIX_Clock_sync succeeds")
        call MPIX_Clock_sync(comm)
        in_time = 0
        do i = 1, calls - 1
            call MPIX_Harmonize(comm, flag, ierror)
            call expect(ierror == MPI_SUCCESS, "MPIX_Harmonize succeeds")
            if (flag) in_time = in_time + 1
        end do
        call MPIX_Harmonize(comm, flag)
        if (flag) in_time = in_time + 1
        late = value_of("calls_late")
        call expect(iachar(late(1:1)) - iachar("0") <= calls - in_time, "late calls have a false flag: " // trim(late))
        call expect(in_time > 0 .or. iachar(late(1:1)) > iachar("0"), "calls in time have a true flag")
    end subroutine

    subroutine check_delays()
        logical :: flag
        integer(c_int64_t) :: instant_ns, time_ns, bound_ns
        call MPIX_Harmonize_delayed(comm, 2000_c_int64_t, flag, ierror)
        call expect(ierror == MPI_SUCCESS, "MPIX_Harmonize_delayed succeeds")
        call MPIX_Harmonize_instant(comm, instant_ns, ierror)
        call expect(ierror == MPI_SUCCESS, "MPIX_Harmonize_instant succeeds")
        call MPIX_Global_time_ns(comm, time_ns, bound_ns)
        call expect(time_ns >= instant_ns + 1999 .or. .not. flag, "the process leaves after the delay")
        instant_ns = time_ns + 50000
        call MPIX_Global_wait_until(comm, instant_ns, flag, ierror)
        call expect(ierror == MPI_SUCCESS, "MPIX_Global_wait_until succeeds")
        call MPIX_Global_time_ns(comm, time_ns, bound_ns)
        call expect(time_ns >= instant_ns, "the instant has come after the wait for it")
        call MPIX_Global_wait_until(comm, time_ns - 1000000000, flag)
        call expect(.not. flag, "an instant that has passed is not in time")
        flag = .true.
        call MPIX_Harmonize_delayed(comm, -1_c_int64_t, flag, ierror)
        call expect_class(ierror, MPI_ERR_ARG, "a negative delay is MPI_ERR_ARG")
        call expect(.not. flag, "the flag is false after an error")
        call expect_message("delay_ns", "allowed")
    end subroutine

    subroutine check_clock()
        integer, parameter :: monotonic = 1
        real(c_double) :: before_s, after_s, earliest_s, latest_s
        integer(c_int64_t) :: time_ns, bound_ns, local_ns, pair_ns
        call MPIX_Global_time(comm, before_s)
        call MPIX_Global_time_ns(comm, time_ns, bound_ns, ierror)
        call expect(ierror == MPI_SUCCESS, "MPIX_Global_time_ns succeeds")
        call MPIX_Global_time(comm, after_s, ierror)
        call expect(ierror == MPI_SUCCESS, "MPIX_Global_time succeeds")
        call expect(before_s - 1d-8 <= time_ns * 1d-9 .and. time_ns * 1d-9 <= after_s + 1d-8, &
            "the readings are in order")
        call expect(bound_ns >= 0, "the bound is not negative")
        call MPIX_Global_time_interval(comm, earliest_s, latest_s, ierror)
        call expect(ierror == MPI_SUCCESS, "MPIX_Global_time_interval succeeds")
        call expect(earliest_s <= latest_s .and. latest_s >= before_s, "the interval is one")
        call MPIX_Global_time_interval(comm, earliest_s, latest_s)
        call MPIX_Global_time_ns(comm, time_ns, bound_ns)
        call MPIX_Clock_pair(comm, monotonic, local_ns, pair_ns, bound_ns, ierror)
        call expect(ierror == MPI_SUCCESS, "MPIX_Clock_pair succeeds")
        call expect(local_ns > 0 .and. pair_ns > time_ns - 1000000000 .and. bound_ns > 0, "the pair is one")
        call MPIX_Global_time_of(comm, monotonic, local_ns, time_ns, bound_ns, ierror)
        call expect(ierror == MPI_SUCCESS, "MPIX_Global_time_of succeeds")
        call expect(abs(time_ns - pair_ns) <= 2 * bound_ns, "the time of the reading is that of the pair")
        call MPIX_Clock_write(comm, "/nowhere/clocks.jsonl ", ierror)
        call expect_class(ierror, MPI_ERR_IO, "a file that cannot be written is MPI_ERR_IO")
        call expect_message("/nowhere/clocks.jsonl'", "No such file")
        call MPIX_Clock_pair(comm, -1000, local_ns, pair_ns, bound_ns, ierror)
        call expect_class(ierror, MPI_ERR_ARG, "no clock is MPI_ERR_ARG")
    end subroutine

    subroutine check_statistics()
        INFO_OBJECT :: info
        call expect(value_of("calls") == "5", "the calls are counted")
        call MPIX_Harmonize_get_info(comm, info)
        call expect(info /= MPI_INFO_NULL, "there is an info object")
        call MPI_Info_free(info, ierror)
    end subroutine

    subroutine check_no_communicator()
        logical :: flag
        INFO_OBJECT :: info
        flag = .true.
        call MPIX_Harmonize(MPI_COMM_NULL, flag, ierror)
        call expect_class(ierror, MPI_ERR_COMM, "MPI_COMM_NULL is MPI_ERR_COMM")
        call expect(.not. flag, "the flag is false after an error")
        call expect_message("MPI_COMM_NULL", "intracommunicator")
        call MPIX_Harmonize_get_info(MPI_COMM_NULL, info, ierror)
        call expect_class(ierror, MPI_ERR_COMM, "the same of MPIX_Harmonize_get_info")
        call expect(info == MPI_INFO_NULL, "no info object after an error")
    end subroutine
end program
