/* SPDX-License-Identifier: BSD-3-Clause */
/* What rows for programs begin with, in every file. */
#ifndef EK_SIM_LABELS_H
#define EK_SIM_LABELS_H

#include "columns.h"
#include "ek_sim.h"

enum {
    LABELS = 6
};

/* Fill LABEL [LABELS]: what is run, and in which iteration (from 1);
 * SEED < 0: of several. */
void fill_labels(struct label *label, const struct run *run, int seed,
                 const char *mode, int iteration);

#endif
