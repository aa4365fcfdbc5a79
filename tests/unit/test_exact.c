/* SPDX-License-Identifier: BSD-3-Clause */
/* Exact functions: known values to the last bit, libm's up to an ulp. */
#include "base/base.h"
#include "base/exact.h"
#include "check.h"
#include "turns.h"

#include <float.h>
#include <math.h>

#define TAU_LONG 6.28318530717958647692528676655900577L

static double drawn(struct eki_random *random, double least, double most)
{
    double u = (double)(eki_random_next(random) >> 11) * 0x1p-53;
    return least + (most - least) * u;
}

/* The quarter of the turn is taken away first: that is exact. */
static long double long_cos_turns(double u)
{
    int quarters = (int)(4 * u + 0.5);
    long double rest = TAU_LONG * (long double)(u - 0.25 * quarters);
    switch (quarters % 4) {
    case 0:
        return cosl(rest);
    case 1:
        return -sinl(rest);
    case 2:
        return -cosl(rest);
    default:
        return sinl(rest);
    }
}

struct function {
    const char *name;
    double (*exact)(double x);
    long double (*reference)(long double x);
    double least, most; /* of its arguments */
    double ulps;
};

static const struct function functions[] = {
    {"exp", eki_exact_exp, expl, -700, 700, 1},
    {"exp", eki_exact_exp, expl, -2, 2, 1},
    {"exp2", eki_exact_exp2, exp2l, -1000, 1000, 1},
    {"exp2", eki_exact_exp2, exp2l, -2, 2, 1},
    {"log", eki_exact_log, logl, 0, 1, 1},
    {"log", eki_exact_log, logl, 0.5, 2, 1},
    {"log", eki_exact_log, logl, 0, 1e300, 1},
    {"log2", eki_exact_log2, log2l, 0.5, 2, 2},
    {"log2", eki_exact_log2, log2l, 0, 1e300, 2},
    {"cos_turns", cos_turns, NULL, 0, 1, 1},
};

/* How far VALUE is from the true one, in distances of doubles there. */
static double ulps(double value, long double truth)
{
    int exponent;
    frexpl(truth, &exponent);
    return (double)(fabsl(value - truth) / ldexpl(1, exponent - DBL_MANT_DIG));
}

static void values_are_within_an_ulp(void)
{
    struct eki_random random;
    eki_random_seed(&random, 1, 0);
    for (size_t f = 0; f < sizeof functions / sizeof *functions; f++) {
        const struct function *function = &functions[f];
        double worst = 0, at = 0;
        for (int i = 0; i < 20000; i++) {
            double x = drawn(&random, function->least, function->most);
            double far = ulps(function->exact(x), function->reference
                                                      ? function->reference(x)
                                                      : long_cos_turns(x));
            if (far > worst) {
                worst = far;
                at = x;
            }
        }
        if (!CHECK(worst <= function->ulps))
            fprintf(stderr, "%s: %g ulps at %a\n", function->name, worst, at);
    }
}

