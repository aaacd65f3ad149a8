/* SPDX-License-Identifier: BSD-3-Clause */
/* test_errors.c - errors: their class, the same on all processes; their message; and that life goes on after them. */
#include "mpix_test.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- Null communicators, null pointers */

/* Check the class of an error, and what its message names. */
#define CHECK_REFUSED(comm, call, class, words) (CHECK_CLASS(call, class, #call), CHECK_MESSAGE(comm, words))

static void check_null_pointers(MPI_Comm comm)
{
    double time = -7;
    int64_t time_ns = -7;
    CHECK_REFUSED(comm, MPIX_Global_time(comm, NULL), MPI_ERR_ARG, "MPIX_Global_time: time ");
    CHECK_REFUSED(comm, MPIX_Global_time_interval(comm, NULL, &time), MPI_ERR_ARG,
                  "MPIX_Global_time_interval: earliest ");
    CHECK_REFUSED(comm, MPIX_Global_time_interval(comm, &time, NULL), MPI_ERR_ARG,
                  "MPIX_Global_time_interval: latest ");
    CHECK_REFUSED(comm, MPIX_Global_time_ns(comm, NULL, &time_ns), MPI_ERR_ARG, "MPIX_Global_time_ns: time_ns ");
    CHECK_REFUSED(comm, MPIX_Global_time_ns(comm, &time_ns, NULL), MPI_ERR_ARG, "MPIX_Global_time_ns: bound_ns ");
    CHECK_REFUSED(comm, MPIX_Harmonize_get_info(comm, NULL), MPI_ERR_ARG, "MPIX_Harmonize_get_info: info_used ");
    CHECK_REFUSED(comm, MPIX_Harmonize_instant(comm, NULL), MPI_ERR_ARG, "MPIX_Harmonize_instant: instant_ns ");
    CHECK_REFUSED(comm, MPIX_Global_wait_until(comm, 0, NULL), MPI_ERR_ARG, "MPIX_Global_wait_until: flag ");
    CHECK_REFUSED(comm, MPIX_Clock_pair(comm, CLOCK_MONOTONIC, NULL, &time_ns, &time_ns), MPI_ERR_ARG,
                  "MPIX_Clock_pair: local_ns ");
    CHECK_REFUSED(comm, MPIX_Clock_pair(comm, CLOCK_MONOTONIC, &time_ns, NULL, &time_ns), MPI_ERR_ARG,
                  "MPIX_Clock_pair: time_ns ");
    CHECK_REFUSED(comm, MPIX_Clock_pair(comm, CLOCK_MONOTONIC, &time_ns, &time_ns, NULL), MPI_ERR_ARG,
                  "MPIX_Clock_pair: bound_ns ");
    CHECK_REFUSED(comm, MPIX_Global_time_of(comm, CLOCK_MONOTONIC, 0, NULL, &time_ns), MPI_ERR_ARG,
                  "MPIX_Global_time_of: time_ns ");
    CHECK_REFUSED(comm, MPIX_Global_time_of(comm, CLOCK_MONOTONIC, 0, &time_ns, NULL), MPI_ERR_ARG,
                  "MPIX_Global_time_of: bound_ns ");
    CHECK_REFUSED(comm, MPIX_Global_time_of(comm, -1, 0, &time_ns, &time_ns), MPI_ERR_ARG,
                  "MPIX_Global_time_of: clock is -1; allowed: CLOCK_REALTIME, ");
    CHECK_REFUSED(comm, MPIX_Clock_pair(comm, CLOCK_PROCESS_CPUTIME_ID, &time_ns, &time_ns, &time_ns), MPI_ERR_ARG,
                  "MPIX_Clock_pair: clock is 2; allowed: CLOCK_REALTIME, ");
    CHECK(time == -7 && time_ns == -7, "a result was written beside an error");
}

static void check_null_flag(MPI_Comm comm, bool null_here, const char *what)
{
    int flag = -7;
    CHECK_CLASS(MPIX_Harmonize(comm, null_here ? NULL : &flag), MPI_ERR_ARG, what);
    CHECK_MESSAGE(comm, "MPIX_Harmonize: ", "flag");
    harmonize(comm);
}

SUB_TEST(errors_null, SINGLE, "null communicators and pointers")
{
    MPI_Comm comm = duplicate(MPI_COMM_WORLD);
    check_all_refuse(MPI_COMM_NULL, MPI_ERR_COMM);
    check_null_flag(comm, true, "the first call, the flag null on all ranks");
    for (int rank = 0; rank < ranks; rank++)
        check_null_flag(comm, my_rank == rank, "the flag null on one rank");
    check_null_pointers(comm);
    check_all_refuse(MPI_COMM_NULL, MPI_ERR_COMM);
    CHECK_NUMBER(comm, "calls", ranks + 1); /* those that succeeded */
    MPI_Comm_free(&comm);

    comm = duplicate(MPI_COMM_WORLD);
    check_null_flag(comm, my_rank == ranks - 1, "the first call, the flag null on the last rank");
    MPI_Comm_free(&comm);
}

