/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Integrals over s-type Gaussians, all in closed form.
 *
 * The product of two Gaussians is a Gaussian again; with two such *pairs* a
 * repulsion integral is one error function.  The two-electron part lives in
 * this header because the compiler must see it inside the loops.
 */
#ifndef HF_BE_INTEGRALS_H
#define HF_BE_INTEGRALS_H

#include "chain.h"

#include <math.h>

/** Product of two functions. */
struct pair {
    double exponent;
    double factor; /* of repulsion integrals */
    double center[3];
};

struct pair pair_make(const struct gaussian *a, const struct gaussian *b);

/** Schwarz bound sqrt((ab|ab)) of a pair. */
double pair_bound(const struct pair *pair);

/** Overlap of the two functions of a pair. */
double pair_overlap(const struct pair *pair);

/** Kinetic energy and attraction by all nuclei between two functions. */
double core_integral(const struct chain *chain, const struct gaussian *a,
                     const struct gaussian *b);

/** Boys function F0, the integral of exp(-t x^2) over x from 0 to 1. */
static inline double boys(double t)
{
    const double half_root_pi = 0.886226925452758013649;
    if (t < 1e-13)
        return 1 - t / 3;
    double root = sqrt(t);
    return half_root_pi * erf(root) / root;
}

static inline double distance_squared(const double a[3], const double b[3])
{
    double x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
    return x * x + y * y + z * z;
}

/** Repulsion integral (ab|cd) of two pairs. */
static inline double repulsion(const struct pair *ab, const struct pair *cd)
{
    double sum = ab->exponent + cd->exponent;
    double reduced = ab->exponent * cd->exponent / sum;
    double t = reduced * distance_squared(ab->center, cd->center);
    return ab->factor * cd->factor / sqrt(sum) * boys(t);
}

#endif
