/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * With F(s) the fraction of recent calls that needed at most s, and o the rest of a period, valid releases per second
 * are F(s) / (o + s). A process that is late by less than the tolerance still counts as valid, but widens the skew.
 * Misses are therefore weighted eightfold: the goal is F(s)^8 / (o + s). This keeps the 99th percentile of the skew
 * near its median.
 */
#include "release/slack.h"

#include <string.h>

enum {
    CHOOSE_EVERY = 16,  /* calls; the choice looks at all bins */
    CHOOSE_FIRST = 64,  /* calls; each of the first ones chooses again, because there is little data */
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

static void count(mh_slack_counts *counts, int bin)
{
    counts->calls++;
    counts->bins[bin]++;
    counts->occupied[bin / 64] |= UINT64_C(1) << bin % 64;
}

/* The best slack always just meets a need that occurred. */
static void choose(mh_slack *slack)
{
    const mh_slack_counts *recent = &slack->recent, *older = &slack->older;
    double total = (double)(recent->calls + older->calls), so_far = 0, best = -1;
    int64_t best_ns = slack->ceiling_ns;
    for (int word = 0; word < MH_SLACK_WORDS; word++)
        for (uint64_t left = recent->occupied[word] | older->occupied[word]; left; left &= left - 1) {
            int bin = 64 * word + __builtin_ctzll(left);
            so_far += recent->bins[bin] + older->bins[bin];
            if (so_far < slack->min_met * total)
                continue;
            int64_t slack_ns = limited(slack, bin_top_ns(bin));
            double value = eighth_power(so_far / total) / (double)(slack->overhead_ns + slack_ns);
            if (value >= best) {
                best = value;
                best_ns = slack_ns;
            }
        }
    slack->slack_ns = best_ns;
}

void mh_slack_limit(mh_slack *slack, int64_t floor_ns, int64_t ceiling_ns)
{
    slack->floor_ns = floor_ns;
    slack->ceiling_ns = ceiling_ns;
    slack->slack_ns = limited(slack, slack->slack_ns);
}

void mh_slack_aim(mh_slack *slack, double min_met)
{
    int64_t calls = (int64_t)(MIN_MISSES / (1 - min_met));
    slack->min_met = min_met;
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

void mh_slack_learn(mh_slack *slack, int64_t need_ns, int64_t overhead_ns)
{
    learn_overhead(slack, overhead_ns);
    count(&slack->recent, bin_of(need_ns));
    slack->calls++;
    if (slack->calls <= CHOOSE_FIRST || slack->calls % CHOOSE_EVERY == 0)
        choose(slack);
    if (slack->recent.calls >= slack->forget_every) {
        slack->older = slack->recent;
        memset(&slack->recent, 0, sizeof slack->recent);
    }
}