/* ---- Never synchronized */

static void check_unsynced(MPI_Comm comm)
{
    int flag;
    double time;
    int64_t time_ns;
    CHECK_REFUSED(comm, MPIX_Global_time(comm, &time), MPI_ERR_OTHER, "MPIX_Clock_sync");
    CHECK_REFUSED(comm, MPIX_Global_time_interval(comm, &time, &time), MPI_ERR_OTHER, "MPIX_Clock_sync");
    CHECK_REFUSED(comm, MPIX_Global_time_ns(comm, &time_ns, &time_ns), MPI_ERR_OTHER, "MPIX_Clock_sync");
    CHECK_REFUSED(comm, MPIX_Global_wait_until(comm, 0, &flag), MPI_ERR_OTHER, "MPIX_Clock_sync");
    CHECK_REFUSED(comm, MPIX_Clock_pair(comm, CLOCK_MONOTONIC, &time_ns, &time_ns, &time_ns), MPI_ERR_OTHER,
                  "MPIX_Clock_sync");
    CHECK_REFUSED(comm, MPIX_Global_time_of(comm, CLOCK_MONOTONIC, 0, &time_ns, &time_ns), MPI_ERR_OTHER,
                  "MPIX_Clock_sync");
}

SUB_TEST(errors_unsynced, SINGLE, "clocks that were never synchronized")
{
    double time;
    MPI_Comm comm = duplicate(MPI_COMM_WORLD), other = duplicate(MPI_COMM_WORLD);
    check_unsynced(comm);
    check_null_pointers(comm);
    CHECK_OK(set_setting(comm, "sync", "prop")); /* there is a state now, but no clock */
    check_unsynced(comm);
    check_null_pointers(comm);
    CHECK_OK(MPIX_Clock_sync(other));
    check_unsynced(comm);
    CHECK_OK(MPIX_Clock_sync(comm));
    CHECK_OK(MPIX_Global_time(comm, &time));
    MPI_Comm_free(&other);
    MPI_Comm_free(&comm);
}

/* ---- Bad settings */

static void check_unchanged(MPI_Comm comm, const char *before, const char *what)
{
    const char *after = all_settings(comm);
    CHECK(strcmp(before, after) == 0, "%s changed settings from %s to %s", what, before, after);
    harmonize(comm);
}

typedef struct setting_case {
    const char *name, *value;
} setting_case;

/* One of each kind; test_config.c, test_label.c and test_settings.c have all. */
static const setting_case bad_values[] = {
    {"clock", "sundial"},
    {"sync",
     "longer_than_any_label_could_be_longer_than_any_label_could_be_longer_than_any_label_could_be_longer_than_any_"
     "label_could_be_longer_than_any_label_could_be"},
    {"tolerance_ns", "-5"},
    {"slack_min_ns", "200000000"}, /* above slack_max_ns */
};

enum { BAD_VALUES = sizeof bad_values / sizeof *bad_values };

SUB_TEST(errors_values, SINGLE, "bad settings")
{
    MPI_Comm comm = duplicate(MPI_COMM_WORLD);
    harmonize(comm);
    for (int i = 0; i < BAD_VALUES; i++) {
        const char *name = bad_values[i].name, *value = bad_values[i].value, *before = all_settings(comm);
        const char *what = text_of("%s = '%s'", name, value);
        CHECK_CLASS(set_setting(comm, name, value), MPI_ERR_INFO_VALUE, what);
        CHECK_MESSAGE(comm, name, text_of("%.20s", value), "allowed"); /* messages quote the beginning */
        check_unchanged(comm, before, what);
    }
    MPI_Comm_free(&comm);
}

/* ---- Several keys, unknown keys */

