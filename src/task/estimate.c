/* SPDX-License-Identifier: BSD-3-Clause */
/* Deviations, hints, and what they tell of tasks that were never measured. */
#include "base/exact.h"
#include "task/sort.h"

double eki_deviation_relative(uint8_t deviation)
{
    return eki_exact_exp2(deviation / 64.0) - 1.0;
}

uint8_t eki_hint_byte(double cost)
{
    double byte = 128.0 + 8.0 * eki_exact_log2(cost);
    return (uint8_t)(byte < 0 ? 0 : byte > 255 ? 255 : byte + 0.5);
}

double eki_hint_cost(uint8_t byte)
{
    return eki_exact_exp2((byte - 128) / 8.0);
}

/* Mean of the function x hint / mean hint; a hint's scale where none ran. */
unsigned eki_estimate_bin(const struct eki_estimate *estimates,
                          const struct eki_slot *slot)
{
    const struct eki_estimate *estimate = &estimates[slot->function];
    double mean = estimate->measured
                      ? estimate->measured_ns / (double)estimate->measured
                      : 1e6;
    double mean_hint = estimate->hints / (double)estimate->hinted;
    double ns = mean * eki_hint_cost(slot->deviation) / mean_hint;
    return eki_bin_of(ns < 1.0 ? 1 : ns > 1e15 ? (uint64_t)1e15 : (uint64_t)ns);
}
