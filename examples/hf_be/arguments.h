/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command line.
 */
#ifndef HF_BE_ARGUMENTS_H
#define HF_BE_ARGUMENTS_H

#include "count.h"
#include "scf/problem.h"

struct arguments {
    struct problem_arguments shared;
    int atoms;
    double spacing; /* bohr */
    double converge;
    struct fock_options fock;
    bool has_count;
    struct count_cost cost;
};

/** What it takes, and what holds where nothing is said. */
extern const struct command_line arguments_line;
extern const struct arguments arguments_default;

#endif