/* The process where is_bad holds passes something wrong, the others something good or nothing. */
static void check_one_bad_rank(MPI_Comm comm, bool is_bad)
{
    const char *before = all_settings(comm);
    int code = set_keys(comm, is_bad ? PREFIX "tolerance_ns" : NULL, "bogus", NULL, NULL);
    CHECK_CLASS(code, MPI_ERR_INFO_VALUE, "a bad value here, no settings elsewhere");
    CHECK_MESSAGE(comm, "tolerance_ns", "bogus", "allowed");
    check_unchanged(comm, before, "a bad value here, no settings elsewhere");

    code = set_keys(comm, PREFIX "slack_max_ns", "5000", PREFIX "sync", is_bad ? "hca9" : "prop");
    CHECK_CLASS(code, MPI_ERR_INFO_VALUE, "a good and a bad value here, two good ones elsewhere");
    CHECK_MESSAGE(comm, "sync", "hca9", "allowed");
    check_unchanged(comm, before, "a good and a bad value here, two good ones elsewhere");

    code = set_keys(comm, PREFIX "slack_max_ns", "5000", is_bad ? PREFIX "tolerance" : "tolerance", "600");
    CHECK_CLASS(code, MPI_ERR_INFO_KEY, "an unknown key here");
    CHECK_MESSAGE(comm, "mpix_harmonize_tolerance", "allowed", "slack_max_ns");
    check_unchanged(comm, before, "an unknown key here");
}

SUB_TEST(errors_one_rank, SINGLE, "bad settings on one process only")
{
    MPI_Comm comm = duplicate(MPI_COMM_WORLD);
    check_one_bad_rank(comm, true);
    check_one_bad_rank(comm, my_rank == 0);
    check_one_bad_rank(comm, my_rank == ranks - 1);
    CHECK_OK(set_keys(comm, "unrelated", "value", "tolerance_ns", "bogus"));
    CHECK_CLASS(set_keys(comm, PREFIX, "1", NULL, NULL), MPI_ERR_INFO_KEY, "the bare prefix as a key");
    MPI_Comm_free(&comm);
}

/* ---- Settings that differ */

static void check_difference(MPI_Comm comm, const char *name, const char *mine)
{
    const char *before = all_settings(comm), *what = text_of("%s '%s' here, another elsewhere", name, mine);
    CHECK_CLASS(set_setting(comm, name, mine), MPI_ERR_INFO_VALUE, what);
    CHECK_MESSAGE(comm, name);
    check_unchanged(comm, before, what);
}

SUB_TEST(errors_differ, SEVERAL, "settings that differ between processes")
{
    bool odd = my_rank == ranks - 1;
    MPI_Comm comm = duplicate(MPI_COMM_WORLD);
    check_difference(comm, "clock", odd ? "monotonic" : "realtime");
    check_difference(comm, "tolerance_ns", odd ? "600" : "700");
    harmonize(comm);
    check_difference(comm, "sync", odd ? "prop" : "none");
    check_difference(comm, "resync_interval_ns", odd ? "10000000" : "20000000");
    check_difference(comm, "barrier", odd ? "collective" : "auto");
    check_difference(comm, "slack_min_ns", odd ? "auto" : "1000");
    check_difference(comm, "slack_max_ns", odd ? "1000000" : "2000000");
    CHECK_CLASS(set_keys(comm, odd ? PREFIX "tolerance_ns" : NULL, "600", NULL, NULL), MPI_ERR_INFO_VALUE,
                "a setting on one rank only");
    harmonize(comm);
    MPI_Comm_free(&comm);
}

/* ---- The user's error handler */

static int handler_calls, handler_code;
static MPI_Comm handler_comm;
static const char *handler_text = "";

/* A handler asks for the message, as a user's would. */
static void note_error(MPI_Comm *comm, int *code, ...)
{
    handler_calls++;
    handler_code = *code;
    handler_comm = *comm;
    handler_text = info_text(*comm, "last_error");
}

static void check_raised(const char *file, int line, MPI_Comm comm, int code, const char *what)
{
    if (handler_calls != 1)
        test_fail(file, line, "%s: the error handler was called %d times, expected once", what, handler_calls);
    if (handler_code != code)
        test_fail(file, line, "%s: the error handler got code %d, the caller %d", what, handler_code, code);
    if (handler_comm != comm)
        test_fail(file, line, "%s: the error handler was called for another communicator", what);
    if (!handler_text[0] || strcmp(handler_text, "none") == 0)
        test_fail(file, line, "%s: the error handler found no message", what);
    handler_calls = 0;
    handler_text = "";
}

#define CHECK_RAISED(comm, call) check_raised(__FILE__, __LINE__, comm, call, #call)

static void provoke(MPI_Comm comm)
{
    double time;
    int64_t time_ns;
    CHECK_RAISED(comm, MPIX_Global_time(comm, &time));
    CHECK_RAISED(comm, MPIX_Global_time_interval(comm, &time, &time));
    CHECK_RAISED(comm, MPIX_Global_time_ns(comm, &time_ns, &time_ns));
    CHECK_RAISED(comm, MPIX_Harmonize_get_info(comm, NULL));
    CHECK_RAISED(comm, set_setting(comm, "sync", "hca9"));
    CHECK_RAISED(comm, set_setting(comm, "no_such", "1"));
    CHECK_RAISED(comm, MPIX_Harmonize(comm, my_rank == 0 ? NULL : &(int){0}));
    CHECK_RAISED(comm, MPIX_Harmonize_delayed(comm, my_rank == 0 ? -1 : 0, &(int){0}));
    CHECK_RAISED(comm, MPIX_Harmonize_instant(comm, &time_ns));
    CHECK_RAISED(comm, MPIX_Global_wait_until(comm, 0, NULL));
    CHECK_RAISED(comm, MPIX_Global_time(comm, NULL));
}

