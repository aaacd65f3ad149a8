/* SPDX-License-Identifier: BSD-3-Clause */
/* distributions.c - Student's distribution by continued fractions, and limits from it. */
#include "bench/compare/distributions.h"

#include <math.h>

/* A standard normal value is below it with a probability of 20 %. */
#define NORMAL_20_PERCENT (-0.8416212335729143)

enum { MAX_TERMS = 400, HALVINGS = 200 };

/* The continued fraction of the incomplete beta function, by the modified method of Lentz. Converges below the mean. */
static double beta_fraction(double a, double b, double x)
{
    const double tiny = 1e-300, enough = 1e-15;
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    d = 1 / (fabs(d) < tiny ? tiny : d);
    double fraction = d;
    for (int term = 1; term <= MAX_TERMS; term++) {
        double even = term * (b - term) * x / ((a + 2 * term - 1) * (a + 2 * term));
        double odd = -(a + term) * (a + b + term) * x / ((a + 2 * term) * (a + 2 * term + 1));
        double change = 1;
        for (int half = 0; half < 2; half++) {
            double numerator = half == 0 ? even : odd;
            d = 1 + numerator * d;
            c = 1 + numerator / c;
            d = 1 / (fabs(d) < tiny ? tiny : d);
            c = fabs(c) < tiny ? tiny : c;
            change = d * c;
            fraction *= change;
        }
        if (fabs(change - 1) < enough)
            break;
    }
    return fraction;
}

/* The regularized incomplete beta function. The complement of x is given too, as it may be too small to subtract. */
static double beta_part(double a, double b, double x, double complement)
{
    if (x <= 0 || complement <= 0)
        return x <= 0 ? 0 : 1;
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(complement));
    if (x < (a + 1) / (a + b + 2))
        return front * beta_fraction(a, b, x) / a;
    return 1 - front * beta_fraction(b, a, complement) / b;
}

double student_tails(double t, double freedom)
{
    double square = t * t;
    if (isinf(square))
        return 0;
    return beta_part(freedom / 2, 0.5, freedom / (freedom + square), square / (freedom + square));
}

double student_limit(double tails, double freedom)
{
    double low = 0, high = 1;
    if (tails <= 0)
        return INFINITY;
    while (student_tails(high, freedom) > tails)
        high *= 2;
    for (int i = 0; i < HALVINGS && high - low > 1e-12 * high; i++) {
        double middle = (low + high) / 2;
        if (student_tails(middle, freedom) > tails)
            low = middle;
        else
            high = middle;
    }
    return high;
}

double deviation_limit(double deviation, double freedom)
{
    double part = 2 / (9 * freedom), root = 1 - part + NORMAL_20_PERCENT * sqrt(part);
    return deviation / sqrt(root * root * root);
}

double binomial_limit(int64_t some, int64_t all, double confidence)
{
    double low = 0, high = 1;
    if (some >= all)
        return 1;
    for (int i = 0; i < HALVINGS && high - low > 1e-12; i++) {
        double middle = (low + high) / 2;
        /* The probability of at most so many. */
        if (beta_part((double)(all - some), (double)some + 1, 1 - middle, middle) > 1 - confidence)
            low = middle;
        else
            high = middle;
    }
    return high;
}