static void values_are_known_to_the_last_bit(void)
{
    static const struct {
        const char *name;
        double (*exact)(double x);
        double x, value;
    } known[] = {
        {"exp", eki_exact_exp, 0x1p+0, 0x1.5bf0a8b14576ap+1},
        {"exp", eki_exact_exp, -0x1p+0, 0x1.78b56362cef38p-2},
        {"exp", eki_exact_exp, 0x1.999999999999ap-4, 0x1.1aec7b35a00d4p+0},
        {"exp", eki_exact_exp, -0x1.3333333333333p-2, 0x1.7b4c869c37c05p-1},
        {"exp", eki_exact_exp, 0x1.4p+3, 0x1.5829dcf95056p+14},
        {"exp", eki_exact_exp, -0x1.5ep+9, 0x1.14f2b0fb9307fp-1010},
        {"exp", eki_exact_exp, -0x1.72p+9, 0x0.0000000000055p-1022},
        {"exp2", eki_exact_exp2, 0x1p-1, 0x1.6a09e667f3bccp+0},
        {"exp2", eki_exact_exp2, 0x1p-6, 0x1.02c9a3e778061p+0},
        {"exp2", eki_exact_exp2, -0x1.9p+1, 0x1.d5818dcfba487p-4},
        {"exp2", eki_exact_exp2, 0x1.5555555555555p-2, 0x1.428a2f98d728bp+0},
        {"log", eki_exact_log, 0x1p+1, 0x1.62e42fefa39efp-1},
        {"log", eki_exact_log, 0x1.4p+3, 0x1.26bb1bbb55516p+1},
        {"log", eki_exact_log, 0x1p-1, -0x1.62e42fefa39efp-1},
        {"log", eki_exact_log, 0x1.999999999999ap-4, -0x1.26bb1bbb55515p+1},
        {"log", eki_exact_log, 0x1.0000000000001p+0, 0x1.fffffffffffffp-53},
        {"log", eki_exact_log, 0x1.8p+1, 0x1.193ea7aad030ap+0},
        {"log", eki_exact_log, 0x0.0000000004p-1022, -0x1.6f5e359f105f9p+9},
        {"log2", eki_exact_log2, 0x1.8p+1, 0x1.95c01a39fbd69p+0},
        {"log2", eki_exact_log2, 0x1.4p+3, 0x1.a934f0979a371p+1},
        {"log2", eki_exact_log2, 0x1.199999999999ap+0, 0x1.199b728cb9d0cp-3},
        {"cos_turns", cos_turns, 0x0p+0, 0x1p+0},
        {"cos_turns", cos_turns, 0x1p-3, 0x1.6a09e667f3bcdp-1},
        {"cos_turns", cos_turns, 0x1.999999999999ap-4, 0x1.9e3779b97f4a8p-1},
        {"cos_turns", cos_turns, 0x1p-2, -0x0p+0},
        {"cos_turns", cos_turns, 0x1.5555555555555p-2, -0x1.ffffffffffffep-2},
        {"cos_turns", cos_turns, 0x1.6666666666666p-1, -0x1.3c6ef372fe954p-2},
        {"cos_turns", cos_turns, 0x1p+0, 0x1p+0},
        {"cos_turns", cos_turns, 0x1p-53, 0x1p+0},
        {"cos_turns", cos_turns, 0x1.8000000000001p-1, 0x1.921fb54442d18p-51},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        double value = known[i].exact(known[i].x);
        if (!CHECK(value == known[i].value))
            fprintf(stderr, "%s(%a): %a, expected %a\n", known[i].name,
                    known[i].x, value, known[i].value);
    }
}

/* Of all bits of many values: a digest, the same on every machine. */
static void many_values_are_the_same_everywhere(void)
{
    struct eki_random random;
    uint64_t digest = 0;
    eki_random_seed(&random, 2, 0);
    for (size_t f = 0; f < sizeof functions / sizeof *functions; f++) {
        for (int i = 0; i < 20000; i++) {
            double value = functions[f].exact(
                drawn(&random, functions[f].least, functions[f].most));
            uint64_t bits;
            memcpy(&bits, &value, sizeof bits);
            digest = eki_hash(digest, bits);
        }
    }
    CHECK_EQ_INT(digest, 8083328157500322474);
}

static void edges_are_those_of_libm(void)
{
    CHECK(eki_exact_exp(-INFINITY) == 0);
    CHECK(eki_exact_exp(INFINITY) == INFINITY);
    CHECK(eki_exact_exp(709.8) == INFINITY);
    CHECK(eki_exact_exp2(1024) == INFINITY);
    CHECK(isnan(eki_exact_exp(NAN)));
    CHECK(isnan(eki_exact_exp2(NAN)));
    CHECK(eki_exact_log(0) == -INFINITY);
    CHECK(eki_exact_log2(INFINITY) == INFINITY);
    CHECK(isnan(eki_exact_log(-1)));
    CHECK(isnan(eki_exact_log2(NAN)));
    for (int k = -1074; k < 1024; k++) {
        CHECK(eki_exact_exp2(k) == ldexp(1, k));
        CHECK(eki_exact_log2(ldexp(1, k)) == k);
    }
}

int main(void)
{
    /* Elsewhere long double is double, and no reference. */
    if (LDBL_MANT_DIG >= DBL_MANT_DIG + 10)
        RUN(values_are_within_an_ulp);
    RUN(values_are_known_to_the_last_bit);
    RUN(many_values_are_the_same_everywhere);
    RUN(edges_are_those_of_libm);
    return check_result();
}
