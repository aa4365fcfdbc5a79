/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Elementary functions with the same result, to the last bit, on every machine.
 *
 * Those of libm differ between libraries and processors.  What decides a
 * simulated run uses these: they are made of IEEE operations on doubles, which
 * are exactly specified (+, -, x, /, and integers), and the build forbids the
 * compiler to contract a x b + c into one rounding.  sqrt(), floor(), ldexp()
 * and fmax() of libm are exactly specified, too.
 *
 * Each is within 1 ulp of the true value, eki_exact_log2() within 2.
 */
#ifndef EKI_EXACT_H
#define EKI_EXACT_H

double eki_exact_exp(double x);
double eki_exact_exp2(double x);
/* Of 0 minus infinity, of what is below NaN. */
double eki_exact_log(double x);
double eki_exact_log2(double x);
/* The sum of the power series with these coefficients [count], first to last.
 */
double eki_exact_sum(const double *series, int count, double x);

#endif
