/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_environment.c - what surrounds a process: its locale, variables of other programs, limits, missing files.
 */
#define _GNU_SOURCE
#include "mpix_test.h"

#include <fenv.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define VARIABLE_PREFIX "MPIX_HARMONIZE_"

/* ---- Locale */

/*
 * As a program that speaks its user's language does; check_environment.sh runs it with a decimal comma and in Turkish.
 * MPI starts before: UCX does not start in Turkish.
 */
SUB_TEST(environment_locale, SINGLE, "settings in the locale that the environment names")
{
    const char *locale = setlocale(LC_ALL, "");
    if (my_rank == 0)
        printf("locale %s, decimal point '%s'\n", locale ? locale : "unknown", localeconv()->decimal_point);
    setenv(VARIABLE_PREFIX "YIELD", "ALWAYS", 1);
    setenv(VARIABLE_PREFIX "VALID_FRACTION", "0.999", 1);
    MPI_Comm comm = duplicate(MPI_COMM_WORLD);
    harmonize(comm);
    CHECK_TEXT(comm, "yield", "always", "in the environment");
    CHECK_TEXT(comm, "valid_fraction", "0.999", "in the environment");
    set_settings(comm, "VALID_FRACTION=0.75 SYNC=SKAMPI/MEAN-RTT+PROP");
    CHECK_CLASS(set_setting(comm, "valid_fraction", "0,75"), MPI_ERR_INFO_VALUE, "a decimal comma");
    CHECK_MESSAGE(comm, "'0,75'", "from 0.5 to 0.9999");
    harmonize(comm);
    unsetenv(VARIABLE_PREFIX "YIELD");
    unsetenv(VARIABLE_PREFIX "VALID_FRACTION");
    MPI_Comm_free(&comm);
}

/* ---- Arithmetic */

SUB_TEST(environment_arithmetic, SINGLE, "a synchronization beside traps, a rounding and flags of the program")
{
    MPI_Comm comm = duplicate_with("sync=hca3/10/skampi/10");
    CHECK_OK(MPIX_Clock_sync(comm));
#ifdef __GLIBC__
    feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW);
#endif
    fesetround(FE_UPWARD);
    feclearexcept(FE_ALL_EXCEPT);
    CHECK_OK(MPIX_Clock_sync(comm));
    int flags = fetestexcept(FE_ALL_EXCEPT), rounding = fegetround();
    fesetenv(FE_DFL_ENV);
    CHECK(flags == 0, "the flags %#x are set", (unsigned)flags);
    CHECK(rounding == FE_UPWARD, "the rounding is %d, not %d", rounding, FE_UPWARD);
    MPI_Comm_free(&comm);
}

/* ---- Names */

SUB_TEST(environment_ignored, SINGLE, "variables of other programs with the library's prefix")
{
    MPI_Comm comm = duplicate(MPI_COMM_WORLD);
    CHECK_TEXT(comm, "ignored_environment", "none", "no variables");
    setenv(VARIABLE_PREFIX "ROOT", "/opt/mpix", 1);
    setenv(VARIABLE_PREFIX "TOLERANCE", "700", 1);
    setenv(VARIABLE_PREFIX "TOLERANCE_NS", "700", 1);
    CHECK_TEXT(comm, "ignored_environment", VARIABLE_PREFIX "TOLERANCE", "before a call");
    harmonize(comm);
    CHECK_NUMBER(comm, "tolerance_used_ns", 700);
    CHECK_TEXT(comm, "ignored_environment", VARIABLE_PREFIX "TOLERANCE", "after a call");
    unsetenv(VARIABLE_PREFIX "ROOT");
    unsetenv(VARIABLE_PREFIX "TOLERANCE");
    unsetenv(VARIABLE_PREFIX "TOLERANCE_NS");
    MPI_Comm_free(&comm);
}

