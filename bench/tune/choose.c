/* SPDX-License-Identifier: BSD-3-Clause */
/* choose.c - from evidence to ranges. */
#include "bench/tune/choose.h"

#include <string.h>

enum { FINALISTS_PER_SIZE = 2 };

void evidence_add(evidence_t *evidence, const evidence_t *other)
{
    const evidence_t one = *evidence;
    if (one.ratio < other->ratio)
        *evidence = *other;
    evidence->differs = other->differs && (one.differs || !(one.ratio > 0));
    evidence->is_slower = one.is_slower || other->is_slower;
}

static bool gains(const evidence_t *one, double min_gain)
{
    return one->ratio > 0 && 1 - one->ratio >= min_gain;
}

/* The best of those that gain and are not chosen yet, or -1. */
static int best_screened(const evidence_t *all, int candidates, int sizes, int size, double min_gain, const bool *taken)
{
    int best = -1;
    for (int i = 0; i < candidates; i++) {
        const evidence_t *one = &all[i * sizes + size];
        if (!taken[i] && gains(one, min_gain) && (best < 0 || one->ratio < all[best * sizes + size].ratio))
            best = i;
    }
    return best;
}

int choose_screened(const evidence_t *all, int candidates, int sizes, double min_gain, bool *is_chosen)
{
    int count = 0;
    memset(is_chosen, 0, (size_t)candidates * sizeof *is_chosen);
    for (int size = 0; size < sizes; size++) {
        bool taken[candidates];
        memset(taken, 0, sizeof taken);
        for (int k = 0; k < FINALISTS_PER_SIZE; k++) {
            int best = best_screened(all, candidates, sizes, size, min_gain / 2, taken);
            if (best < 0)
                break;
            taken[best] = is_chosen[best] = true;
        }
    }
    for (int i = 0; i < candidates; i++)
        count += is_chosen[i];
    return count;
}

typedef struct problem {
    const evidence_t *all;
    int candidates, sizes;
    double min_gain;
    const bool *is_allowed;
} problem_t;

static const evidence_t *at(const problem_t *problem, int candidate, int size)
{
    return &problem->all[candidate * problem->sizes + size];
}

static bool is_eligible(const problem_t *problem, int candidate, int size)
{
    const evidence_t *one = at(problem, candidate, size);
    return (!problem->is_allowed || problem->is_allowed[size]) && one->differs && gains(one, problem->min_gain);
}

static int best_at(const problem_t *problem, int size)
{
    int best = -1;
    for (int i = 0; i < problem->candidates; i++)
        if (is_eligible(problem, i, size) && (best < 0 || at(problem, i, size)->ratio < at(problem, best, size)->ratio))
            best = i;
    return best;
}

/* Whether a candidate is as good as the best at a size, as far as the evidence tells. */
static bool is_as_good(const problem_t *problem, int candidate, int size)
{
    int best = best_at(problem, size);
    return best >= 0 && is_eligible(problem, candidate, size) &&
           at(problem, candidate, size)->low <= at(problem, best, size)->high;
}

static int last_of(const problem_t *problem, int candidate, int first)
{
    int last = first - 1;
    while (last + 1 < problem->sizes && is_as_good(problem, candidate, last + 1))
        last++;
    return last;
}

/* The candidate that holds for the most sizes from here on; of these, the best here. */
static choice_t longest_from(const problem_t *problem, int first)
{
    choice_t longest = {first, first - 1, -1};
    for (int i = 0; i < problem->candidates; i++) {
        int last = last_of(problem, i, first);
        bool is_better = longest.candidate >= 0 && last == longest.last &&
                         at(problem, i, first)->ratio < at(problem, longest.candidate, first)->ratio;
        if (last >= first && (last > longest.last || is_better))
            longest = (choice_t){first, last, i};
    }
    return longest;
}

int choose(const evidence_t *all, int candidates, int sizes, double min_gain, const bool *is_allowed, choice_t *choices)
{
    const problem_t problem = {all, candidates, sizes, min_gain, is_allowed};
    int count = 0;
    for (int size = 0; size < sizes;) {
        choice_t next = longest_from(&problem, size);
        if (next.candidate >= 0)
            choices[count++] = next;
        size = next.candidate >= 0 ? next.last + 1 : size + 1;
    }
    return count;
}
