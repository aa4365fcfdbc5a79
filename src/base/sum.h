/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sum: the exact sums of evenkeel_loop.h, as a long fixed-point number.
 *
 * Paper: Radford M. Neal, "Fast exact summation using small and large
 * superaccumulators", 2015, section 3.  Our limbs are 68 in place of 67, so
 * that no number of values that a machine can add is too large; and the sums of
 * ranks are joined limb by limb.
 */
#ifndef EKI_SUM_H
#define EKI_SUM_H

#include <evenkeel_loop.h>

enum {
    /* Limb i is worth 2^(32 i) of the smallest double above 0.  Once carries
     * are propagated all but the last are in 0 ... 2^32 - 1. */
    EKI_SUM_DIGITS = 68,
    /* Behind the digits: values added since the last carry, and how many
     * infinities of each sign and NaNs were added. */
    EKI_SUM_ADDED = EKI_SUM_DIGITS,
    EKI_SUM_ABOVE,
    EKI_SUM_BELOW,
    EKI_SUM_NAN,
    EKI_SUM_LIMBS
};
_Static_assert(sizeof(ek_sum) == EKI_SUM_LIMBS * sizeof(int64_t),
               "a sum has limbs only");

/* Propagate carries: then up to 2^30 sums may be added limb by limb. */
void eki_sum_carry(ek_sum *sum);
/* The nearest double; carries are propagated. */
double eki_sum_round(ek_sum *sum);

#endif