SUB_TEST(environment_spellings, SINGLE, "keys that differ in case only")
{
    MPI_Comm comm = duplicate(MPI_COMM_WORLD);
    CHECK_CLASS(set_keys(comm, PREFIX "tolerance_ns", "600", PREFIX "Tolerance_NS", "700"), MPI_ERR_INFO_VALUE,
                "two values for one setting");
    bool names_both =
        info_shows(comm, "last_error", PREFIX "tolerance_ns") && info_shows(comm, "last_error", PREFIX "Tolerance_NS");
    CHECK(names_both, "the message '%s' does not name both keys", info_text(comm, "last_error"));
    CHECK_MESSAGE(comm, "'600'", "'700'");
    CHECK_TEXT(comm, "tolerance_ns", "auto", "two values for one setting");
    CHECK_OK(set_keys(comm, PREFIX "tolerance_ns", "600", PREFIX "Tolerance_NS", " 600"));
    CHECK_TEXT(comm, "tolerance_ns", "600", "one value twice");
    CHECK_CLASS(set_setting(comm, "slack_min_ns", "200000000"), MPI_ERR_INFO_VALUE, "a least slack above the greatest");
    CHECK_MESSAGE(comm, PREFIX "slack_min_ns", "slack_max_ns, which is 100000000");
    CHECK_OK(set_setting(comm, "slack_min_ns", "50000"));
    CHECK_CLASS(set_setting(comm, "slack_max_ns", "49999"), MPI_ERR_INFO_VALUE, "a greatest slack below the least");
    CHECK_MESSAGE(comm, PREFIX "slack_max_ns", "'49999'", "slack_min_ns, which is 50000");
    harmonize(comm);
    MPI_Comm_free(&comm);
}

/* ---- Standard output and error */

/* What MPIX_Harmonize prints goes into a file. Returns how many bytes; -1: no file. */
static int64_t printed_bytes(MPI_Comm comm, char beginning[TEXT_SIZE])
{
    FILE *file = tmpfile();
    int saved_out = dup(STDOUT_FILENO), saved_error = dup(STDERR_FILENO);
    bool can = max_over(MPI_COMM_WORLD, !file || saved_out < 0 || saved_error < 0) == 0;
    struct stat status = {.st_size = -1};
    fflush(NULL);
    if (can) {
        dup2(fileno(file), STDOUT_FILENO);
        dup2(fileno(file), STDERR_FILENO);
        harmonize(comm);
        fflush(NULL);
        dup2(saved_out, STDOUT_FILENO);
        dup2(saved_error, STDERR_FILENO);
        fstat(fileno(file), &status);
        rewind(file);
        beginning[fread(beginning, 1, TEXT_SIZE - 1, file)] = '\0';
    }
    close(saved_out);
    close(saved_error);
    if (file)
        fclose(file);
    return status.st_size;
}

/* check_environment.sh also runs this where Linux does not show its processors. */
SUB_TEST(environment_silent, SINGLE, "nothing is printed")
{
    char beginning[TEXT_SIZE] = "";
    MPI_Comm comm = duplicate(MPI_COMM_WORLD);
    int64_t bytes = printed_bytes(comm, beginning);
    if (bytes < 0)
        test_skip("there is no file for what is printed");
    else
        CHECK(bytes == 0, "MPIX_Harmonize prints '%s'", beginning);
    MPI_Comm_free(&comm);
}

/* ---- Shared memory */

static bool uses_shared_memory(MPI_Comm comm)
{
    CHECK_OK(set_setting(comm, "barrier", "shm"));
    harmonize_times(comm, 5);
    return info_shows(comm, "barrier_used", "shm");
}

SUB_TEST(environment_file_limit, SINGLE, "a limit of 0 on the size of files")
{
    bool some_share = max_over(MPI_COMM_WORLD, processes_of_node()) > 1;
    struct rlimit before, none;
    getrlimit(RLIMIT_FSIZE, &before);
    none = (struct rlimit){0, before.rlim_max};
    MPI_Comm comm = duplicate(MPI_COMM_WORLD);
    fflush(NULL);
    setrlimit(RLIMIT_FSIZE, &none);
    bool shares = uses_shared_memory(comm);
    setrlimit(RLIMIT_FSIZE, &before);
    CHECK(!some_share || !shares, "memory is shared in spite of the limit");
    CHECK(!some_share || info_shows(comm, "barrier_reason", "no shared memory: "), "the reason is '%s'",
          info_text(comm, "barrier_reason"));
    CHECK(!leaves_shared_memory(), "a name is left in /dev/shm");
    MPI_Comm_free(&comm);
}

SUB_TEST(environment_memory, SINGLE, "shared memory without descriptors, and what it leaves")
{
    MPI_Comm comm = duplicate(MPI_COMM_WORLD);
    bool usually = uses_shared_memory(comm);
    if (!usually)
        test_skip("no memory is shared here: %s", info_text(comm, "barrier_reason"));
    MPI_Comm_free(&comm);
    for (int odd = -1; odd < ranks && usually; odd++) {
        comm = duplicate(MPI_COMM_WORLD);
        refuse_shared_memory(odd < 0 || my_rank == odd, false);
        CHECK(uses_shared_memory(comm), "not by a name, where rank %d has no descriptor (-1: all): %s", odd,
              info_text(comm, "barrier_reason"));
        refuse_shared_memory(false, false);
        CHECK(!leaves_shared_memory(), "a name is left in /dev/shm");
        MPI_Comm_free(&comm);
    }
}
