! SPDX-License-Identifier: BSD-3-Clause
!
! mpix_harmonize_f08 - the functions of mpix_harmonize.h for programs that "use mpi_f08".
!
! Compile mpix_harmonize_mpi.f90 and this file with the program's own compiler and options, before the program:
!
!     mpifort .../mpix_harmonize_mpi.f90 .../mpix_harmonize_f08.f90 program.f90 $(pkg-config --libs mpix_harmonize)
!
! The procedures are those of mpix_harmonize_mpi, with handles of the types of mpi_f08.
module mpix_harmonize_f08
    use, intrinsic :: iso_c_binding, only: c_int64_t, c_double
    use mpi_f08, only: MPI_Comm, MPI_Info
    ! bindings/declare.sh begins: names of the other module
    use mpix_harmonize_mpi, only: harmonize => MPIX_Harmonize
    use mpix_harmonize_mpi, only: harmonize_delayed => MPIX_Harmonize_delayed
    use mpix_harmonize_mpi, only: harmonize_instant => MPIX_Harmonize_instant
    use mpix_harmonize_mpi, only: global_time => MPIX_Global_time
    use mpix_harmonize_mpi, only: global_time_interval => MPIX_Global_time_interval
    use mpix_harmonize_mpi, only: global_time_ns => MPIX_Global_time_ns
    use mpix_harmonize_mpi, only: global_wait_until => MPIX_Global_wait_until
    use mpix_harmonize_mpi, only: clock_sync => MPIX_Clock_sync
    use mpix_harmonize_mpi, only: clock_pair => MPIX_Clock_pair
    use mpix_harmonize_mpi, only: global_time_of => MPIX_Global_time_of
    use mpix_harmonize_mpi, only: clock_write => MPIX_Clock_write
    use mpix_harmonize_mpi, only: harmonize_set_info => MPIX_Harmonize_set_info
    use mpix_harmonize_mpi, only: harmonize_get_info => MPIX_Harmonize_get_info
    ! bindings/declare.sh ends
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

contains

    ! bindings/declare.sh begins: subroutines of mpi_f08

    ! Wait for all processes of a communicator, then leave at one instant of the global clock. Collective.
    subroutine MPIX_Harmonize(comm, flag, ierror)
        type(MPI_Comm), intent(in) :: comm
        logical, intent(out) :: flag
        integer, optional, intent(out) :: ierror
        call harmonize(comm%MPI_VAL, flag, ierror)
    end subroutine

    ! MPIX_Harmonize, but this process leaves a delay after the common instant. Collective.
    subroutine MPIX_Harmonize_delayed(comm, delay_ns, flag, ierror)
        type(MPI_Comm), intent(in) :: comm
        integer(c_int64_t), intent(in) :: delay_ns
        logical, intent(out) :: flag
        integer, optional, intent(out) :: ierror
        call harmonize_delayed(comm%MPI_VAL, delay_ns, flag, ierror)
    end subroutine

    ! The common instant of the last release of a communicator. Local.
    subroutine MPIX_Harmonize_instant(comm, instant_ns, ierror)
        type(MPI_Comm), intent(in) :: comm
        integer(c_int64_t), intent(out) :: instant_ns
        integer, optional, intent(out) :: ierror
        call harmonize_instant(comm%MPI_VAL, instant_ns, ierror)
    end subroutine

    ! Read the global clock of a communicator. Local.
    subroutine MPIX_Global_time(comm, time, ierror)
        type(MPI_Comm), intent(in) :: comm
        real(c_double), intent(out) :: time
        integer, optional, intent(out) :: ierror
        call global_time(comm%MPI_VAL, time, ierror)
    end subroutine

    ! Read the global clock as an interval that contains the reference clock's time. Local.
    subroutine MPIX_Global_time_interval(comm, earliest, latest, ierror)
        type(MPI_Comm), intent(in) :: comm
        real(c_double), intent(out) :: earliest
        real(c_double), intent(out) :: latest
        integer, optional, intent(out) :: ierror
        call global_time_interval(comm%MPI_VAL, earliest, latest, ierror)
    end subroutine

    ! Read the global clock in integer nanoseconds, with its bound. Local.
    subroutine MPIX_Global_time_ns(comm, time_ns, bound_ns, ierror)
        type(MPI_Comm), intent(in) :: comm
        integer(c_int64_t), intent(out) :: time_ns
        integer(c_int64_t), intent(out) :: bound_ns
        integer, optional, intent(out) :: ierror
        call global_time_ns(comm%MPI_VAL, time_ns, bound_ns, ierror)
    end subroutine

    ! Wait for an instant of the global clock. Local.
    subroutine MPIX_Global_wait_until(comm, instant_ns, flag, ierror)
        type(MPI_Comm), intent(in) :: comm
        integer(c_int64_t), intent(in) :: instant_ns
        logical, intent(out) :: flag
        integer, optional, intent(out) :: ierror
        call global_wait_until(comm%MPI_VAL, instant_ns, flag, ierror)
    end subroutine

    ! Synchronize the clocks of a communicator now. Collective.
    subroutine MPIX_Clock_sync(comm, ierror)
        type(MPI_Comm), intent(in) :: comm
        integer, optional, intent(out) :: ierror
        call clock_sync(comm%MPI_VAL, ierror)
    end subroutine

    ! Read a clock of this host and the global clock at one instant. Local.
    subroutine MPIX_Clock_pair(comm, clock, local_ns, time_ns, bound_ns, ierror)
        type(MPI_Comm), intent(in) :: comm
        integer, intent(in) :: clock
        integer(c_int64_t), intent(out) :: local_ns
        integer(c_int64_t), intent(out) :: time_ns
        integer(c_int64_t), intent(out) :: bound_ns
        integer, optional, intent(out) :: ierror
        call clock_pair(comm%MPI_VAL, clock, local_ns, time_ns, bound_ns, ierror)
    end subroutine

    ! The global time at which a clock of this host had a reading. Local.
    subroutine MPIX_Global_time_of(comm, clock, local_ns, time_ns, bound_ns, ierror)
        type(MPI_Comm), intent(in) :: comm
        integer, intent(in) :: clock
        integer(c_int64_t), intent(in) :: local_ns
        integer(c_int64_t), intent(out) :: time_ns
        integer(c_int64_t), intent(out) :: bound_ns
        integer, optional, intent(out) :: ierror
        call global_time_of(comm%MPI_VAL, clock, local_ns, time_ns, bound_ns, ierror)
    end subroutine

    ! Write what the clocks of all hosts were on the global clock into a file of clock records. Collective.
    subroutine MPIX_Clock_write(comm, path, ierror)
        type(MPI_Comm), intent(in) :: comm
        character(*), intent(in) :: path
        integer, optional, intent(out) :: ierror
        call clock_write(comm%MPI_VAL, path, ierror)
    end subroutine

    ! Change settings of a communicator. Collective.
    subroutine MPIX_Harmonize_set_info(comm, info, ierror)
        type(MPI_Comm), intent(in) :: comm
        type(MPI_Info), intent(in) :: info
        integer, optional, intent(out) :: ierror
        call harmonize_set_info(comm%MPI_VAL, info%MPI_VAL, ierror)
    end subroutine

    ! The settings and statistics of a communicator. Local.
    subroutine MPIX_Harmonize_get_info(comm, info_used, ierror)
        type(MPI_Comm), intent(in) :: comm
        type(MPI_Info), intent(out) :: info_used
        integer, optional, intent(out) :: ierror
        call harmonize_get_info(comm%MPI_VAL, info_used%MPI_VAL, ierror)
    end subroutine
    ! bindings/declare.sh ends
end module
