// SPDX-License-Identifier: BSD-3-Clause
//
// mpix_harmonize.hpp - mpix_harmonize.h for C++: the global clock of a communicator as a clock of std::chrono.
//
//     mpix::global_clock clock(comm);
//     bool in_time = clock.harmonize();
//     mpix::global_clock::time_point begin = clock.now();
//     work();
//     std::chrono::nanoseconds duration = clock.now() - begin;
//
// Header-only, for C++11. The library raises errors as in C: the communicator's error handler is called first, and the
// default handler ends the program. If the handler returns, these functions throw an mpix::error.
#ifndef MPIX_HARMONIZE_HPP
#define MPIX_HARMONIZE_HPP

#include <mpix_harmonize.h>

#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace mpix
{

// An error of the library. what() is the library's message.
class error : public std::runtime_error
{
  public:
    error(int code, const std::string &message) : std::runtime_error(message), code_(code)
    {
    }

    // The MPI error code; MPI_Error_class gives its class.
    int code() const noexcept
    {
        return code_;
    }

  private:
    int code_;
};

namespace detail
{

// The message of the last error of this process. MPI_Error_string returns it only with some MPI libraries. Programs
// that use only sessions have no MPI_COMM_SELF.
inline std::string last_message(MPI_Comm comm)
{
    int initialized = 0, finalized = 0;
    MPI_Info info;
    MPI_Initialized(&initialized);
    MPI_Finalized(&finalized);
    if (MPIX_Harmonize_get_info(initialized && !finalized ? MPI_COMM_SELF : comm, &info) != MPI_SUCCESS)
        return "MPI is not initialized yet, or finalized already";
    std::vector<char> text(MPI_MAX_INFO_VAL + 1);
    int found = 0;
#if MPI_VERSION >= 4
    int size = MPI_MAX_INFO_VAL + 1;
    MPI_Info_get_string(info, "mpix_harmonize_last_error", &size, text.data(), &found);
#else
    MPI_Info_get(info, "mpix_harmonize_last_error", MPI_MAX_INFO_VAL, text.data(), &found);
#endif
    MPI_Info_free(&info);
    return text.data();
}

inline void check(int code, MPI_Comm comm)
{
    if (code != MPI_SUCCESS)
        throw error(code, last_message(comm));
}

// In C++11, a constant that is passed by reference needs a definition, and only templates have theirs in a header.
template <typename> struct unsteady {
    static const bool is_steady = false;
};
template <typename T> const bool unsteady<T>::is_steady;

} // namespace detail

// The global clock of a communicator. An object is as cheap to copy as the communicator's handle. It must not be used
// after the communicator was freed.
//
// It is not steady: readings in a process never decrease, but a synchronization may let time stand still, or jump
// forward.
class global_clock : public detail::unsteady<void>
{
  public:
    using duration = std::chrono::nanoseconds;
    using rep = duration::rep;
    using period = duration::period;
    // The time since the communicator's first synchronization. Times of different communicators cannot be compared.
    using time_point = std::chrono::time_point<global_clock, duration>;

    // A reading, and the largest difference from the reference clock: duration::max() if no bound is known.
    struct reading {
        time_point time;
        duration bound;
    };

    // comm: an intracommunicator. Local; nothing is synchronized.
    explicit global_clock(MPI_Comm comm) noexcept : comm_(comm)
    {
    }

    // Local. The clock must have been synchronized, by synchronize or harmonize.
    time_point now() const
    {
        return read().time;
    }

    // Local, as now.
    reading read() const
    {
        std::int64_t time_ns = 0, bound_ns = 0;
        detail::check(MPIX_Global_time_ns(comm_, &time_ns, &bound_ns), comm_);
        return reading{time_point(duration(time_ns)), duration(bound_ns)};
    }

    // Synchronize the clocks now. Collective.
    void synchronize() const
    {
        detail::check(MPIX_Clock_sync(comm_), comm_);
    }

    // Wait for all processes, then leave at one instant of this clock. Collective. Returns whether this process left in
    // time.
    bool harmonize() const
    {
        int flag = 0;
        detail::check(MPIX_Harmonize(comm_, &flag), comm_);
        return flag != 0;
    }

    // The same, but this process leaves a delay after the common instant. Collective.
    bool harmonize(duration delay) const
    {
        int flag = 0;
        detail::check(MPIX_Harmonize_delayed(comm_, delay.count(), &flag), comm_);
        return flag != 0;
    }

    // The common instant of the last release. Local.
    time_point instant() const
    {
        std::int64_t instant_ns = 0;
        detail::check(MPIX_Harmonize_instant(comm_, &instant_ns), comm_);
        return time_point(duration(instant_ns));
    }

    // Wait for an instant of this clock. Local. Returns whether this process left in time.
    bool wait_until(time_point instant) const
    {
        int flag = 0;
        detail::check(MPIX_Global_wait_until(comm_, instant.time_since_epoch().count(), &flag), comm_);
        return flag != 0;
    }

    MPI_Comm comm() const noexcept
    {
        return comm_;
    }

  private:
    MPI_Comm comm_;
};

} // namespace mpix

#endif // MPIX_HARMONIZE_HPP