SUB_TEST(errors_handler, SINGLE, "the user's error handler is called once for each error")
{
    MPI_Comm comm = duplicate(MPI_COMM_WORLD), other = duplicate(MPI_COMM_WORLD);
    set_handler(comm, note_error);
    provoke(comm);
    harmonize_times(comm, 3);
    CHECK(handler_calls == 0, "the error handler was called %d times without an error", handler_calls);
    CHECK_CLASS(MPIX_Harmonize(other, NULL), MPI_ERR_ARG, "a null flag on another communicator");
    CHECK_CLASS(MPIX_Harmonize(MPI_COMM_NULL, NULL), MPI_ERR_COMM, "MPI_COMM_NULL");
    CHECK(handler_calls == 0, "the error handler was called %d times for other communicators", handler_calls);
    setenv("MPIX_HARMONIZE_SYNC", "hca9", 1);
    MPI_Comm third = duplicate(comm); /* with its handler */
    CHECK_RAISED(third, MPIX_Harmonize(third, &(int){0}));
    CHECK_RAISED(third, MPIX_Clock_sync(third));
    unsetenv("MPIX_HARMONIZE_SYNC");
    MPI_Comm_free(&third);
    MPI_Comm_free(&other);
    MPI_Comm_free(&comm);
}

/* ---- The environment */

static void variable_of(const char *setting, char variable[64])
{
    snprintf(variable, 64, "MPIX_HARMONIZE_%s", setting);
    for (char *c = variable; *c; c++)
        *c = (char)toupper((unsigned char)*c);
}

/* The value is in the environment of those where here holds. The communicator must work once it is gone. */
static void check_environment(const char *setting, const char *value, bool here, int way)
{
    char variable[64], what[120];
    int flag;
    MPI_Comm comm = duplicate(MPI_COMM_WORLD);
    variable_of(setting, variable);
    snprintf(what, sizeof what, "%s=%s in the environment", variable, value);
    if (here)
        setenv(variable, value, 1);
    int code = way == 0   ? MPIX_Harmonize(comm, &flag)
               : way == 1 ? MPIX_Clock_sync(comm)
                          : MPIX_Harmonize_set_info(comm, MPI_INFO_NULL);
    CHECK_CLASS(code, MPI_ERR_ARG, what);
    unsetenv(variable);
    if (code != MPI_SUCCESS)
        CHECK_MESSAGE(comm, variable);
    harmonize(comm);
    MPI_Comm_free(&comm);
}

static void check_message_of_environment(void)
{
    MPI_Comm comm = duplicate(MPI_COMM_WORLD);
    if (my_rank == ranks - 1)
        setenv("MPIX_HARMONIZE_TOLERANCE_NS", "bogus", 1);
    CHECK_CLASS(MPIX_Clock_sync(comm), MPI_ERR_ARG, "a bad tolerance in the environment of the last rank");
    CHECK_MESSAGE(comm, "MPIX_HARMONIZE_TOLERANCE_NS", "bogus", "allowed", "auto");
    /* Local, and no error: what holds without the bad value. */
    CHECK_TEXT(comm, "tolerance_ns", "auto", "a bad value in the environment");
    unsetenv("MPIX_HARMONIZE_TOLERANCE_NS");
    MPI_Comm_free(&comm);
}

SUB_TEST(errors_environment, SINGLE, "a bad environment, on all processes and on one")
{
    bool last = my_rank == ranks - 1;
    for (int i = 0; i < BAD_VALUES; i++) {
        check_environment(bad_values[i].name, bad_values[i].value, true, i % 3);
        check_environment(bad_values[i].name, bad_values[i].value, last, (i + 1) % 3);
    }
    check_message_of_environment();
    if (ranks > 1)
        check_environment("tolerance_ns", "700", last, 0); /* good, but only here */
    setenv("MPIX_HARMONIZE_TOLERANCE_NS", " 700 ", 1);
    MPI_Comm comm = duplicate(MPI_COMM_WORLD);
    harmonize(comm);
    CHECK_NUMBER(comm, "tolerance_used_ns", 700);
    unsetenv("MPIX_HARMONIZE_TOLERANCE_NS");
    MPI_Comm_free(&comm);
}
