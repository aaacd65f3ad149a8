! SPDX-License-Identifier: BSD-3-Clause
!
! mpix_harmonize_mpi - the functions of mpix_harmonize.h for programs that "use mpi" or include mpif.h.
!
! Compile this file with the program's own compiler and options, before the program:
!
!     mpifort .../mpix_harmonize_mpi.f90 program.f90 $(pkg-config --libs mpix_harmonize)
!
! Communicators and info objects are integers, as in MPI. ierror is optional everywhere: an MPI error code, as in C.
! Times in seconds are real(c_double), times in nanoseconds integer(c_int64_t). man mpix_bindings has more.
!
! The module is not called mpix_harmonize: Fortran ignores case, and MPIX_Harmonize is a procedure.
module mpix_harmonize_mpi
    use, intrinsic :: iso_c_binding, only: c_int, c_int8_t, c_int16_t, c_int32_t, c_int64_t, c_double
    use mpi, only: MPI_COMM_WORLD
    implicit none
    private
    public :: MPIX_Harmonize, MPIX_Harmonize_delayed, MPIX_Harmonize_instant
    public :: MPIX_Global_time, MPIX_Global_time_interval, MPIX_Global_time_ns, MPIX_Global_wait_until
    public :: MPIX_Clock_sync, MPIX_Harmonize_set_info, MPIX_Harmonize_get_info
    public :: MPIX_Harmonize_built_for

    ! The library has one of these procedures, for the MPI library that it was built for. The compiler chooses by the
    ! kind of the argument, which follows from the handle of the world. A program of another MPI library does not link.
    integer, parameter :: library = merge(c_int16_t, merge(c_int32_t, merge(c_int64_t, c_int8_t, &
        MPI_COMM_WORLD == 257), MPI_COMM_WORLD == 0), MPI_COMM_WORLD == 1140850688)
    interface MPIX_Harmonize_built_for
        subroutine built_for_mpich(unused) bind(C, name="MPIX_Harmonize_built_for_MPICH")
            import :: c_int16_t
            integer(c_int16_t), value :: unused
        end subroutine

        subroutine built_for_open_mpi(unused) bind(C, name="MPIX_Harmonize_built_for_Open_MPI")
            import :: c_int32_t
            integer(c_int32_t), value :: unused
        end subroutine

        subroutine built_for_standard_abi(unused) bind(C, name="MPIX_Harmonize_built_for_standard_ABI")
            import :: c_int64_t
            integer(c_int64_t), value :: unused
        end subroutine

        module procedure built_for_another
    end interface

    ! Handles and codes go as integer(c_int): default integers are those that MPI was built with.
    interface
        function harmonize_c(comm, flag) bind(C, name="MPIX_Harmonize_f") result(code)
            import :: c_int
            integer(c_int), value :: comm
            integer(c_int), intent(out) :: flag
            integer(c_int) :: code
        end function

        function harmonize_delayed_c(comm, delay_ns, flag) bind(C, name="MPIX_Harmonize_delayed_f") result(code)
            import :: c_int, c_int64_t
            integer(c_int), value :: comm
            integer(c_int64_t), value :: delay_ns
            integer(c_int), intent(out) :: flag
            integer(c_int) :: code
        end function

        function harmonize_instant_c(comm, instant_ns) bind(C, name="MPIX_Harmonize_instant_f") result(code)
            import :: c_int, c_int64_t
            integer(c_int), value :: comm
            integer(c_int64_t), intent(out) :: instant_ns
            integer(c_int) :: code
        end function

        function global_time_c(comm, time) bind(C, name="MPIX_Global_time_f") result(code)
            import :: c_int, c_double
            integer(c_int), value :: comm
            real(c_double), intent(out) :: time
            integer(c_int) :: code
        end function

        function global_time_interval_c(comm, earliest, latest) bind(C, name="MPIX_Global_time_interval_f") &
            result(code)
            import :: c_int, c_double
            integer(c_int), value :: comm
            real(c_double), intent(out) :: earliest, latest
            integer(c_int) :: code
        end function

        function global_time_ns_c(comm, time_ns, bound_ns) bind(C, name="MPIX_Global_time_ns_f") result(code)
            import :: c_int, c_int64_t
            integer(c_int), value :: comm
            integer(c_int64_t), intent(out) :: time_ns, bound_ns
            integer(c_int) :: code
        end function

        function global_wait_until_c(comm, instant_ns, flag) bind(C, name="MPIX_Global_wait_until_f") result(code)
            import :: c_int, c_int64_t
            integer(c_int), value :: comm
            integer(c_int64_t), value :: instant_ns
            integer(c_int), intent(out) :: flag
            integer(c_int) :: code
        end function

        function clock_sync_c(comm) bind(C, name="MPIX_Clock_sync_f") result(code)
            import :: c_int
            integer(c_int), value :: comm
            integer(c_int) :: code
        end function

        function set_info_c(comm, info) bind(C, name="MPIX_Harmonize_set_info_f") result(code)
            import :: c_int
            integer(c_int), value :: comm, info
            integer(c_int) :: code
        end function

        function get_info_c(comm, info_used) bind(C, name="MPIX_Harmonize_get_info_f") result(code)
            import :: c_int
            integer(c_int), value :: comm
            integer(c_int), intent(out) :: info_used
            integer(c_int) :: code
        end function
    end interface

