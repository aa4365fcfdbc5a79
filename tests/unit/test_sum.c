/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exact sums: known ones, and random ones against a long number that carries
 * through at each addition.  A result is the nearest double if the rest of the
 * long number is no larger than from its neighbors.
 */
#include "base/base.h"
#include "base/sum.h"
#include "check.h"

#include <float.h>

enum {
    VALUES = 5000, /* more than are added between two propagations */
    WORDS = 70
};

/* Two's complement, in units of the smallest double. */
struct number {
    uint32_t word[WORDS];
};

static void add_word(struct number *number, int i, uint64_t word)
{
    for (; word != 0 && i < WORDS; i++) {
        word += number->word[i];
        number->word[i] = (uint32_t)word;
        word >>= 32;
    }
}

static void negate(struct number *number)
{
    for (int i = 0; i < WORDS; i++)
        number->word[i] = ~number->word[i];
    add_word(number, 0, 1);
}

static bool is_negative(const struct number *number)
{
    return number->word[WORDS - 1] >> 31 != 0;
}

static void add_double(struct number *number, double value)
{
    int exponent = 0;
    if (value < 0) {
        negate(number);
        add_double(number, -value);
        negate(number);
        return;
    }
    uint64_t mantissa = (uint64_t)ldexp(frexp(value, &exponent), 53);
    int bit = exponent - 53 + 1074;
    for (; bit < 0; bit++)
        mantissa /= 2; /* a small one: these bits are 0 */
    add_word(number, bit / 32, (mantissa & UINT32_MAX) << bit % 32);
    add_word(number, bit / 32 + 1, (mantissa >> 32) << bit % 32);
}

/* |SUM - VALUE|. */
static struct number rest_of(const struct number *sum, double value)
{
    struct number rest = *sum;
    add_double(&rest, -value);
    if (is_negative(&rest))
        negate(&rest);
    return rest;
}

static int compare(const struct number *a, const struct number *b)
{
    for (int i = WORDS - 1; i >= 0; i--) {
        if (a->word[i] != b->word[i])
            return a->word[i] < b->word[i] ? -1 : 1;
    }
    return 0;
}

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static void check_nearest(const struct number *sum, double value)
{
    struct number rest = rest_of(sum, value);
    for (int i = -1; i <= 1; i += 2) {
        double next = nextafter(value, i * (double)INFINITY);
        struct number other = rest_of(sum, next);
        int order = compare(&rest, &other);
        CHECK(order < 0 || (order == 0 && bits_of(value) % 2 == 0));
    }
}

static double sum_of(const double *values, int n)
{
    ek_sum sum = {{0}};
    for (int i = 0; i < n; i++)
        ek_sum_add(&sum, &values[i], 1);
    return eki_sum_round(&sum);
}

#define CHECK_SUM(expected, ...)                                          \
    do {                                                                  \
        const double list[] = {__VA_ARGS__};                              \
        double found = sum_of(list, (int)(sizeof list / sizeof list[0])); \
        CHECK_EQ_INT(bits_of(found), bits_of(expected));                  \
    } while (0)

static void known_sums(void)
{
    const double least = 0x1p-1074, inf = (double)INFINITY;
    CHECK_SUM(1.0, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1);
    CHECK_SUM(1.0, 1e100, 1.0, -1e100);
    CHECK_SUM(-1.0, -1e300, -1.0, 1e300);
    CHECK_SUM(least, 1e300, least, -1e300);
    CHECK_SUM(3 * least, least, least, least);
    CHECK_SUM(DBL_MIN, DBL_MIN - least, least);
    CHECK_SUM(DBL_MIN - least, DBL_MIN, -least);
    CHECK_SUM(-least, -DBL_MIN, DBL_MIN - least);
    CHECK_SUM(0.0, -0.0);
    CHECK_SUM(0.0, 5.0, -5.0);
    /* Ties go to the even one. */
    CHECK_SUM(1.0, 1.0, 0x1p-53);
    CHECK_SUM(1.0 + 0x1p-51, 1.0 + 0x1p-52, 0x1p-53);
    CHECK_SUM(1.0 + 0x1p-52, 1.0, 0x1p-53, least);
    CHECK_SUM(1.0, 1.0, 0x1p-53, -least);
    CHECK_SUM(-1.0 - 0x1p-52, -1.0, -0x1p-53, -least);
    /* The next power of 2. */
    CHECK_SUM(2.0, 2.0 - 0x1p-52, 0x1p-53);
    /* Too large only at the end. */
    CHECK_SUM(DBL_MAX, DBL_MAX, DBL_MAX, -DBL_MAX);
    CHECK_SUM(inf, DBL_MAX, DBL_MAX);
    CHECK_SUM(-inf, -DBL_MAX, -DBL_MAX);
    CHECK_SUM(inf, DBL_MAX, 0x1p970);
    CHECK_SUM(DBL_MAX, DBL_MAX, 0x1p970, -least);
    CHECK_SUM(inf, inf, -1.0, inf);
    CHECK_SUM(-inf, 1.0, -inf);
    const double odd[] = {inf, -inf}, nan[] = {1.0, (double)NAN};
    CHECK(isnan(sum_of(odd, 2)));
    CHECK(isnan(sum_of(nan, 2)));
}

