/* SPDX-License-Identifier: BSD-3-Clause */
/* test_info.c - MPIX_Harmonize_set_info and MPIX_Harmonize_get_info: settings go in, settings and statistics come out.
 */
#include "mpix_test.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void test_info_fresh(void)
{
    char text[TEXT_SIZE];
    MPI_Comm comm = duplicate(MPI_COMM_WORLD);
    for (int i = 0; setting_names[i]; i++)
        CHECK(info_text(comm, setting_names[i], text) && text[0], "a fresh communicator has no setting %s",
              setting_names[i]);
    CHECK(!info_text(comm, "calls", text), "a fresh communicator has made %s calls", text);
    CHECK(!info_text(comm, "clock_bound_ns", text), "a fresh communicator has a clock bound of %s ns", text);
    setenv("MPIX_HARMONIZE_SYNC", "PROP ", 1);
    CHECK(info_text(comm, "sync", text) && strcmp(text, "prop") == 0, "sync is '%s', expected the environment's prop",
          text);
    unsetenv("MPIX_HARMONIZE_SYNC");
    CHECK_OK(MPIX_Harmonize_set_info(comm, MPI_INFO_NULL));
    CHECK(!info_text(comm, "calls", text), "a communicator without calls has made %s", text);
    harmonize(comm);
    CHECK_OK(MPIX_Harmonize_set_info(comm, MPI_INFO_NULL));
    CHECK(info_text(comm, "calls", text), "a communicator that is in use shows no calls");
    MPI_Comm_free(&comm);
}

static void check_number(MPI_Comm comm, const char *name, int64_t expected)
{
    int64_t number = info_number(comm, name);
    CHECK(number == expected, "%s is %" PRId64 ", expected %" PRId64, name, number, expected);
}

void test_info_statistics(void)
{
    static const char *const texts[] = {"version",     "clock_used",   "clock_reason",
                                        "sync_levels", "barrier_used", "last_error"};
    static const char *const positive[] = {"clock_read_cost_ns", "slack_used_ns", "tolerance_used_ns",
                                           "sync_duration_ns", "clock_epoch_unix_ns"};
    char text[TEXT_SIZE];
    int calls = times(100, 30), valid = 0;
    MPI_Comm comm = duplicate(MPI_COMM_WORLD);
    CHECK_OK(set_setting(comm, "sync", "prop"));
    valid += harmonize_times(comm, calls);
    CHECK_OK(MPIX_Clock_sync(comm));
    CHECK_OK(MPIX_Clock_sync(comm));
    valid += harmonize_times(comm, 10);
    check_number(comm, "calls", calls + 10);
    check_number(comm, "calls_late", calls + 10 - valid);
    int64_t syncs = info_number(comm, "syncs");
    CHECK(syncs >= 3, "%" PRId64 " synchronizations are counted, expected at least 3", syncs);
    for (int i = 0; i < 6; i++)
        CHECK(info_text(comm, texts[i], text) && text[0], "get_info has no %s", texts[i]);
    for (int i = 0; i < 5; i++)
        CHECK(info_number(comm, positive[i]) > 0, "%s is not positive", positive[i]);
    CHECK(info_number(comm, "clock_age_ns") >= 0, "the age of the clock is negative");
    CHECK(info_number(comm, "clock_bound_ns") >= 0, "the bound is negative");
    check_number(comm, "oversubscribed", max_over(comm, info_number(comm, "oversubscribed")));
    MPI_Comm_free(&comm);
}

/* ---- Round trip */

static void configure(MPI_Comm comm)
{
    CHECK_OK(set_setting(comm, "clock", "monotonic"));
    CHECK_OK(set_setting(comm, "sync", "hca3o/skampi/7+prop"));
    CHECK_OK(set_setting(comm, "resync_interval_ns", "123000000"));
    CHECK_OK(set_setting(comm, "barrier", "collective"));
    CHECK_OK(set_setting(comm, "tolerance_ns", "4321"));
    CHECK_OK(set_setting(comm, "slack_max_ns", "50000000"));
    CHECK_OK(set_setting(comm, "slack_min_ns", "999"));
}

void test_info_round_trip(void)
{
    MPI_Info info = MPI_INFO_NULL;
    char first[TEXT_SIZE], second[TEXT_SIZE];
    MPI_Comm from = duplicate(MPI_COMM_WORLD), to = duplicate(MPI_COMM_WORLD), fresh = duplicate(MPI_COMM_WORLD);
    configure(from);
    harmonize_times(from, 5);
    MPIX_Harmonize(from, NULL); /* so that there is a last error as well */
    CHECK_OK(MPIX_Harmonize_get_info(from, &info));
    CHECK_OK(MPIX_Harmonize_set_info(to, info));
    CHECK_OK(MPIX_Harmonize_set_info(from, info));
    MPI_Info_free(&info);
    all_settings(from, first);
    all_settings(to, second);
    CHECK(strcmp(first, second) == 0, "settings %s became %s", first, second);
    harmonize_times(to, 5);
    CHECK_OK(MPIX_Harmonize_get_info(fresh, &info));
    CHECK_OK(MPIX_Harmonize_set_info(fresh, info));
    MPI_Info_free(&info);
    harmonize(fresh);
    MPI_Comm_free(&fresh);
    MPI_Comm_free(&to);
    MPI_Comm_free(&from);
}

/* ---- Settings take effect */