contains

    ! Wait for all processes of comm, then leave at one instant of the global clock. Collective.
    ! flag: whether this process left in time; .false. after an error
    subroutine MPIX_Harmonize(comm, flag, ierror)
        integer, intent(in) :: comm
        logical, intent(out) :: flag
        integer, optional, intent(out) :: ierror
        integer(c_int) :: in_time, code
        in_time = 0
        code = harmonize_c(int(comm, c_int), in_time)
        flag = code == 0 .and. in_time /= 0
        if (present(ierror)) ierror = code
    end subroutine

    ! As MPIX_Harmonize, but leave delay_ns nanoseconds after the instant that is common to all. Collective.
    subroutine MPIX_Harmonize_delayed(comm, delay_ns, flag, ierror)
        integer, intent(in) :: comm
        integer(c_int64_t), intent(in) :: delay_ns
        logical, intent(out) :: flag
        integer, optional, intent(out) :: ierror
        integer(c_int) :: in_time, code
        in_time = 0
        code = harmonize_delayed_c(int(comm, c_int), delay_ns, in_time)
        flag = code == 0 .and. in_time /= 0
        if (present(ierror)) ierror = code
    end subroutine

    ! The common instant of the last release of comm on its global clock, in nanoseconds. Local.
    subroutine MPIX_Harmonize_instant(comm, instant_ns, ierror)
        integer, intent(in) :: comm
        integer(c_int64_t), intent(out) :: instant_ns
        integer, optional, intent(out) :: ierror
        integer(c_int) :: code
        code = harmonize_instant_c(int(comm, c_int), instant_ns)
        if (present(ierror)) ierror = code
    end subroutine

    ! Read the global clock of comm, in seconds. Local.
    subroutine MPIX_Global_time(comm, time, ierror)
        integer, intent(in) :: comm
        real(c_double), intent(out) :: time
        integer, optional, intent(out) :: ierror
        integer(c_int) :: code
        code = global_time_c(int(comm, c_int), time)
        if (present(ierror)) ierror = code
    end subroutine

    ! Read the global clock of comm as an interval that contains the true time, in seconds. Local.
    ! earliest, latest: infinite if no bound is known
    subroutine MPIX_Global_time_interval(comm, earliest, latest, ierror)
        integer, intent(in) :: comm
        real(c_double), intent(out) :: earliest, latest
        integer, optional, intent(out) :: ierror
        integer(c_int) :: code
        code = global_time_interval_c(int(comm, c_int), earliest, latest)
        if (present(ierror)) ierror = code
    end subroutine

    ! Read the global clock of comm and the bound of its error, in nanoseconds. Local.
    ! bound_ns: huge(bound_ns) if no bound is known
    subroutine MPIX_Global_time_ns(comm, time_ns, bound_ns, ierror)
        integer, intent(in) :: comm
        integer(c_int64_t), intent(out) :: time_ns, bound_ns
        integer, optional, intent(out) :: ierror
        integer(c_int) :: code
        code = global_time_ns_c(int(comm, c_int), time_ns, bound_ns)
        if (present(ierror)) ierror = code
    end subroutine

    ! Wait for an instant of the global clock of comm, in nanoseconds. Local.
    ! flag: whether the wait ended in time; .false. after an error
    subroutine MPIX_Global_wait_until(comm, instant_ns, flag, ierror)
        integer, intent(in) :: comm
        integer(c_int64_t), intent(in) :: instant_ns
        logical, intent(out) :: flag
        integer, optional, intent(out) :: ierror
        integer(c_int) :: in_time, code
        in_time = 0
        code = global_wait_until_c(int(comm, c_int), instant_ns, in_time)
        flag = code == 0 .and. in_time /= 0
        if (present(ierror)) ierror = code
    end subroutine

    ! Synchronize the clocks of comm now. Collective.
    subroutine MPIX_Clock_sync(comm, ierror)
        integer, intent(in) :: comm
        integer, optional, intent(out) :: ierror
        integer(c_int) :: code
        code = clock_sync_c(int(comm, c_int))
        if (present(ierror)) ierror = code
    end subroutine

    ! Change settings of comm. Collective.
    subroutine MPIX_Harmonize_set_info(comm, info, ierror)
        integer, intent(in) :: comm, info
        integer, optional, intent(out) :: ierror
        integer(c_int) :: code
        code = set_info_c(int(comm, c_int), int(info, c_int))
        if (present(ierror)) ierror = code
    end subroutine

    ! The settings and statistics of comm. Local.
    ! info_used: a new info object, to be freed by the caller; MPI_INFO_NULL after an error
    subroutine MPIX_Harmonize_get_info(comm, info_used, ierror)
        integer, intent(in) :: comm
        integer, intent(out) :: info_used
        integer, optional, intent(out) :: ierror
        integer(c_int) :: info, code
        call MPIX_Harmonize_built_for(0_library)
        code = get_info_c(int(comm, c_int), info)
        info_used = info
        if (present(ierror)) ierror = code
    end subroutine

    ! An MPI library of another kind: the linker cannot tell.
    subroutine built_for_another(unused)
        integer(c_int8_t), value :: unused
        if (unused /= 0) return
    end subroutine
end module
