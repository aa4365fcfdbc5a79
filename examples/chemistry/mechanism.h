/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chemical mechanisms: tables of reactions, and what they make of
 * concentrations.
 */
#ifndef CHEMISTRY_MECHANISM_H
#define CHEMISTRY_MECHANISM_H

#include <stdbool.h>

#define SPECIES_MAX 20
#define REACTANTS_MAX 2
#define PRODUCTS_MAX 3

/** A reaction whose rate is a constant times its reactants. */
struct reaction {
    double constant;
    bool needs_light; /* the constant is that of noon */
    /* Species, numbered from 1; 0 ends a list. */
    int from[REACTANTS_MAX], to[PRODUCTS_MAX];
};

struct mechanism {
    const char *name;
    int species, reactions;
    const struct reaction *reaction; /* [reactions] */
    const double *initial;           /* [species] concentrations ... */
    const double *emitted; /* ... and what a city adds to them in an hour */
    int shown;             /* the species whose mean is printed, from 0 ... */
    const char *shown_name;
    const char *unit;      /* ... and its unit */
    double absolute_error; /* what an integration may do to a concentration */
};

/** NULL: there is none of that name. */
const struct mechanism *mechanism_find(const char *name);

/** All names: "a, b". */
const char *mechanism_names(void);

/**
 * What concentrations change by, per minute.
 *
 * @param[in]  light  0 at night, 1 at noon.
 * @param[in]  y      [species]
 * @param[out] slope  [species]
 */
void mechanism_slope(const struct mechanism *mechanism, double light,
                     const double *y, double *slope);

/**
 * The derivatives of that.
 *
 * @param[out] jacobian  [species][species], column by column: of each slope by
 *                       a concentration.
 */
void mechanism_jacobian(const struct mechanism *mechanism, double light,
                        const double *y, double *jacobian);

#endif
