/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * With F(s) the fraction of recent calls that needed at most s, and o the rest of a period, valid releases per second
 * are F(s) / (o + s). A process that is late by less than the tolerance still counts as valid, but widens the skew.
 * Misses are therefore weighted eightfold: the goal is F(s)^8 / (o + s). Slightly late processes then no longer
 * dominate the 99th percentile of the skew.
 */
#include "release/slack.h"

#include <string.h>

enum {
    BINS_PER_CALL = 2,  /* that a search examines in a call: it ends within some dozens of calls */
    SEARCH_FIRST = 64,  /* calls, with rehearsals; each of the first ones searches all bins, because data are few */
    FORGET_EVERY = 192, /* calls, the minimum */
    MIN_MISSES = 4,     /* the expected number of misses in the memory, so that their fraction is known */
    OVERHEAD_STEP = 16  /* the typical overhead moves by 1/16 of itself towards each new one */
};

static int bin_of(int64_t need_ns)
{
    if (need_ns < MH_SLACK_BINS_PER_OCTAVE)
        return need_ns < 0 ? 0 : (int)need_ns;
    int octave = 63 - __builtin_clzll((uint64_t)need_ns); /* at least 4 */
    int within = (int)(need_ns >> (octave - 4)) - MH_SLACK_BINS_PER_OCTAVE;
    int bin = (octave - 3) * MH_SLACK_BINS_PER_OCTAVE + within;
    return bin < MH_SLACK_BINS ? bin : MH_SLACK_BINS - 1;
}

/* The maximum need of a bin. */
static int64_t bin_top_ns(int bin)
{
    if (bin < MH_SLACK_BINS_PER_OCTAVE)
        return bin;
    int octave = bin / MH_SLACK_BINS_PER_OCTAVE + 3, within = bin % MH_SLACK_BINS_PER_OCTAVE;
    return ((int64_t)(MH_SLACK_BINS_PER_OCTAVE + within + 1) << (octave - 4)) - 1;
}

static int64_t limited(const mh_slack *slack, int64_t value_ns)
{
    return value_ns < slack->floor_ns ? slack->floor_ns : value_ns > slack->ceiling_ns ? slack->ceiling_ns : value_ns;
}

void mh_slack_init(mh_slack *slack, int64_t floor_ns, int64_t ceiling_ns)
{
    memset(slack, 0, sizeof *slack);
    mh_slack_limit(slack, floor_ns, ceiling_ns);
    mh_slack_aim(slack, 0);
    slack->slack_ns = ceiling_ns;
}

static double eighth_power(double x)
{
    double square = x * x, fourth = square * square;
    return fourth * fourth;
}

static void count(mh_slack_counts *counts, const mh_slack_call *call, int bin)
{
    counts->calls++;
    counts->bins[bin]++;
    counts->occupied[bin / 64] |= UINT64_C(1) << bin % 64;
    if (call->need_ns > call->slack_ns + call->delay_ns)
        return;
    counts->met_calls++;
    counts->waited_ns += (double)(call->slack_ns + call->delay_ns);
    counts->delay_ns += (double)call->delay_ns;
    counts->late_calls += call->late_ns > 0;
    counts->late_ns += (double)call->late_ns;
}

static void clear(mh_slack_counts *counts)
{
    for (int word = 0; word < MH_SLACK_WORDS; word++)
        for (uint64_t left = counts->occupied[word]; left; left &= left - 1)
            counts->bins[64 * word + __builtin_ctzll(left)] = 0;
    memset(counts->occupied, 0, sizeof counts->occupied);
    counts->calls = counts->met_calls = counts->late_calls = 0;
    counts->waited_ns = counts->late_ns = counts->delay_ns = 0;
}

/* Only an interruption that lasts beyond the deadline makes late, so waits longer than these are late no more often. */
static double exposed_ns(const mh_slack_search *search, double wait_ns)
{
    return wait_ns < search->mean_late_ns ? wait_ns : search->mean_late_ns;
}

/* For a required fraction alone. */
static void learn_interruptions(const mh_slack *slack, mh_slack_search *search)
{
    const mh_slack_counts *a = &slack->counts[0], *b = &slack->counts[1];
    int64_t met = a->met_calls + b->met_calls, late = a->late_calls + b->late_calls;
    if (slack->min_valid <= 0 || late == 0)
        return;
    search->mean_delay_ns = (a->delay_ns + b->delay_ns) / (double)met;
    search->mean_late_ns = (a->late_ns + b->late_ns) / (double)late;
    double usual_ns = exposed_ns(search, (a->waited_ns + b->waited_ns) / (double)met);
    search->late_odds_per_ns = (double)late / (double)(met > late ? met - late : 1) / usual_ns;
}

