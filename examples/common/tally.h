/* SPDX-License-Identifier: BSD-3-Clause */
/* What the iterations of a run took: a row of a comparison. */
#ifndef COMMON_TALLY_H
#define COMMON_TALLY_H

#include <evenkeel.h>

/** Zero: no iteration yet. */
struct tally {
    double first_s, second_s; /**< Iterations 1 and 2. */
    double later_s;           /**< Sums over iterations 2 and more. */
    double later_efficiency;
    int later;
    double attempted_first, successful_first; /**< Steals per worker. */
    double attempted_last, successful_last;
    int64_t tasks_last;
};

/** Add iteration @p iteration, from 1 on, which took @p seconds. */
void tally_add(struct tally *tally, int iteration, double seconds,
               const ek_process_report *process);

/** Mean of a sum over iterations 2 and more; NaN: there were none. */
double tally_mean(const struct tally *tally, double sum);

#endif
