/* SPDX-License-Identifier: BSD-3-Clause */
/* model.c - inverting and composing models, and how bounds grow. */
#include "pure/model.h"

#include "pure/units.h"

#include <math.h>

/* A bound that has grown by more, some hundred years, is none. */
#define MAX_GROWN_NS 4e18

mh_model mh_model_identity(void)
{
    return (mh_model){0, 0, 0};
}

int64_t mh_model_invert(const mh_model *model, int64_t global_ns)
{
    /* With x = local - at: global = at + x - offset - drift x. */
    int64_t y_ns = global_ns + model->offset_ns - model->at_ns;
    int64_t x_ns = y_ns + (int64_t)((double)y_ns * (model->drift / (1 - model->drift)));
    return model->at_ns + x_ns;
}

mh_model mh_model_compose(const mh_model *second, const mh_model *first)
{
    mh_model both;
    int64_t middle_ns = mh_model_apply(first, first->at_ns);
    both.at_ns = first->at_ns;
    both.offset_ns = first->at_ns - mh_model_apply(second, middle_ns);
    both.drift = first->drift + second->drift * (1 - first->drift);
    return both;
}

mh_estimate mh_estimate_exact(int64_t zero_ns)
{
    return (mh_estimate){.model = {zero_ns, zero_ns, 0}};
}

int64_t mh_estimate_bound(const mh_estimate *estimate, int64_t local_ns)
{
    if (estimate->bound_ns == MH_TIME_UNKNOWN_NS)
        return MH_TIME_UNKNOWN_NS;
    double age_ns = fabs((double)(local_ns - estimate->model.at_ns)), age_s = age_ns * MH_S_PER_NS;
    double grown_ns = (estimate->drift_bound + estimate->wander_bound * age_s / 2) * age_ns;
    int64_t bound_ns;
    if (grown_ns > MAX_GROWN_NS || __builtin_add_overflow(estimate->bound_ns, (int64_t)ceil(grown_ns), &bound_ns))
        return MH_TIME_UNKNOWN_NS;
    return bound_ns;
}

bool mh_estimate_grows(const mh_estimate *estimate)
{
    return estimate->drift_bound > 0 || estimate->wander_bound > 0;
}

mh_covariance mh_covariance_ahead(mh_covariance now, int64_t ahead_ns)
{
    double t = (double)ahead_ns * MH_S_PER_NS;
    return (mh_covariance){.p00 = now.p00 + 2 * t * now.p01 + t * t * now.p11 + now.walk * t * t * t / 3,
                           .p01 = now.p01 + t * now.p11 + now.walk * t * t / 2,
                           .p11 = now.p11 + now.walk * t,
                           .walk = now.walk};
}

/* Of a composition of two estimates that were measured independently. An inverse has the same as its original. */
static mh_covariance covariance_sum(mh_covariance a, mh_covariance b)
{
    return (mh_covariance){a.p00 + b.p00, a.p01 + b.p01, a.p11 + b.p11, a.walk + b.walk};
}

mh_estimate mh_estimate_at(const mh_estimate *estimate, int64_t local_ns)
{
    mh_estimate moved = *estimate;
    moved.model.at_ns = local_ns;
    moved.model.offset_ns = local_ns - mh_model_apply(&estimate->model, local_ns);
    moved.bound_ns = mh_estimate_bound(estimate, local_ns);
    /* The drift has wandered in the meantime. */
    double age_s = fabs((double)(local_ns - estimate->model.at_ns)) * MH_S_PER_NS;
    moved.drift_bound += estimate->wander_bound * age_s;
    moved.errors = mh_covariance_ahead(estimate->errors, local_ns - estimate->model.at_ns);
    return moved;
}

/* Of a global time by a clock that shows a middle time, which is within near_ns and runs slower by the rate at most. */
static int64_t bound_sum(int64_t near_ns, int64_t far_ns, double rate)
{
    double shown_ns = ceil((double)near_ns * rate);
    int64_t sum_ns;
    bool known = near_ns != MH_TIME_UNKNOWN_NS && far_ns != MH_TIME_UNKNOWN_NS && shown_ns <= MAX_GROWN_NS;
    return known && !__builtin_add_overflow((int64_t)shown_ns, far_ns, &sum_ns) ? sum_ns : MH_TIME_UNKNOWN_NS;
}

mh_estimate mh_estimate_compose(const mh_estimate *second, const mh_estimate *first, int64_t local_ns)
{
    mh_estimate near = mh_estimate_at(first, local_ns);
    mh_estimate far = mh_estimate_at(second, local_ns - near.model.offset_ns);
    mh_estimate both;
    both.model = mh_model_compose(&far.model, &near.model);
    /* An error of the middle time is one of global time, which may run faster. */
    both.bound_ns = bound_sum(near.bound_ns, far.bound_ns, 1 + fabs(far.model.drift) + far.drift_bound);
    /* The errors of the far clock grow with its own time, which may run faster than that of the near clock. */
    double rate = 1 + fabs(near.model.drift) + near.drift_bound;
    both.drift_bound = near.drift_bound * (1 + fabs(far.model.drift)) + far.drift_bound * rate;
    both.wander_bound = fmax(near.wander_bound, far.wander_bound);
    both.errors = covariance_sum(near.errors, far.errors);
    return both;
}

mh_estimate mh_estimate_invert(const mh_estimate *estimate)
{
    const mh_model *model = &estimate->model;
    mh_estimate inverse = *estimate;
    /* With y = global - at: local = at + offset + y + (drift / (1 - drift)) y. */
    inverse.model = (mh_model){model->at_ns - model->offset_ns, -model->offset_ns, -model->drift / (1 - model->drift)};
    /* An error of global time is one of local time, which runs faster by the rate at most. */
    double rate = 1 / (1 - fabs(model->drift) - estimate->drift_bound);
    if (estimate->bound_ns != MH_TIME_UNKNOWN_NS)
        inverse.bound_ns = (int64_t)ceil((double)estimate->bound_ns * rate);
    inverse.drift_bound *= rate * rate;
    return inverse;
}
