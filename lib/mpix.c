/* SPDX-License-Identifier: BSD-3-Clause */
/* mpix.c - the public functions: check arguments, find the state, call, raise. */
#include "mpix_harmonize.h"

#include "base/fortran_handles.h"
#include "clock/host_clocks.h"
#include "pure/launcher.h"
#include "pure/units.h"
#include "clock_write.h"
#include "end_state.h"
#include "harmonize.h"
#include "info.h"
#include "make_state.h"
#include "thread_cache.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

/* The MPI library whose handles differ from those of the one that this is compiled for. */
#ifdef OPEN_MPI
#define OTHER_LIBRARY "MPICH"
#else
#define OTHER_LIBRARY "Open MPI"
#endif

#if MH_STANDARD_ABI
#pragma weak PMPI_Abi_get_version /* libraries from before the standard lack it */
#define OTHER_IS_USED "libmpi_abi.so.1 has not version 1 of MPI's standard ABI; use that of MPICH 5 or Open MPI 6"
#else
#define OTHER_IS_USED                                                                                              \
    "the program uses " OTHER_LIBRARY ", and this libmpix_harmonize was built for another MPI library; link with " \
    "the one for " OTHER_LIBRARY
#endif

enum { LIBRARY_VERSION_SIZE = 8193 }; /* of MPICH, which has more to say than Open MPI */

static bool find_other_library(void)
{
#if MH_STANDARD_ABI
    int major = -1, minor = -1;
    return !PMPI_Abi_get_version || PMPI_Abi_get_version(&major, &minor) != MPI_SUCCESS || major != MPI_ABI_VERSION;
#else
    char version[LIBRARY_VERSION_SIZE] = "";
    int length;
    PMPI_Get_library_version(version, &length);
    return strncmp(version, OTHER_LIBRARY, strlen(OTHER_LIBRARY)) == 0;
#endif
}

/* Whether the program uses the other MPI library: it was linked with both, or one was put in the place of another. */
static bool is_of_other_library(void)
{
    enum { UNKNOWN, NO, YES };
    static _Atomic int known;
    if (known == UNKNOWN)
        known = find_other_library() ? YES : NO;
    return known == YES;
}

static bool is_predefined(MPI_Comm comm)
{
    return comm == MPI_COMM_WORLD || comm == MPI_COMM_SELF;
}

/*
 * Whether MPI can be used with comm. In a program that uses sessions only, MPI_Initialized returns false, but the
 * program has made all its communicators itself. So only the predefined ones cannot exist before MPI_Init.
 */
static int mpi_is_active(MPI_Comm comm, bool of_any_library, mh_error *error)
{
    int initialized = 0, finalized = 0;
    PMPI_Initialized(&initialized);
    PMPI_Finalized(&finalized);
    if (!of_any_library && is_of_other_library())
        mh_fail(error, MPI_ERR_OTHER, OTHER_IS_USED);
    else if (mh_comm_state_mpi_ended() || (finalized && is_predefined(comm)))
        mh_fail(error, MPI_ERR_OTHER, "MPI is finalized already");
    else if (!initialized && is_predefined(comm))
        mh_fail(error, MPI_ERR_OTHER, "MPI is not initialized yet");
    return error->code == MPI_SUCCESS;
}

/* Raise an error on comm if MPI can be used, else only return it. In the standard ABI, all handles are alike. */
static int raise_error(MPI_Comm comm, const mh_error *error)
{
    mh_error inactive = MH_NO_ERROR;
    bool can_raise = comm != MPI_COMM_NULL && mpi_is_active(comm, MH_STANDARD_ABI, &inactive);
    return mh_error_raise(can_raise ? comm : MPI_COMM_NULL, error);
}

static int check_comm(MPI_Comm comm, mh_error *error)
{
    int inter = 0;
    if (comm == MPI_COMM_NULL)
        return mh_fail(error, MPI_ERR_COMM, "the communicator is MPI_COMM_NULL; allowed: an intracommunicator");
    if (!mpi_is_active(comm, false, error))
        return error->code;
    MH_TRY_USER(error, PMPI_Comm_test_inter, (comm, &inter));
    if (inter)
        return mh_fail(error, MPI_ERR_COMM, "the communicator is an intercommunicator; allowed: an intracommunicator");
    return MPI_SUCCESS;
}

static int refuse(const mh_comm_state *state, mh_error *error)
{
    if (state->keyval == MPI_KEYVAL_INVALID)
        return mh_fail(error, MPI_ERR_OTHER,
                       "MPI_Finalize has ended what was kept for this communicator; use another one");
    return mh_fail(error, MPI_ERR_OTHER,
                   "an earlier call on this communicator failed inside MPI; free the communicator and use another one");
}

