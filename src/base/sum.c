/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/sum.h"

#include "base/base.h"

#include <math.h>
#include <string.h>

enum {
    MANTISSA_BITS = 52,
    EXPONENT_MOST = 2047,
    LEAST_EXPONENT = -1074, /* of the smallest double above 0 */
    LIMB_BITS = 32,
    /* A value adds less than 2^52 to a limb, which begins below 2^32. */
    ADDED_MOST = 2047
};

void eki_sum_carry(ek_sum *sum)
{
    int64_t carry = 0;
    for (int i = 0; i < EKI_SUM_DIGITS - 1; i++) {
        int64_t limb = sum->limb[i] + carry;
        int64_t low = (int64_t)((uint64_t)limb & UINT32_MAX);
        carry = (limb - low) / (INT64_C(1) << LIMB_BITS);
        sum->limb[i] = low;
    }
    sum->limb[EKI_SUM_DIGITS - 1] += carry;
    sum->limb[EKI_SUM_ADDED] = 0;
}

EKI_COLD static void add_odd(ek_sum *sum, uint64_t bits)
{
    bool is_nan = (bits & ((UINT64_C(1) << MANTISSA_BITS) - 1)) != 0;
    sum->limb[is_nan       ? EKI_SUM_NAN
              : bits >> 63 ? EKI_SUM_BELOW
                           : EKI_SUM_ABOVE]++;
}

static inline void add_bits(ek_sum *sum, uint64_t bits)
{
    unsigned exponent = (unsigned)(bits >> MANTISSA_BITS) & EXPONENT_MOST;
    uint64_t mantissa = bits & ((UINT64_C(1) << MANTISSA_BITS) - 1);
    if (EKI_UNLIKELY(exponent == EXPONENT_MOST)) {
        add_odd(sum, bits);
        return;
    }
    /* The smallest doubles have no leading 1, and share the next exponent. */
    if (EKI_LIKELY(exponent != 0)) {
        mantissa |= UINT64_C(1) << MANTISSA_BITS;
        exponent--;
    }
    unsigned shift = exponent % LIMB_BITS;
    int64_t *limb = &sum->limb[exponent / LIMB_BITS];
    int64_t low = (int64_t)((mantissa << shift) & UINT32_MAX);
    int64_t high = (int64_t)(mantissa >> (LIMB_BITS - shift));
    int64_t sign = -(int64_t)(bits >> 63); /* 0, or all bits */
    limb[0] += (low ^ sign) - sign;
    limb[1] += (high ^ sign) - sign;
    if (EKI_UNLIKELY(++sum->limb[EKI_SUM_ADDED] == ADDED_MOST))
        eki_sum_carry(sum);
}

void ek_sum_add(ek_sum *sums, const double *values, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        uint64_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        add_bits(&sums[i], bits);
    }
}

/* Bits FIRST ... FIRST + N - 1, N at most 53, of limbs that have no carry. */
static uint64_t bits_of(const ek_sum *sum, int first, int n)
{
    uint64_t bits = 0;
    for (int i = 0, at; i < n; i += LIMB_BITS - at % LIMB_BITS) {
        at = first + i;
        uint64_t limb = (uint64_t)sum->limb[at / LIMB_BITS];
        bits |= (limb >> at % LIMB_BITS) << i;
    }
    return bits & ((UINT64_C(1) << n) - 1);
}

/* Position of the leading 1, or -1. */
static int leading_bit(const ek_sum *sum)
{
    int i = EKI_SUM_DIGITS - 1, bit = 0;
    while (i >= 0 && sum->limb[i] == 0)
        i--;
    if (i < 0)
        return -1;
    for (uint64_t limb = (uint64_t)sum->limb[i]; limb > 1; limb >>= 1)
        bit++;
    return i * LIMB_BITS + bit;
}

static bool has_bits_below(const ek_sum *sum, int end)
{
    for (int i = 0; i < end / LIMB_BITS; i++) {
        if (sum->limb[i] != 0)
            return true;
    }
    int rest = end % LIMB_BITS;
    return rest > 0 && bits_of(sum, end - rest, rest) != 0;
}

/* Round a sum that is not negative to the nearest double; a tie goes to the
 * even one. */
static double round_positive(const ek_sum *sum)
{
    int lowest = leading_bit(sum) - MANTISSA_BITS;
    if (lowest < 0)
        lowest = 0;
    uint64_t mantissa = bits_of(sum, lowest, MANTISSA_BITS + 1);
    if (lowest > 0 && bits_of(sum, lowest - 1, 1) &&
        ((mantissa & 1) || has_bits_below(sum, lowest - 1)))
        mantissa++;
    return ldexp((double)mantissa, lowest + LEAST_EXPONENT);
}

double eki_sum_round(ek_sum *sum)
{
    bool above = sum->limb[EKI_SUM_ABOVE] > 0;
    bool below = sum->limb[EKI_SUM_BELOW] > 0;
    if (sum->limb[EKI_SUM_NAN] > 0 || (above && below))
        return NAN;
    if (above || below)
        return above ? INFINITY : -INFINITY;
    eki_sum_carry(sum);
    bool is_negative = sum->limb[EKI_SUM_DIGITS - 1] < 0;
    if (is_negative) {
        for (int i = 0; i < EKI_SUM_DIGITS; i++)
            sum->limb[i] = -sum->limb[i];
        eki_sum_carry(sum);
    }
    double value = round_positive(sum);
    return is_negative ? -value : value;
}
