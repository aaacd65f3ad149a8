! SPDX-License-Identifier: BSD-3-Clause
!
! mpix_harmonize_mpi - the functions of mpix_harmonize.h for programs that "use mpi" or include mpif.h.
!
! Compile this file with the program's own compiler and options, before the program:
!
!     mpifort .../mpix_harmonize_mpi.f90 program.f90 $(pkg-config --libs mpix_harmonize)
!
! Communicators and info objects are integers, as in MPI. ierror is optional everywhere: an MPI error code, as in C.
! Times in seconds are real(c_double), times in nanoseconds integer(c_int64_t). After an error, flag is .false.,
! info_used is MPI_INFO_NULL, and times are undefined. man mpix_bindings has more.
!
! The module is not called mpix_harmonize: Fortran ignores case, and MPIX_Harmonize is a procedure.
module mpix_harmonize_mpi
    use, intrinsic :: iso_c_binding, only: c_int, c_int8_t, c_int16_t, c_int32_t, c_int64_t, c_double, &
        c_char, c_null_char
    use mpi, only: MPI_COMM_WORLD
    implicit none
    private
    ! bindings/declare.sh begins: names
    public :: MPIX_Harmonize
    public :: MPIX_Harmonize_delayed
    public :: MPIX_Harmonize_instant
    public :: MPIX_Global_time
    public :: MPIX_Global_time_interval
    public :: MPIX_Global_time_ns
    public :: MPIX_Global_wait_until
    public :: MPIX_Clock_sync
    public :: MPIX_Clock_pair
    public :: MPIX_Global_time_of
    public :: MPIX_Clock_write
    public :: MPIX_Harmonize_set_info
    public :: MPIX_Harmonize_get_info
    ! bindings/declare.sh ends
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
        ! bindings/declare.sh begins: interfaces

        function harmonize_c(comm, flag) &
            bind(C, name="MPIX_Harmonize_f") result(code)
            import
            integer(c_int), value :: comm
            integer(c_int), intent(out) :: flag
            integer(c_int) :: code
        end function

        function harmonize_delayed_c(comm, delay_ns, flag) &
            bind(C, name="MPIX_Harmonize_delayed_f") result(code)
            import
            integer(c_int), value :: comm
            integer(c_int64_t), value :: delay_ns
            integer(c_int), intent(out) :: flag
            integer(c_int) :: code
        end function

        function harmonize_instant_c(comm, instant_ns) &
            bind(C, name="MPIX_Harmonize_instant_f") result(code)
            import
            integer(c_int), value :: comm
            integer(c_int64_t), intent(out) :: instant_ns
            integer(c_int) :: code
        end function

        function global_time_c(comm, time) &
            bind(C, name="MPIX_Global_time_f") result(code)
            import
            integer(c_int), value :: comm
            real(c_double), intent(out) :: time
            integer(c_int) :: code
        end function

        function global_time_interval_c(comm, earliest, latest) &
            bind(C, name="MPIX_Global_time_interval_f") result(code)
            import
            integer(c_int), value :: comm
            real(c_double), intent(out) :: earliest
            real(c_double), intent(out) :: latest
            integer(c_int) :: code
        end function

        function global_time_ns_c(comm, time_ns, bound_ns) &
            bind(C, name="MPIX_Global_time_ns_f") result(code)
            import
            integer(c_int), value :: comm
            integer(c_int64_t), intent(out) :: time_ns
            integer(c_int64_t), intent(out) :: bound_ns
            integer(c_int) :: code
        end function

        function global_wait_until_c(comm, instant_ns, flag) &
            bind(C, name="MPIX_Global_wait_until_f") result(code)
            import
            integer(c_int), value :: comm
            integer(c_int64_t), value :: instant_ns
            integer(c_int), intent(out) :: flag
            integer(c_int) :: code
        end function

        function clock_sync_c(comm) &
            bind(C, name="MPIX_Clock_sync_f") result(code)
            import
            integer(c_int), value :: comm
            integer(c_int) :: code
        end function

        function clock_pair_c(comm, clock, local_ns, time_ns, bound_ns) &
            bind(C, name="MPIX_Clock_pair_f") result(code)
            import
            integer(c_int), value :: comm
            integer(c_int), value :: clock
            integer(c_int64_t), intent(out) :: local_ns
            integer(c_int64_t), intent(out) :: time_ns
            integer(c_int64_t), intent(out) :: bound_ns
            integer(c_int) :: code
        end function

        function global_time_of_c(comm, clock, local_ns, time_ns, bound_ns) &
            bind(C, name="MPIX_Global_time_of_f") result(code)
            import
            integer(c_int), value :: comm
            integer(c_int), value :: clock
            integer(c_int64_t), value :: local_ns
            integer(c_int64_t), intent(out) :: time_ns
            integer(c_int64_t), intent(out) :: bound_ns
            integer(c_int) :: code
        end function

        function clock_write_c(comm, path) &
            bind(C, name="MPIX_Clock_write_f") result(code)
            import
            integer(c_int), value :: comm
            character(kind=c_char), intent(in) :: path(*)
            integer(c_int) :: code
        end function

        function harmonize_set_info_c(comm, info) &
            bind(C, name="MPIX_Harmonize_set_info_f") result(code)
            import
            integer(c_int), value :: comm
            integer(c_int), value :: info
            integer(c_int) :: code
        end function

        function harmonize_get_info_c(comm, info_used) &
            bind(C, name="MPIX_Harmonize_get_info_f") result(code)
            import
            integer(c_int), value :: comm
            integer(c_int), intent(out) :: info_used
            integer(c_int) :: code
        end function
        ! bindings/declare.sh ends
    end interface

