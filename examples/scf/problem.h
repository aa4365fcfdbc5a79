/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a Hartree-Fock program solves, with one way to balance or with all.
 */
#ifndef SCF_PROBLEM_H
#define SCF_PROBLEM_H

#include "common/mode_arguments.h"
#include "scf/scf.h"

/** First member of what a program's own options fill. */
struct problem_arguments {
    struct mode_arguments modes;
    struct fock_storage storage;
};

/** To be shared by a program's own command line, and its defaults. */
extern const struct command_line problem_command_line;
#define PROBLEM_ARGUMENTS_INIT                                    \
    {                                                             \
        .modes = {.iterations = 50}, .storage = {.cache_mb = -1 } \
    }

struct problem {
    const struct system *system;
    const struct scf_system *scf_system; /* of @p system */
    const struct fock_options *fock_options;
    const struct fock_storage *storage;
    double error_max, change_max; /* as of struct scf_options */

    /* Print the head of a table and its rows; called on rank 0 alone. */
    void (*print_head)(const struct job *job);
    scf_row_fn *print_row;
};

/**
 * Solve it with the mode that was chosen, or with all modes from the same
 * guess; print a table and the energy.
 *
 * @return An exit status; what is wrong has been said.
 *
 * Call: Collective over MPI_COMM_WORLD.
 */
int problem_run(const struct problem *problem,
                const struct mode_arguments *arguments);

#endif
