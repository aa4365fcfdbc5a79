/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Szabo and Ostlund, Modern Quantum Chemistry, appendix A.
 */
#include "integrals.h"

#define PI 3.14159265358979323846

/* Square root of the 2 pi^(5/2) in front of a repulsion integral: a factor of
 * each pair. */
#define ROOT_FACTOR 5.91496717279561287782

/* A pair this small is not worth a sum over all nuclei. */
#define OVERLAP_MIN 1e-18

/*
 * exp(x) of an x that is not positive.  That of libm is not the same to the
 * last bit on every machine, and which pairs matter must be.
 */
static double decay(double x)
{
    /* Products of the first and whole numbers below 2^20 are exact. */
    const double ln2_high = 0x1.62e42feep-1, ln2_low = 0x1.a39ef35793c76p-33;
    const double per_ln2 = 0x1.71547652b82fep+0;
    const double least = -746;
    double sum = 1;
    if (x < least)
        return 0;
    int k = (int)(x * per_ln2 - 0.5);
    double rest = x - k * ln2_high - k * ln2_low;
    for (int n = 14; n > 0; n--)
        sum = 1 + rest * (1.0 / n) * sum;
    return ldexp(sum, k);
}

struct pair pair_make(const struct gaussian *a, const struct gaussian *b)
{
    struct pair made;
    double sum = a->exponent + b->exponent;
    double reduced = a->exponent * b->exponent / sum;
    double squared = distance_squared(a->center, b->center);
    made.exponent = sum;
    /* The same to the last bit when a and b change places. */
    made.factor =
        ROOT_FACTOR / sum * (a->norm * b->norm) * decay(-reduced * squared);
    for (int x = 0; x < 3; x++)
        made.center[x] =
            (a->exponent * a->center[x] + b->exponent * b->center[x]) / sum;
    return made;
}

double pair_bound(const struct pair *pair)
{
    return pair->factor / sqrt(sqrt(2 * pair->exponent));
}

double pair_overlap(const struct pair *pair)
{
    double ratio = PI / pair->exponent;
    return pair->factor * pair->exponent / ROOT_FACTOR * ratio * sqrt(ratio);
}

static double kinetic(const struct gaussian *a, const struct gaussian *b,
                      double overlap)
{
    double reduced = a->exponent * b->exponent / (a->exponent + b->exponent);
    double squared = distance_squared(a->center, b->center);
    return reduced * (3 - 2 * reduced * squared) * overlap;
}

/* Attraction by all nuclei. */
static double attraction(const struct chain *chain, const struct pair *pair)
{
    double sum = 0;
    for (int atom = 0; atom < chain->atoms; atom++) {
        double nucleus[3];
        chain_nucleus(chain, atom, nucleus);
        sum += boys(pair->exponent * distance_squared(pair->center, nucleus));
    }
    return -CHAIN_ATOM_CHARGE * 2 * PI / ROOT_FACTOR * pair->factor * sum;
}

double core_integral(const struct chain *chain, const struct gaussian *a,
                     const struct gaussian *b)
{
    struct pair pair = pair_make(a, b);
    double overlap = pair_overlap(&pair);
    if (overlap < OVERLAP_MIN)
        return 0;
    return kinetic(a, b, overlap) + attraction(chain, &pair);
}
