/* SPDX-License-Identifier: BSD-3-Clause */
/* What rows for programs begin with, in every file. */
#ifndef EK_SIM_LABELS_H
#define EK_SIM_LABELS_H

#include "columns.h"
#include "ek_sim.h"

enum {
    LABELS = 6
};

/* Fill LABEL [LABELS] with keys alone. */
void fill_titles(struct label *label);
/* Fill LABEL [LABELS]: what is run, and in which iteration (from 1);
 * SEED < 0: of several. */
void fill_labels(struct label *label, const struct run *run, int seed,
                 const char *mode, int iteration);

/* Open a file of such rows, with their titles; NULL, with a message: it cannot
 * be written. */
FILE *rows_open(const char *path, const char *columns, struct message *message);
/* False, with a message: not all that OPTION asks for could be written. */
bool rows_close(FILE *file, const char *option, struct message *message);

#endif
