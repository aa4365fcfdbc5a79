/* SPDX-License-Identifier: BSD-3-Clause */
/* All steps with one way to split, and what they came to. */
#ifndef AMR_RUN_H
#define AMR_RUN_H

#include "split.h"

struct run_setup {
    int roots, levels, iterations;
    bool knows;    /* what blocks will cost */
    bool has_rows; /* rank 0 prints one for each step */
};

/** Of all steps, or of one; the same on all ranks. */
struct figures {
    double
        imbalance; /* largest cost of a rank / mean - 1; of steps: the mean */
    double blocks; /* of the mesh; of steps: the mean */
    struct moved moved;
    double cut;     /* part of all faces beyond which is another rank */
    double split_s; /* seconds to find and tell owners, on the slowest rank */
    double step_s;  /* ... and to compute */
};

struct result {
    struct figures all;
    double value; /* of the first species, over the square */
};

/** Collective over MPI_COMM_WORLD. */
ek_status run(const struct run_setup *setup, const struct split *split,
              struct result *result);

/** Print the head of rows, whose first column is @p what, and a row. */
void print_head(const char *what);
void print_row(const char *what, const struct figures *figures);

#endif
