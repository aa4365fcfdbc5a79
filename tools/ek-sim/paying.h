/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether moving data pays, and up to which size of it. */
#ifndef EK_SIM_PAYING_H
#define EK_SIM_PAYING_H

#include "ek_sim.h"

/* Say below the rows [modes][iterations] of a job what the fastest mode gains
 * by moving data; and below those of the last size for as many cores up to
 * which size it gains anything. */
void print_paying(const struct run *run, const struct row *rows, int modes);

#endif
