/* SPDX-License-Identifier: BSD-3-Clause */
/* Mechanisms and their integration against published solutions. */
#include "../unit/check.h"
#include "chemistry/solver.h"

/* At noon, without end. */
static int integrate(const struct mechanism *mechanism, double minutes,
                     int levels, double relative, double *state)
{
    const struct column_time time = {.longitude = -1, .minutes = minutes};
    return column_integrate(mechanism, &time, levels, relative, state, NULL);
}

static double largest_error(const double *state, const double *expected,
                            int count)
{
    double largest = 0;
    for (int i = 0; i < count; i++)
        largest = fmax(largest, fabs(state[i] / expected[i] - 1));
    return largest;
}

/* Test Set for IVP Solvers, pollu: RADAU5 in quadruple precision. */
static void an_hour_of_pollu_is_as_published(void)
{
    static const double expected[] = {
        0.5646255480022769e-01, 0.1342484130422339e+00, 0.4139734331099427e-08,
        0.5523140207484359e-02, 0.2018977262302196e-06, 0.1464541863493966e-06,
        0.7784249118997964e-01, 0.3245075353396018e+00, 0.7494013383880406e-02,
        0.1622293157301561e-07, 0.1135863833257075e-07, 0.2230505975721359e-02,
        0.2087162882798630e-03, 0.1396921016840158e-04, 0.8964884856898295e-02,
        0.4352846369330103e-17, 0.6899219696263405e-02, 0.1007803037365946e-03,
        0.1772146513969984e-05, 0.5682943292316392e-04};
    struct mechanism mechanism = *mechanism_find("pollu");
    double state[SPECIES_MAX];
    mechanism.absolute_error = 1e-20;
    memcpy(state, mechanism.initial, sizeof state);
    CHECK(integrate(&mechanism, 60, 1, 1e-10, state) == 0);
    CHECK(largest_error(state, expected, mechanism.species) < 1e-7);
}

/* Test Set for IVP Solvers, rober: a time unit here is a minute. */
static void robertson_is_as_published(void)
{
    static const double expected[] = {
        0.2083340149701255e-07, 0.8333360770334713e-13, 0.9999999791665050e+00};
    struct mechanism mechanism = *mechanism_find("robertson");
    double state[] = {1, 0, 0};
    mechanism.absolute_error = 1e-24;
    CHECK(integrate(&mechanism, 1e11, 1, 1e-10, state) == 0);
    CHECK(largest_error(state, expected, mechanism.species) < 1e-6);
}

/* Slopes are polynomials of degree 2, so central differences are exact but for
 * rounding. */
static void jacobians_are_derivatives(void)
{
    const char *const names[] = {"pollu", "robertson"};
    for (int k = 0; k < 2; k++) {
        const struct mechanism *mechanism = mechanism_find(names[k]);
        int n = mechanism->species;
        double y[SPECIES_MAX], low[SPECIES_MAX], high[SPECIES_MAX];
        double jacobian[SPECIES_MAX * SPECIES_MAX];
        for (int i = 0; i < n; i++)
            y[i] = 0.25 + i * 0.125;
        mechanism_jacobian(mechanism, 0.5, y, jacobian);
        for (int i = 0; i < n; i++) {
            double at = y[i];
            y[i] = at - 0.125;
            mechanism_slope(mechanism, 0.5, y, low);
            y[i] = at + 0.125;
            mechanism_slope(mechanism, 0.5, y, high);
            y[i] = at;
            for (int j = 0; j < n; j++) {
                double difference = 4 * (high[j] - low[j]);
                CHECK(fabs(jacobian[i * n + j] - difference) <=
                      1e-12 * (fabs(high[j]) + fabs(low[j])));
            }
        }
    }
}

static void nothing_happens_to_light_at_night(void)
{
    const struct mechanism *mechanism = mechanism_find("robertson");
    const double y[] = {1, 0, 0};
    double slope[3];
    mechanism_slope(mechanism, 1, y, slope);
    CHECK(slope[0] == -0.04 && slope[1] == 0.04 && slope[2] == 0);
    mechanism_slope(mechanism, 0, y, slope);
    CHECK(slope[0] == 0 && slope[1] == 0 && slope[2] == 0);
}

/* Whatever was integrated before, and beside: each level is one of its own. */
static void levels_do_not_know_of_each_other(void)
{
    const struct mechanism *mechanism = mechanism_find("pollu");
    size_t bytes = (size_t)mechanism->species * sizeof(double);
    double state[3 * SPECIES_MAX], alone[SPECIES_MAX];
    for (int level = 0; level < 3; level++)
        memcpy(&state[level * SPECIES_MAX], mechanism->initial, bytes);
    state[1] *= 3;
    memcpy(alone, mechanism->initial, bytes);
    CHECK(integrate(mechanism, 60, 3, 1e-6, state) == 0);
    CHECK(integrate(mechanism, 60, 1, 1e-6, alone) == 0);
    CHECK(memcmp(state, alone, bytes) != 0);
    CHECK(memcmp(&state[SPECIES_MAX], alone, bytes) == 0);
    CHECK(memcmp(&state[2 * SPECIES_MAX], alone, bytes) == 0);
}

int main(void)
{
    RUN(an_hour_of_pollu_is_as_published);
    RUN(robertson_is_as_published);
    RUN(jacobians_are_derivatives);
    RUN(nothing_happens_to_light_at_night);
    RUN(levels_do_not_know_of_each_other);
    return check_result();
}
