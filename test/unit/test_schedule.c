/* SPDX-License-Identifier: BSD-3-Clause */
/* test_schedule.c - when the clocks are synchronized again: never so often that it takes much of the time. */
#include "pure/units.h"
#include "support.h"
#include "sync/schedule.h"

#define MS MH_NS_PER_MS

/* A second and more after the first of some synchronizations that all took so long. */
static mh_schedule grown(int64_t duration_ns)
{
    mh_schedule schedule = {0};
    mh_schedule_end(&schedule, 5 * MS, true);
    mh_schedule_count(&schedule, 50 * MS, false);
    for (int i = 1; i <= 4; i++) {
        mh_schedule_end(&schedule, i * MH_NS_PER_S, false);
        mh_schedule_count(&schedule, duration_ns, true);
    }
    return schedule;
}

static const struct {
    const char *name;
    bool is_young;
    int64_t duration_ns, fixed_ns, wanted_ns, expected_ns;
} choices[] = {
    {"as wanted", false, 10000, 0, 5 * MH_NS_PER_S, 5 * MH_NS_PER_S},
    {"as wanted, young", true, 0, 0, 5 * MH_NS_PER_S, 5 * MH_NS_PER_S},
    {"too soon", false, 10000, 0, MS, 100 * MS},
    {"too soon, young", true, 0, 0, MS, 20 * MS},
    {"too soon for slow ones", false, MS / 2, 0, MS, 500 * MS},
    {"too soon for slower ones", false, 3 * MS, 0, MS, 3000 * MS},
    {"too soon for hours", false, 40 * MH_NS_PER_S, 0, MS, 300 * MH_NS_PER_S},
    {"slow, but rarely", false, MS, 0, 3000 * MS, 3000 * MS},
    {"asked for", false, 10000, 7 * MS, 5 * MH_NS_PER_S, 7 * MS},
    {"asked for, young", true, 0, 7 * MS, MS, 7 * MS},
    {"never", false, 10000, 0, INT64_MAX, 0},
    {"never, though asked for", false, 10000, 7 * MS, INT64_MAX, 0},
};

START_TEST(interval_is_chosen)
{
    mh_schedule schedule = grown(choices[_i].duration_ns);
    if (choices[_i].is_young)
        schedule.first_ns = schedule.last_ns;
    mh_schedule_choose(&schedule, choices[_i].fixed_ns, choices[_i].wanted_ns);
    EXPECT(schedule.interval_ns == choices[_i].expected_ns, "%s: an interval of %" PRId64 " ns instead of %" PRId64,
           choices[_i].name, schedule.interval_ns, choices[_i].expected_ns);
}
END_TEST

START_TEST(durations_are_added_up)
{
    mh_schedule schedule = grown(MS);
    EXPECT(schedule.count == 5 && schedule.duration_ns == MS && schedule.total_ns == 54 * MS,
           "count %" PRId64 ", last %" PRId64 " ns, total %" PRId64 " ns", schedule.count, schedule.duration_ns,
           schedule.total_ns);
    EXPECT(schedule.typical_ns == MS, "typical: %" PRId64 " ns", schedule.typical_ns);
}
END_TEST

/* One that was disturbed, or that was long by intention, hardly says what the next one takes. */
START_TEST(unusual_durations_do_not_count)
{
    mh_schedule schedule = grown(MS);
    mh_schedule_count(&schedule, MH_NS_PER_S, false);
    EXPECT(schedule.typical_ns == MS, "an unusual one changes what is typical to %" PRId64 " ns", schedule.typical_ns);
    mh_schedule_count(&schedule, MH_NS_PER_S, true);
    EXPECT(schedule.typical_ns == 3 * MS / 2, "a long one changes it to %" PRId64 " ns", schedule.typical_ns);
    mh_schedule_count(&schedule, 1, true);
    EXPECT(schedule.typical_ns == 3 * MS / 4, "a short one changes it to %" PRId64 " ns", schedule.typical_ns);
    mh_schedule_count(&schedule, -MS, true);
    EXPECT(schedule.typical_ns == 3 * MS / 4, "one below zero changes it to %" PRId64 " ns", schedule.typical_ns);
}
END_TEST

/* A process may stand still in any synchronization, also in the first usual one. */
START_TEST(one_stall_does_not_stop_synchronization)
{
    for (int stalled = 1; stalled <= 5; stalled++) {
        mh_schedule schedule = {0};
        mh_schedule_end(&schedule, 5 * MS, true);
        mh_schedule_count(&schedule, 50 * MS, false);
        for (int i = 1; i <= 5; i++) {
            mh_schedule_end(&schedule, i * MH_NS_PER_S, false);
            mh_schedule_count(&schedule, i == stalled ? MH_NS_PER_S : MS / 10, true);
            mh_schedule_choose(&schedule, 0, MS);
            int64_t max_ns = stalled == 1 && i > 1 ? 100 * MS : 20 * MH_NS_PER_S;
            EXPECT(schedule.interval_ns <= max_ns, "a stall in number %d, after number %d: %" PRId64 " ns", stalled, i,
                   schedule.interval_ns);
        }
    }
}
END_TEST

/* Else synchronizing takes more of the time than it may. */
START_TEST(slow_ones_are_known_from_the_second_on)
{
    mh_schedule schedule = {0};
    mh_schedule_end(&schedule, 5 * MS, true);
    mh_schedule_count(&schedule, 120 * MS, false);
    for (int i = 1; i <= 2; i++) {
        mh_schedule_end(&schedule, i * MH_NS_PER_S, false);
        mh_schedule_count(&schedule, 100 * MS, true);
    }
    mh_schedule_choose(&schedule, 0, MH_NS_PER_S);
    EXPECT(schedule.interval_ns == 100 * MH_NS_PER_S, "an interval of %" PRId64 " ns", schedule.interval_ns);
}
END_TEST

START_TEST(it_follows_steps)
{
    mh_schedule schedule = grown(MS), before = schedule;
    mh_schedule_follow_step(&schedule, -10 * MH_NS_PER_S);
    EXPECT(schedule.last_ns == before.last_ns - 10 * MH_NS_PER_S, "the last one is at %" PRId64, schedule.last_ns);
    EXPECT(schedule.last_ns - schedule.first_ns == before.last_ns - before.first_ns, "the age changes with a step");
}
END_TEST

static void add(TCase *tests)
{
    tcase_add_loop_test(tests, interval_is_chosen, 0, COUNT_OF(choices));
    tcase_add_test(tests, durations_are_added_up);
    tcase_add_test(tests, unusual_durations_do_not_count);
    tcase_add_test(tests, one_stall_does_not_stop_synchronization);
    tcase_add_test(tests, slow_ones_are_known_from_the_second_on);
    tcase_add_test(tests, it_follows_steps);
}

SUITE(schedule, add)
