/* SPDX-License-Identifier: BSD-3-Clause */
/* The sine and the cosine near 0 are series, as in base/exact.c. */
#include "turns.h"

#include "base/exact.h"

#define TAU 0x1.921fb54442d18p+2
#define TAU_LOW 0x1.1a62633145c07p-52
#define SUM(series, x) \
    eki_exact_sum(series, (int)(sizeof(series) / sizeof *(series)), x)

/* The product of 2 pi and v: what is returned and *LOW (Dekker, Numerische
 * Mathematik 1971). */
static double times_tau(double v, double *low)
{
    const double halves = 0x1p27 + 1;
    double product = v * TAU;
    double v_high = v * halves - (v * halves - v), v_low = v - v_high;
    double tau_high = TAU * halves - (TAU * halves - TAU);
    double tau_low = TAU - tau_high;
    double lost = v_high * tau_high - product + v_high * tau_low +
                  v_low * tau_high + v_low * tau_low;
    *low = lost + v * TAU_LOW;
    return product;
}

/* Both up to an eighth of a turn. */
static double near_sine(double high, double low)
{
    /* (-1)^(i + 1) / (2 i + 3)! */
    static const double series[] = {-1.0 / 6,
                                    1.0 / 120,
                                    -1.0 / 5040,
                                    1.0 / 362880,
                                    -1.0 / 39916800,
                                    1.0 / 6227020800,
                                    -1.0 / 1307674368000,
                                    1.0 / 355687428096000};
    double z = high * high;
    return high + (high * z * SUM(series, z) + low * (1 - 0.5 * z));
}

static double near_cosine(double high, double low)
{
    /* (-1)^i / (2 i + 4)! */
    static const double series[] = {1.0 / 24,
                                    -1.0 / 720,
                                    1.0 / 40320,
                                    -1.0 / 3628800,
                                    1.0 / 479001600,
                                    -1.0 / 87178291200,
                                    1.0 / 20922789888000,
                                    -1.0 / 6402373705728000};
    double z = high * high, half = 0.5 * z;
    double most = 1 - half, lost = (1 - most) - half;
    return most + (lost + (z * z * SUM(series, z) - high * low));
}

double cos_turns(double u)
{
    int quarters = (int)(4 * u + 0.5);
    double low, high = times_tau(u - 0.25 * quarters, &low);
    switch (quarters % 4) {
    case 0:
        return near_cosine(high, low);
    case 1:
        return -near_sine(high, low);
    case 2:
        return -near_cosine(high, low);
    default:
        return near_sine(high, low);
    }
}
