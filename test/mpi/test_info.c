/* SPDX-License-Identifier: BSD-3-Clause */
/* test_info.c - MPIX_Harmonize_set_info and MPIX_Harmonize_get_info: settings go in, settings and statistics come out.
 */
#include "mpix_test.h"
#include "pure/setting_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

SUB_TEST(info_fresh, SINGLE, "information before the first collective call")
{
    MPI_Comm comm = duplicate(MPI_COMM_WORLD);
    for (int i = 0; i < MH_SET_COUNT; i++)
        CHECK(info_text(comm, mh_setting_names[i])[0], "a fresh communicator has no setting %s", mh_setting_names[i]);
    CHECK_TEXT(comm, "calls", "", "a fresh communicator");
    CHECK_TEXT(comm, "clock_bound_ns", "", "a fresh communicator");
    setenv("MPIX_HARMONIZE_SYNC", "PROP ", 1);
    CHECK_TEXT(comm, "sync", "prop", "in the environment");
    unsetenv("MPIX_HARMONIZE_SYNC");
    CHECK_OK(MPIX_Harmonize_set_info(comm, MPI_INFO_NULL));
    CHECK_TEXT(comm, "calls", "", "a communicator without calls");
    harmonize(comm);
    CHECK_OK(MPIX_Harmonize_set_info(comm, MPI_INFO_NULL));
    CHECK_NUMBER(comm, "calls", 1);
    MPI_Comm_free(&comm);
}

SUB_TEST(info_statistics, SINGLE, "calls, misses and synchronizations are counted")
{
    static const char *const texts[] = {"version",     "clock_used",   "clock_reason",
                                        "sync_levels", "barrier_used", "last_error"};
    static const char *const positive[] = {"clock_read_cost_ns", "slack_used_ns", "tolerance_used_ns",
                                           "sync_duration_ns", "clock_epoch_unix_ns"};
    int calls = times(100, 30), valid = 0;
    MPI_Comm comm = duplicate_with("sync=prop");
    valid += harmonize_times(comm, calls);
    CHECK_OK(MPIX_Clock_sync(comm));
    CHECK_OK(MPIX_Clock_sync(comm));
    valid += harmonize_times(comm, 10);
    CHECK_NUMBER(comm, "calls", calls + 10);
    CHECK_NUMBER(comm, "calls_late", calls + 10 - valid);
    int64_t syncs = info_number(comm, "syncs");
    CHECK(syncs >= 3, "%" PRId64 " synchronizations are counted, expected at least 3", syncs);
    for (int i = 0; i < 6; i++)
        CHECK(info_text(comm, texts[i])[0], "get_info has no %s", texts[i]);
    for (int i = 0; i < 5; i++)
        CHECK(info_number(comm, positive[i]) > 0, "%s is not positive", positive[i]);
    CHECK(info_number(comm, "clock_age_ns") >= 0, "the age of the clock is negative");
    CHECK(info_number(comm, "clock_bound_ns") >= 0, "the bound is negative");
    CHECK_NUMBER(comm, "oversubscribed", max_over(comm, info_number(comm, "oversubscribed")));
    MPI_Comm_free(&comm);
}

/* ---- Round trip */

SUB_TEST(info_round_trip, SINGLE, "what get_info returns, set_info accepts")
{
    MPI_Info info = MPI_INFO_NULL;
    MPI_Comm to = duplicate(MPI_COMM_WORLD), fresh = duplicate(MPI_COMM_WORLD);
    MPI_Comm from = duplicate_with("clock=monotonic sync=hca3o/skampi/7+prop resync_interval_ns=123000000 "
                                   "barrier=collective tolerance_ns=4321 slack_max_ns=50000000 slack_min_ns=999");
    harmonize_times(from, 5);
    MPIX_Harmonize(from, NULL); /* so that there is a last error as well */
    CHECK_OK(MPIX_Harmonize_get_info(from, &info));
    CHECK_OK(MPIX_Harmonize_set_info(to, info));
    CHECK_OK(MPIX_Harmonize_set_info(from, info));
    MPI_Info_free(&info);
    const char *first = all_settings(from), *second = all_settings(to);
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
    set_settings(comm, "slack_min_ns=%" PRId64 " slack_max_ns=%" PRId64, min_ns, max_ns);
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
    CHECK_CLASS(set_setting(comm, "clock", "realtime"), MPI_ERR_INFO_VALUE, "another clock while one is in use");
    CHECK_MESSAGE(comm, "clock", "realtime", "allowed");
    CHECK_TEXT(comm, "clock_used", "monotonic", "after a change was refused");
    CHECK_OK(set_setting(comm, "clock", "monotonic"));
}

/* Calls at least 5 ms apart, the interval 10 ms: every third one synchronizes at least, however slow the machine. */
static void check_interval(const char *label, bool drifts)
{
    MPI_Comm comm = duplicate_with("clock=monotonic sync=%s resync_interval_ns=10000000", label);
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

SUB_TEST(info_effect, SINGLE, "settings take effect")
{
    MPI_Comm comm = duplicate_with("clock=monotonic tolerance_ns=777");
    check_slack(comm, 1000, 2000);
    CHECK_NUMBER(comm, "tolerance_used_ns", 777);
    check_slack(comm, 2000000, 3000000);
    check_slack(comm, 1, 1000);
    CHECK_OK(set_setting(comm, "tolerance_ns", "auto"));
    int64_t tolerance_ns = info_number(comm, "tolerance_used_ns");
    CHECK(tolerance_ns >= 500, "the automatic tolerance is %" PRId64 " ns, expected at least 500", tolerance_ns);
    check_clock_is_kept(comm);

    int64_t syncs = info_number(comm, "syncs");
    CHECK_OK(set_setting(comm, "sync", "none"));
    harmonize(comm);
    CHECK_NUMBER(comm, "syncs", syncs + 1);
    if (my_rank > 0)
        CHECK_TEXT(comm, "clock_bound_ns", "unknown", "without synchronization");
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
SUB_TEST(fortran_handles, SINGLE, "the functions that the modules for Fortran call")
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
