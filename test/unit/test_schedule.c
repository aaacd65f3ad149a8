/* SPDX-License-Identifier: BSD-3-Clause */
/* test_schedule.c - when the clocks are synchronized again: never so often that it takes much of the time. */
#include "pure/units.h"
#include "support.h"
#include "sync/schedule.h"

#define MS MH_NS_PER_MS

/* A second and more after the first of some synchronizations, each of which took so long in its turn. */
static mh_schedule after(int count, const int64_t durations_ns[])
{
    mh_schedule schedule = {0};
    mh_schedule_end(&schedule, 5 * MS, true);
    mh_schedule_count(&schedule, 50 * MS, false);
    for (int i = 0; i < count; i++) {
        mh_schedule_end(&schedule, (i + 1) * MH_NS_PER_S, false);
        mh_schedule_count(&schedule, durations_ns[i], true);
    }
    return schedule;
}

static mh_schedule grown(int64_t duration_ns)
{
    return after(4, (int64_t[]){duration_ns, duration_ns, duration_ns, duration_ns});
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

LOOP_TEST(interval_is_chosen, COUNT_OF(choices))
{
    mh_schedule schedule = grown(choices[_i].duration_ns);
    if (choices[_i].is_young)
        schedule.first_ns = schedule.last_ns;
    mh_schedule_choose(&schedule, choices[_i].fixed_ns, choices[_i].wanted_ns);
    EXPECT(schedule.interval_ns == choices[_i].expected_ns, "%s: an interval of %" PRId64 " ns instead of %" PRId64,
           choices[_i].name, schedule.interval_ns, choices[_i].expected_ns);
}

/* One that was disturbed, or that was long by intention, hardly says what the next one takes. */
TEST(durations_are_added_up_but_unusual_ones_are_not_typical)
{
    mh_schedule schedule = grown(MS);
    ck_assert_int_eq(schedule.count, 5);
    ck_assert_int_eq(schedule.duration_ns, MS);
    ck_assert_int_eq(schedule.total_ns, 54 * MS);
    ck_assert_int_eq(schedule.typical_ns, MS);
    mh_schedule_count(&schedule, MH_NS_PER_S, false);
    ck_assert_int_eq(schedule.typical_ns, MS);
    mh_schedule_count(&schedule, MH_NS_PER_S, true);
    ck_assert_int_eq(schedule.typical_ns, 3 * MS / 2);
    mh_schedule_count(&schedule, 1, true);
    ck_assert_int_eq(schedule.typical_ns, 3 * MS / 4);
    mh_schedule_count(&schedule, -MS, true);
    ck_assert_int_eq(schedule.typical_ns, 3 * MS / 4);
}

/* A process may stand still in any synchronization, also in the first usual one. */
TEST(one_stall_does_not_stop_synchronization)
{
    for (int stalled = 0; stalled < 5; stalled++)
        for (int count = 1; count <= 5; count++) {
            int64_t durations_ns[] = {MS / 10, MS / 10, MS / 10, MS / 10, MS / 10};
            durations_ns[stalled] = MH_NS_PER_S;
            mh_schedule schedule = after(count, durations_ns);
            mh_schedule_choose(&schedule, 0, MS);
            EXPECT(schedule.interval_ns <= (stalled == 0 && count > 1 ? 100 * MS : 20 * MH_NS_PER_S),
                   "a stall in number %d of %d: %" PRId64 " ns", stalled, count, schedule.interval_ns);
        }
}

/* Else synchronizing takes more of the time than it may. */
TEST(slow_ones_are_known_from_the_second_on)
{
    mh_schedule schedule = after(2, (int64_t[]){100 * MS, 100 * MS});
    mh_schedule_choose(&schedule, 0, MH_NS_PER_S);
    ck_assert_int_eq(schedule.interval_ns, 100 * MH_NS_PER_S);
}

TEST(it_follows_steps)
{
    mh_schedule schedule = grown(MS), before = schedule;
    mh_schedule_follow_step(&schedule, -10 * MH_NS_PER_S);
    ck_assert_int_eq(schedule.last_ns, before.last_ns - 10 * MH_NS_PER_S);
    ck_assert_int_eq(schedule.first_ns, before.first_ns - 10 * MH_NS_PER_S);
}
