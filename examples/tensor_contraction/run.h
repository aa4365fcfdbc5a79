/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Iterations of a contraction, with one way to balance or with all.
 *
 * Each adds A B to C once more.
 */
#ifndef TENSOR_CONTRACTION_RUN_H
#define TENSOR_CONTRACTION_RUN_H

#include "common/mode_arguments.h"
#include "task.h"
#include "verify.h"

/** What is run. */
struct run {
    const struct contraction *contraction;
    const struct operands *operands;
    const struct task_options *options;
    enum verify verify; /* how C is checked, after each run */
    bool has_peers;     /* a comparison has others, too */
};

/**
 * Run the iterations with the mode that was chosen, or with all modes; print a
 * table.
 *
 * @return An exit status; what is wrong has been said.
 *
 * Call: Collective over MPI_COMM_WORLD.
 */
int run_iterations(const struct run *run,
                   const struct mode_arguments *arguments);

#endif
