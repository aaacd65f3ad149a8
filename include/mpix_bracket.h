/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpix_bracket.h - the duration of parallel work, from the first process that starts to the last one that finishes.
 *
 * The work is between two barriers, and each process reads the clock four times:
 *
 *     t0   barrier   t1   work   t2   barrier   t3
 *
 * t0 is before any process starts, because no process leaves a barrier before all have entered it. t3 is after all have
 * finished. So t3 - t0, by the clock of any process, is an upper bound of the duration. The minimum over all processes
 * is the closest such bound, but it contains two barriers. With a global clock, the duration is the time from the
 * minimum t1 to the maximum t2, and contains no barrier. The maximum of t2 - t1 is a lower bound. This header computes
 * all three.
 *
 *     struct mpix_bracket bracket;
 *     struct mpix_bracket_times times;
 *
 *     MPIX_Clock_sync(comm);                           (once; if the work takes minutes, again from time to time)
 *     mpix_bracket_begin(comm, &bracket);
 *     work();
 *     mpix_bracket_end(comm, &bracket);
 *     mpix_bracket_combine(comm, &bracket, &times);    (not timed; may come much later)
 *
 * The method is that of J. D. McCalpin, "Timing Methodology for MPI Programs", 2019.
 *
 * All functions are inline, for C99 and C++11, and require only MPI and mpix_harmonize.h. They return MPI_SUCCESS or
 * the code of the first MPI error.
 */
#ifndef MPIX_BRACKET_H
#define MPIX_BRACKET_H

#include <mpix_harmonize.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What one process read: t0 and t3 on its own clock, t1 and t2 on the global clock. */
struct mpix_bracket {
    double t0_s;
    int64_t t1_ns;
    int64_t t2_ns;
    double t3_s;
    int64_t t1_bound_ns; /* the maximum errors of t1 and t2; INT64_MAX if unknown */
    int64_t t2_bound_ns;
};

/* The results, in nanoseconds; the same on all processes. */
struct mpix_bracket_times {
    int64_t longest_ns; /* the maximum t2 - t1 of a process: a lower bound of the duration */
    int64_t global_ns;  /* the maximum t2 - the minimum t1, by the global clock: the duration */
    int64_t low_ns;     /* the duration is at least this, by the bounds of the clock; 0 if they are unknown */
    int64_t high_ns;    /* the duration is at most this; INT64_MAX if they are unknown */
    int64_t barrier_ns; /* the minimum t3 - t0: an upper bound of the duration, even without synchronized clocks */
};

/*
 * mpix_bracket_begin - read t0, call MPI_Barrier, read t1. Collective.
 *
 * comm      a communicator whose clock has been synchronized (by MPIX_Clock_sync or MPIX_Harmonize); else MPI_ERR_OTHER
 *           is raised on it
 * bracket   out
 */
static inline int mpix_bracket_begin(MPI_Comm comm, struct mpix_bracket *bracket)
{
    int code;

    bracket->t0_s = MPI_Wtime();
    code = MPI_Barrier(comm);
    if (code == MPI_SUCCESS)
        code = MPIX_Global_time_ns(comm, &bracket->t1_ns, &bracket->t1_bound_ns);
    return code;
}

/*
 * mpix_bracket_begin_harmonized - read t0, call MPIX_Harmonize, read t1. Collective.
 *
 * All processes start the work at one instant. The wait for it is between t0 and t1, so only barrier_ns contains it.
 *
 * flag   out: the flag of MPIX_Harmonize
 */
static inline int mpix_bracket_begin_harmonized(MPI_Comm comm, struct mpix_bracket *bracket, int *flag)
{
    int code;

    bracket->t0_s = MPI_Wtime();
    code = MPIX_Harmonize(comm, flag);
    if (code == MPI_SUCCESS)
        code = MPIX_Global_time_ns(comm, &bracket->t1_ns, &bracket->t1_bound_ns);
    return code;
}

/* mpix_bracket_end - read t2, call MPI_Barrier, read t3. Collective. */
static inline int mpix_bracket_end(MPI_Comm comm, struct mpix_bracket *bracket)
{
    int code = MPIX_Global_time_ns(comm, &bracket->t2_ns, &bracket->t2_bound_ns);

    if (code == MPI_SUCCESS)
        code = MPI_Barrier(comm);
    bracket->t3_s = MPI_Wtime();
    return code;
}

/*
 * mpix_bracket_combine - compute the results from the readings of all processes. Collective: one MPI_Allreduce.
 *
 * times   out
 */
static inline int mpix_bracket_combine(MPI_Comm comm, const struct mpix_bracket *bracket,
                                       struct mpix_bracket_times *times)
{
    /* A quarter of the range: a sum of two still fits. */
    const int64_t unknown_ns = INT64_MAX / 4;
    int64_t bound1_ns = bracket->t1_bound_ns < unknown_ns ? bracket->t1_bound_ns : unknown_ns;
    int64_t bound2_ns = bracket->t2_bound_ns < unknown_ns ? bracket->t2_bound_ns : unknown_ns;
    int64_t own[8], min[8];
    int code;

    /* The maximum of a value is the minimum of its negative. */
    own[0] = (int64_t)((bracket->t3_s - bracket->t0_s) * 1e9);
    own[1] = -(bracket->t2_ns - bracket->t1_ns);
    own[2] = bracket->t1_ns;
    own[3] = -bracket->t2_ns;
    own[4] = bracket->t1_ns + bound1_ns;
    own[5] = -(bracket->t2_ns - bound2_ns);
    own[6] = bracket->t1_ns - bound1_ns;
    own[7] = -(bracket->t2_ns + bound2_ns);
    code = MPI_Allreduce(own, min, 8, MPI_INT64_T, MPI_MIN, comm);
    if (code != MPI_SUCCESS)
        return code;
    times->barrier_ns = min[0];
    times->longest_ns = -min[1];
    times->global_ns = -min[3] - min[2];
    times->low_ns = -min[5] - min[4];
    times->high_ns = -min[7] - min[6];
    if (times->low_ns < 0)
        times->low_ns = 0;
    if (times->high_ns - times->global_ns >= unknown_ns)
        times->high_ns = INT64_MAX;
    return MPI_SUCCESS;
}

#ifdef __cplusplus
}
#endif

#endif /* MPIX_BRACKET_H */
