/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each function brings its argument near 0, exactly or with the part that
 * rounding loses in a second double, sums a series there whose first terms are
 * added last, and scales.
 */
#include "base/exact.h"

#include <math.h>

/* Products of LN2_HIGH and whole numbers up to 2^20 are exact. */
#define LN2_HIGH 0x1.62e42feep-1
#define LN2_LOW 0x1.a39ef35793c76p-33
#define LN2 0x1.62e42fefa39efp-1
#define PER_LN2 0x1.71547652b82fep+0

#define SUM(series, x) \
    eki_exact_sum(series, (int)(sizeof(series) / sizeof *(series)), x)

double eki_exact_sum(const double *series, int count, double x)
{
    double sum = series[count - 1];
    for (int i = count - 2; i >= 0; i--)
        sum = sum * x + series[i];
    return sum;
}

static int nearest(double x)
{
    return (int)(x < 0 ? x - 0.5 : x + 0.5);
}

/* 2^k exp(high + low), where high is at most ln(2) / 2 and a little. */
static double scaled_exp(double high, double low, int k)
{
    /* 1 / (i + 2)! */
    static const double series[] = {
        1.0 / 2,          1.0 / 6,        1.0 / 24,        1.0 / 120,
        1.0 / 720,        1.0 / 5040,     1.0 / 40320,     1.0 / 362880,
        1.0 / 3628800,    1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800,
        1.0 / 87178291200};
    double rest = high * high * SUM(series, high) + low;
    return ldexp(1 + (high + rest), k);
}

double eki_exact_exp(double x)
{
    const double most = 710, least = -746;
    if (!(x < most))
        return x > 0 ? INFINITY : x;
    if (x < least)
        return 0;
    int k = nearest(x * PER_LN2);
    double near = x - k * LN2_HIGH, away = k * LN2_LOW;
    double high = near - away;
    return scaled_exp(high, (near - high) - away, k);
}

double eki_exact_exp2(double x)
{
    const double most = 1024, least = -1076;
    if (!(x < most))
        return x > 0 ? INFINITY : x;
    if (x < least)
        return 0;
    int k = nearest(x);
    double part = x - k, high = part * LN2;
    double coarse = nearest(part * 0x1p20) * 0x1p-20;
    double low =
        (coarse * LN2_HIGH - high) + coarse * LN2_LOW + (part - coarse) * LN2;
    return scaled_exp(high, low, k);
}

/* X = 2^k (1 + f), where 1 + f is between the square roots of 1/2 and 2. */
static double split_exponent(double x, int *k)
{
    const double root_half = 0x1.6a09e667f3bcdp-1;
    double m = frexp(x, k);
    if (m < root_half) {
        m *= 2;
        --*k;
    }
    return m - 1;
}

/* log(1 + f) + ADDED = f - (*ROUNDED); what is subtracted is small. */
static double log_rest(double f, double added)
{
    /* 2 / (2 i + 3), of log(1 + f) = 2 atanh(s), s = f / (2 + f). */
    static const double series[] = {2.0 / 3,  2.0 / 5,  2.0 / 7,  2.0 / 9,
                                    2.0 / 11, 2.0 / 13, 2.0 / 15, 2.0 / 17,
                                    2.0 / 19, 2.0 / 21};
    double s = f / (2 + f), z = s * s, half = 0.5 * f * f;
    return half - (s * (half + z * SUM(series, z)) + added);
}

/* Whether the logarithm of X is not finite; then it is *VALUE. */
static int is_odd(double x, double *value)
{
    *value = x == 0 ? -INFINITY : x > 0 ? x : NAN;
    return !(x > 0 && x < INFINITY);
}

double eki_exact_log(double x)
{
    double value;
    int k;
    if (is_odd(x, &value))
        return value;
    double f = split_exponent(x, &k);
    return k * LN2_HIGH - (log_rest(f, k * LN2_LOW) - f);
}

double eki_exact_log2(double x)
{
    double value;
    int k;
    if (is_odd(x, &value))
        return value;
    double f = split_exponent(x, &k);
    return k + (f - log_rest(f, 0)) * PER_LN2;
}
