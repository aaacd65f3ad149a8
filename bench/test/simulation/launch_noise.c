/* SPDX-License-Identifier: BSD-3-Clause */
/* launch_noise.c - draw times of launches with noise of several kinds. */
#include "launch_noise.h"

#include "bench/compare/distributions.h"

const char *const noise_names[NOISES] = {"normal",         "bimodal",  "heavy-tailed",
                                         "autocorrelated", "drifting", "as measured"};

#define MEMORY 0.8    /* of what a launch takes over from the one before */
#define MODES_APART 4 /* deviations, of which one is that of both modes together */
#define DRIFT 10      /* deviations over a campaign */
/*
 * The share of launches that are disturbed. In 20 campaigns of 20 launches, 24 rows each, on a machine of 2 processors
 * that others used, 5 % of values were beyond 4 deviations of the others, and 0.1 to 0.7 of the variance was common.
 */
#define DISTURBED 0.05

void campaign_make(campaign_t *campaign)
{
    for (int side = 0; side < 2; side++) {
        campaign->logs[side] = malloc((size_t)campaign->rows * (size_t)campaign->blocks * sizeof(double));
        if (!campaign->logs[side])
            abort();
    }
}

void campaign_free(campaign_t *campaign)
{
    free(campaign->logs[0]);
    free(campaign->logs[1]);
}

/* A part of the noise of a launch, of standard deviation 1, but where it has none. before: that of the last launch. */
static double draw_part(noise_t noise, double before, chance *dice)
{
    switch (noise) {
    case NOISE_HEAVY:
        return chance_normal(dice) / sqrt(chance_exponential(dice, 1));
    case NOISE_AUTOCORRELATED:
        return MEMORY * before + sqrt(1 - MEMORY * MEMORY) * chance_normal(dice);
    case NOISE_MEASURED:
        return chance_unit(dice) < DISTURBED ? fabs(4 * chance_normal(dice)) : 0.5 * chance_normal(dice);
    default:
        return chance_normal(dice);
    }
}

/* What lasts: the noise of the launch before. */
typedef struct machine {
    double common;
    double *own; /* of each row */
} machine_t;

/* Measures all rows of one launch, at a time from 0 to 1. Element [row * blocks]. */
static void launch(const campaign_t *campaign, machine_t *machine, double time, chance *dice, double *logs)
{
    bool slow[2] = {chance_unit(dice) < 0.5, chance_unit(dice) < 0.5};
    machine->common = draw_part(campaign->noise, machine->common, dice);
    for (int row = 0; row < campaign->rows; row++) {
        machine->own[row] = draw_part(campaign->noise, machine->own[row], dice);
        double value = sqrt(0.5) * (machine->common + machine->own[row]);
        if (campaign->noise == NOISE_BIMODAL)
            value = (slow[row % 2] ? MODES_APART : 0) / 2.0 + value / MODES_APART;
        if (campaign->noise == NOISE_DRIFTING)
            value += DRIFT * time * (0.5 + row / (double)campaign->rows);
        logs[(int64_t)row * campaign->blocks] = campaign->deviation * value;
    }
}

void make_campaign(const campaign_t *campaign, chance *dice)
{
    machine_t machine = {.common = chance_normal(dice), .own = calloc((size_t)campaign->rows, sizeof(double))};
    if (!machine.own)
        abort();
    for (int block = 0; block < campaign->blocks; block++) {
        int first = chance_unit(dice) < 0.5;
        for (int turn = 0; turn < 2; turn++)
            launch(campaign, &machine, (2 * block + turn) / (2.0 * campaign->blocks), dice,
                   campaign->logs[first ^ turn] + block);
        for (int row = 0; row < campaign->different_rows; row++)
            campaign->logs[1][(int64_t)row * campaign->blocks + block] += campaign->log_ratio;
    }
    free(machine.own);
}

sides_t campaign_sides(const campaign_t *campaign)
{
    return (sides_t){.rows = campaign->rows,
                     .launches = {campaign->blocks, campaign->blocks},
                     .in_blocks = true,
                     .logs = {campaign->logs[0], campaign->logs[1]}};
}

sides_t part_take(const part_t *part, const campaign_t *campaign, double *logs[2])
{
    for (int side = 0; side < 2; side++)
        for (int row = 0; row < campaign->rows; row++)
            for (int i = 0; i < part->launches[side]; i++)
                logs[side][(int64_t)row * part->launches[side] + i] =
                    part->factors[side] * campaign->logs[side][(int64_t)row * campaign->blocks + i];
    return (sides_t){
        .rows = campaign->rows, .launches = {part->launches[0], part->launches[1]}, .logs = {logs[0], logs[1]}};
}

bool pooled_test_errs(const campaign_t *campaign, int samples, double spread, double level, chance *dice)
{
    double count = (double)samples * campaign->blocks;
    double limit = student_limit(level / campaign->rows, 2 * count - 2);
    for (int row = 0; row < campaign->rows; row++) {
        double sums[2] = {0, 0}, squares[2] = {0, 0};
        for (int side = 0; side < 2; side++)
            for (int64_t i = 0; i < (int64_t)count; i++) {
                double value =
                    campaign->logs[side][(int64_t)row * campaign->blocks + i / samples] + spread * chance_normal(dice);
                sums[side] += value;
                squares[side] += value * value;
            }
        double within = squares[0] - sums[0] * sums[0] / count + squares[1] - sums[1] * sums[1] / count;
        double error = sqrt(within / (2 * count - 2) * 2 / count);
        if (fabs(sums[1] - sums[0]) / count > limit * error)
            return true;
    }
    return false;
}
