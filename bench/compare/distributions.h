/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * distributions.h - tails and quantiles of distributions. Pure.
 */
#ifndef DISTRIBUTIONS_H
#define DISTRIBUTIONS_H

#include <stdint.h>

/* student_tails - the probability that Student's t with so many degrees of freedom is beyond -t or t. */
double student_tails(double t, double freedom);

/* student_limit - the t beyond which, on both sides together, this probability is left; INFINITY for 0. */
double student_limit(double tails, double freedom);

/*
 * deviation_limit - an upper limit of a standard deviation: the true one exceeds it in 20 % of all samples.
 *
 * deviation   of a sample of normal values
 * freedom     its degrees of freedom
 *
 * By the approximation of Wilson and Hilferty for chi-square, which is too high by at most 8 %, with one degree of
 * freedom.
 */
double deviation_limit(double deviation, double freedom);

/* binomial_limit - the upper limit, at a confidence, of the probability of what came to be in some of all trials. */
double binomial_limit(int64_t some, int64_t all, double confidence);

#endif
