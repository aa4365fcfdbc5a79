/* SPDX-License-Identifier: BSD-3-Clause */
/* Random numbers of some distributions, the same on every machine. */
#ifndef COMMON_DRAW_H
#define COMMON_DRAW_H

#include "base/base.h"
#include "base/exact.h"
#include "turns.h"

#include <math.h>

/* Above 0, at most 1. */
static inline double draw_uniform(struct eki_random *random)
{
    return (double)((eki_random_next(random) >> 11) + 1) * 0x1p-53;
}

static inline double draw_normal(struct eki_random *random)
{
    double radius = sqrt(-2 * eki_exact_log(draw_uniform(random)));
    return radius * cos_turns(draw_uniform(random));
}

/* Mean 1, deviation CV. */
static inline double draw_lognormal(struct eki_random *random, double cv)
{
    double variance = eki_exact_log(1 + cv * cv);
    return eki_exact_exp(sqrt(variance) * draw_normal(random) - variance / 2);
}

#endif
