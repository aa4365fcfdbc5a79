/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Robertson's problem: H. H. Robertson, in Numerical Analysis, an Introduction,
 * Academic Press 1966, 178-182.  POLLU: J. G. Verwer, Gauss-Seidel iteration
 * for stiff ODEs from chemical kinetics, SIAM J. Sci. Comput. 15 (1994)
 * 1243-1259; constants as in the Test Set for IVP Solvers, F. Mazzia and
 * C. Magherini, University of Bari.  What needs light is the same as there, and
 * in Robertson's problem, which knows none, its first reaction.
 */
#include "mechanism.h"

#include <stddef.h>
#include <string.h>

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

enum {
    A = 1,
    B,
    C
};

static const struct reaction robertson[] = {
    {0.04, true, {A}, {B}},
    {3e7, false, {B, B}, {B, C}},
    {1e4, false, {B, C}, {A, C}},
};

static const double robertson_initial[] = {1, 0, 0};
static const double robertson_emitted[] = {0.1, 0, 0};

enum {
    NO2 = 1,
    NO,
    O3P,
    O3,
    HO2,
    OH,
    HCHO,
    CO,
    ALD,
    MEO2,
    C2O3,
    CO2,
    PAN,
    CH3O,
    HNO3,
    O1D,
    SO2,
    SO4,
    NO3,
    N2O5
};

static const struct reaction pollu[] = {
    {0.35, true, {NO2}, {NO, O3P}},
    {26.6, false, {NO, O3}, {NO2}},
    {1.23e4, false, {HO2, NO}, {NO2, OH}},
    {8.6e-4, true, {HCHO}, {HO2, HO2, CO}},
    {8.2e-4, true, {HCHO}, {CO}},
    {1.5e4, false, {HCHO, OH}, {HO2, CO}},
    {1.3e-4, true, {ALD}, {MEO2, HO2, CO}},
    {2.4e4, false, {ALD, OH}, {C2O3}},
    {1.65e4, false, {C2O3, NO}, {NO2, MEO2, CO2}},
    {9e3, false, {C2O3, NO2}, {PAN}},
    {0.022, false, {PAN}, {C2O3, NO2}},
    {1.2e4, false, {MEO2, NO}, {CH3O, NO2}},
    {1.88, false, {CH3O}, {HCHO, HO2}},
    {1.63e4, false, {NO2, OH}, {HNO3}},
    {4.8e6, false, {O3P}, {O3}},
    {3.5e-4, true, {O3}, {O1D}},
    {0.0175, true, {O3}, {O3P}},
    {1e8, false, {O1D}, {OH, OH}},
    {4.44e11, false, {O1D}, {O3P}},
    {1.24e3, false, {SO2, OH}, {SO4, HO2}},
    {2.1, true, {NO3}, {NO}},
    {5.78, true, {NO3}, {NO2, O3P}},
    {0.0474, false, {NO2, O3}, {NO3}},
    {1.78e3, false, {NO3, NO2}, {N2O5}},
    {3.12, false, {N2O5}, {NO3, NO2}},
};

/* ppm */
static const double pollu_initial[] = {
    0, 0.2, 0, 0.04, 0, 0, 0.1, 0.3, 0.01, 0, 0, 0, 0, 0, 0, 0, 0.007, 0, 0, 0};
static const double pollu_emitted[] = {0.002, 0.02,  0,     0, 0, 0, 0.01,
                                       0.03,  0.001, 0,     0, 0, 0, 0,
                                       0,     0,     0.001, 0, 0, 0};

static const struct mechanism mechanisms[] = {
    {"pollu", COUNT(pollu_initial), COUNT(pollu), pollu, pollu_initial,
     pollu_emitted, O3 - 1, "ozone", "ppm", 1e-10},
    {"robertson", COUNT(robertson_initial), COUNT(robertson), robertson,
     robertson_initial, robertson_emitted, A - 1, "A", "of 1", 1e-10},
};

const struct mechanism *mechanism_find(const char *name)
{
    for (int i = 0; i < COUNT(mechanisms); i++) {
        if (strcmp(mechanisms[i].name, name) == 0)
            return &mechanisms[i];
    }
    return NULL;
}

const char *mechanism_names(void)
{
    return "pollu, robertson";
}

static double constant_of(const struct reaction *reaction, double light)
{
    return reaction->needs_light ? light * reaction->constant
                                 : reaction->constant;
}

/* Add what a reaction of that rate does to the species. */
static void react(const struct reaction *reaction, double rate, double *slope)
{
    for (int i = 0; i < REACTANTS_MAX && reaction->from[i] > 0; i++)
        slope[reaction->from[i] - 1] -= rate;
    for (int i = 0; i < PRODUCTS_MAX && reaction->to[i] > 0; i++)
        slope[reaction->to[i] - 1] += rate;
}

void mechanism_slope(const struct mechanism *mechanism, double light,
                     const double *y, double *slope)
{
    memset(slope, 0, (size_t)mechanism->species * sizeof *slope);
    for (int i = 0; i < mechanism->reactions; i++) {
        const struct reaction *reaction = &mechanism->reaction[i];
        double rate = constant_of(reaction, light) * y[reaction->from[0] - 1];
        if (reaction->from[1] > 0)
            rate *= y[reaction->from[1] - 1];
        react(reaction, rate, slope);
    }
}

void mechanism_jacobian(const struct mechanism *mechanism, double light,
                        const double *y, double *jacobian)
{
    size_t n = (size_t)mechanism->species;
    memset(jacobian, 0, n * n * sizeof *jacobian);
    for (int i = 0; i < mechanism->reactions; i++) {
        const struct reaction *reaction = &mechanism->reaction[i];
        double constant = constant_of(reaction, light);
        int first = reaction->from[0] - 1, second = reaction->from[1] - 1;
        if (second < 0) {
            react(reaction, constant, &jacobian[(size_t)first * n]);
            continue;
        }
        react(reaction, constant * y[second], &jacobian[(size_t)first * n]);
        react(reaction, constant * y[first], &jacobian[(size_t)second * n]);
    }
}