/* In order, in two other orders, and in parts that are joined. */
static void check_orders(double *values, struct eki_random *random)
{
    struct number exact = {{0}};
    ek_sum parts[3] = {{{0}}};
    for (int i = 0; i < VALUES; i++)
        add_double(&exact, values[i]);
    double sum = sum_of(values, VALUES);
    check_nearest(&exact, sum);
    for (int order = 0; order < 2; order++) {
        for (int i = VALUES - 1; i > 0; i--) {
            int j = (int)eki_random_below(random, (uint64_t)i + 1);
            double value = values[i];
            values[i] = values[j];
            values[j] = value;
        }
        CHECK_EQ_INT(bits_of(sum_of(values, VALUES)), bits_of(sum));
    }
    for (int i = 0; i < VALUES; i++)
        ek_sum_add(&parts[eki_random_below(random, 3)], &values[i], 1);
    for (int part = 0; part < 3; part++) {
        eki_sum_carry(&parts[part]);
        for (int limb = 0; part > 0 && limb < EKI_SUM_LIMBS; limb++)
            parts[0].limb[limb] += parts[part].limb[limb];
    }
    CHECK_EQ_INT(bits_of(eki_sum_round(&parts[0])), bits_of(sum));
}

static double random_double(struct eki_random *random, int least, int most)
{
    uint64_t bits = eki_random_next(random);
    double mantissa = 1 + (double)(bits >> 12) * 0x1p-52;
    int exponent =
        least + (int)eki_random_below(random, (uint64_t)(most - least + 1));
    return ldexp(bits & 1 ? mantissa : -mantissa, exponent);
}

static void random_sums(void)
{
    static const int exponents[][2] = {
        {-1074, 1023}, {-1074, -1020}, {1000, 1023}, {-3, 3}, {-60, 0}};
    static double values[VALUES];
    struct eki_random random;
    eki_random_seed(&random, 34, 0);
    for (int turn = 0; turn < 20; turn++) {
        for (int i = 0; i < VALUES; i++) {
            const int *range = exponents[turn % 5];
            values[i] = random_double(&random, range[0], range[1]);
            /* Huge ones go away again. */
            if (turn % 5 == 2 && i % 2 == 1)
                values[i] = -values[i - 1];
        }
        if (turn % 5 == 2)
            values[0] = random_double(&random, -50, 50);
        if (turn % 5 == 2)
            values[1] = 1;
        check_orders(values, &random);
    }
}

/* All of one sign, the largest ones that a limb may get. */
static void many_of_one_sign(void)
{
    for (int sign = -1; sign <= 1; sign += 2) {
        ek_sum sum = {{0}};
        double value = sign * (0x1p31 - 0x1p-21) * 0x1p-1000;
        for (int i = 0; i < 1 << 16; i++)
            ek_sum_add(&sum, &value, 1);
        CHECK_EQ_INT(bits_of(eki_sum_round(&sum)), bits_of(value * 0x1p16));
    }
}

int main(void)
{
    RUN(known_sums);
    RUN(random_sums);
    RUN(many_of_one_sign);
    return check_result();
}
