/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpix_bracket.h - how long a piece of parallel work took, from the first process to start to the last one to finish.
 *
 * Work stands between two barriers, and each process reads four times:
 *
 *     t0   barrier   t1   work   t2   barrier   t3
 *
 * t0 is before any process starts, as none leaves a barrier before all have entered it; and t3 is after all have
 * finished. So on each process t3 - t0, by its own clock, is at least as long as the work, and the least of them is the
 * closest such bound. It contains two barriers. With a clock that all processes share, the work took from the
 * least t1 to the greatest t2, and nothing else is in it. This header takes both, and from below the longest t2 - t1.
 *
 *     struct mpix_bracket bracket;
 *     struct mpix_bracket_times times;
 *
 *     MPIX_Clock_sync(comm);                           (once; work of minutes: again now and then)
 *     mpix_bracket_begin(comm, &bracket);
 *     work();
 *     mpix_bracket_end(comm, &bracket);
 *     mpix_bracket_combine(comm, &bracket, &times);    (not timed; may come much later)
 *
 * The method is that of J. D. McCalpin, "Timing Methodology for MPI Programs", 2019.
 *
 * All functions are inline, for C99 and C++11, and need nothing but MPI and mpix_harmonize.h. They return the first MPI
 * error code they meet, or MPI_SUCCESS.
 */
#ifndef MPIX_BRACKET_H
#define MPIX_BRACKET_H

#include <mpix_harmonize.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What one process read. t0 and t3 are of its own clock, t1 and t2 of the global clock. */
struct mpix_bracket {
    double t0_s;
    int64_t t1_ns;
    int64_t t2_ns;
    double t3_s;
    int64_t t1_bound_ns; /* the global clock is right to within so much; INT64_MAX if this is not known */
    int64_t t2_bound_ns;
};

/* What they come to together, in nanoseconds; the same on all processes. */
struct mpix_bracket_times {
    int64_t longest_ns; /* the greatest t2 - t1 of a process: the work took no less */
    int64_t global_ns;  /* the greatest t2 - the least t1, by the global clock: how long the work took */
    int64_t low_ns;     /* the same from below and from above if the global clock errs as much as its bounds */
    int64_t high_ns;    /* allow; 0 and INT64_MAX if these are not known */
    int64_t barrier_ns; /* the least t3 - t0: the work took no more, whether clocks are synchronized or not */
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
 * mpix_bracket_begin_harmonized - likewise with MPIX_Harmonize, so that all start the work at one instant. Collective.
 *
 * The wait for that instant is between t0 and t1, hence in barrier_ns, but not in the others.
 *
 * flag   out: as of MPIX_Harmonize
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
 * mpix_bracket_combine - from what each process read to what they come to together. Collective: one MPI_Allreduce.
 *
 * times   out
 */
static inline int mpix_bracket_combine(MPI_Comm comm, const struct mpix_bracket *bracket,
                                       struct mpix_bracket_times *times)
{
    /* Half the range would leave no room for a sum. */
    const int64_t unknown_ns = INT64_MAX / 4;
    int64_t bound1_ns = bracket->t1_bound_ns < unknown_ns ? bracket->t1_bound_ns : unknown_ns;
    int64_t bound2_ns = bracket->t2_bound_ns < unknown_ns ? bracket->t2_bound_ns : unknown_ns;
    int64_t own[8], least[8];
    int code;

    /* The greatest of a value is the least of its opposite. */
    own[0] = (int64_t)((bracket->t3_s - bracket->t0_s) * 1e9);
    own[1] = -(bracket->t2_ns - bracket->t1_ns);
    own[2] = bracket->t1_ns;
    own[3] = -bracket->t2_ns;
    own[4] = bracket->t1_ns + bound1_ns;
    own[5] = -(bracket->t2_ns - bound2_ns);
    own[6] = bracket->t1_ns - bound1_ns;
    own[7] = -(bracket->t2_ns + bound2_ns);
    code = MPI_Allreduce(own, least, 8, MPI_INT64_T, MPI_MIN, comm);
    if (code != MPI_SUCCESS)
        return code;
    times->barrier_ns = least[0];
    times->longest_ns = -least[1];
    times->global_ns = -least[3] - least[2];
    times->low_ns = -least[5] - least[4];
    times->high_ns = -least[7] - least[6];
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