/* Alone in the world, if there is one, a process may be one of several: nothing that they measure means anything. */
static void warn_if_others_are_alone_too(void)
{
    char version[LIBRARY_VERSION_SIZE] = "";
    mh_error no_world = MH_NO_ERROR;
    int size = 0, length;
    if (!mpi_is_active(MPI_COMM_WORLD, false, &no_world) || PMPI_Comm_size(MPI_COMM_WORLD, &size) != MPI_SUCCESS ||
        size != 1)
        return;
    PMPI_Get_library_version(version, &length);
    mh_launcher_warn_alone(size, version);
}

/* The state of comm for a collective function, made if need be. If a state is found, comm needs no check. */
static int get_state(MPI_Comm comm, mh_comm_state **state, mh_error *error)
{
    *state = mh_comm_state_remembered(comm);
    if (!*state) {
        int code = check_comm(comm, error);
        if (code == MPI_SUCCESS)
            code = mh_comm_state_get(comm, state, error);
        if (code != MPI_SUCCESS)
            return code;
        if ((*state)->channel.size == 1)
            warn_if_others_are_alone_too();
    }
    return (*state)->failed ? refuse(*state, error) : MPI_SUCCESS;
}

/* End a collective function that failed. */
static int fail_collective(MPI_Comm comm, mh_comm_state *state, const mh_error *error)
{
    if (state && error->alone)
        mh_comm_state_give_up(state);
    return raise_error(comm, error);
}

/* The state of comm for a function that reads its clock; NULL if there is none. */
static int find_state(MPI_Comm comm, mh_comm_state **state, mh_error *error)
{
    *state = mh_comm_state_remembered(comm);
    if (*state)
        return MPI_SUCCESS;
    int code = check_comm(comm, error);
    return code == MPI_SUCCESS ? mh_comm_state_find(comm, state, error) : code;
}

static int check_clock(mh_comm_state *state, mh_error *error)
{
    if (state && mh_global_clock_is_set(&state->clock.global))
        return MPI_SUCCESS;
    return mh_fail(error, MPI_ERR_OTHER,
                   "the clock of this communicator has not been synchronized; "
                   "call MPIX_Clock_sync or MPIX_Harmonize first");
}

static int check_pointer(const void *pointer, const char *function, const char *parameter, mh_error *error)
{
    return pointer ? MPI_SUCCESS
                   : mh_fail(error, MPI_ERR_ARG, "%s: %s is a null pointer; allowed: an address", function, parameter);
}

#ifdef MPIX_HARMONIZE_BUILT_FOR
/* See mpix_harmonize.h. */
void MPIX_HARMONIZE_BUILT_FOR(MPIX_HARMONIZE_UNUSED unused)
{
    (void)unused;
}
#endif

/* Who ignores an error must not take the sample for valid. */
static void clear_flag(int *flag)
{
    if (flag)
        *flag = 0;
}

static int harmonize(MPI_Comm comm, const mh_call *call)
{
    mh_error error;
    mh_comm_state *state;
    clear_flag(call->flag);
    mh_error_clear(&error);
    if (get_state(comm, &state, &error) == MPI_SUCCESS && mh_harmonize(state, call, &error) == MPI_SUCCESS)
        return MPI_SUCCESS;
    return fail_collective(comm, state, &error);
}

/* The code of the caller, and what many callers call next. */
#define FOLLOWING                                                                  \
    {                                                                              \
        __builtin_return_address(0), (const void *)(uintptr_t)PMPIX_Global_time_ns \
    }

int PMPIX_Harmonize(MPI_Comm comm, int *flag)
{
    return harmonize(comm, &(mh_call){.is_delayed = false, .flag = flag, .following = FOLLOWING});
}

int PMPIX_Harmonize_delayed(MPI_Comm comm, int64_t delay_ns, int *flag)
{
    return harmonize(comm, &(mh_call){.is_delayed = true, .delay_ns = delay_ns, .flag = flag, .following = FOLLOWING});
}

int PMPIX_Harmonize_instant(MPI_Comm comm, int64_t *instant_ns)
{
    mh_error error = MH_NO_ERROR;
    mh_comm_state *state;
    if (find_state(comm, &state, &error) != MPI_SUCCESS ||
        check_pointer(instant_ns, "MPIX_Harmonize_instant", "instant_ns", &error) != MPI_SUCCESS)
        return raise_error(comm, &error);
    int64_t last_ns =
        state ? atomic_load_explicit(&state->rounds.instant_ns, memory_order_relaxed) : MH_TIME_UNKNOWN_NS;
    if (last_ns == MH_TIME_UNKNOWN_NS) {
        mh_fail(&error, MPI_ERR_OTHER,
                "the processes of this communicator have never been released; call MPIX_Harmonize first");
        return raise_error(comm, &error);
    }
    *instant_ns = last_ns;
    return MPI_SUCCESS;
}

