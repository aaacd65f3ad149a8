/* SPDX-License-Identifier: BSD-3-Clause */
/* test_load.c - what others take of the processors, by the kernel's counts. */
#include "bench/suite/load.h"
#include "unit/support.h"

#include <unistd.h>

/* On 8 processors for 2 s, of which 4 were busy for these programs, and one for another one. */
TEST(what_these_programs_take_is_not_that_of_others)
{
    const long tick = sysconf(_SC_CLK_TCK);
    const ticks_t begin = {.all = 1000, .used = 100, .stolen = 7};
    const ticks_t end = {.all = 1000 + 16 * tick, .used = 100 + 10 * tick, .stolen = 7 + 4 * tick};
    double others_percent, steal_percent;
    ck_assert(load_shares(begin, end, INT64_C(8000000000), 8, &others_percent, &steal_percent));
    EXPECT(others_percent == 12.5 && steal_percent == 25, "%g %% and %g %%", others_percent, steal_percent);
    ck_assert(load_shares(begin, end, INT64_C(80000000000), 8, &others_percent, &steal_percent));
    EXPECT(others_percent == 0, "%g %%, though these took all", others_percent);
}

/* All of 128 processors work for these programs for 16 ms, and each counts two ticks of 10 ms. */
TEST(steps_of_the_count_on_many_processors_are_nobodys)
{
    const ticks_t begin = {.all = 1000, .used = 1000}, end = {.all = 1256, .used = 1256};
    double others_percent, steal_percent;
    ck_assert(!load_shares(begin, end, INT64_C(128) * 16000000, 128, &others_percent, &steal_percent));
}

TEST(interrupts_are_of_no_program)
{
    const ticks_t ticks = load_ticks("10 20 30 400 50 6 7 8 9 0"), old = load_ticks("1 2 3 4"), none = load_ticks("");
    EXPECT(ticks.used == 60 && ticks.all == 531 && ticks.stolen == 8, "%d of %d", (int)ticks.used, (int)ticks.all);
    EXPECT(old.used == 6 && old.all == 10 && none.all == 0, "%d of %d", (int)old.used, (int)old.all);
}