static void begin_search(mh_slack *slack)
{
    slack->search = (mh_slack_search){
        .bin = MH_SLACK_BINS, .best = -1, .best_ns = slack->ceiling_ns, .overhead_ns = slack->overhead_ns};
    learn_interruptions(slack, &slack->search);
}

/* The highest bin below this one that is not empty; -1: there is none. */
static int occupied_below(const mh_slack *slack, int bin)
{
    const mh_slack_counts *counts = slack->counts;
    uint64_t below = (UINT64_C(1) << bin % 64) - 1; /* of the word of this bin; all of those before */
    for (int word = bin / 64; word >= 0; word--, below = UINT64_MAX) {
        uint64_t occupied = word < MH_SLACK_WORDS ? (counts[0].occupied[word] | counts[1].occupied[word]) & below : 0;
        if (occupied)
            return 64 * word + 63 - __builtin_clzll(occupied);
    }
    return -1;
}

/* Valid releases in a given time. Below the required fraction: a negative value, which is higher for more of them. */
static double value_of(const mh_slack *slack, double valid, int64_t slack_ns)
{
    if (valid < slack->min_valid)
        return valid - 1;
    return eighth_power(valid) / ((double)slack->search.overhead_ns + (double)slack_ns);
}

static void examine(mh_slack *slack, int bin, double met)
{
    mh_slack_search *search = &slack->search;
    int64_t slack_ns = limited(slack, bin_top_ns(bin));
    double odds = search->late_odds_per_ns * exposed_ns(search, (double)slack_ns + search->mean_delay_ns);
    double value = value_of(slack, met / (1 + odds), slack_ns);
    if (value > search->best) {
        search->best = value;
        search->best_ns = slack_ns;
    }
}

/*
 * The best slack always just meets a need that occurred; the ceiling meets none that is longer. Returns false if no
 * shorter one can be better.
 */
static bool examine_next(mh_slack *slack)
{
    mh_slack_search *search = &slack->search;
    int bin = occupied_below(slack, search->bin);
    double total = (double)(slack->counts[0].calls + slack->counts[1].calls);
    double met = (total - (double)search->misses) / total;
    if (bin < 0 || value_of(slack, met, slack->floor_ns) <= search->best)
        return false;
    if (bin <= bin_of(slack->ceiling_ns))
        examine(slack, bin, met);
    search->misses += slack->counts[0].bins[bin] + slack->counts[1].bins[bin];
    search->bin = bin;
    return true;
}

/* A whole search would delay the call. So each call takes a part of it. */
static void search_on(mh_slack *slack)
{
    bool is_first = slack->calls <= SEARCH_FIRST;
    if (is_first)
        begin_search(slack);
    for (int i = 0; i < BINS_PER_CALL || is_first; i++)
        if (!examine_next(slack)) {
            slack->slack_ns = limited(slack, slack->search.best_ns);
            begin_search(slack);
            return;
        }
}

void mh_slack_limit(mh_slack *slack, int64_t floor_ns, int64_t ceiling_ns)
{
    slack->floor_ns = floor_ns;
    slack->ceiling_ns = ceiling_ns;
    slack->slack_ns = limited(slack, slack->slack_ns);
}

void mh_slack_aim(mh_slack *slack, double min_valid)
{
    int64_t calls = (int64_t)(MIN_MISSES / (1 - min_valid));
    slack->min_valid = min_valid;
    slack->forget_every = calls > FORGET_EVERY ? calls : FORGET_EVERY;
}

/* Track the median of the overheads: one step up or down for each, whatever the distance, so a pause is one step. */
static void learn_overhead(mh_slack *slack, int64_t overhead_ns)
{
    if (slack->overhead_ns == 0) {
        slack->overhead_ns = overhead_ns > 1 ? overhead_ns : 1;
        return;
    }
    int64_t step_ns = slack->overhead_ns / OVERHEAD_STEP + 1;
    if (overhead_ns > slack->overhead_ns + step_ns)
        slack->overhead_ns += step_ns;
    else if (overhead_ns < slack->overhead_ns - step_ns)
        slack->overhead_ns -= step_ns;
    if (slack->overhead_ns < 1)
        slack->overhead_ns = 1;
}

void mh_slack_learn(mh_slack *slack, const mh_slack_call *call)
{
    int bin = bin_of(call->need_ns);
    learn_overhead(slack, call->overhead_ns);
    count(&slack->counts[slack->recent], call, bin);
    slack->search.misses += bin >= slack->search.bin;
    slack->calls++;
    search_on(slack);
    if (slack->counts[slack->recent].calls >= slack->forget_every) {
        slack->recent = 1 - slack->recent;
        clear(&slack->counts[slack->recent]);
        begin_search(slack);
    }
}