int PMPIX_Clock_sync(MPI_Comm comm)
{
    mh_error error = MH_NO_ERROR;
    mh_comm_state *state;
    if (get_state(comm, &state, &error) == MPI_SUCCESS && mh_clock_sync(state, &error) == MPI_SUCCESS)
        return MPI_SUCCESS;
    return fail_collective(comm, state, &error);
}

int PMPIX_Global_time(MPI_Comm comm, double *time)
{
    mh_error error;
    mh_comm_state *state;
    mh_error_clear(&error);
    if (find_state(comm, &state, &error) != MPI_SUCCESS ||
        check_pointer(time, "MPIX_Global_time", "time", &error) != MPI_SUCCESS ||
        check_clock(state, &error) != MPI_SUCCESS)
        return raise_error(comm, &error);
    *time = (double)mh_global_clock_now_ns(&state->clock.global) * MH_S_PER_NS;
    return MPI_SUCCESS;
}

int PMPIX_Global_time_interval(MPI_Comm comm, double *earliest, double *latest)
{
    mh_error error;
    mh_comm_state *state;
    mh_error_clear(&error);
    if (find_state(comm, &state, &error) != MPI_SUCCESS ||
        check_pointer(earliest, "MPIX_Global_time_interval", "earliest", &error) != MPI_SUCCESS ||
        check_pointer(latest, "MPIX_Global_time_interval", "latest", &error) != MPI_SUCCESS ||
        check_clock(state, &error) != MPI_SUCCESS)
        return raise_error(comm, &error);
    mh_reading reading = mh_global_clock_read(&state->clock.global);
    bool unknown = reading.bound_ns == MH_TIME_UNKNOWN_NS;
    *earliest = unknown ? -HUGE_VAL : (double)(reading.time_ns - reading.bound_ns) * MH_S_PER_NS;
    *latest = unknown ? HUGE_VAL : (double)(reading.time_ns + reading.bound_ns) * MH_S_PER_NS;
    return MPI_SUCCESS;
}

int PMPIX_Global_time_ns(MPI_Comm comm, int64_t *time_ns, int64_t *bound_ns)
{
    mh_error error;
    mh_comm_state *state;
    mh_error_clear(&error);
    if (find_state(comm, &state, &error) != MPI_SUCCESS ||
        check_pointer(time_ns, "MPIX_Global_time_ns", "time_ns", &error) != MPI_SUCCESS ||
        check_pointer(bound_ns, "MPIX_Global_time_ns", "bound_ns", &error) != MPI_SUCCESS ||
        check_clock(state, &error) != MPI_SUCCESS)
        return raise_error(comm, &error);
    mh_reading reading = mh_global_clock_read(&state->clock.global);
    *time_ns = reading.time_ns;
    *bound_ns = reading.bound_ns;
    return MPI_SUCCESS;
}

int PMPIX_Global_wait_until(MPI_Comm comm, int64_t instant_ns, int *flag)
{
    mh_error error;
    mh_comm_state *state;
    int64_t late_ns;
    clear_flag(flag);
    mh_error_clear(&error);
    if (find_state(comm, &state, &error) != MPI_SUCCESS ||
        check_pointer(flag, "MPIX_Global_wait_until", "flag", &error) != MPI_SUCCESS ||
        check_clock(state, &error) != MPI_SUCCESS)
        return raise_error(comm, &error);
    bool is_undisturbed = mh_global_clock_wait_until(&state->clock.global, instant_ns, state->channel.yields, &late_ns);
    *flag = is_undisturbed && late_ns <= state->rounds.tolerance_ns;
    return MPI_SUCCESS;
}

static int check_host_clock(int clock, const char *function, mpix_clock_id *id, mh_error *error)
{
    return mh_host_clock_find(clock, id)
               ? MPI_SUCCESS
               : mh_fail(error, MPI_ERR_ARG,
                         "%s: clock is %d; allowed: " MH_HOST_CLOCK_NAMES " where the system has it", function, clock);
}

int PMPIX_Clock_pair(MPI_Comm comm, int clock, int64_t *local_ns, int64_t *time_ns, int64_t *bound_ns)
{
    mh_error error = MH_NO_ERROR;
    mh_comm_state *state;
    mpix_clock_id id;
    if (find_state(comm, &state, &error) != MPI_SUCCESS ||
        check_host_clock(clock, "MPIX_Clock_pair", &id, &error) != MPI_SUCCESS ||
        check_pointer(local_ns, "MPIX_Clock_pair", "local_ns", &error) != MPI_SUCCESS ||
        check_pointer(time_ns, "MPIX_Clock_pair", "time_ns", &error) != MPI_SUCCESS ||
        check_pointer(bound_ns, "MPIX_Clock_pair", "bound_ns", &error) != MPI_SUCCESS ||
        check_clock(state, &error) != MPI_SUCCESS)
        return raise_error(comm, &error);
    const mh_clock_pair pair = mh_global_clock_pair(&state->clock.global, mh_host_clock_posix(id));
    *local_ns = pair.beside_ns;
    *time_ns = pair.reading.time_ns;
    *bound_ns = pair.reading.bound_ns;
    return MPI_SUCCESS;
}