static void check_slack(MPI_Comm comm, int64_t min_ns, int64_t max_ns)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, max_ns);
    /* In an order in which the least is never above the greatest. */
    CHECK_OK(set_setting(comm, "slack_min_ns", "auto"));
    CHECK_OK(set_setting(comm, "slack_max_ns", text));
    snprintf(text, sizeof text, "%" PRId64, min_ns);
    CHECK_OK(set_setting(comm, "slack_min_ns", text));
    for (int i = 0; i < times(50, 10); i++) {
        harmonize(comm);
        int64_t slack_ns = info_number(comm, "slack_used_ns");
        CHECK(slack_ns >= min_ns && slack_ns <= max_ns, "the slack is %" PRId64 " ns, expected %" PRId64 " to %" PRId64,
              slack_ns, min_ns, max_ns);
    }
}

/* The clock cannot be changed while it is in use; anything else can. */
static void check_clock_is_kept(MPI_Comm comm)
{
    char text[TEXT_SIZE];
    CHECK_CLASS(set_setting(comm, "clock", "realtime"), MPI_ERR_INFO_VALUE, "another clock while one is in use");
    CHECK_MESSAGE(comm, "clock", "realtime", "allowed");
    CHECK(info_text(comm, "clock_used", text) && strcmp(text, "monotonic") == 0, "the base clock is %s", text);
    CHECK_OK(set_setting(comm, "clock", "monotonic"));
}

/* Calls at least 5 ms apart, the interval 10 ms: every third one synchronizes at least, however slow the machine. */
static void check_interval(const char *label, bool drifts)
{
    MPI_Comm comm = duplicate(MPI_COMM_WORLD);
    CHECK_OK(set_setting(comm, "clock", "monotonic"));
    CHECK_OK(set_setting(comm, "sync", label));
    CHECK_OK(set_setting(comm, "resync_interval_ns", "10000000"));
    harmonize(comm);
    int64_t before = info_number(comm, "syncs");
    for (int i = 0; i < 24; i++) {
        nap_ms(5);
        harmonize(comm);
    }
    int64_t syncs = info_number(comm, "syncs") - before;
    if (drifts)
        CHECK(syncs >= 4, "%s: %" PRId64 " synchronizations in 120 ms with an interval of 10 ms", label, syncs);
    else
        CHECK(syncs == 0, "%s: %" PRId64 " synchronizations of clocks that cannot drift apart", label, syncs);
    MPI_Comm_free(&comm);
}

void test_info_effect(void)
{
    char text[TEXT_SIZE];
    MPI_Comm comm = duplicate(MPI_COMM_WORLD);
    CHECK_OK(set_setting(comm, "clock", "monotonic"));
    CHECK_OK(set_setting(comm, "tolerance_ns", "777"));
    check_slack(comm, 1000, 2000);
    check_number(comm, "tolerance_used_ns", 777);
    check_slack(comm, 2000000, 3000000);
    check_slack(comm, 1, 1000);
    CHECK_OK(set_setting(comm, "tolerance_ns", "auto"));
    int64_t tolerance_ns = info_number(comm, "tolerance_used_ns");
    CHECK(tolerance_ns >= 500, "the automatic tolerance is %" PRId64 " ns, expected at least 500", tolerance_ns);
    check_clock_is_kept(comm);

    int64_t syncs = info_number(comm, "syncs");
    CHECK_OK(set_setting(comm, "sync", "none"));
    harmonize(comm);
    check_number(comm, "syncs", syncs + 1);
    CHECK(info_text(comm, "clock_bound_ns", text), "there is no bound");
    CHECK(my_rank == 0 || strcmp(text, "unknown") == 0, "the bound without synchronization is %s", text);
    harmonize_times(comm, 5);
    MPI_Comm_free(&comm);
    check_interval("hca3o/skampi/10", ranks > 1);
    check_interval("none", false);
}

#if !defined(OPEN_MPI) && !defined(MPICH_VERSION) && defined(MPI_ABI_VERSION)
#define COMM_TO_FORTRAN MPI_Comm_toint
#define INFO_OF_FORTRAN MPI_Info_fromint
#else
#define COMM_TO_FORTRAN (int)MPI_Comm_c2f
#define INFO_OF_FORTRAN MPI_Info_f2c
#endif
int MPIX_Harmonize_f(int comm, int *flag);
int MPIX_Harmonize_get_info_f(int comm, int *info_used);

/* No MPI library has Fortran modules for the standard ABI yet, but programs in Fortran may call these. */
void test_fortran_handles(void)
{
    int flag = 1, number, found = 0;
    char text[TEXT_SIZE];
    MPI_Comm comm = duplicate(MPI_COMM_WORLD);
    CHECK_CLASS(MPIX_Harmonize_f(COMM_TO_FORTRAN(MPI_COMM_NULL), &flag), MPI_ERR_COMM, "a null handle");
    CHECK(flag == 0, "a failed call leaves the flag %d", flag);
    CHECK_OK(MPIX_Harmonize_f(COMM_TO_FORTRAN(MPI_COMM_WORLD), &flag));
    CHECK_OK(MPIX_Harmonize_f(COMM_TO_FORTRAN(comm), &flag));
    CHECK_OK(MPIX_Harmonize_get_info_f(COMM_TO_FORTRAN(comm), &number));
    MPI_Info info = INFO_OF_FORTRAN(number);
    MPI_Info_get(info, "mpix_harmonize_calls", TEXT_SIZE - 1, text, &found);
    CHECK(found && strcmp(text, "1") == 0, "a communicator with one call has made %s", found ? text : "none");
    MPI_Info_free(&info);
    MPI_Comm_free(&comm);
}
