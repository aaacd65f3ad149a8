/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fuzz_clock.c - offsets from bursts of exchanges, the tracker that they feed and the estimates that come of it.
 *
 * Two clocks may show anything within 73 years of zero, which is where 64 bits of nanoseconds leave room for sums; from
 * there each is off by at most 18 years in a run, in any order: steps included. A burst that contradicts itself is not
 * estimated, as its caller promises.
 */
#include "pure/units.h"
#include "pure/model.h"
#include "clock/tracker.h"
#include "fuzz.h"
#include "sync/offset.h"

#include <math.h>
#include <string.h>

enum { MAX_EXCHANGES = 8, MAX_BURSTS = 64, BASE_BITS = 61, CHANGE_BITS = 59, READ_COST_NS = 30 };

typedef struct input {
    const uint8_t *data;
    size_t left;
} input;

static uint64_t take(input *from, size_t bytes)
{
    uint64_t value = 0;
    for (; bytes > 0 && from->left > 0; bytes--, from->left--)
        value = value << 8 | *from->data++;
    return value;
}

/* A number of at most so many bits, and a sign; the first byte says of how many, so that small ones are as usual. */
static int64_t take_number(input *from, int most_bits)
{
    int bits = (int)take(from, 1) % (most_bits + 1);
    uint64_t value = take(from, ((size_t)bits + 8) / 8);
    int64_t magnitude = (int64_t)(value >> 1 & ((UINT64_C(1) << bits) - 1));
    return value & 1 ? -magnitude : magnitude;
}

static int take_burst(input *from, int64_t local_ns, int64_t remote_ns, mh_exchange exchanges[MAX_EXCHANGES])
{
    int count = 1 + (int)(take(from, 1) & (MAX_EXCHANGES - 1));
    int64_t now_ns = take_number(from, CHANGE_BITS - 1);
    for (int i = 0; i < count; i++) {
        int64_t there_ns = take_number(from, CHANGE_BITS - 5), back_ns = take_number(from, CHANGE_BITS - 5);
        exchanges[i].sent_ns = local_ns + now_ns;
        exchanges[i].remote_ns = remote_ns + now_ns + there_ns;
        exchanges[i].received_ns = local_ns + now_ns + there_ns + back_ns;
        now_ns += (there_ns + back_ns) / 2;
    }
    return count;
}

static bool contradicts_itself(const mh_exchange *exchanges, int count, double rate_limit)
{
    mh_window window = mh_window_unknown();
    for (int i = 0; i < count; i++)
        mh_window_narrow(&window, exchanges[i].sent_ns, exchanges[i].remote_ns, exchanges[i].received_ns);
    int64_t span_ns = exchanges[count - 1].received_ns - exchanges[0].sent_ns;
    return mh_window_is_inverted(window, rate_limit, span_ns, READ_COST_NS);
}

static void check_estimate(const mh_estimate *estimate, int64_t local_ns)
{
    FUZZ_REQUIRE(estimate->bound_ns >= 0);
    FUZZ_REQUIRE(isfinite(estimate->model.drift) && fabs(estimate->model.drift) < 1);
    FUZZ_REQUIRE(estimate->drift_bound >= 0 && estimate->wander_bound >= 0);
    int64_t bound_ns = mh_estimate_bound(estimate, local_ns);
    FUZZ_REQUIRE(bound_ns >= estimate->bound_ns);
    mh_estimate moved = mh_estimate_at(estimate, local_ns);
    FUZZ_REQUIRE(moved.bound_ns == bound_ns && moved.drift_bound >= estimate->drift_bound);
    mh_model_invert(&estimate->model, mh_model_apply(&estimate->model, local_ns));
}

static void check_tracker(const mh_tracker *tracker, int64_t local_ns)
{
    mh_estimate estimate = mh_tracker_estimate(tracker);
    check_estimate(&estimate, local_ns);
    FUZZ_REQUIRE(tracker->past.last.min_ns <= tracker->past.last.max_ns);
    double error_ns = mh_tracker_error_ns(tracker, 0);
    FUZZ_REQUIRE(error_ns >= 0);
    int64_t interval_ns = mh_tracker_interval_ns(tracker, 100, 60 * MH_NS_PER_S);
    FUZZ_REQUIRE(interval_ns >= 0 && interval_ns <= 60 * MH_NS_PER_S);
}

static void feed_burst(mh_tracker *tracker, const mh_exchange *exchanges, int count, int place)
{
    int64_t workspace[MAX_EXCHANGES];
    double limit = tracker->rates.limit;
    if (contradicts_itself(exchanges, count, limit))
        return;
    mh_offset offset = mh_offset_estimate(place, exchanges, count, limit, workspace);
    FUZZ_REQUIRE(offset.bound_ns >= 0);
    mh_tracker_feed(tracker, &offset);
    check_tracker(tracker, exchanges[count - 1].received_ns);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const mh_rates kinds[] = {{MH_RAW_RATE_LIMIT, true, 100 * MH_PPB}, {0.1, false, 100 * MH_PPB}};
    input from = {data, size};
    uint64_t how = take(&from, 1);
    int64_t local_ns = take_number(&from, BASE_BITS), remote_ns = take_number(&from, BASE_BITS);
    mh_exchange exchanges[MAX_EXCHANGES];
    mh_tracker tracker;
    mh_tracker_reset(&tracker, kinds[how % 2]);
    for (int i = 0; i < MAX_BURSTS && from.left > 0; i++) {
        int count = take_burst(&from, local_ns, remote_ns, exchanges);
        feed_burst(&tracker, exchanges, count, mh_offset_find(how & 2 ? "meanrtt" : "skampi"));
    }
    return 0;
}