contains

    ! An MPI library of another kind: the linker cannot tell. Nobody calls this with another number than 0; it refers to
    ! the procedure of the library.
    recursive subroutine built_for_another(unused)
        integer(c_int8_t), value :: unused
        if (unused /= 0) call MPIX_Harmonize_built_for(0_library)
    end subroutine

    ! bindings/declare.sh begins: subroutines

    ! Wait for all processes of a communicator, then leave at one instant of the global clock. Collective.
    subroutine MPIX_Harmonize(comm, flag, ierror)
        integer, intent(in) :: comm
        logical, intent(out) :: flag
        integer, optional, intent(out) :: ierror
        integer(c_int) :: flag_c, code
        flag_c = 0
        code = harmonize_c(int(comm, c_int), flag_c)
        flag = code == 0 .and. flag_c /= 0
        if (present(ierror)) ierror = code
    end subroutine

    ! MPIX_Harmonize, but this process leaves a delay after the common instant. Collective.
    subroutine MPIX_Harmonize_delayed(comm, delay_ns, flag, ierror)
        integer, intent(in) :: comm
        integer(c_int64_t), intent(in) :: delay_ns
        logical, intent(out) :: flag
        integer, optional, intent(out) :: ierror
        integer(c_int) :: flag_c, code
        flag_c = 0
        code = harmonize_delayed_c(int(comm, c_int), delay_ns, flag_c)
        flag = code == 0 .and. flag_c /= 0
        if (present(ierror)) ierror = code
    end subroutine

    ! The common instant of the last release of a communicator. Local.
    subroutine MPIX_Harmonize_instant(comm, instant_ns, ierror)
        integer, intent(in) :: comm
        integer(c_int64_t), intent(out) :: instant_ns
        integer, optional, intent(out) :: ierror
        integer(c_int) :: code
        code = harmonize_instant_c(int(comm, c_int), instant_ns)
        if (present(ierror)) ierror = code
    end subroutine

    ! Read the global clock of a communicator. Local.
    subroutine MPIX_Global_time(comm, time, ierror)
        integer, intent(in) :: comm
        real(c_double), intent(out) :: time
        integer, optional, intent(out) :: ierror
        integer(c_int) :: code
        code = global_time_c(int(comm, c_int), time)
        if (present(ierror)) ierror = code
    end subroutine

    ! Read the global clock as an interval that contains the reference clock's time. Local.
    subroutine MPIX_Global_time_interval(comm, earliest, latest, ierror)
        integer, intent(in) :: comm
        real(c_double), intent(out) :: earliest
        real(c_double), intent(out) :: latest
        integer, optional, intent(out) :: ierror
        integer(c_int) :: code
        code = global_time_interval_c(int(comm, c_int), earliest, latest)
        if (present(ierror)) ierror = code
    end subroutine

    ! Read the global clock in integer nanoseconds, with its bound. Local.
    subroutine MPIX_Global_time_ns(comm, time_ns, bound_ns, ierror)
        integer, intent(in) :: comm
        integer(c_int64_t), intent(out) :: time_ns
        integer(c_int64_t), intent(out) :: bound_ns
        integer, optional, intent(out) :: ierror
        integer(c_int) :: code
        code = global_time_ns_c(int(comm, c_int), time_ns, bound_ns)
        if (present(ierror)) ierror = code
    end subroutine

    ! Wait for an instant of the global clock. Local.
    subroutine MPIX_Global_wait_until(comm, instant_ns, flag, ierror)
        integer, intent(in) :: comm
        integer(c_int64_t), intent(in) :: instant_ns
        logical, intent(out) :: flag
        integer, optional, intent(out) :: ierror
        integer(c_int) :: flag_c, code
        flag_c = 0
        code = global_wait_until_c(int(comm, c_int), instant_ns, flag_c)
        flag = code == 0 .and. flag_c /= 0
        if (present(ierror)) ierror = code
    end subroutine

    ! Synchronize the clocks of a communicator now. Collective.
    subroutine MPIX_Clock_sync(comm, ierror)
        integer, intent(in) :: comm
        integer, optional, intent(out) :: ierror
        integer(c_int) :: code
        code = clock_sync_c(int(comm, c_int))
        if (present(ierror)) ierror = code
    end subroutine

    ! Read a clock of this host and the global clock at one instant. Local.
    subroutine MPIX_Clock_pair(comm, clock, local_ns, time_ns, bound_ns, ierror)
        integer, intent(in) :: comm
        integer, intent(in) :: clock
        integer(c_int64_t), intent(out) :: local_ns
        integer(c_int64_t), intent(out) :: time_ns
        integer(c_int64_t), intent(out) :: bound_ns
        integer, optional, intent(out) :: ierror
        integer(c_int) :: code
        code = clock_pair_c(int(comm, c_int), int(clock, c_int), local_ns, time_ns, bound_ns)
        if (present(ierror)) ierror = code
    end subroutine

    ! The global time at which a clock of this host had a reading. Local.
    subroutine MPIX_Global_time_of(comm, clock, local_ns, time_ns, bound_ns, ierror)
        integer, intent(in) :: comm
        integer, intent(in) :: clock
        integer(c_int64_t), intent(in) :: local_ns
        integer(c_int64_t), intent(out) :: time_ns
        integer(c_int64_t), intent(out) :: bound_ns
        integer, optional, intent(out) :: ierror
        integer(c_int) :: code
        code = global_time_of_c(int(comm, c_int), int(clock, c_int), local_ns, time_ns, bound_ns)
        if (present(ierror)) ierror = code
    end subroutine

    ! Write what the clocks of all hosts were on the global clock into a file of clock records. Collective.
    subroutine MPIX_Clock_write(comm, path, ierror)
        integer, intent(in) :: comm
        character(*), intent(in) :: path
        integer, optional, intent(out) :: ierror
        integer(c_int) :: code
        code = clock_write_c(int(comm, c_int), trim(path) // c_null_char)
        if (present(ierror)) ierror = code
    end subroutine

    ! Change settings of a communicator. Collective.
    subroutine MPIX_Harmonize_set_info(comm, info, ierror)
        integer, intent(in) :: comm
        integer, intent(in) :: info
        integer, optional, intent(out) :: ierror
        integer(c_int) :: code
        code = harmonize_set_info_c(int(comm, c_int), int(info, c_int))
        if (present(ierror)) ierror = code
    end subroutine

    ! The settings and statistics of a communicator. Local.
    subroutine MPIX_Harmonize_get_info(comm, info_used, ierror)
        integer, intent(in) :: comm
        integer, intent(out) :: info_used
        integer, optional, intent(out) :: ierror
        integer(c_int) :: info_used_c, code
        info_used_c = 0
        code = harmonize_get_info_c(int(comm, c_int), info_used_c)
        info_used = info_used_c
        if (present(ierror)) ierror = code
    end subroutine
    ! bindings/declare.sh ends
end module
