/* SPDX-License-Identifier: BSD-3-Clause */
#include "tally.h"

#include <math.h>

void tally_add(struct tally *tally, int iteration, double seconds,
               const ek_process_report *process)
{
    if (iteration == 1) {
        tally->first_s = seconds;
        tally->attempted_first = process->attempted_mean;
        tally->successful_first = process->successful_mean;
    } else {
        if (iteration == 2)
            tally->second_s = seconds;
        tally->later_s += seconds;
        tally->later_efficiency += process->efficiency;
        tally->later++;
    }
    tally->attempted_last = process->attempted_mean;
    tally->successful_last = process->successful_mean;
    tally->tasks_last = process->tasks;
}

double tally_mean(const struct tally *tally, double sum)
{
    return tally->later > 0 ? sum / tally->later : NAN;
}
