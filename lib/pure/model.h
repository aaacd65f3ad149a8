/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * model.h - affine maps from a local clock to a global one, as values. Pure; no MPI.
 *
 * The sign convention of the whole library: offset = local - global, so with a positive offset the local clock is
 * ahead; drift = d offset / d local, so with a positive drift the local clock gains.
 */
#ifndef MH_MODEL_H
#define MH_MODEL_H

#include <stdbool.h>
#include <stdint.h>

typedef struct mh_model {
    int64_t at_ns;     /* local time at which the offset is offset_ns */
    int64_t offset_ns; /* local - global at that time */
    double drift;      /* a ratio: 1e-6 is 1 ppm; magnitude far below 1 */
} mh_model;

/* The model of a clock that is the global one. */
mh_model mh_model_identity(void);

/* The global time at a local time. */
static inline int64_t mh_model_apply(const mh_model *model, int64_t local_ns)
{
    return local_ns - model->offset_ns - (int64_t)(model->drift * (double)(local_ns - model->at_ns));
}

/* The local time at a global time: the inverse of mh_model_apply, exact to a nanosecond. */
int64_t mh_model_invert(const mh_model *model, int64_t global_ns);

/* The map that applies first (local to middle), then second (middle to global). */
mh_model mh_model_compose(const mh_model *second, const mh_model *first);

/*
 * How far an offset and a drift are likely to be off. Offsets in nanoseconds, drifts in ns/s (which is ppb), times in
 * seconds. Unlike a bound, it promises nothing.
 */
typedef struct mh_covariance {
    double p00, p01, p11; /* variance of the offset, covariance, variance of the drift */
    double walk;          /* by which p11 grows in a second */
} mh_covariance;

/* The model of a clock, with the bounds of its error. */
typedef struct mh_estimate {
    mh_model model;
    int64_t bound_ns;     /* at model.at_ns the true global time is within bound_ns; MH_TIME_UNKNOWN_NS: not known */
    double drift_bound;   /* at model.at_ns the true drift is within drift_bound of model.drift */
    double wander_bound;  /* by how much drift_bound grows in each second from then on, as the drift wanders */
    mh_covariance errors; /* at model.at_ns, of a tracked clock; else 0 */
} mh_estimate;

/* A measured offset: of a client's clock against its reference's. */
typedef struct mh_offset {
    int64_t at_ns;     /* client's local time at which the offset holds */
    int64_t offset_ns; /* client's clock - reference's clock */
    int64_t bound_ns;  /* the true offset at at_ns is within bound_ns of offset_ns */
} mh_offset;

/* The rates of two clocks of one kind, as far as known without a measurement. */
typedef struct mh_rates {
    double limit; /* the two rates differ by at most this ratio */
    bool are_raw; /* the clocks have the rate of the hardware, which only wanders; else the kernel may change it */
    /*
     * The drift of one clock of the hardware against any other one changes within s seconds by at most wander (1 + s):
     * temperature changes it steadily, and on top of this oscillators flicker. A ratio, per second.
     */
    double wander;
} mh_rates;

/* The limit for clocks that run at the hardware's own rate: crystals are far better than this. A ratio. */
#define MH_RAW_RATE_LIMIT 500e-6

/*
 * The default limit of wander, ppb per second: where a crystal depends on temperature most, its rate changes by about
 * 1 ppm for each kelvin, and a machine warms by some 0.05 K in a second. This is for two clocks that do so in opposite
 * directions.
 */
#define MH_WANDER_PPB_PER_S 100

/* The estimate of the reference process, always exact: global time is zero at local time zero_ns. */
mh_estimate mh_estimate_exact(int64_t zero_ns);

/* The same at a time ahead. */
mh_covariance mh_covariance_ahead(mh_covariance now, int64_t ahead_ns);

/* The maximum error of the estimate at a local time; MH_TIME_UNKNOWN_NS if unknown. */
int64_t mh_estimate_bound(const mh_estimate *estimate, int64_t local_ns);

/* Whether the bound grows with age. */
bool mh_estimate_grows(const mh_estimate *estimate);

/*
 * The estimate of a clock that first maps to a middle clock and second from there to the global one, stated at a local
 * time. Errors add up, but not the wander from then on: its limit is one for any two clocks.
 */
mh_estimate mh_estimate_compose(const mh_estimate *second, const mh_estimate *first, int64_t local_ns);

/* The estimate of the reference's clock by the client's: the inverse of an estimate, stated at the same moment. */
mh_estimate mh_estimate_invert(const mh_estimate *estimate);

/* The same estimate, stated at another local time: its bound there is what it has grown to. */
mh_estimate mh_estimate_at(const mh_estimate *estimate, int64_t local_ns);

#endif