int PMPIX_Global_time_of(MPI_Comm comm, int clock, int64_t local_ns, int64_t *time_ns, int64_t *bound_ns)
{
    mh_error error = MH_NO_ERROR;
    mh_comm_state *state;
    mpix_clock_id id;
    mpix_clock_time time;
    if (find_state(comm, &state, &error) != MPI_SUCCESS ||
        check_host_clock(clock, "MPIX_Global_time_of", &id, &error) != MPI_SUCCESS ||
        check_pointer(time_ns, "MPIX_Global_time_of", "time_ns", &error) != MPI_SUCCESS ||
        check_pointer(bound_ns, "MPIX_Global_time_of", "bound_ns", &error) != MPI_SUCCESS ||
        check_clock(state, &error) != MPI_SUCCESS)
        return raise_error(comm, &error);
    if (!mh_history_convert(&state->history, &state->clock, id, local_ns, &time)) {
        mh_fail(&error, MPI_ERR_NO_MEM, "MPIX_Global_time_of: out of memory");
        return raise_error(comm, &error);
    }
    *time_ns = time.global_ns;
    *bound_ns = time.bound_ns;
    return MPI_SUCCESS;
}

int PMPIX_Clock_write(MPI_Comm comm, const char *path)
{
    mh_error error = MH_NO_ERROR;
    mh_comm_state *state;
    if (get_state(comm, &state, &error) == MPI_SUCCESS && check_clock(state, &error) == MPI_SUCCESS &&
        mh_clock_write(state, path, &error) == MPI_SUCCESS)
        return MPI_SUCCESS;
    return fail_collective(comm, state, &error);
}

int PMPIX_Harmonize_set_info(MPI_Comm comm, MPI_Info info)
{
    mh_error error = MH_NO_ERROR;
    mh_comm_state *state;
    if (get_state(comm, &state, &error) == MPI_SUCCESS && mh_info_set(state, info, &error) == MPI_SUCCESS)
        return MPI_SUCCESS;
    return fail_collective(comm, state, &error);
}

/* Without a state, the settings are those of the environment. If these are bad, last_error says so. */
static int get_info(MPI_Comm comm, MPI_Info *info, mh_error *error)
{
    mh_comm_state *state;
    mh_settings from_environment;
    mh_error bad_environment = MH_NO_ERROR;
    int code = mh_comm_state_find(comm, &state, error);
    if (code != MPI_SUCCESS)
        return code;
    if (!state && mh_settings_from_environment(&from_environment, &bad_environment) != MPI_SUCCESS)
        mh_error_raise(MPI_COMM_NULL, &bad_environment); /* remembered only */
    MH_TRY(error, PMPI_Info_create, (info));
    code = mh_info_get(state, state ? &state->settings : &from_environment, *info, error);
    if (code != MPI_SUCCESS)
        PMPI_Info_free(info);
    return code;
}

int PMPIX_Harmonize_get_info(MPI_Comm comm, MPI_Info *info_used)
{
    mh_error error = MH_NO_ERROR;
    if (check_comm(comm, &error) == MPI_SUCCESS &&
        check_pointer(info_used, "MPIX_Harmonize_get_info", "info_used", &error) == MPI_SUCCESS &&
        get_info(comm, info_used, &error) == MPI_SUCCESS)
        return MPI_SUCCESS;
    return raise_error(comm, &error);
}

/* The function that users call, which a profiling tool may replace. With a pragma, clang would hide the symbol. */
#define WEAK_TWIN(name) extern __typeof__(P##name) name __attribute__((weak, alias("P" #name), visibility("default")))

/* bindings/declare.sh begins: weak twins */
WEAK_TWIN(MPIX_Harmonize);
WEAK_TWIN(MPIX_Harmonize_delayed);
WEAK_TWIN(MPIX_Harmonize_instant);
WEAK_TWIN(MPIX_Global_time);
WEAK_TWIN(MPIX_Global_time_interval);
WEAK_TWIN(MPIX_Global_time_ns);
WEAK_TWIN(MPIX_Global_wait_until);
WEAK_TWIN(MPIX_Clock_sync);
WEAK_TWIN(MPIX_Clock_pair);
WEAK_TWIN(MPIX_Global_time_of);
WEAK_TWIN(MPIX_Clock_write);
WEAK_TWIN(MPIX_Harmonize_set_info);
WEAK_TWIN(MPIX_Harmonize_get_info);
/* bindings/declare.sh ends */
