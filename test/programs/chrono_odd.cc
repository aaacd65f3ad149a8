// SPDX-License-Identifier: BSD-3-Clause
//
// chrono_odd.cc - mpix_harmonize.hpp in a program that has sessions only, and uses constants by reference. Prints ok.
#include <mpix_harmonize.hpp>

#include <cstdio>

static int failures;

static void check(const bool &condition, const char *what)
{
    if (!condition) {
        std::printf("not so: %s\n", what);
        failures++;
    }
}

static void check_equal(const bool &found, const bool &expected)
{
    check(found == expected, "a constant has its value");
}

static void check_message(MPI_Comm comm, const char *part)
{
    try {
        mpix::global_clock(comm).now();
        check(false, "there is an exception");
    } catch (const mpix::error &error) {
        if (std::string(error.what()).find(part) == std::string::npos) {
            std::printf("'%s' is not in '%s'\n", part, error.what());
            failures++;
        }
    }
}

static void use_session()
{
#if MPI_VERSION >= 4
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "check", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
    MPI_Group_free(&group);
    check_message(comm, "has not been synchronized");
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
#endif
}

int main()
{
    check_equal(mpix::global_clock::is_steady, false);
    check_message(MPI_COMM_WORLD, "MPI is not initialized yet");
    use_session();
    std::printf(failures == 0 ? "ok\n" : "failed\n");
    return failures;
}
